"""New jobs: placed in line with their input, once for each key."""

from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from service.errors import KeyReused, Unavailable
from service.storage import deliveries
from service.storage.clock import now
from service.storage.datasets import hold
from service.storage.job_tables import JobInputRow, JobRow
from service.storage.line import WAITING
from service.storage.records import Key, NewJob, Terms


def place(session: Session, job_id: str, new: NewJob, max_attempts: int, terms: Terms) -> str:
    """The id of the job that was placed in line, or of the one that has its key already."""
    if new.dataset is not None:
        hold(session, new.dataset)
    try:
        with session.begin_nested():
            _insert(session, job_id, new, max_attempts, terms)
    except IntegrityError:
        if terms.key is None:
            raise
        return _keyed(session, terms.key)
    session.execute(insert(JobInputRow).values(job_id=job_id, body=new.body))
    if terms.webhook is not None:
        deliveries.order(session, job_id, terms.webhook)
    return job_id


def _insert(session: Session, job_id: str, new: NewJob, max_attempts: int, terms: Terms) -> None:
    session.execute(
        insert(JobRow).values(
            **WAITING,
            id=job_id,
            kind=new.kind,
            model=new.model,
            dataset_id=new.dataset,
            version=new.version,
            attempt=0,
            max_attempts=max_attempts,
            cancel_requested=False,
            run_after=now(),
            created_at=now(),
            priority=terms.priority,
            limit_seconds=terms.limits.seconds,
            limit_memory_bytes=terms.limits.memory_bytes,
            idempotency_key=terms.key and terms.key.name,
            digest=terms.key and terms.key.digest,
        )
    )


def _keyed(session: Session, key: Key) -> str:
    named = select(JobRow.id, JobRow.digest).where(JobRow.idempotency_key == key.name)
    found = session.execute(named).first()
    if found is None:
        raise Unavailable("The job of this Idempotency-Key is being deleted at this moment.")
    job_id, digest = found
    if digest != key.digest:
        raise KeyReused("This Idempotency-Key was used before, for another order.")
    return job_id
