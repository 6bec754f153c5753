"""Jobs on terms: priority, limits, a key, a webhook; of each model one runs at a time."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
RUNNING = sa.text("state = 'running'")
COLUMNS = ("priority", "limit_seconds", "limit_memory_bytes", "idempotency_key", "digest")
# The release before let several jobs of a model run; all but the first wait again, untried.
HAND_BACK = """
    UPDATE jobs
    SET state = 'queued', stage = 'queued', fraction = 0, nodes = 0, started_at = NULL,
        attempt = attempt - 1, lease_owner = NULL, lease_token = NULL, lease_until = NULL
    WHERE state = 'running' AND EXISTS (
        SELECT 1 FROM jobs AS other
        WHERE other.state = 'running' AND other.model = jobs.model AND other.id < jobs.id)
"""


def upgrade() -> None:
    op.add_column("jobs", sa.Column("priority", sa.Integer, nullable=False, server_default="0"))
    op.add_column("jobs", sa.Column("limit_seconds", sa.Double))
    op.add_column("jobs", sa.Column("limit_memory_bytes", sa.BigInteger))
    op.add_column("jobs", sa.Column("idempotency_key", NAME))
    op.add_column("jobs", sa.Column("digest", sa.Text))
    op.drop_index("ix_jobs_state_created_at_id", "jobs")
    op.create_index(
        "ix_jobs_state_priority_created_at_id", "jobs", ["state", "priority", "created_at", "id"]
    )
    op.create_index("uq_jobs_idempotency_key", "jobs", ["idempotency_key"], unique=True)
    op.create_index("ix_jobs_finished_at", "jobs", ["finished_at"])
    op.create_index("ix_jobs_model_state", "jobs", ["model", "state"])
    op.execute(HAND_BACK)
    op.create_index(
        "uq_jobs_running_model",
        "jobs",
        ["model"],
        unique=True,
        sqlite_where=RUNNING,
        postgresql_where=RUNNING,
    )
    create_deliveries()


def create_deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("job_id", NAME, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("secret", sa.Text),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("last_error", sa.Text),
        sa.Column("run_after", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_token", sa.Text),
        sa.PrimaryKeyConstraint("job_id", name="pk_deliveries"),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name="fk_deliveries_job_id_jobs", ondelete="CASCADE"
        ),
        sa.CheckConstraint(
            "state IN ('pending', 'delivered', 'failed')", name="ck_deliveries_state"
        ),
    )
    op.create_index("ix_deliveries_state_run_after", "deliveries", ["state", "run_after"])


def downgrade() -> None:
    op.drop_table("deliveries")
    op.drop_index("uq_jobs_running_model", "jobs")
    op.drop_index("ix_jobs_finished_at", "jobs")
    op.drop_index("ix_jobs_model_state", "jobs")
    op.drop_index("uq_jobs_idempotency_key", "jobs")
    op.drop_index("ix_jobs_state_priority_created_at_id", "jobs")
    op.create_index("ix_jobs_state_created_at_id", "jobs", ["state", "created_at", "id"])
    for column in COLUMNS:
        op.drop_column("jobs", column)
