"""Submitting: all that can be checked is checked, then the job is written."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from uuid import uuid4

import orjson

from service.actions.request import TrainRequest, write_request
from service.errors import Fault, InvalidData, pointer
from service.storage import jobs
from service.storage.engine import Session
from service.storage.records import Job, Key, Terms
from service.tree.checks import contradictions
from service.tree.costs import has_costs
from service.tree.dataset import Dataset
from service.tree.training import make_dataset, validation_of

HOLDING_OUT = ("hold_out", "reduced_error")  # ways of pruning that need rows of their own


@dataclass(frozen=True)
class Submitted:
    """A job, and whether an order before with the same key had made it."""

    job: Job
    is_replay: bool


def preview(request: TrainRequest) -> Dataset:
    """What would be trained on; InvalidData if it cannot be."""
    data = make_dataset(request.table, request.plan)
    validation_of(request.table, request.plan)
    faults = [*_of_params(request, data), *_of_plan(request, data)]
    if faults:
        raise InvalidData("Some parameters contradict each other.", faults)
    return data


def check(request: TrainRequest) -> bytes:
    """The request as it will be kept; InvalidData if the data cannot be trained on."""
    preview(request)
    return write_request(request)


def keyed(terms: Terms, name: str, body: bytes) -> Terms:
    """The terms under a caller's key, with the digest of the order they belong to."""
    order = body + orjson.dumps(asdict(replace(terms, key=None)))
    return replace(terms, key=Key(name, sha256(order).hexdigest()))


def submit(session: Session, model: str, body: bytes, max_attempts: int, terms: Terms) -> Submitted:
    """The job that was written; from the commit on it cannot be lost."""
    job_id = str(uuid4())
    job = jobs.submit(session, job_id, model, body, max_attempts, terms)
    return Submitted(job, job.id != job_id)


def _of_params(request: TrainRequest, data: Dataset) -> Iterator[Fault]:
    for name, detail in contradictions(
        request.params,
        request.overrides,
        is_regression=data.is_regression,
        has_costs=has_costs(data.attributes),
    ):
        yield Fault(pointer("params", name), detail)


def _of_plan(request: TrainRequest, data: Dataset) -> Iterator[Fault]:
    pruning = request.params.pruning
    if request.plan.validation_rows and pruning not in HOLDING_OUT:
        ways = " or ".join(HOLDING_OUT)
        detail = f"validation_rows are for pruning = {ways}, but pruning is {pruning}"
        yield Fault("/validation_rows", detail)
    if request.plan.class_weights and data.is_regression:
        yield Fault("/class_weights", "the target is a number, so it has no classes to weigh")
