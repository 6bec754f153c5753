"""Who is next: by priority, then age; and of each model one training at a time."""

from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, and_, or_, select
from sqlalchemy.orm import aliased

from service.storage.clock import now
from service.storage.job_tables import JobRow
from service.storage.records import JobKind, JobState

NO_LEASE: dict[str, Any] = {"lease_owner": None, "lease_token": None, "lease_until": None}
WAITING: dict[str, Any] = {
    "state": JobState.QUEUED,
    "fraction": 0.0,
    "stage": "queued",
    "nodes": 0,
    "rows": 0,
    "started_at": None,
    **NO_LEASE,
}
Other = aliased(JobRow, name="other")


def first_in_line() -> ScalarSelect[str]:
    """The SQL expression for the id of the job to be claimed next."""
    both_train = and_(Other.kind == JobKind.TRAIN, JobRow.kind == JobKind.TRAIN)
    of_its_model = select(Other.id).where(Other.model == JobRow.model, both_train)
    runs = of_its_model.where(Other.state == JobState.RUNNING)
    # also one that waits to be tried again: the versions keep the order of the orders
    is_earlier = of_its_model.where(Other.state == JobState.QUEUED, _is_before())
    return (
        select(JobRow.id)
        .where(
            JobRow.state == JobState.QUEUED,
            JobRow.run_after <= now(),
            ~runs.exists(),
            ~is_earlier.exists(),
        )
        .order_by(JobRow.priority.desc(), JobRow.created_at, JobRow.id)
        .limit(1)
        # SQLite leaves it out: there is one writer anyway
        .with_for_update(of=JobRow, skip_locked=True)
        .scalar_subquery()
    )


def _is_before() -> ColumnElement[bool]:
    same_priority = Other.priority == JobRow.priority
    same_moment = and_(same_priority, Other.created_at == JobRow.created_at)
    return or_(
        Other.priority > JobRow.priority,
        and_(same_priority, Other.created_at < JobRow.created_at),
        and_(same_moment, Other.id < JobRow.id),
    )
