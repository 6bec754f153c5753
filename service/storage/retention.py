"""How long jobs are kept that have ended; the versions they made are kept for ever."""

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from service.storage.clock import after
from service.storage.job_tables import DeliveryRow, JobRow
from service.storage.records import DeliveryState

BATCH = 100  # so that nobody waits for long on the write lock


def forget(session: Session, keep_seconds: float) -> int:
    """How many jobs were deleted, some of those that ended before so many seconds."""
    untold = select(DeliveryRow.job_id).where(
        DeliveryRow.job_id == JobRow.id, DeliveryRow.state == DeliveryState.PENDING
    )
    old = (
        select(JobRow.id)
        .where(JobRow.finished_at < after(-keep_seconds), ~untold.exists())
        .order_by(JobRow.finished_at)
        .limit(BATCH)
        .with_for_update(of=JobRow, skip_locked=True)  # another worker may be at the same
    )
    statement = delete(JobRow).where(JobRow.id.in_(old)).returning(JobRow.id)
    return len(session.scalars(statement.execution_options(synchronize_session=False)).all())
