"""The tables of jobs, and of what is to be told and kept for them."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, CheckConstraint, ForeignKey, Index, LargeBinary, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from service.storage.records import DeliveryState, JobKind, JobState
from service.storage.tables import Name, Row

IS_STATE = f"state IN ({', '.join(repr(state.value) for state in JobState)})"
IS_DELIVERY_STATE = f"state IN ({', '.join(repr(state.value) for state in DeliveryState)})"
RUNNING_TRAINING: dict[str, Any] = {
    f"{dialect}_where": text(f"state = '{JobState.RUNNING}' AND kind = '{JobKind.TRAIN}'")
    for dialect in ("sqlite", "postgresql")
}


class JobRow(Row):
    """An order to train or to score, its state, and whose it is at the moment."""

    __tablename__ = "jobs"
    __table_args__ = (
        CheckConstraint(IS_STATE, name="state"),
        Index(None, "state", "priority", "created_at", "id"),
        Index(None, "model", "created_at", "id"),
        Index(None, "created_at", "id"),
        Index(None, "finished_at"),
        Index(None, "model", "state"),  # for each job in line: is another of its model before it?
        Index("uq_jobs_idempotency_key", "idempotency_key", unique=True),
        Index(None, "dataset_id", "state"),
        # Of one model one training runs at a time, whatever two workers believe at that moment.
        Index("uq_jobs_running_model", "model", unique=True, **RUNNING_TRAINING),
    )

    id: Mapped[str] = mapped_column(Name, primary_key=True)
    model: Mapped[str] = mapped_column(Name)
    state: Mapped[str]
    fraction: Mapped[float]
    stage: Mapped[str]
    nodes: Mapped[int]
    attempt: Mapped[int]
    max_attempts: Mapped[int]
    error: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    version: Mapped[int | None]
    cancel_requested: Mapped[bool]
    run_after: Mapped[datetime]
    lease_owner: Mapped[str | None]
    lease_token: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    priority: Mapped[int] = mapped_column(server_default="0")  # higher first
    limit_seconds: Mapped[float | None]  # NULL: what the settings say
    limit_memory_bytes: Mapped[int | None] = mapped_column(BigInteger)  # likewise
    idempotency_key: Mapped[str | None] = mapped_column(Name)
    digest: Mapped[str | None]  # of the order that has this key
    kind: Mapped[str] = mapped_column(server_default=JobKind.TRAIN)
    rows: Mapped[int] = mapped_column(BigInteger, server_default="0")
    # Of what it reads. No foreign key: a job that has ended outlives its dataset.
    dataset_id: Mapped[str | None] = mapped_column(Name)
    warnings: Mapped[list[dict[str, Any]] | None] = mapped_column(JSON(none_as_null=True))
    delivery: Mapped["DeliveryRow | None"] = relationship(lazy="joined", viewonly=True)


class JobInputRow(Row):
    """What a job is to train on; apart, since SQLite writes a whole row at each heartbeat."""

    __tablename__ = "job_inputs"

    job_id: Mapped[str] = mapped_column(
        Name, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True
    )
    body: Mapped[bytes] = mapped_column(LargeBinary)


class DeliveryRow(Row):
    """A webhook that is called when its job has ended."""

    __tablename__ = "deliveries"
    __table_args__ = (
        CheckConstraint(IS_DELIVERY_STATE, name="state"),
        Index(None, "state", "run_after"),
    )

    job_id: Mapped[str] = mapped_column(
        Name, ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True
    )
    url: Mapped[str]
    secret: Mapped[str | None]  # NULL as soon as it is no longer needed
    state: Mapped[str]
    attempts: Mapped[int]
    last_error: Mapped[str | None]
    run_after: Mapped[datetime]  # while it is being delivered: when its lease runs out
    lease_token: Mapped[str | None]
