"""A receiver of webhooks: a real server that answers as it is told and keeps what it got."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


@dataclass
class Receiver:
    """What came, and the statuses to answer with; the last one again and again."""

    statuses: list[int]
    calls: list[tuple[Message, bytes]] = field(default_factory=list)
    may_answer: Event = field(default_factory=Event)
    url: str = ""


@contextmanager
def receiving(*statuses: int, is_slow: bool = False) -> Iterator[Receiver]:
    """A receiver at work; a slow one answers only when `may_answer` is set."""
    receiver = Receiver(list(statuses) or [204])
    if not is_slow:
        receiver.may_answer.set()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(receiver))
    receiver.url = f"http://127.0.0.1:{server.server_port}/told?of=jobs"
    thread = Thread(target=server.serve_forever, args=[0.02])
    thread.start()
    try:
        yield receiver
    finally:
        receiver.may_answer.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.calls.append((self.headers, body))
            receiver.may_answer.wait(20)
            left = receiver.statuses
            status = left.pop(0) if len(left) > 1 else left[0]
            self.send_response(status)
            self.send_header("Location", receiver.url)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                self.close_connection = True  # whoever asked has gone

        def finish(self) -> None:
            try:
                super().finish()
            except OSError:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
