"""Questions are answered without gunicorn as with it, whatever other clients do."""

import re
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import timedelta
from email.utils import parsedate_to_datetime
from http.client import HTTPResponse
from pathlib import Path
from threading import Event, Thread
from typing import BinaryIO, TypeVar

import orjson
import pytest

from service.storage.engine import open_store
from service.web.at_once import MOST, seen
from service.web.heads import MOST_FIELDS, head_in, post_in
from tests.server import Web, serving
from tests.web.conftest import trained

N_THREADS = 2
Answer = TypeVar("Answer")
PATIENCE = 10.0  # seconds
ROW = b'{"model":"melons","rows":[{}]}'


@pytest.fixture(scope="module")
def url(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database with a model."""
    path = tmp_path_factory.mktemp("at once") / "bough.db"
    path.write_bytes(sqlite_template.read_bytes())
    store = open_store(f"sqlite:///{path}")
    trained(store)
    store.dispose()
    return f"sqlite:///{path}"


@pytest.fixture(scope="module")
def web(url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """One process with few threads."""
    place = tmp_path_factory.mktemp("web")
    with serving(place, url, web_workers="1", web_threads=str(N_THREADS)) as web:
        yield web


def request(body: bytes = ROW, *, more: bytes = b"") -> bytes:
    head = b"POST /predict HTTP/1.1\r\nHost: bough\r\nContent-Type: application/json\r\n"
    return head + more + b"Content-Length: %d\r\n\r\n" % len(body) + body


@contextmanager
def client_of(web: Web) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", web.port), PATIENCE) as client:
        yield client


def heard(client: socket.socket) -> tuple[int, bytes]:
    """Status and body of the next answer."""
    response = HTTPResponse(client)
    response.begin()
    return response.status, response.read()


def asked(client: socket.socket, body: bytes = ROW) -> tuple[int, bytes]:
    client.sendall(request(body))
    return heard(client)


def test_who_waits_for_threads_does_not_hold_up_small_questions(web: Web) -> None:
    with ExitStack() as stack, client_of(web) as client:
        assert asked(client)[0] == 200  # it is in memory now
        for _ in range(3 * N_THREADS):
            half = stack.enter_context(client_of(web))
            half.sendall(request(b" " * 1000 + ROW)[:-1])

        answers = [asked(client) for _ in range(5)]
        with client_of(web) as newcomer:
            answers.append(asked(newcomer))

    assert [status for status, _ in answers] == [200] * 6
    assert len({body for _, body in answers}) == 1


def test_a_question_may_come_in_pieces(web: Web) -> None:
    with client_of(web) as client:
        whole = asked(client)
        for place in (5, 60, len(request()) - 10):
            client.sendall(request()[:place])
            with client_of(web) as other:  # by now the first piece was heard
                assert asked(other) == whole
            client.sendall(request()[place:])

            assert heard(client) == whole


def test_questions_that_come_together_are_answered_in_their_order(web: Web) -> None:
    bodies = [ROW, b'{"model":"melons","rows":[{},{}]}', b'{"model":"nobody","rows":[{}]}', ROW]
    with client_of(web) as client:
        alone = [asked(client, body)[0] for body in bodies]
        client.sendall(b"".join(map(request, bodies)))
        with client.makefile("rb") as answers:
            together = [next_in(answers) for _ in bodies]

    assert alone == [status for status, _ in together] == [200, 200, 404, 200]
    assert [1, 2] == [len(orjson.loads(body)["predictions"]) for _, body in together[:2]]


def next_in(answers: BinaryIO) -> tuple[int, bytes]:
    """Status and body of the next of many answers."""
    status, length = int(answers.readline().split()[1]), 0
    while (line := answers.readline()) != b"\r\n":
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    return status, answers.read(length)


def test_who_does_not_read_holds_up_nobody_and_gets_all_answers(web: Web) -> None:
    body = b'{"model":"melons","rows":[%b]}' % b",".join([b"{}"] * 300)
    n_questions = 400
    with client_of(web) as other:
        usual = asked(other)
        _, answer = asked(other, body)
        with socket.socket() as silent:
            silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            silent.settimeout(PATIENCE)
            silent.connect(("127.0.0.1", web.port))
            silent.sendall(request(body))
            for _ in range(20):
                assert asked(other) == usual
            told = heard(silent)
            for _ in range(n_questions // 100):
                silent.sendall(request(body))
                assert asked(other) == usual
                assert heard(silent) == told

    assert told == (200, answer)


def in_parts(
    web: Web, sent: bytes, read: Callable[[socket.socket], Answer], n_first: int
) -> Answer:
    """What is read of an answer to a question that does not come whole."""
    with client_of(web) as client, client_of(web) as other:
        client.sendall(sent[:n_first])
        assert asked(other)[0] == 200  # by now the beginning has gone to a thread
        client.sendall(sent[n_first:])
        return read(client)


def by_gunicorn(web: Web, sent: bytes, read: Callable[[socket.socket], Answer]) -> Answer:
    return in_parts(web, sent, read, 20)


def by_thread(web: Web, sent: bytes, read: Callable[[socket.socket], Answer]) -> Answer:
    """The same where the head has come, so that a thread of ours reads the body."""
    return in_parts(web, sent, read, sent.index(b"\r\n\r\n") + 5)


MODEL = request().replace(b"/predict", b"/models/melons/predict")
ODD = {
    "a value that is none": request(b'{"model":"melons","rows":[{"colour":[]}]}'),
    "a stranger": request(b'{"model":"melons","rows":[{"colour":"purple"}]}'),
    "two names": request(b'{"model":"melons","rows":[{}],"model":"nobody"}'),
    "no JSON": request(b'{"model":"melons","rows":[{}'),
    "lines": MODEL.replace(b"application/json", b"application/x-ndjson").replace(ROW, b"{}\n" * 10),
    "JSON answered in lines": request(more=b"Accept: application/x-ndjson\r\n"),
    "a header that is none": request(more=b"Bad Header: 1\r\n"),
    "very long headers": request(more=b"Long: %b\r\n" % (b"x" * 9000)),
    "a large body": request(b'{"model":"melons","rows":[%b]}' % b",".join([b"{}"] * 100_000)),
    "very many rows": request(b'{"model":"melons","rows":[%b]}' % b",".join([b"{}"] * 20_000)),
}


@pytest.mark.parametrize("sent", ODD.values(), ids=ODD)
def test_the_odd_is_answered_as_by_threads(web: Web, sent: bytes) -> None:
    with client_of(web) as client:
        assert asked(client)[0] == 200  # it is in memory now
        client.sendall(sent)
        status, body = heard(client)
    expected, expected_body = by_gunicorn(web, sent, heard)
    other, other_body = by_thread(web, sent, heard)

    assert status == expected == other
    assert without_id(body) == without_id(expected_body) == without_id(other_body)


def without_id(body: bytes) -> bytes:
    return re.sub(rb'"request_id": ?"[^"]*"', b"", body)


@pytest.mark.parametrize("more", [b"", b"Connection: Close\r\n", b"Connection: keep-alive\r\n"])
def test_an_answer_has_the_same_headers_wherever_it_is_told(web: Web, more: bytes) -> None:
    sent = request(more=more + b"X-Request-ID: mine\r\n")
    with client_of(web) as client:
        assert asked(client)[0] == 200  # it is in memory now
        client.sendall(sent)
        told = headers_in(client)
    expected, other = by_gunicorn(web, sent, headers_in), by_thread(web, sent, headers_in)

    dates = [parsedate_to_datetime(each.pop("Date")) for each in (told, expected, other)]
    assert max(dates) - min(dates) < timedelta(seconds=5)
    assert told == expected == other
    assert "mine" == told["X-Request-ID"]


def headers_in(client: socket.socket) -> dict[str, str]:
    response = HTTPResponse(client)
    response.begin()
    response.read()
    return dict(response.getheaders())


def test_who_does_not_hang_up_holds_up_nobody(web: Web) -> None:
    with client_of(web) as lasting, client_of(web) as other:
        assert asked(other)[0] == 200
        lasting.sendall(request(more=b"Connection: close\r\n"))
        assert heard(lasting)[0] == 200
        began = time.monotonic()
        assert asked(other)[0] == 200

        assert time.monotonic() - began < 1.0


def test_the_last_answer_says_so(web: Web) -> None:
    with client_of(web) as client:
        assert asked(client)[0] == 200
        client.sendall(request(more=b"Connection: close\r\n"))

        assert headers_in(client)["Connection"] == "close"
        assert client.recv(1) == b""


def test_clients_that_may_ask_only_once_are_answered(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUNICORN_CMD_ARGS", "--keep-alive 0")
    with serving(tmp_path, url, web_workers="1") as web:
        for _ in range(3):
            with client_of(web) as client:
                client.sendall(request())

                assert headers_in(client)["Connection"] == "close"


def test_who_asks_nothing_does_not_hold_up_a_process_that_is_to_be_replaced(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_requests = 10
    monkeypatch.setenv("GUNICORN_CMD_ARGS", f"--max-requests {n_requests}")
    with serving(tmp_path, url, web_workers="1") as web, client_of(web):
        for _ in range(n_requests + 2):
            with client_of(web) as client:
                assert asked(client)[0] == 200  # the last ones by its successor


def peeked(sent: bytes) -> str | None:
    """The path of what was sent, if it is taken for a small question."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(sent)
        ours.setblocking(False)
        found = seen(ours)
        assert sent[:1] == ours.recv(1)  # it is still there
    head = head_in(found)
    return None if head is None or post_in(found, head) is None else head.path


def test_only_whole_small_questions_about_what_is_at_hand_are_taken() -> None:
    assert peeked(request())
    assert peeked(request().replace(b"Content-Length", b"content-LENGTH"))
    assert peeked(request() + b"POST /predict HTTP/1.1\r\n")


@pytest.mark.parametrize(
    "sent",
    [
        request()[:-1],
        request()[: -len(ROW)],
        request()[:-30],
        b"GET" + request()[4:],
        request().replace(b"HTTP/1.1", b"HTTP/1.0"),
        request().replace(b"Content-Length", b"Content-Length-"),
        request(more=b"Transfer-Encoding: chunked\r\n"),
        request(more=b"expect: 100-continue\r\n"),
        request(more=b"UPGRADE: h2c\r\n"),
        request(more=b"Name : with a blank\r\n"),
        request(more=b"Content_Type: text/csv\r\n"),
        request(more=b"(Name): 1\r\n"),
        request(more=b": 1\r\n"),
        request(more=b"Long: %b\r\n" % (b"x" * 4000)),
        request(more=b"".join(b"X-%d: 1\r\n" % each for each in range(MOST_FIELDS))),
        request(more=b"X-Forwarded-Ssl: on\r\n"),
        request(more=b"Bare: 1\n"),
        request(more=b"Twice: 1\r\ntwice: 1\r\n"),
        request(more=b"Letters: \xff\r\n"),
        request(more=b"Folded: 1\r\n 2\r\n"),
        request(b" " * (MOST + 1)),
    ],
)
def test_all_others_are_left_to_threads(sent: bytes) -> None:
    assert not peeked(sent)


@pytest.mark.parametrize("mark", [b"%62", b"?b", b"#b", b"%", b"?"])
def test_an_address_that_must_be_read_first_is_left_to_threads(mark: bytes) -> None:
    name = b"a@b!$&'()*+,;=:-._~"
    assert peeked(request().replace(b"/predict", b"/models/%b/predict" % name)) is not None
    assert not peeked(request().replace(b"/predict", b"/models/a%b/predict" % mark))


def test_who_has_said_nothing_is_left_to_threads() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        assert b"" == seen(ours)


def test_who_has_gone_is_left_to_threads() -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs:
        assert b"" == seen(ours)


@pytest.mark.parametrize(
    ("path", "type_", "status"),
    [
        (b"/predict", b"text/plain", 415),
        (b"/nope", b"application/json", 404),
        (b"/models", b"application/json", 405),
        (b"/models/nope/predict", b"application/vnd.apache.arrow.stream", 404),
        (b"/predict", b"application/vnd.apache.arrow.stream", 422),
        (b"/models/melons/predict?version=77", b"text/csv", 404),
    ],
)
def test_who_is_refused_may_ask_again(web: Web, path: bytes, type_: bytes, status: int) -> None:
    sent = request(b" " * 400_000).replace(b"/predict", path)
    with client_of(web) as client:
        for _ in range(2):
            client.sendall(sent.replace(b"application/json", type_))

            assert heard(client)[0] == status
        assert asked(client)[0] == 200


LATE = b'{"model":"melons","rows":[%b]}' % b",".join([b"{}"] * 50_000)


def test_who_sends_a_body_slowly_is_answered_and_who_stops_is_given_up(
    url: str, tmp_path: Path
) -> None:
    seconds, sent = 0.5, request(LATE)
    with serving(tmp_path, url, web_workers="1", read_seconds=str(seconds)) as web:
        with client_of(web) as client:
            for start in range(0, len(sent), len(sent) // 4):
                client.sendall(sent[start : start + len(sent) // 4])
                time.sleep(0.6 * seconds)  # in all more than it may take at a time
            assert heard(client)[0] == 200
        with client_of(web) as client:
            began = time.monotonic()
            client.sendall(sent[:-1])
            status, body = heard(client)

            assert time.monotonic() - began < 3 * seconds
            assert (status, orjson.loads(body)["status"]) == (408, 408)
            assert client.recv(1) == b""


def test_who_hangs_up_while_it_sends_holds_up_nobody(web: Web) -> None:
    for _ in range(3 * N_THREADS):
        with client_of(web) as client:
            client.sendall(request(LATE)[:-1])
    with client_of(web) as client:
        began = time.monotonic()
        assert asked(client, LATE)[0] == 200

        assert time.monotonic() - began < PATIENCE / 2


@pytest.fixture
def damaged(url: str) -> str:
    """A model whose tree was lost."""
    store = open_store(url)
    trained(store, model="damaged")
    store.dispose()
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as database, database:
        database.execute(
            "DELETE FROM nodes WHERE version_id IN (SELECT v.id FROM versions v"
            " JOIN models m ON m.id = v.model_id WHERE m.name = 'damaged')"
        )
    return "damaged"


@pytest.mark.parametrize("type_", [b"application/json", b"application/vnd.apache.arrow.stream"])
def test_what_breaks_is_told_as_by_gunicorn(web: Web, damaged: str, type_: bytes) -> None:
    sent = request(b'{"rows":[{}]}').replace(b"/predict", b"/models/%b/predict" % damaged.encode())
    sent = sent.replace(b"application/json", type_)
    expected, expected_body = by_gunicorn(web, sent, heard)
    status, body = by_thread(web, sent, heard)

    assert status == expected >= 400
    assert without_id(body) == without_id(expected_body)


def test_a_large_question_may_be_followed_by_others(web: Web) -> None:
    with client_of(web) as client:
        alone = [asked(client, body) for body in (LATE, ROW)]
        sent = request(LATE) + request() + request(LATE)
        sender = Thread(target=client.sendall, args=(sent,))
        sender.start()
        with client.makefile("rb") as answers:
            together = [next_in(answers) for _ in range(3)]
        sender.join()

    assert [*alone, alone[0]] == together


PADDED = b" " * MOST + ROW  # large, and soon answered


def test_who_always_asks_more_leaves_others_their_turn(web: Web) -> None:
    over = Event()

    def go_on(work: Callable[[socket.socket], object], client: socket.socket) -> None:
        with suppress(OSError):
            while not over.is_set():
                work(client)

    def say(client: socket.socket) -> None:
        client.sendall(request(PADDED) * 10)

    def hear(client: socket.socket) -> None:
        client.recv(1 << 16)

    with ExitStack() as stack:
        for _ in range(2 * N_THREADS):
            client = stack.enter_context(client_of(web))
            for work in (say, hear):
                thread = Thread(target=go_on, args=(work, client))
                thread.start()
                stack.callback(thread.join)
            stack.callback(client.shutdown, socket.SHUT_RDWR)
            stack.callback(over.set)
        newcomer = stack.enter_context(client_of(web))

        assert [asked(newcomer, PADDED)[0] for _ in range(5)] == [200] * 5


def test_a_thread_that_stays_with_a_client_leaves_to_others_what_is_theirs(web: Web) -> None:
    get = b"GET /livez HTTP/1.1\r\nHost: bough\r\n\r\n"
    refused = request(PADDED).replace(b"application/json", b"text/plain")
    for sent, status in ((request(), 200), (get, 200), (refused, 415), (b"nonsense\r\n\r\n", 400)):
        with client_of(web) as client:
            assert asked(client, PADDED)[0] == 200
            client.sendall(sent)  # at once, while the thread is still there

            assert heard(client)[0] == status
            assert status == 400 or asked(client, PADDED)[0] == 200


def test_who_hangs_up_after_a_large_question_is_not_waited_for(web: Web) -> None:
    for _ in range(3 * N_THREADS):
        with client_of(web) as client:
            assert asked(client, PADDED)[0] == 200
    with client_of(web) as client:
        assert asked(client, PADDED)[0] == 200
        time.sleep(0.1)  # longer than it is waited for
        assert asked(client, PADDED)[0] == 200
