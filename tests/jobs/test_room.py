"""A worker in this process whose result finds no room in the database."""

import sqlite3
from collections.abc import Iterator

import pytest
from sqlalchemy import event, text

from service.errors import NoRoom
from service.storage.engine import Store
from service.storage.records import JobState
from tests.jobs import entries
from tests.jobs.test_worker import fetched, submitted, wait_for, wait_until, working

pytestmark = pytest.mark.usefixtures("fork_server")


@pytest.fixture
def full_store(sqlite_store: Store) -> Iterator[Store]:
    """A database that may hardly grow any more."""
    with sqlite_store.reading() as session:
        most = int(session.scalar(text("PRAGMA page_count"))) + 20
    sqlite_store.dispose()

    def limit(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {most}")

    event.listen(sqlite_store.engine, "connect", limit)
    yield sqlite_store
    event.remove(sqlite_store.engine, "connect", limit)


def test_a_full_database_is_told_from_one_that_does_not_answer(full_store: Store) -> None:
    with pytest.raises(NoRoom):
        submitted(full_store, bytes(1_000_000))


def test_a_tree_without_room_fails_its_job_and_the_next_job_goes_on(full_store: Store) -> None:
    large, small = submitted(full_store, b"9000"), submitted(full_store, b"9")

    with working(full_store, entries.quick):
        failed = wait_for(full_store, large, JobState.FAILED)
        ended = wait_for(full_store, small, JobState.SUCCEEDED)

    assert (1, "/problems/no-room") == (failed.attempt, failed.error["type"])
    assert "no room left on the disk of the database" in failed.error["detail"]
    assert (1, 1) == (ended.attempt, ended.version)


def test_a_worker_told_to_stop_while_there_is_no_room_hands_its_job_back(
    full_store: Store,
) -> None:
    large = submitted(full_store, b"9000")

    with working(full_store, entries.quick):
        wait_until(lambda: fetched(full_store, large).progress.stage == "save")

    waiting = fetched(full_store, large)
    assert (JobState.QUEUED, 0) == (waiting.state, waiting.attempt)
