"""The jobs row is the queue. Each verb is one compare-and-set: the old state stands in WHERE.

Whoever claims a job gets a token, and every later write of his asks for it: a worker that was
stopped for too long and lost its lease can change nothing any more.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, TypeAlias
from uuid import uuid4

from sqlalchemy import ColumnElement, Row, Select, Update, case, delete, false, select, true, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from service.errors import Conflict, Fault, LeaseLost, NotFound
from service.storage.clock import after as after_seconds
from service.storage.clock import now
from service.storage.deliveries import to_delivery
from service.storage.job_tables import JobInputRow, JobRow
from service.storage.line import NO_LEASE, WAITING, first_in_line
from service.storage.orders import place
from service.storage.paging import Order, paged, to_page
from service.storage.records import (
    UNDER_WAY,
    Claim,
    Job,
    JobKind,
    JobState,
    Limits,
    NewJob,
    Page,
    Position,
    Progress,
    Terms,
)

Seen: TypeAlias = Row[JobRow, datetime]  # and when that was, by the database's clock

NEWEST_FIRST = Order((JobRow.created_at, JobRow.id), descending=True)
FRESH: dict[str, Any] = {"populate_existing": True}  # rows are changed behind the session's back
NO_TERMS = Terms()
RETRY_SECONDS = 1.0  # times the number of attempts that failed
ABANDONED = {
    "type": "/problems/interrupted",
    "title": "The training was interrupted",
    "detail": "The worker was lost in every attempt; perhaps the training needs too much memory.",
}


def submit(
    session: Session,
    job_id: str,
    new: NewJob,
    max_attempts: int,
    terms: Terms = NO_TERMS,
) -> Job:
    """A new job in the queue, with what it is to do; or the job that has its key."""
    return fetch_job(session, place(session, job_id, new, max_attempts, terms))


def fetch_job(session: Session, job_id: str) -> Job:
    """The job with this id."""
    statement = select(JobRow, now()).where(JobRow.id == job_id).execution_options(**FRESH)
    seen = session.execute(statement).first()
    if seen is None:
        raise NotFound(f"There is no job {job_id!r}.")
    return _job(*seen)


def fetch_input(session: Session, job_id: str) -> bytes:
    """What the job is to train on."""
    body = session.scalar(select(JobInputRow.body).where(JobInputRow.job_id == job_id))
    if body is None:
        raise NotFound(f"The job {job_id!r} has ended: its input is gone.")
    return body


def list_jobs(
    session: Session,
    *,
    model: str | None = None,
    state: JobState | None = None,
    after: Position | None = None,
    limit: int,
) -> Page[Job]:
    """One page of the jobs, the newest first."""
    statement = select(JobRow, now()).execution_options(**FRESH)
    if model is not None:
        statement = statement.where(JobRow.model == model)
    if state is not None:
        statement = statement.where(JobRow.state == state)
    seen = session.execute(paged(statement, NEWEST_FIRST, after, limit)).all()
    return to_page(seen, limit, _jobs, lambda job: (job.created_at.isoformat(), job.id))


def claim(session: Session, owner: str, lease_seconds: float) -> Claim | None:
    """The first job in line, now ours; None if none waits, or another took its model's turn."""
    token = uuid4().hex
    statement = (
        _update(JobRow.state == JobState.QUEUED, JobRow.id == first_in_line())
        .values(
            state=JobState.RUNNING,
            stage="starting",
            attempt=JobRow.attempt + 1,
            started_at=now(),
            lease_owner=owner,
            lease_token=token,
            lease_until=after_seconds(lease_seconds),
        )
        .returning(JobRow)
    )
    try:
        with session.begin_nested():
            row = session.scalars(statement, execution_options=FRESH).first()
    except IntegrityError:  # at this moment another worker started a job of the same model
        return None
    if row is None:
        return None
    limits = Limits(row.limit_seconds, row.limit_memory_bytes)
    kind = JobKind(row.kind)
    return Claim(row.id, token, row.attempt, row.max_attempts, row.model, limits, kind, row.version)


def renew(session: Session, claim: Claim, progress: Progress, lease_seconds: float) -> bool:
    """Whether somebody asked to cancel the job, which stays ours for another lease."""
    return _change(
        session,
        claim,
        fraction=progress.fraction,
        stage=progress.stage,
        nodes=progress.nodes,
        rows=progress.rows,
        lease_until=after_seconds(lease_seconds),
    )


def finish(
    session: Session, claim: Claim, version_number: int | None, warnings: Sequence[Fault] = ()
) -> None:
    """End the job as succeeded; belongs into the transaction that keeps its result."""
    told = [asdict(each) for each in warnings]
    done = {"fraction": 1.0, "stage": "done", "version": version_number, "warnings": told or None}
    _end(session, claim, JobState.SUCCEEDED, **done)


def fail(session: Session, claim: Claim, problem: dict[str, Any], *, retry: bool) -> None:
    """End the job as failed, or put it back into the queue if it may be tried again."""
    if not retry or claim.attempt >= claim.max_attempts:
        _end(session, claim, JobState.FAILED, error=problem)
        return
    wait = after_seconds(RETRY_SECONDS * claim.attempt)
    if _change(session, claim, **WAITING, run_after=wait):
        _cancel_waiting(session, [claim.job_id])


def release(session: Session, claim: Claim) -> None:
    """Give the job back untried, because its worker stops; the attempt does not count."""
    if _change(session, claim, **WAITING, attempt=JobRow.attempt - 1, run_after=now()):
        _cancel_waiting(session, [claim.job_id])


def cancelled(session: Session, claim: Claim) -> None:
    """End the job as cancelled, its training having been stopped."""
    _end(session, claim, JobState.CANCELLED)


def cancel(session: Session, job_id: str) -> Job:
    """The job, cancelled if it waited, or else with the wish noted for its worker."""
    waits = JobRow.state == JobState.QUEUED
    touched = session.execute(
        _update(JobRow.id == job_id, JobRow.state.in_(UNDER_WAY))
        .values(
            state=case((waits, JobState.CANCELLED), else_=JobRow.state),
            finished_at=case((waits, now()), else_=JobRow.finished_at),
            cancel_requested=True,
        )
        .returning(JobRow.state)
    ).first()
    if touched is None:
        state = fetch_job(session, job_id).state
        raise Conflict(f"The job {job_id!r} has ended: it is {state}.")
    if touched.state == JobState.CANCELLED:
        _drop_inputs(session, [job_id])
    return fetch_job(session, job_id)


def reap(session: Session) -> int:
    """How many jobs had lost their worker; each ended or waits for another worker now."""
    # Time goes on between the statements: a lease may run out for the last of them alone, which
    # must not take what the first ones are there for.
    lost, is_wanted = JobRow.id.in_(_lost()), JobRow.cancel_requested == false()
    cancelled_ones = _update(lost, JobRow.cancel_requested == true()).values(
        state=JobState.CANCELLED, finished_at=now(), **NO_LEASE
    )
    failed_ones = _update(lost, is_wanted, JobRow.attempt >= JobRow.max_attempts).values(
        state=JobState.FAILED, finished_at=now(), error=ABANDONED, **NO_LEASE
    )
    waiting_ones = _update(lost, is_wanted, JobRow.attempt < JobRow.max_attempts).values(
        **WAITING, run_after=now()
    )
    ended = [
        job_id
        for statement in (cancelled_ones, failed_ones)
        for job_id in session.scalars(statement.returning(JobRow.id))
    ]
    _drop_inputs(session, ended)
    return len(ended) + len(session.scalars(waiting_ones.returning(JobRow.id)).all())


def _lost() -> Select[str]:
    # A worker that stands still may hold its row locked: nobody else has to wait for that.
    ran_out = (JobRow.state == JobState.RUNNING, JobRow.lease_until < now())
    return select(JobRow.id).where(*ran_out).with_for_update(skip_locked=True)


def _update(*conditions: ColumnElement[bool]) -> Update:
    return update(JobRow).where(*conditions).execution_options(synchronize_session=False)


def _change(session: Session, claim: Claim, **values: Any) -> bool:
    """Whether somebody asked to cancel the job, which is changed if it is still ours."""
    ours = (
        JobRow.id == claim.job_id,
        JobRow.lease_token == claim.token,
        JobRow.state == JobState.RUNNING,
    )
    statement = _update(*ours).values(**values).returning(JobRow.cancel_requested)
    cancel_requested = session.scalar(statement)
    if cancel_requested is None:
        raise LeaseLost(f"The job {claim.job_id!r} is no longer ours.")
    return bool(cancel_requested)


def _end(session: Session, claim: Claim, state: JobState, **values: Any) -> None:
    _change(session, claim, state=state, finished_at=now(), **NO_LEASE, **values)
    _drop_inputs(session, [claim.job_id])


def _cancel_waiting(session: Session, job_ids: Sequence[str]) -> None:
    session.execute(
        _update(JobRow.id.in_(job_ids), JobRow.state == JobState.QUEUED).values(
            state=JobState.CANCELLED, finished_at=now()
        )
    )
    _drop_inputs(session, job_ids)


def _drop_inputs(session: Session, job_ids: Sequence[str]) -> None:
    session.execute(
        delete(JobInputRow)
        .where(JobInputRow.job_id.in_(job_ids))
        .execution_options(synchronize_session=False)
    )


def _jobs(seen: Sequence[Seen]) -> list[Job]:
    return [_job(*each) for each in seen]


def _job(row: JobRow, seen_at: datetime) -> Job:
    return Job(
        id=row.id,
        kind=JobKind(row.kind),
        model=row.model,
        dataset=row.dataset_id,
        state=JobState(row.state),
        progress=Progress(row.fraction, row.stage, row.nodes, row.rows),
        attempt=row.attempt,
        max_attempts=row.max_attempts,
        error=row.error,
        version=row.version,
        warnings=tuple(Fault(**each) for each in row.warnings or ()),
        cancel_requested=row.cancel_requested,
        priority=row.priority,
        webhook=to_delivery(row.delivery),
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        elapsed_seconds=_elapsed(row.started_at, row.finished_at or seen_at),
    )


def _elapsed(started_at: datetime | None, until: datetime) -> float | None:
    """To the millisecond, which is all that SQLite keeps."""
    if started_at is None:
        return None
    return max(0.0, round((until - started_at).total_seconds(), 3))
