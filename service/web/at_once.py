"""Small questions are answered by the thread that hears of them.

gunicorn hands each request to one of its threads and hears back from it, which takes longer than
the answer to a few rows. So a question that has come whole, is small, and is about a version that
is in memory is answered where it is heard of, in the loop that waits for all clients. That loop
must never wait for one of them: what a client does not take at once is sent to it by a thread, and
everything else is done by threads as before.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from selectors import EVENT_READ
from socket import MSG_PEEK
from time import monotonic
from typing import Any, TypeAlias

MOST = 1 << 16  # bytes of a request that is small: some hundred rows
LINE = re.compile(rb"POST (/\S*) HTTP/1\.1\r\n")
BEHIND_HEADERS = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,5})\r\n", re.IGNORECASE)
# What has a body that does not simply follow, or wants an answer before it is sent.
UNUSUAL = re.compile(rb"\r\n(?:transfer-encoding|expect|upgrade)[ \t]*:", re.IGNORECASE)

IsAtHand: TypeAlias = Callable[[str, bytes], bool]  # by path and body, without waiting for anything


@dataclass(frozen=True)
class Basket:
    """In the place of a socket: what is to be sent is gathered."""

    parts: list[bytes] = field(default_factory=list)

    def sendall(self, data: bytes) -> None:
        """Adds something."""
        self.parts.append(data)

    def setblocking(self, _is_blocking: bool) -> None:  # noqa: FBT001 (as sockets have it)
        """Does nothing: nobody waits."""


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


def answer_at_once(worker: Any, is_at_hand: IsAtHand) -> None:
    """Have a worker of gunicorn with threads answer small questions in its loop."""
    if worker.cfg.is_ssl:  # nobody can look at what will come
        return
    submit = worker.enqueue_req

    def take(conn: Any) -> None:
        """Answers, or leaves it to a thread."""
        if is_small_question(conn.sock, is_at_hand):
            answer(worker, conn)
        else:
            submit(conn)

    def welcome(conn: Any) -> None:
        """Lets a client wait in the loop until it asks something; a thread would wait as long."""
        if conn.initialized or conn.data_ready:
            submit(conn)
            return
        conn.timeout = monotonic() + worker.cfg.keepalive
        worker.pending_conns.append(conn)
        conn.sock.setblocking(False)
        worker.poller.register(conn.sock, EVENT_READ, partial(first_heard, conn))

    def first_heard(conn: Any, client: Any) -> None:
        worker.poller.unregister(client)
        worker.pending_conns.remove(conn)
        conn.data_ready = True
        take(conn)

    def heard_again(conn: Any, client: Any) -> None:
        worker.poller.unregister(client)
        worker.keepalived_conns.remove(conn)
        take(conn)

    worker.enqueue_req = welcome
    worker.on_client_socket_readable = heard_again


def is_small_question(client: Any, is_at_hand: IsAtHand) -> bool:
    """Whether what a client has sent is a whole, small question that can be answered at once."""
    try:
        sent = client.recv(MOST, MSG_PEEK)
    except OSError:
        return False
    line, end = LINE.match(sent), sent.find(BEHIND_HEADERS)
    if line is None or end < 0:
        return False
    head = sent[: end + 2]
    length, start = LENGTH.search(head), end + len(BEHIND_HEADERS)
    if length is None or UNUSUAL.search(head) or len(sent) - start < int(length[1]):
        return False
    return is_at_hand(line[1].decode("latin-1"), sent[start : start + int(length[1])])


def answer(worker: Any, conn: Any) -> None:
    """Answers a request that has come whole; whatever the client does, nobody waits for it."""
    conn.init()
    client, basket = conn.sock, Basket()
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
