"""What must hold in a database whatever happened to the processes, once they have come to rest."""

from sqlalchemy import text

from service.storage.engine import Store

# Each finds what must not be there.
QUESTIONS = {
    "has not ended": """
        SELECT id FROM jobs WHERE finished_at IS NULL OR state IN ('queued', 'running')""",
    "has a lease": """
        SELECT id FROM jobs
        WHERE lease_owner IS NOT NULL OR lease_token IS NOT NULL OR lease_until IS NOT NULL""",
    "keeps its input": "SELECT job_id FROM job_inputs",
    "was tried too often": "SELECT id FROM jobs WHERE attempt > max_attempts",
    "succeeded without one version": """
        SELECT id FROM jobs
        WHERE state = 'succeeded' AND kind = 'train' AND (error IS NOT NULL OR 1 <> (
            SELECT count(*) FROM versions JOIN models ON models.id = versions.model_id
            WHERE job_id = jobs.id AND number = jobs.version AND models.name = jobs.model))""",
    "has a version and did not succeed": """
        SELECT jobs.id FROM jobs JOIN versions ON job_id = jobs.id WHERE state <> 'succeeded'""",
    "failed and does not say why": "SELECT id FROM jobs WHERE state = 'failed' AND error IS NULL",
    "was cancelled by nobody": """
        SELECT id FROM jobs WHERE state = 'cancelled' AND NOT cancel_requested""",
    "is no whole tree": """
        SELECT id FROM versions
        WHERE n_nodes <> (
            SELECT count(*) FROM nodes WHERE version_id = versions.id AND state <> 'pruned')
        OR n_leaves <> (
            SELECT count(*) FROM nodes WHERE version_id = versions.id AND state = 'leaf')
        OR n_nodes <> (
            SELECT count(DISTINCT nodes.node_id) FROM nodes JOIN node_weights
            ON node_weights.version_id = nodes.version_id AND node_weights.node_id = nodes.node_id
            WHERE nodes.version_id = versions.id AND share > 0)
        + (
            SELECT count(*) FROM nodes WHERE version_id = versions.id AND share = 0)""",
    "has a gap in its versions": """
        SELECT name FROM models
        WHERE latest <> (SELECT count(*) FROM versions WHERE model_id = models.id)""",
}
IN_A_TRANSACTION = """
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
    AND now() - xact_start > interval '0.5 seconds'"""


def violations(store: Store) -> list[str]:
    """What does not hold, a line each."""
    with store.reading() as session:
        return [
            f"{row[0]} {claim}"
            for claim, question in QUESTIONS.items()
            for row in session.execute(text(question))
        ]


def is_free(store: Store) -> bool:
    """Whether nobody holds a lock or an open transaction."""
    if store.engine.dialect.name == "sqlite":
        with store.writing() as session:  # waits for its turn, and would wait in vain
            session.execute(text("SELECT 1"))
        return True
    with store.reading() as session:
        return [] == session.execute(text(IN_A_TRANSACTION)).all()
