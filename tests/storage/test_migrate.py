from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

from service.errors import Conflict
from service.storage import file_tables, job_tables  # noqa: F401 (their tables belong to Row too)
from service.storage.aliases import put_alias
from service.storage.engine import open_store
from service.storage.migrate import current, downgrade, is_current, upgrade
from service.storage.nodes import load_tree
from service.storage.tables import Row
from service.storage.versions import fetch_version, save_version
from service.tree.attribute import Kind
from tests.race import race
from tests.storage.trees import ATTRIBUTES, a_draft, a_tree

# What revision 0001 kept of a stump: density <= 0.4 is no, above is yes.
FIRST_RELEASE = (
    "INSERT INTO models VALUES (1, 'melons', 1, '2026-11-16 07:00:00', '2026-11-16 07:00:00')",
    """INSERT INTO versions VALUES (1, 1, 1, 'a job', 'classification', 'ripe',
       '[{"name": "density", "kind": "numeric", "values": []}]', '[]', '{"preset": "id3"}', '{}',
       4, 3, 2, 1, '2026-11-16 07:00:00')""",
    "INSERT INTO classes VALUES (1, 0, 'yes'), (1, 1, 'no')",
    """INSERT INTO nodes VALUES
       (1, 0, NULL, 0, 0, NULL, NULL, NULL, 1, 4, 0.8, 'density', 'threshold', 0.8),
       (1, 1, 0, 1, 0, '<=', 0.4, NULL, 0.75, 3, 0, NULL, NULL, NULL),
       (1, 2, 0, 1, 1, '>', 0.4, NULL, 0.25, 1, 0, NULL, NULL, NULL)""",
    "INSERT INTO node_weights VALUES (1, 0, 0, 3), (1, 0, 1, 1), (1, 1, 0, 3), (1, 2, 1, 1)",
)

A_RUNNING_JOB = """INSERT INTO jobs (id, model, state, fraction, stage, nodes, attempt,
    max_attempts, cancel_requested, run_after, lease_token, created_at)
    VALUES (:id, 'melons', 'running', 0.5, 'grow', 3, 1, 3, FALSE, '2026-11-16 07:00:00',
    'token', '2026-11-16 07:00:00')"""


def test_the_migrations_make_the_tables_that_the_code_expects(empty_url: str) -> None:
    store = open_store(empty_url)
    upgrade(store)

    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert [] == compare_metadata(context, Row.metadata)
    store.dispose()


def test_a_database_can_go_down_and_up_again(empty_url: str) -> None:
    store = open_store(empty_url)
    assert (None, False) == (current(store), is_current(store))
    upgrade(store)
    assert is_current(store)
    downgrade(store, "base")
    assert ["alembic_version"] == inspect(store.engine).get_table_names()
    upgrade(store)
    upgrade(store)
    assert is_current(store)
    store.dispose()


def test_the_trees_of_the_first_release_are_kept(empty_url: str) -> None:
    store = open_store(empty_url)
    upgrade(store, "0001")
    with store.writing() as session:
        for statement in FIRST_RELEASE:
            session.execute(text(statement))
    upgrade(store)

    with store.reading() as session:
        version = fetch_version(session, "melons")
        tree = load_tree(session, version)
        states = session.scalars(text("SELECT state FROM nodes ORDER BY node_id")).all()
    assert ["inner", "leaf", "leaf"] == states
    assert (None, {}, 1.0) == (version.alpha, version.group_costs, version.attributes[0].cost)
    assert [False, True, True] == tree.is_leaf.tolist()
    assert [[3.0, 1.0], [3.0, 0.0], [0.0, 1.0]] == tree.distribution.tolist()
    store.dispose()


def test_going_back_removes_what_the_release_before_cannot_read(empty_url: str) -> None:
    store = open_store(empty_url)
    upgrade(store)
    plain = tuple(each for each in ATTRIBUTES if each.kind is Kind.NUMERIC)
    stump = a_tree(1)
    with store.writing() as session:
        save_version(session, "plain", a_draft("kept", attributes=plain), stump)
        save_version(session, "ordinal", a_draft("gone"), stump)
        save_version(session, "sequence", a_draft("gone", attributes=plain, alpha=0.5), stump)
        put_alias(session, "gone", "best", 1)
    downgrade(store, "0001")

    with store.reading() as session:
        assert ["plain"] == session.scalars(text("SELECT job_id FROM versions")).all()
        for table in ("nodes", "classes"):
            assert 1 == session.scalar(text(f"SELECT count(DISTINCT version_id) FROM {table}"))
        assert 0 == session.scalar(text("SELECT count(*) FROM aliases"))
    store.dispose()


def test_of_the_jobs_of_a_model_that_ran_together_all_but_one_wait_again(empty_url: str) -> None:
    store = open_store(empty_url)
    upgrade(store, "0002")
    with store.writing() as session:
        for name in ("a", "b"):
            session.execute(text(A_RUNNING_JOB), {"id": name})
    upgrade(store)

    with store.reading() as session:
        rows = session.execute(text("SELECT state, attempt, lease_token FROM jobs ORDER BY id"))
        assert [("running", 1, "token"), ("queued", 0, None)] == [tuple(row) for row in rows]
    downgrade(store, "0002")
    upgrade(store)
    store.dispose()


@pytest.mark.usefixtures("fork_server")
def test_five_processes_that_migrate_at_once_all_succeed(empty_url: str) -> None:
    assert [True] * 5 == race(migrated, empty_url, 5)


def migrated(url: str) -> bool:
    store = open_store(url)
    upgrade(store)
    return is_current(store)


def test_a_database_of_a_newer_release_is_left_alone(empty_url: str) -> None:
    store = open_store(empty_url)
    upgrade(store)
    with store.writing() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))

    with pytest.raises(Conflict, match="9999"):
        upgrade(store)
    store.dispose()


def test_foreign_keys_are_kept_again_after_a_migration(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'bough.db'}")
    upgrade(store)

    with store.reading() as session:
        assert 1 == session.scalar(text("PRAGMA foreign_keys"))
    store.dispose()
