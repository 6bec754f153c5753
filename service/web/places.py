"""Places: who may hold a thread for long. There are few threads, and one is left for the others.

A stream lasts as long as its job, and a large file as long as the client's connection is slow.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from threading import Semaphore
from typing import Any

from service.errors import Unavailable
from service.settings import Settings

LARGE = 1024 * 1024  # bytes of a file from which on it needs a place
LARGE_BODY = 4 * 1024 * 1024  # bytes of rows from which on they are read in parts
BUSY = "As many large bodies as can be at a time are on their way; try again."


@dataclass(frozen=True)
class Places:
    """The places of all that last long, and those that streams may have of them."""

    all: Semaphore
    streams: Semaphore

    def take_for_stream(self) -> bool:
        """Whether a stream has a place now, which it must leave."""
        if not self.streams.acquire(blocking=False):
            return False
        if self.all.acquire(blocking=False):
            return True
        self.streams.release()
        return False

    def leave_stream(self) -> None:
        """Give the place of a stream back."""
        self.all.release()
        self.streams.release()

    @contextmanager
    def moving(self, n_bytes: int | None, large: int = LARGE) -> Iterator[None]:
        """A block in which a file of this size, if it is known, is on its way."""
        if n_bytes is not None and n_bytes < large:
            yield
            return
        if not self.all.acquire(blocking=False):
            raise Unavailable(BUSY)
        try:
            yield
        finally:
            self.all.release()


def make_places(settings: Settings) -> Places:
    """The places that there are with so many threads; files have one in any case."""
    n_spare = settings.web_threads - 1
    n_streams = max(0, min(settings.max_streams, n_spare))
    return Places(Semaphore(max(1, n_spare)), Semaphore(n_streams))


def has_come(stream: object, n_bytes: int) -> bool:
    """Whether gunicorn has read so much of a body already, beside its head; who knows, if not.

    Then nobody need be waited for, nor told for how long: with a limit every read and write asks
    the system first, and other threads take their turn in between.
    """
    reader = getattr(getattr(stream, "reader", None), "unreader", None)
    held = getattr(reader, "buf", None)
    return isinstance(held, BytesIO) and held.getbuffer().nbytes >= n_bytes


def be_patient(environ: Mapping[str, Any], seconds: float) -> None:
    """Give up a client that takes longer than this for the next bytes, sent or received."""
    connection = environ.get("gunicorn.socket")
    if connection is not None:
        connection.settimeout(seconds)
