"""Small questions are answered by the thread that hears of them.

gunicorn hands each request to one of its threads and hears back from it, which takes longer than
the answer to a few rows, as does all that it makes of a request for WSGI. So a question that has
come whole is looked at first, without taking it from its client; where the answer can be told from
memory, the loop that waits for all clients tells it. That loop must wait for nobody: what a client
does not take at once is sent to it by a thread, and all other requests are left to threads.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from selectors import EVENT_READ
from socket import MSG_PEEK
from time import monotonic, perf_counter
from typing import Any, TypeAlias

from service.web.heads import MOST_FIELDS, MOST_HEAD, Small, Told, head_of, small_of

MOST = 1 << 16  # bytes of a request that is small: some hundred rows
FIRST_SECONDS = 5.0  # that a client may take at the least for its first request

# From a request, and when it was heard of, to what can be told without waiting for anything.
Tell: TypeAlias = Callable[[Small, float], Told | None]


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
    if not _is_usual(worker.cfg):
        return
    loop = Loop(worker, tell, worker.enqueue_req)
    worker.enqueue_req = loop.welcome
    worker.on_client_socket_readable = loop.heard_again


def _is_usual(settings: Any) -> bool:
    """Whether gunicorn is set up to understand all that is understood here, and in the same way."""
    lines = (settings.limit_request_line, settings.limit_request_field_size)
    return (
        not settings.is_ssl  # nobody can look at what will come
        and (settings.protocol, settings.http_protocols) == ("http", ["h1"])
        and not os.environ.get("SCRIPT_NAME")  # which stands in front of every path
        and settings.limit_request_fields >= MOST_FIELDS
        and all(most == 0 or most >= MOST_HEAD for most in lines)  # 0: any
    )


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
        conn.timeout = monotonic() + max(self.worker.cfg.keepalive, FIRST_SECONDS)
        self.worker.pending_conns.append(conn)
        conn.sock.setblocking(False)
        self.worker.poller.register(conn.sock, EVENT_READ, partial(self.first_heard, conn))

    def first_heard(self, conn: Any, client: Any) -> None:
        """Takes the first request of a client."""
        self.worker.poller.unregister(client)
        self.worker.pending_conns.remove(conn)
        conn.data_ready = True
        conn.init()
        client.setblocking(False)
        self._take(conn)

    def heard_again(self, conn: Any, client: Any) -> None:
        """Takes a further one."""
        self.worker.poller.unregister(client)
        self.worker.keepalived_conns.remove(conn)
        self._take(conn)

    def _take(self, conn: Any) -> None:
        """Answers, or leaves it to a thread."""
        started = perf_counter()
        asked = asked_by(conn.sock)
        told = None if asked is None else self._told(asked, started)
        if asked is None or told is None:
            self.submit(conn)
            return
        try:
            self._answer(conn, asked, told)
        except Exception:
            self.worker.log.exception("a small question broke")
            self.worker.nr_conns -= 1
            conn.close()

    def _told(self, asked: Small, started: float) -> Told | None:
        try:
            return self.tell(asked, started)
        except Exception:
            self.worker.log.exception("a small question broke, which is left to a thread")
            return None

    def _answer(self, conn: Any, asked: Small, told: Told) -> None:
        """Answers; whatever the client does, nobody waits for it."""
        conn.sock.recv(asked.n_bytes)  # which we have seen
        is_kept = self._is_kept(asked)
        text = head_of(told[1], is_kept=is_kept) + told[0]
        n_sent = _sent(conn.sock, text)
        if n_sent == len(text):
            self.worker.finish_request(conn, Done(is_kept))
            return
        rest = self.worker.tpool.submit(_send_rest, conn.sock, text[n_sent:], is_kept=is_kept)
        end = partial(self.worker.method_queue.defer, self.worker.finish_request, conn)
        rest.add_done_callback(end)

    def _is_kept(self, asked: Small) -> bool:
        """Whether the client may ask again after this request, which is counted."""
        worker = self.worker
        worker.nr += 1
        if worker.nr >= worker.max_requests and worker.alive:
            worker.log.info("Autorestarting worker after current request.")
            worker.alive = False
        has_room = len(worker.keepalived_conns) < worker.max_keepalived
        return bool(worker.alive and worker.cfg.keepalive and has_room and not asked.is_last)


def asked_by(client: Any) -> Small | None:
    """What a client asks if it has sent a whole, small request; it is left there to be read."""
    try:
        return small_of(client.recv(MOST, MSG_PEEK))
    except OSError:
        return None


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
