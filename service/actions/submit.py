"""Submitting: all that can be checked is checked, then the job is written."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from uuid import uuid4

import orjson

from service.actions.request import TrainRequest, write_request
from service.errors import Fault, InvalidData, Misfit, pointer
from service.storage import jobs
from service.storage.engine import Session
from service.storage.records import Job, Key, NewJob, StoredDataset, Terms
from service.tree.checks import contradictions
from service.tree.costs import has_costs
from service.tree.dataset import Dataset
from service.tree.oddities import oddities
from service.tree.outline import Outline, identifiers, outline
from service.tree.table import DATASET
from service.tree.training import class_weights_of, make_dataset, validation_of

HOLDING_OUT = ("hold_out", "reduced_error")  # ways of pruning that need rows of their own


@dataclass(frozen=True)
class Submitted:
    """A job, and whether an order before with the same key had made it."""

    job: Job
    is_replay: bool


def preview(request: TrainRequest, dataset: StoredDataset | None) -> tuple[Outline, list[Fault]]:
    """What would be trained on, and what is odd about it; InvalidData if it cannot be."""
    if dataset is not None:
        told = _check(request, outline(request.table, dataset.columns, request.plan))
        return told, [*map(_odd, dataset.warnings), *identifiers(dataset.columns, told)]
    data = make_dataset(request.table, request.plan)
    told = _check(request, _outline_of(data))
    return told, list(oddities(request.table, request.plan, data))


def check(request: TrainRequest, dataset: StoredDataset | None = None) -> bytes:
    """The request as it will be kept; InvalidData if the data cannot be trained on.

    Of a dataset only what is known of its columns is checked; the job looks at the rest.
    """
    if dataset is not None:
        _check(request, outline(request.table, dataset.columns, request.plan))
    else:
        _check(request, _outline_of(make_dataset(request.table, request.plan)))
    return write_request(request)


def _outline_of(data: Dataset) -> Outline:
    return Outline(data.attributes, data.classes, data.is_regression, len(data.target))


def _check(request: TrainRequest, told: Outline) -> Outline:
    validation_of(request.table, request.plan)
    if told.classes:  # of a dataset they may not be known yet
        class_weights_of(request.plan, told.classes)
    faults = [*_of_params(request, told), *_of_plan(request, told)]
    if faults:
        raise InvalidData("Some parameters contradict each other.", faults)
    return told


def _odd(warning: Misfit) -> Fault:
    line = f"line {warning.line}, " if warning.line is not None else ""
    return Fault(pointer(*DATASET), f"{line}column {warning.column!r}: {warning.detail}")


def keyed(terms: Terms, name: str, body: bytes) -> Terms:
    """The terms under a caller's key, with the digest of the order they belong to."""
    order = body + orjson.dumps(asdict(replace(terms, key=None)))
    return replace(terms, key=Key(name, sha256(order).hexdigest()))


def submit(session: Session, new: NewJob, max_attempts: int, terms: Terms) -> Submitted:
    """The job that was written; from the commit on it cannot be lost."""
    job_id = str(uuid4())
    job = jobs.submit(session, job_id, new, max_attempts, terms)
    return Submitted(job, job.id != job_id)


def _of_params(request: TrainRequest, told: Outline) -> Iterator[Fault]:
    for name, detail in contradictions(
        request.params,
        request.overrides,
        is_regression=told.is_regression,
        has_costs=has_costs(told.attributes),
    ):
        yield Fault(pointer("params", name), detail)


def _of_plan(request: TrainRequest, told: Outline) -> Iterator[Fault]:
    pruning = request.params.pruning
    if request.plan.validation_rows and pruning not in HOLDING_OUT:
        ways = " or ".join(HOLDING_OUT)
        detail = f"validation_rows are for pruning = {ways}, but pruning is {pruning}"
        yield Fault("/validation_rows", detail)
    if request.plan.class_weights and told.is_regression:
        yield Fault("/class_weights", "the target is a number, so it has no classes to weigh")
