import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from threading import Timer

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError, OperationalError

from service.errors import Unavailable
from service.storage.clock import Instant, after, now
from service.storage.engine import Store, open_store
from service.storage.tables import ModelRow
from tests.postgres import Postgres, started_own

FORKED = """
import os, sys
from sqlalchemy import text
from service.storage.engine import open_store

store = open_store(sys.argv[1])

def connection():
    with store.reading() as session:
        return session.scalar(text("SELECT pg_backend_pid()"))

before = connection()
if os.fork() == 0:
    store.forget()
    print("child", connection() == before, flush=True)
    os._exit(0)
os.wait()
print("parent", connection() == before)
"""


def test_a_transaction_that_fails_leaves_nothing_behind(store: Store) -> None:
    def write_and_fail() -> None:
        with store.writing() as session:
            session.add(a_model("melons"))
            session.flush()
            raise KeyError

    with pytest.raises(KeyError):
        write_and_fail()

    with store.reading() as session:
        assert [] == session.scalars(select(ModelRow)).all()


def test_writers_who_read_first_wait_for_each_other(store: Store) -> None:
    with store.writing() as session:
        session.add(a_model("counter"))

    def count(_: int) -> None:
        with store.writing() as session:
            row = session.scalar(select(ModelRow).with_for_update())
            row.latest += 1

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(count, range(40)))

    with store.reading() as session:
        assert 40 == session.scalar(select(ModelRow.latest))


def test_a_reader_sees_one_moment_of_the_database(store: Store) -> None:
    with store.reading() as session:
        before = session.scalars(select(ModelRow.name)).all()
        with store.writing() as other:
            other.add(a_model("melons"))
        assert before == session.scalars(select(ModelRow.name)).all()


def test_a_misspelt_statement_is_no_outage(store: Store) -> None:
    with pytest.raises(DBAPIError), store.reading() as session:
        session.execute(text("SELECT nothing FROM nowhere"))


def test_values_do_not_stand_in_the_text_of_an_error(store: Store) -> None:
    with pytest.raises(DBAPIError) as caught, store.writing() as session:
        session.execute(text("INSERT INTO nowhere VALUES (:value)"), {"value": "a secret"})

    assert "a secret" not in str(caught.value)


def test_a_database_that_does_not_answer_is_unavailable_and_comes_back(tmp_path: Path) -> None:
    with started_own(tmp_path) as postgres:
        store = open_store(postgres.url("postgres"))
        assert 1 == one_from(store)  # the connection is kept, and will be found dead
        postgres.stop()
        with pytest.raises(Unavailable):
            one_from(store)
        postgres.start()
        assert 1 == one_from(store)
        store.dispose()


def test_a_locked_file_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.storage.engine.PATIENCE", 0.02)
    store = open_store(f"sqlite:///{tmp_path / 'bough.db'}")
    other = sqlite3.connect(tmp_path / "bough.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(Unavailable), store.writing() as session:
        session.execute(text("SELECT 1"))
    other.execute("COMMIT")
    with store.writing() as session:
        assert 20 == session.scalar(text("PRAGMA busy_timeout"))  # as it was before it waited
    other.close()
    store.dispose()


def test_what_is_wrong_with_a_value_is_no_matter_of_the_database(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'bough.db'}")

    with pytest.raises(OperationalError, match="decode"), store.reading() as session:
        session.execute(text("SELECT CAST(x'ff' AS TEXT)")).all()
    store.dispose()


def test_who_waits_for_others_to_write_gets_his_turn(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'bough.db'}")
    other = sqlite3.connect(tmp_path / "bough.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    Timer(0.1, lambda: other.execute("COMMIT")).start()

    with store.writing() as session:
        assert not other.in_transaction
        assert 1 == session.scalar(text("SELECT 1"))
    other.close()
    store.dispose()


def test_a_sqlite_file_gets_its_directory_and_our_pragmas(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "bough.db"
    store = open_store(f"sqlite:///{path}")

    with store.reading() as session:
        told = [
            session.scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "foreign_keys", "busy_timeout", "synchronous")
        ]

    assert ["wal", 1, 30_000, 1] == told
    assert str(path) == store.place
    store.dispose()


def test_the_place_of_the_data_is_shown_without_the_password() -> None:
    store = open_store("postgresql://me:secret@somewhere/bough")

    assert "secret" not in store.place
    assert "somewhere/bough" in store.place


@pytest.mark.parametrize("url", ["mysql://somewhere/bough", "bough", ""])
def test_a_database_we_do_not_know_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"database"):
        open_store(url)


def test_a_moment_comes_back_in_utc_and_compares_with_the_clock_of_the_database(
    store: Store,
) -> None:
    here = datetime.now(timezone(timedelta(hours=9)))
    with store.writing() as session:
        session.add(a_model("melons", here))
        session.flush()
        moment = ModelRow.created_at
        kept = session.scalar(select(moment).where(moment.between(after(-60), after(60))))
        clock = session.scalar(select(now()))

    assert here == kept
    assert kept.tzinfo is UTC
    assert abs(clock - here) < timedelta(seconds=60)
    assert Instant().process_result_value(None, None) is None


def a_model(name: str, moment: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> ModelRow:
    return ModelRow(name=name, latest=0, created_at=moment, updated_at=moment)


def one_from(store: Store) -> int:
    with store.reading() as session:
        return session.scalar(text("SELECT 1"))


def test_a_process_that_was_forked_opens_connections_of_its_own(postgres: Postgres) -> None:
    command = [sys.executable, "-c", FORKED, postgres.url("postgres")]
    told = subprocess.check_output(command, text=True, stderr=subprocess.STDOUT)

    assert ["child False", "parent True"] == told.splitlines()
