"""The tables; migrations/ holds the same, step by step."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Double,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from service.storage.clock import Instant
from service.storage.records import DeliveryState, FileState, JobKind, JobState
from service.storage.text import PlainText

# Names are ordered by code point on both databases, whatever the locale of PostgreSQL.
Name = PlainText().with_variant(PlainText(collation="C"), "postgresql")
IS_STATE = f"state IN ({', '.join(repr(state.value) for state in JobState)})"
IS_DELIVERY_STATE = f"state IN ({', '.join(repr(state.value) for state in DeliveryState)})"
IS_FILE_STATE = f"state IN ({', '.join(repr(state.value) for state in FileState)})"
RUNNING_TRAINING: dict[str, Any] = {
    f"{dialect}_where": text(f"state = '{JobState.RUNNING}' AND kind = '{JobKind.TRAIN}'")
    for dialect in ("sqlite", "postgresql")
}
# The rows of a tree are always asked for by their key: SQLite then keeps them in the key itself.
KEYED = {"sqlite_with_rowid": False}


class Row(DeclarativeBase):
    """A row of one of our tables."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012
        str: PlainText(),
        float: Double(),
        datetime: Instant(),
        dict[str, Any]: JSON(),
    }


class ModelRow(Row):
    """A name; `latest` counts its versions and is never set back."""

    __tablename__ = "models"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Name, unique=True)
    latest: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class VersionRow(Row):
    """One trained result."""

    __tablename__ = "versions"
    __table_args__ = (UniqueConstraint("model_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    model_id: Mapped[int] = mapped_column(ForeignKey("models.id", ondelete="CASCADE"))
    number: Mapped[int]
    # One job, one version. No foreign key: a version outlives the jobs of its day.
    job_id: Mapped[str] = mapped_column(unique=True)
    task: Mapped[str]
    target: Mapped[str]
    attributes: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    ignored: Mapped[list[str]] = mapped_column(JSON)
    params: Mapped[dict[str, Any]]
    metrics: Mapped[dict[str, Any]]
    n_rows: Mapped[int]
    n_nodes: Mapped[int]
    n_leaves: Mapped[int]
    depth: Mapped[int]
    created_at: Mapped[datetime]
    alpha: Mapped[float | None]  # of its cost-complexity sequence; NULL: it has none
    group_costs: Mapped[dict[str, Any]] = mapped_column(server_default="{}")


class ClassRow(Row):
    """The name of a class of a version."""

    __tablename__ = "classes"
    __table_args__ = KEYED

    version_id: Mapped[int] = mapped_column(
        ForeignKey("versions.id", ondelete="CASCADE"), primary_key=True
    )
    class_id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]


class NodeRow(Row):
    """A node, with the condition on the edge that leads to it and the split it makes."""

    __tablename__ = "nodes"
    __table_args__ = KEYED

    version_id: Mapped[int] = mapped_column(
        ForeignKey("versions.id", ondelete="CASCADE"), primary_key=True
    )
    node_id: Mapped[int] = mapped_column(primary_key=True)
    parent: Mapped[int | None]  # NULL at the root
    depth: Mapped[int]
    branch: Mapped[int]
    operator: Mapped[str | None]  # '=', '<=', '>', 'in' or 'is null'; NULL at the root
    threshold: Mapped[float | None]  # of an ordinal attribute: the rank of the category
    category: Mapped[str | None]
    share: Mapped[float]
    weight: Mapped[float]
    impurity: Mapped[float]
    attribute: Mapped[str | None]  # NULL where it never splits; a leaf may, at a smaller alpha
    split: Mapped[str | None]  # 'multiway', 'threshold', 'subset' or 'one_vs_rest'; likewise
    gain: Mapped[float | None]  # likewise
    mean: Mapped[float | None]  # of the target, in regression
    variance: Mapped[float | None]
    alpha_cut: Mapped[float | None]  # from this alpha on it is a leaf; NULL without a sequence
    state: Mapped[str] = mapped_column(server_default="leaf")  # of NodeState, as it is served


class NodeWeightRow(Row):
    """The weight of a class at a node; where it is zero there is no row."""

    __tablename__ = "node_weights"
    __table_args__ = KEYED

    version_id: Mapped[int] = mapped_column(
        ForeignKey("versions.id", ondelete="CASCADE"), primary_key=True
    )
    node_id: Mapped[int] = mapped_column(primary_key=True)
    class_id: Mapped[int] = mapped_column(primary_key=True)
    weight: Mapped[float]


class NodeValueRow(Row):
    """A category of an edge that carries a set of them."""

    __tablename__ = "node_values"
    __table_args__ = KEYED

    version_id: Mapped[int] = mapped_column(
        ForeignKey("versions.id", ondelete="CASCADE"), primary_key=True
    )
    node_id: Mapped[int] = mapped_column(primary_key=True)
    value: Mapped[str] = mapped_column(primary_key=True)


class AliasRow(Row):
    """A second name for one version of a model."""

    __tablename__ = "aliases"

    model_id: Mapped[int] = mapped_column(
        ForeignKey("models.id", ondelete="CASCADE"), primary_key=True
    )
    name: Mapped[str] = mapped_column(Name, primary_key=True)
    version_id: Mapped[int] = mapped_column(
        ForeignKey("versions.id", ondelete="CASCADE"), index=True
    )


class AliasMoveRow(Row):
    """One move of an alias; kept when the alias is gone."""

    __tablename__ = "alias_log"
    __table_args__ = (Index(None, "model_id", "alias"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    model_id: Mapped[int] = mapped_column(ForeignKey("models.id", ondelete="CASCADE"))
    alias: Mapped[str] = mapped_column(Name)
    number: Mapped[int | None]  # of the version; NULL: the alias was removed
    moved_at: Mapped[datetime]


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


class FileRow(Row):
    """A file beside the database; it is known here before it is written and until it is gone."""

    __tablename__ = "files"
    __table_args__ = (CheckConstraint(IS_FILE_STATE, name="state"),)

    name: Mapped[str] = mapped_column(Name, primary_key=True)
    state: Mapped[str] = mapped_column(index=True)
    format: Mapped[str]
    n_bytes: Mapped[int | None] = mapped_column(BigInteger)
    checksum: Mapped[str | None]  # SHA-256 of the file
    job_id: Mapped[str | None] = mapped_column(Name, index=True)  # whose result it is
    lease_token: Mapped[str | None]  # of the claim under which it is written
    created_at: Mapped[datetime]


class DatasetRow(Row):
    """An uploaded table: what is known of its columns, and the file that holds it."""

    __tablename__ = "datasets"
    __table_args__ = (Index(None, "created_at", "id"),)

    id: Mapped[str] = mapped_column(Name, primary_key=True)
    name: Mapped[str | None]
    file: Mapped[str] = mapped_column(Name, ForeignKey("files.name"), unique=True)
    format: Mapped[str]  # in which it was sent
    n_rows: Mapped[int] = mapped_column(BigInteger)
    columns: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    warnings: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    first_line: Mapped[int | None]  # of the first row; NULL: lines are not rows
    n_bytes: Mapped[int] = mapped_column(BigInteger)  # as sent
    checksum: Mapped[str]  # SHA-256 of what was sent
    created_at: Mapped[datetime]
