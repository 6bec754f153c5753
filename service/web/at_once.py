"""Small questions are answered by the thread that hears of them, larger ones without gunicorn.

gunicorn hands each request to one of its threads and hears back from it, which takes longer than
the answer to a few rows, as does all that it makes of a request for WSGI. So what a client sent is
looked at first, without taking it. Where a question has come whole and can be answered from memory,
the loop that waits for all clients answers it. That loop must wait for nobody: what a client does
not take at once is sent to it by a thread. A question of which more will come is read and answered
by a thread, its body in one piece, which gunicorn would copy three times. That thread stays with
the client for a moment: who asks one question after the other is heard of by nobody else. All other
requests, and whatever turns out not to be ordinary, are gunicorn's.
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from select import POLLIN, poll
from selectors import EVENT_READ
from socket import MSG_DONTWAIT, MSG_MORE, MSG_PEEK, MSG_WAITALL
from threading import Semaphore
from time import monotonic, perf_counter
from typing import Any, Protocol, TypeAlias

from service.web.heads import MOST_FIELDS, MOST_HEAD, Head, Post, Told, head_in, head_of, post_in
from service.web.patience import wait_no_more

# From a request, and when it was heard of, to what is answered.
Tell: TypeAlias = Callable[[Post, float], Told | None]

MOST = 1 << 16  # bytes of a request that is small: some hundred rows
FIRST_SECONDS = 5.0  # that a client may take at the least for its first request
LOOK = int(MSG_PEEK | MSG_DONTWAIT)
MOMENT = 2  # milliseconds that a thread waits for the next question of a client


class Lane(Protocol):
    """Who answers; a request that is not ordinary has no answer here."""

    def takes(self, head: Head) -> bool:
        """Whether a request may be answered, by its head."""

    def is_small(self, head: Head) -> bool:
        """Whether it may be told at once."""

    def aside(self) -> AbstractContextManager[None]:
        """A block in which this thread leaves everything to those behind."""

    def tell(self, post: Post, started: float) -> Told | None:
        """What can be told without waiting for anything, of a request that was heard of then."""

    def answer(self, post: Post, started: float) -> Told | None:
        """What is answered, whatever it takes."""


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


def answer_at_once(worker: Any, lane: Lane) -> None:
    """Have a worker of gunicorn with threads answer questions by itself."""
    if not _is_usual(worker.cfg):
        return
    loop = Loop(worker, lane, worker.enqueue_req, Semaphore(worker.cfg.threads - 1))
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
    lane: Lane
    submit: Callable[[Any], None]  # to gunicorn's own thread
    staying: Semaphore  # for threads that wait for a client: one at least is left for the others

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
        started, sent = perf_counter(), seen(conn.sock)
        head = self._head_in(sent)
        if head is None:
            self.submit(conn)
            return
        post = post_in(sent, head) if self._may_be_small(head) else None
        if post is None:
            self._in_thread(conn, self._answer_all, conn, head, started)
            return
        told = self._told(self.lane.tell, post, started)
        if told is None:
            self.submit(conn)
            return
        try:
            self._answer(conn, head, told)
        except Exception:
            self.worker.log.exception("a small question broke")
            self.worker.nr_conns -= 1
            conn.close()

    def _told(self, tell: Tell, post: Post, started: float) -> Told | None:
        try:
            return tell(post, started)
        except Exception:
            self.worker.log.exception("a question broke, which is left to gunicorn")
            return None

    def _answer(self, conn: Any, head: Head, told: Told) -> None:
        """Answers; whatever the client does, nobody waits for it."""
        conn.sock.recv(head.n_bytes + head.n_body)  # which we have seen
        is_kept = self._is_kept(head)
        text = head_of(told[1], is_kept=is_kept) + told[0]
        n_sent = _sent(conn.sock, text)
        if n_sent == len(text):
            self.worker.finish_request(conn, Done(is_kept))
            return
        self._in_thread(conn, _send_rest, conn.sock, text[n_sent:], is_kept)

    def _in_thread(self, conn: Any, work: Callable[..., bool], *arguments: Any) -> None:
        """Has a thread do what ends a request, and tell whether the client may ask again."""
        end = partial(self.worker.method_queue.defer, self.worker.finish_request, conn)
        self.worker.tpool.submit(work, *arguments).add_done_callback(end)

    def _answer_all(self, conn: Any, head: Head, started: float) -> bool:
        """Answers a question, and those that follow it soon."""
        conn.sock.setblocking(True)
        is_kept = self._answer_whole(conn, head, started)
        while is_kept and (next_head := self._next_head(conn)):
            is_kept = self._answer_whole(conn, next_head, perf_counter())
        return is_kept

    def _next_head(self, conn: Any) -> Head | None:
        """That of a question which a client asks soon; None if none, or others wait for a thread.

        What gunicorn has read ahead it must answer too, and what is small the loop.
        """
        if conn.parser.unreader.buf.getvalue() or not self._is_heard(conn.sock):
            return None
        head = self._head_in(seen(conn.sock, MOST_HEAD))
        return None if head is None or self._may_be_small(head) else head

    def _head_in(self, sent: bytes) -> Head | None:
        """The head of a request that may be answered here."""
        head = head_in(sent)
        return head if head is not None and self.lane.takes(head) else None

    def _may_be_small(self, head: Head) -> bool:
        return self.lane.is_small(head) and head.n_bytes + head.n_body <= MOST

    def _is_heard(self, client: Any) -> bool:
        """Whether a client says something soon, and nobody else needs this thread then."""
        others = self.worker.tpool._work_queue
        if not others.empty() or not self.staying.acquire(blocking=False):
            return False
        try:
            waiting = poll()
            waiting.register(client, POLLIN)
            return bool(waiting.poll(MOMENT)) and others.empty()
        finally:
            self.staying.release()

    def _answer_whole(self, conn: Any, head: Head, started: float) -> bool:
        """Answers a question when all of it has come; what is not ordinary is given to gunicorn."""
        taken, body = conn.sock.recv(head.n_bytes), _received(conn.sock, head.n_body)
        is_whole = len(body) == head.n_body
        told = self._told(self.lane.answer, Post(head, body), started) if is_whole else None
        if told is None:
            conn.parser.unreader.unread(taken + body)
            with self.lane.aside():
                return bool(self.worker.handle(conn)) and is_whole
        is_kept = self._is_kept(head)
        try:
            conn.sock.sendall(head_of(told[1], is_kept=is_kept), MSG_MORE)
            conn.sock.sendall(told[0])
        except BlockingIOError:
            self.worker.log.exception("a client does not read")
            return False
        return is_kept

    def _is_kept(self, head: Head) -> bool:
        """Whether the client may ask again after this request, which is counted."""
        worker = self.worker
        worker.nr += 1
        if worker.nr >= worker.max_requests and worker.alive:
            worker.log.info("Autorestarting worker after current request.")
            worker.alive = False
        has_room = len(worker.keepalived_conns) < worker.max_keepalived
        return bool(worker.alive and worker.cfg.keepalive and has_room and not head.is_last)


def seen(client: Any, most: int = MOST) -> bytes:
    """What a client has sent so far, or the beginning of it; it is left there to be read."""
    try:
        return bytes(client.recv(most, LOOK))
    except OSError:
        return b""


def _received(client: Any, n_bytes: int) -> bytes:
    """So many bytes of a client; fewer if it has gone, or nothing came for as long as it may."""
    parts, n_left = [], n_bytes
    try:
        # mostly all in one piece; less where a signal came in between, or a part of the patience
        # has gone by
        while n_left and (part := client.recv(n_left, MSG_WAITALL)):
            parts.append(part)
            n_left -= len(part)
    except BlockingIOError:
        wait_no_more(client)
    except OSError:
        pass
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _sent(client: Any, text: bytes) -> int:
    """How much of a text a client takes at once; who has gone is left to whoever sends the rest."""
    try:
        return int(client.send(text))
    except OSError:
        return 0


def _send_rest(client: Any, text: bytes, is_kept: bool) -> bool:  # noqa: FBT001
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
