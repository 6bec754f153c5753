"""The command line; that `bough run` answers over HTTP is told in test_story.py."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from service.cli import main
from service.storage.engine import open_store
from service.storage.migrate import is_current
from tests.server import free_port

ROOT = Path(__file__).parents[1]


def test_migrate_says_where_the_database_is(tmp_path: Path) -> None:
    for _ in range(2):
        result = called("migrate", "--data", tmp_path / "new")
        assert (0, f"The database is up to date: {tmp_path}/new/bough.db\n") == (
            result.exit_code,
            result.output,
        )

    store = open_store(f"sqlite:///{tmp_path}/new/bough.db")
    assert is_current(store)
    store.dispose()


def test_an_address_in_use_is_told_in_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = called("serve", "--port", port, "--data", tmp_path)

    assert 1 == result.exit_code
    assert f"Cannot listen on 127.0.0.1:{port}: another program uses it." in result.output


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"BOUGH_PORT": "many"}, "BOUGH_PORT is 'many', which is no int"),
        ({"BOUGH_DATABASE_URL": "postgresql:///bough?host=/nowhere"}, "does not answer"),
        ({"BOUGH_DATABASE_URL": "mysql://somewhere/bough"}, "mysql is no database we know"),
        ({"BOUGH_DATA": "/dev/null/data"}, "Not a directory"),
    ],
)
def test_a_start_that_cannot_succeed_is_told_in_a_sentence(
    settings: dict[str, str], told: str
) -> None:
    result = called("worker", **settings)

    assert 1 == result.exit_code
    assert told in result.output


def test_the_contract_is_printed_as_yaml() -> None:
    result = called("openapi")

    assert 0 == result.exit_code
    assert "openapi: 3.1.0" in result.output


def test_run_says_where_it_listens_and_logs_json_and_stops_on_ctrl_c(tmp_path: Path) -> None:
    with running(tmp_path) as (service, line):
        children = children_of(service.pid)
        service.send_signal(signal.SIGINT)
        rest, log = service.communicate(timeout=20)

    assert (0, "Bough has stopped.\n") == (service.returncode, rest)
    assert str(tmp_path / "bough.db") in line
    assert "/docs" in line
    assert not any(map(is_alive, children))
    messages = [json.loads(each)["message"] for each in log.splitlines()]
    assert any(message.startswith("Listening at") for message in messages)


def test_a_worker_that_is_killed_is_replaced_and_the_web_server_goes_on(tmp_path: Path) -> None:
    with running(tmp_path) as (service, _):
        web, worker = children_of(service.pid)
        os.kill(worker, signal.SIGKILL)
        wait_until(lambda: len(set(children_of(service.pid)) - {web, worker}) == 1)

        assert is_alive(web)
        service.send_signal(signal.SIGINT)
        _, log = service.communicate(timeout=20)
    assert "another one takes its place" in log


def test_when_the_web_server_dies_everything_is_stopped_and_it_is_told(tmp_path: Path) -> None:
    with running(tmp_path) as (service, _):
        web, worker = children_of(service.pid)
        os.kill(web, signal.SIGKILL)
        _, log = service.communicate(timeout=20)

    assert 1 == service.returncode
    assert "The web server has ended by itself" in log
    assert not is_alive(worker)


def test_nobody_is_left_behind_when_run_is_killed(tmp_path: Path) -> None:
    with running(tmp_path) as (service, _):
        children = children_of(service.pid)
        service.kill()
        wait_until(lambda: not any(map(is_alive, children)))


def called(*arguments: object, **environment: str) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)), env=environment)


@contextmanager
def running(data: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """The service and the line it printed once it listened."""
    command = [sys.executable, "-m", "service.cli", "run", "--port", str(free_port())]
    with subprocess.Popen(
        [*command, "--data", str(data)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as service:
        try:
            line = service.stdout.readline()
            assert line.startswith("Bough listens on"), service.stderr.read()
            yield service, line
        finally:
            service.kill()


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.05)
