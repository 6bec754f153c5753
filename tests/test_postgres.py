import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import create_engine, text

from tests import postgres as harness
from tests.postgres import Postgres, started_own


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    with started_own(tmp_path_factory.mktemp("postgres")) as postgres:
        yield postgres


def ask(url: str, question: str) -> object:
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            return connection.execute(text(question)).scalar()
    finally:
        engine.dispose()


def test_the_server_answers_in_utf_8(server):
    assert "UTF8" == ask(server.url("postgres"), "SHOW server_encoding")


def test_the_server_is_not_root_and_not_on_the_network(server):
    data = Path(str(ask(server.url("postgres"), "SHOW data_directory")))

    assert 0 != data.stat().st_uid
    assert "" == ask(server.url("postgres"), "SHOW listen_addresses")


def test_a_database_is_a_copy_of_its_template(server):
    with_table = server.create("first")
    engine = create_engine(with_table)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE melons AS SELECT 7 AS ripe"))
    engine.dispose()

    assert 7 == ask(server.create("second", template="first"), "SELECT ripe FROM melons")


def test_a_dropped_database_is_gone_even_with_someone_in_it(server):
    engine = create_engine(server.create("short_lived"))
    connection = engine.connect()

    server.drop("short_lived")

    connection.invalidate()
    engine.dispose()
    count = "SELECT count(*) FROM pg_database WHERE datname = 'short_lived'"
    assert 0 == ask(server.url("postgres"), count)


def test_a_restart_keeps_the_data(tmp_path):
    with started_own(tmp_path) as postgres:
        url = postgres.create("kept")
        postgres.stop()
        postgres.start()

        assert 1 == ask(url, "SELECT 1")


def test_programs_closed_to_the_user_are_copied_and_nothing_else_is_touched(tmp_path, monkeypatch):
    closed = tmp_path / "closed"
    monkeypatch.setenv("PG_BIN", str(harness.copied(harness.programs(), closed)))
    closed.chmod(0o700)

    with started_own(tmp_path) as postgres:
        assert 1 == ask(postgres.url("postgres"), "SELECT 1")
    assert 0o700 == closed.stat().st_mode & 0o777


def test_the_server_goes_with_the_tests_even_when_they_are_killed(tmp_path):
    program = (
        "import sys, time; from pathlib import Path; from tests.postgres import Server;"
        "server = Server(Path(sys.argv[1])); server.start();"
        "print(server.home, flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as tests:
        home = Path(tests.stdout.readline().strip())
        assert home.is_dir()
        os.kill(tests.pid, signal.SIGKILL)

    until = time.monotonic() + 20
    while home.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not home.exists()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(host=str(home), port=harness.PORT, user="postgres")


def test_without_any_postgres_a_sentence_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("PG_BIN", raising=False)
    monkeypatch.setattr(harness, "WHEEL", "no_such_wheel")
    monkeypatch.setattr(harness, "SYSTEM", tmp_path)

    with pytest.raises(RuntimeError, match="set PG_BIN"):
        harness.programs()
