"""The tables; migrations/ holds the same, step by step."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Double,
    ForeignKey,
    Index,
    MetaData,
    UniqueConstraint,
    false,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from service.storage.clock import Instant
from service.storage.text import PlainText

# Names are ordered by code point on both databases, whatever the locale of PostgreSQL.
Name = PlainText().with_variant(PlainText(collation="C"), "postgresql")
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
    warm: Mapped[bool] = mapped_column(server_default=false())  # whether web loads it ahead


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
