"""Rows in bulk against a real web server: as a stream, in constant memory, with any client."""

import shutil
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.client import HTTPResponse
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any

import httpx
import orjson
import pytest

from service.storage.engine import open_store
from tests.server import Web, serving
from tests.web.conftest import trained
from tests.web.forms import ARROW, NDJSON, as_arrow, from_arrow

N_ROWS = 500_000
BLOCK = 10_000
MEGABYTES = 40  # that so many rows may take on top of what some thousand take
READ_SECONDS = 2.0
PATH = "/models/melons/predict"
PATIENCE = 60


@pytest.fixture(scope="module")
def url(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with the melons."""
    path = shutil.copy(sqlite_template, tmp_path_factory.mktemp("melons") / "bough.db")
    store = open_store(f"sqlite:///{path}")
    trained(store)
    store.dispose()
    return f"sqlite:///{path}"


@pytest.fixture
def web(url: str, tmp_path: Path) -> Iterator[Web]:
    """One process on it."""
    with serving(tmp_path, url, web_workers="1", read_seconds=str(READ_SECONDS)) as web:
        yield web


def rows(n_rows: int, start: int = 0) -> bytes:
    """Lines, all different."""
    return b"".join(
        b'{"colour":"%b","density":%.6f}\n'
        % ((b"black", b"white", b"green")[number % 3], number % 999_983 / 1e6)
        for number in range(start, start + n_rows)
    )


@contextmanager
def asking(web: Web, chunks: Iterable[bytes]) -> Iterator[HTTPResponse]:
    """The answer to a stream that is sent meanwhile."""
    with socket.create_connection(("127.0.0.1", web.port), timeout=PATIENCE) as connection:
        head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: {NDJSON}\r\n"
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())

        def send() -> None:
            for chunk in chunks:
                connection.sendall(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            connection.sendall(b"0\r\n\r\n")

        sender = Thread(target=send)
        sender.start()
        with HTTPResponse(connection, method="POST") as response:
            response.begin()
            yield response
        sender.join(timeout=PATIENCE)


def peak(web: Web) -> float:
    """The most memory that its process has taken, in megabytes."""
    (pid,) = web.workers
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def test_half_a_million_rows_are_answered_while_they_come_in_constant_memory(web: Web) -> None:
    first_answer = Event()

    def chunks() -> Iterator[bytes]:
        for start in range(0, N_ROWS, BLOCK):
            if start == N_ROWS // 2:
                assert first_answer.wait(PATIENCE)  # before the last rows are sent
            yield rows(BLOCK, start)

    with asking(web, [rows(BLOCK)]) as answer:
        expected = answer.read().splitlines()
    before = peak(web)
    with asking(web, chunks()) as answer:
        told = [answer.readline().strip() for _ in range(BLOCK)]
        first_answer.set()
        n_lines = sum(1 for _ in answer)

    assert answer.status == 200
    assert (told, len(told) + n_lines) == (expected, N_ROWS)
    assert peak(web) - before < MEGABYTES


def test_a_client_that_sends_all_before_it_reads_is_answered_too(web: Web) -> None:
    n_rows = 25 * BLOCK  # whose answers are more than connections hold
    with web.client() as client:
        content = (rows(BLOCK, start) for start in range(0, n_rows, BLOCK))
        answer = client.post(PATH, content=content, headers={"Content-Type": NDJSON})
        lines = answer.content.count(b"\n")
        sure = client.post(PATH, json={"rows": [orjson.loads(rows(1, n_rows - 1))]}).json()

    assert (answer.status_code, lines) == (200, n_rows)
    assert orjson.loads(answer.content.splitlines()[-1]) == sure["predictions"][0]
    assert peak(web) < 250


def test_a_client_that_stops_sending_is_told_so_in_the_last_line(web: Web) -> None:
    def chunks() -> Iterator[bytes]:
        yield rows(2 * BLOCK)
        Event().wait(2 * READ_SECONDS)

    with asking(web, chunks()) as answer:
        *lines, last = answer.read().splitlines()

    assert len(lines) > 1000
    assert orjson.loads(last)["status"] == 408


def test_clients_that_go_away_leave_room_for_others(web: Web) -> None:
    for _ in range(6):  # more than there are threads
        with socket.create_connection(("127.0.0.1", web.port), timeout=PATIENCE) as connection:
            head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: {NDJSON}\r\n"
            body = rows(BLOCK)
            connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
            connection.sendall(b"%x\r\n%b\r\n" % (len(body), body))
    told, deadline = b"", monotonic() + READ_SECONDS  # those who are silent would be waited for
    while len(told.splitlines()) != 10 and monotonic() < deadline:
        with asking(web, [rows(10)]) as answer:
            told = answer.read()

    assert (answer.status, len(told.splitlines())) == (200, 10)


def test_arrow_is_not_loaded_before_somebody_sends_it(web: Web) -> None:
    def has_arrow() -> bool:
        (pid,) = web.workers
        return "libarrow" in Path(f"/proc/{pid}/maps").read_text()

    headers = {"Content-Type": ARROW}
    sent: list[dict[str, Any]] = [{"colour": "black", "density": 0.5}]
    with web.client() as client:
        plain = client.post(PATH, json={"rows": sent}).json()["predictions"]
        client.post(PATH, content=b"density\n1\n", headers={"Content-Type": "text/csv"})
        before = has_arrow()
        body = as_arrow(sent, ["colour", "density"])
        answer = client.post(PATH, content=body, headers=headers)

    assert (before, has_arrow()) == (False, True)
    assert from_arrow(answer.content) == [plain[0] | {"warnings": []}]


def test_a_problem_of_the_first_rows_has_its_own_status(web: Web) -> None:
    with asking(web, [b'{"density": "much"}\n', rows(5)]) as answer:
        told = orjson.loads(answer.read())

    assert (answer.status, told["errors"][0]["pointer"]) == (422, "/rows/0/density")
    with httpx.Client(base_url=f"http://127.0.0.1:{web.port}") as client:
        assert client.get("/livez").status_code == 200
