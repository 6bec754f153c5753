"""Telling the end of a job: each delivery is claimed, tried, and tried again a while later.

Like a job it belongs to whoever has its token; if he is gone, it is due again when his lease runs
out. So it is told at least once.
"""

from typing import Any
from uuid import uuid4

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from service.storage.clock import after, now
from service.storage.job_tables import DeliveryRow, JobRow
from service.storage.records import Delivery, DeliveryState, Errand, Webhook

MOST_ATTEMPTS = 5
FIRST_PAUSE = 2.0  # seconds; it doubles with each attempt
LEASE_SECONDS = 60.0  # far more than an attempt takes


def order(session: Session, job_id: str, webhook: Webhook) -> None:
    """Have the end of a job told."""
    session.execute(
        insert(DeliveryRow).values(
            job_id=job_id,
            url=webhook.url,
            secret=webhook.secret,
            state=DeliveryState.PENDING,
            attempts=0,
            run_after=now(),
        )
    )


def claim(session: Session) -> Errand | None:
    """The delivery that is due for longest, now ours; None if none is."""
    due = (
        select(DeliveryRow.job_id)
        .join(JobRow, JobRow.id == DeliveryRow.job_id)
        .where(
            DeliveryRow.state == DeliveryState.PENDING,
            DeliveryRow.run_after <= now(),
            JobRow.finished_at.is_not(None),
        )
        .order_by(DeliveryRow.run_after, DeliveryRow.job_id)
        .limit(1)
        .with_for_update(of=DeliveryRow, skip_locked=True)
        .scalar_subquery()
    )
    taken = session.execute(
        update(DeliveryRow)
        .where(DeliveryRow.job_id == due, DeliveryRow.state == DeliveryState.PENDING)
        .values(
            attempts=DeliveryRow.attempts + 1,
            lease_token=uuid4().hex,
            run_after=after(LEASE_SECONDS),
        )
        .returning(
            DeliveryRow.job_id,
            DeliveryRow.lease_token,
            DeliveryRow.attempts,
            DeliveryRow.url,
            DeliveryRow.secret,
        )
        .execution_options(synchronize_session=False)
    ).first()
    if taken is None:
        return None
    webhook = Webhook(taken.url, taken.secret)
    return Errand(taken.job_id, taken.lease_token, taken.attempts, webhook)


def delivered(session: Session, errand: Errand) -> None:
    """Note that it was told, if the errand is still ours."""
    _change(session, errand, state=DeliveryState.DELIVERED, secret=None, last_error=None)


def failed(session: Session, errand: Errand, why: str) -> None:
    """Note that it could not be told; unless it was the last attempt, it is due again later."""
    if errand.attempt >= MOST_ATTEMPTS:
        _change(session, errand, state=DeliveryState.FAILED, secret=None, last_error=why)
        return
    pause = FIRST_PAUSE * 2 ** (errand.attempt - 1)
    _change(session, errand, run_after=after(pause), last_error=why)


def to_delivery(row: DeliveryRow | None) -> Delivery | None:
    """How it stands, as everybody may see it."""
    if row is None:
        return None
    return Delivery(DeliveryState(row.state), row.attempts, row.last_error)


def _change(session: Session, errand: Errand, **values: Any) -> None:
    session.execute(
        update(DeliveryRow)
        .where(
            DeliveryRow.job_id == errand.job_id,
            DeliveryRow.lease_token == errand.token,
            DeliveryRow.state == DeliveryState.PENDING,
        )
        .values(lease_token=None, **values)
        .execution_options(synchronize_session=False)
    )
