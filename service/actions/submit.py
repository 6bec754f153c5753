"""Submitting: all that can be checked is checked, then the job is written."""

from uuid import uuid4

from service.actions.train import TrainRequest, write_request
from service.storage import jobs
from service.storage.engine import Session
from service.storage.records import Job
from service.tree.dataset import Dataset
from service.tree.training import make_dataset


def preview(request: TrainRequest) -> Dataset:
    """What would be trained on; InvalidData if it cannot be."""
    return make_dataset(request.table, request.plan)


def check(request: TrainRequest) -> bytes:
    """The request as it will be kept; InvalidData if the data cannot be trained on."""
    preview(request)
    return write_request(request)


def submit(session: Session, model: str, body: bytes, max_attempts: int) -> Job:
    """The job that was written; from the commit on it cannot be lost."""
    return jobs.submit(session, str(uuid4()), model, body, max_attempts)
