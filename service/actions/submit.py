"""Submitting: all that can be checked is checked, then the job is written."""

from collections.abc import Iterator
from uuid import uuid4

from service.actions.request import TrainRequest, write_request
from service.errors import Fault, InvalidData, pointer
from service.storage import jobs
from service.storage.engine import Session
from service.storage.records import Job
from service.tree.checks import contradictions
from service.tree.costs import has_costs
from service.tree.dataset import Dataset
from service.tree.training import make_dataset, validation_of

HOLDING_OUT = ("hold_out", "reduced_error")  # ways of pruning that need rows of their own


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


def submit(session: Session, model: str, body: bytes, max_attempts: int) -> Job:
    """The job that was written; from the commit on it cannot be lost."""
    return jobs.submit(session, str(uuid4()), model, body, max_attempts)


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
