"""The first tables: models and their versions, trees as node rows, aliases, jobs."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

INSTANT = sa.DateTime(timezone=True)
NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
TABLES = (
    "job_inputs",
    "jobs",
    "alias_log",
    "aliases",
    "node_values",
    "node_weights",
    "nodes",
    "classes",
    "versions",
    "models",
)


def upgrade() -> None:
    create_models()
    create_versions()
    create_nodes()
    create_aliases()
    create_jobs()


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)


def refers_to(table: str, column: str, of: str) -> sa.ForeignKeyConstraint:
    """A foreign key whose rows go when the row that they belong to goes."""
    name = f"fk_{of}_{column}_{table}"
    return sa.ForeignKeyConstraint([column], [f"{table}.id"], name=name, ondelete="CASCADE")


def create_models() -> None:
    op.create_table(
        "models",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("latest", sa.Integer, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("updated_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_models"),
        sa.UniqueConstraint("name", name="uq_models_name"),
    )


def create_versions() -> None:
    op.create_table(
        "versions",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("model_id", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("job_id", sa.Text, nullable=False),
        sa.Column("task", sa.Text, nullable=False),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("attributes", sa.JSON, nullable=False),
        sa.Column("ignored", sa.JSON, nullable=False),
        sa.Column("params", sa.JSON, nullable=False),
        sa.Column("metrics", sa.JSON, nullable=False),
        sa.Column("n_rows", sa.Integer, nullable=False),
        sa.Column("n_nodes", sa.Integer, nullable=False),
        sa.Column("n_leaves", sa.Integer, nullable=False),
        sa.Column("depth", sa.Integer, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_versions"),
        refers_to("models", "model_id", of="versions"),
        sa.UniqueConstraint("job_id", name="uq_versions_job_id"),
        sa.UniqueConstraint("model_id", "number", name="uq_versions_model_id_number"),
    )
    create_keyed(
        "classes",
        ["version_id", "class_id"],
        sa.Column("class_id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
    )


def create_keyed(table: str, key: list[str], *columns: sa.Column[object]) -> None:
    """A table of rows that belong to a version, kept in their primary key on SQLite."""
    op.create_table(
        table,
        sa.Column("version_id", sa.Integer, nullable=False),
        *columns,
        sa.PrimaryKeyConstraint(*key, name=f"pk_{table}"),
        refers_to("versions", "version_id", of=table),
        sqlite_with_rowid=False,
    )


def create_nodes() -> None:
    create_keyed(
        "nodes",
        ["version_id", "node_id"],
        sa.Column("node_id", sa.Integer, nullable=False),
        sa.Column("parent", sa.Integer),
        sa.Column("depth", sa.Integer, nullable=False),
        sa.Column("branch", sa.Integer, nullable=False),
        sa.Column("operator", sa.Text),
        sa.Column("threshold", sa.Double),
        sa.Column("category", sa.Text),
        sa.Column("share", sa.Double, nullable=False),
        sa.Column("weight", sa.Double, nullable=False),
        sa.Column("impurity", sa.Double, nullable=False),
        sa.Column("attribute", sa.Text),
        sa.Column("split", sa.Text),
        sa.Column("gain", sa.Double),
    )
    create_keyed(
        "node_weights",
        ["version_id", "node_id", "class_id"],
        sa.Column("node_id", sa.Integer, nullable=False),
        sa.Column("class_id", sa.Integer, nullable=False),
        sa.Column("weight", sa.Double, nullable=False),
    )
    create_keyed(
        "node_values",
        ["version_id", "node_id", "value"],
        sa.Column("node_id", sa.Integer, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
    )


def create_aliases() -> None:
    op.create_table(
        "aliases",
        sa.Column("model_id", sa.Integer, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("version_id", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("model_id", "name", name="pk_aliases"),
        refers_to("models", "model_id", of="aliases"),
        refers_to("versions", "version_id", of="aliases"),
    )
    op.create_index("ix_aliases_version_id", "aliases", ["version_id"])
    op.create_table(
        "alias_log",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("model_id", sa.Integer, nullable=False),
        sa.Column("alias", NAME, nullable=False),
        sa.Column("number", sa.Integer),
        sa.Column("moved_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_alias_log"),
        refers_to("models", "model_id", of="alias_log"),
    )
    op.create_index("ix_alias_log_model_id_alias", "alias_log", ["model_id", "alias"])


def create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", NAME, nullable=False),
        sa.Column("model", NAME, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("fraction", sa.Double, nullable=False),
        sa.Column("stage", sa.Text, nullable=False),
        sa.Column("nodes", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("max_attempts", sa.Integer, nullable=False),
        sa.Column("error", sa.JSON),
        sa.Column("version", sa.Integer),
        sa.Column("cancel_requested", sa.Boolean, nullable=False),
        sa.Column("run_after", INSTANT, nullable=False),
        sa.Column("lease_owner", sa.Text),
        sa.Column("lease_token", sa.Text),
        sa.Column("lease_until", INSTANT),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("started_at", INSTANT),
        sa.Column("finished_at", INSTANT),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')",
            name="ck_jobs_state",
        ),
    )
    for columns in (["state", "created_at", "id"], ["model", "created_at", "id"]):
        op.create_index(f"ix_jobs_{'_'.join(columns)}", "jobs", columns)
    op.create_index("ix_jobs_created_at_id", "jobs", ["created_at", "id"])
    op.create_table(
        "job_inputs",
        sa.Column("job_id", NAME, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("job_id", name="pk_job_inputs"),
        refers_to("jobs", "job_id", of="job_inputs"),
    )
