from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

from service.errors import Conflict
from service.storage.engine import open_store
from service.storage.migrate import current, downgrade, is_current, upgrade
from service.storage.tables import Row
from tests.race import race


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
