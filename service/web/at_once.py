"""Small questions are answered by the thread that hears of them.

gunicorn hands each request to one of its threads and hears back from it, which takes longer than
the answer to a few rows. So a question that has come whole is looked at first, without taking it
from its client; where the answer can be told from memory, the loop that waits for all clients tells
it. That loop must wait for nobody: what a client does not take at once is sent to it by a thread,
and everything else is done by threads as before.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from selectors import EVENT_READ
from socket import MSG_PEEK
from time import monotonic, perf_counter
from typing import Any, TypeAlias

MOST = 1 << 16  # bytes of a request that is small: some hundred rows
LINE = re.compile(rb"POST (/[!$&->@-~]*) HTTP/1\.1\r\n")  # a path that means what it says: no %?#
HEADER = re.compile(rb"([!-9;-~]+):[ \t]*([ -~]*?)[ \t]*\r\n")
BEHIND_HEADERS = b"\r\n\r\n"
LENGTH = re.compile("[0-9]{1,5}")
# What has a body that does not simply follow, or wants an answer before it is sent.
UNUSUAL = {"transfer-encoding", "expect", "upgrade"}

Told: TypeAlias = tuple[bytes, list[tuple[str, str]]]  # an answer, and its own headers
# From path, headers and body to what can be told without waiting for anything.
Tell: TypeAlias = Callable[[str, dict[str, str], bytes], Told | None]


@dataclass(frozen=True)
class Basket:
    """In the place of a socket: what is told already, and where it is gathered to be sent."""

    told: Told
    started: float  # when it was begun to be told, by the clock that measures requests
    parts: list[bytes] = field(default_factory=list)

    def sendall(self, data: bytes) -> None:
        """Adds something."""
        self.parts.append(data)

    def setblocking(self, _is_blocking: bool) -> None:  # noqa: FBT001 (as sockets have it)
        """Does nothing: nobody waits."""

    def gettimeout(self) -> float:
        """None at all."""
        return 0.0


@dataclass(frozen=True)
class Done:
    """The future of what is over: whether the client may ask again."""

    is_kept: bool

    def cancelled(self) -> bool:
        """It was not."""
        return False

    def result(self) -> bool:
        """What came of it."""
        return self.is_kept


def answer_at_once(worker: Any, tell: Tell) -> None:
    """Have a worker of gunicorn with threads answer small questions in its loop."""
    if worker.cfg.is_ssl:  # nobody can look at what will come
        return
    loop = Loop(worker, tell, worker.enqueue_req)
    worker.enqueue_req = loop.welcome
    worker.on_client_socket_readable = loop.heard_again


@dataclass(frozen=True)
class Loop:
    """What a worker does where it hears of clients."""

    worker: Any
    tell: Tell
    submit: Callable[[Any], None]  # to a thread

    def welcome(self, conn: Any) -> None:
        """Lets a client wait here until it asks something; a thread would wait as long."""
        if conn.initialized or conn.data_ready or not self.worker.alive:
            self.submit(conn)
            return
        conn.close = partial(_close, self.worker, conn.close)
        conn.timeout = monotonic() + self.worker.cfg.keepalive
        self.worker.pending_conns.append(conn)
        conn.sock.setblocking(False)
        self.worker.poller.register(conn.sock, EVENT_READ, partial(self.first_heard, conn))

    def first_heard(self, conn: Any, client: Any) -> None:
        """Takes the first request of a client."""
        self.worker.poller.unregister(client)
        self.worker.pending_conns.remove(conn)
        conn.data_ready = True
        self._take(conn)

    def heard_again(self, conn: Any, client: Any) -> None:
        """Takes a further one."""
        self.worker.poller.unregister(client)
        self.worker.keepalived_conns.remove(conn)
        self._take(conn)

    def _take(self, conn: Any) -> None:
        """Answers, or leaves it to a thread."""
        started = perf_counter()
        told = told_of(conn.sock, self.tell)
        if told is None:
            self.submit(conn)
            return
        try:
            answer(self.worker, conn, Basket(told, started))
        except Exception:
            self.worker.log.exception("a small question broke")
            self.worker.nr_conns -= 1
            conn.close()


def told_of(client: Any, tell: Tell) -> Told | None:
    """What a client is told if it has sent a whole, small question; it may still read its words."""
    try:
        sent = client.recv(MOST, MSG_PEEK)
    except OSError:
        return None
    line, end = LINE.match(sent), sent.find(BEHIND_HEADERS) + 2
    if line is None or end < line.end():
        return None
    headers, start = _headers(sent, line.end(), end), end + 2
    if headers is None or not LENGTH.fullmatch(headers.get("content-length", "")):
        return None
    n_bytes = int(headers["content-length"])
    if len(sent) - start < n_bytes:
        return None
    return tell(line[1].decode(), headers, sent[start : start + n_bytes])


def _headers(sent: bytes, start: int, end: int) -> dict[str, str] | None:
    """The headers by name; None where one is unusual, or stands there twice."""
    headers: dict[str, str] = {}
    while start < end:
        header = HEADER.match(sent, start, end)
        name = "" if header is None else header[1].decode().lower()
        if header is None or name in headers or name in UNUSUAL:
            return None
        headers[name], start = header[2].decode(), header.end()
    return headers


def answer(worker: Any, conn: Any, basket: Basket) -> None:
    """Answers a request that has come whole; whatever the client does, nobody waits for it."""
    conn.init()
    client = conn.sock
    client.setblocking(False)
    conn.sock = basket
    try:
        is_kept = bool(worker.handle(conn))
    finally:
        conn.sock = client
    text = b"".join(basket.parts)
    n_sent = _sent(client, text)
    if n_sent == len(text):
        worker.finish_request(conn, Done(is_kept))
        return
    rest = worker.tpool.submit(_send_rest, client, text[n_sent:], is_kept=is_kept)
    rest.add_done_callback(partial(worker.method_queue.defer, worker.finish_request, conn))


def _sent(client: Any, text: bytes) -> int:
    """How much of a text a client takes at once; who has gone is left to whoever sends the rest."""
    try:
        return int(client.send(text))
    except OSError:
        return 0


def _send_rest(client: Any, text: bytes, *, is_kept: bool) -> bool:
    client.setblocking(True)
    client.sendall(text)
    return is_kept


def _close(worker: Any, close: Callable[..., None], *, graceful: bool = False) -> None:
    """Closes a connection; to wait until the client has hung up too is left to a thread."""
    try:
        if graceful:
            worker.tpool.submit(close, graceful=True)
            return
    except RuntimeError:  # there are no threads any more
        pass
    close()
