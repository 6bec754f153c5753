"""Datasets and the files that hold them; jobs that score one; rows in the progress of a job."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
RUNNING = sa.text("state = 'running'")
RUNNING_TRAINING = sa.text("state = 'running' AND kind = 'train'")
COLUMNS = ("kind", "rows", "dataset_id", "warnings")
# What the release before does not know: jobs that score, or train on a dataset.
UNKNOWN = "kind <> 'train' OR dataset_id IS NOT NULL"


def upgrade() -> None:
    create_files()
    create_datasets()
    op.add_column("jobs", sa.Column("kind", sa.Text, nullable=False, server_default="train"))
    op.add_column("jobs", sa.Column("rows", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("jobs", sa.Column("dataset_id", NAME))
    op.add_column("jobs", sa.Column("warnings", sa.JSON))
    op.create_index("ix_jobs_dataset_id_state", "jobs", ["dataset_id", "state"])
    op.drop_index("uq_jobs_running_model", "jobs")
    index_running(RUNNING_TRAINING)


def create_files() -> None:
    op.create_table(
        "files",
        sa.Column("name", NAME, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("format", sa.Text, nullable=False),
        sa.Column("n_bytes", sa.BigInteger),
        sa.Column("checksum", sa.Text),
        sa.Column("job_id", NAME),
        sa.Column("lease_token", sa.Text),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_files"),
        sa.CheckConstraint("state IN ('pending', 'kept', 'doomed')", name="ck_files_state"),
    )
    op.create_index("ix_files_state", "files", ["state"])
    op.create_index("ix_files_job_id", "files", ["job_id"])


def create_datasets() -> None:
    op.create_table(
        "datasets",
        sa.Column("id", NAME, nullable=False),
        sa.Column("name", sa.Text),
        sa.Column("file", NAME, nullable=False),
        sa.Column("format", sa.Text, nullable=False),
        sa.Column("n_rows", sa.BigInteger, nullable=False),
        sa.Column("columns", sa.JSON, nullable=False),
        sa.Column("warnings", sa.JSON, nullable=False),
        sa.Column("first_line", sa.Integer),
        sa.Column("n_bytes", sa.BigInteger, nullable=False),
        sa.Column("checksum", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_datasets"),
        sa.ForeignKeyConstraint(["file"], ["files.name"], name="fk_datasets_file_files"),
        sa.UniqueConstraint("file", name="uq_datasets_file"),
    )
    op.create_index("ix_datasets_created_at_id", "datasets", ["created_at", "id"])


def index_running(condition: sa.TextClause) -> None:
    op.create_index(
        "uq_jobs_running_model",
        "jobs",
        ["model"],
        unique=True,
        sqlite_where=condition,
        postgresql_where=condition,
    )


def downgrade() -> None:
    for table in ("job_inputs", "deliveries"):  # by hand: SQLite has no cascade in a migration
        op.execute(f"DELETE FROM {table} WHERE job_id IN (SELECT id FROM jobs WHERE {UNKNOWN})")
    op.execute(f"DELETE FROM jobs WHERE {UNKNOWN}")
    op.drop_index("uq_jobs_running_model", "jobs")
    index_running(RUNNING)
    op.drop_index("ix_jobs_dataset_id_state", "jobs")
    for column in COLUMNS:
        op.drop_column("jobs", column)
    op.drop_table("datasets")
    op.drop_table("files")
