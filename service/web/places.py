"""Places: who may hold a thread for long. There are few threads, and one is left for the others.

A stream lasts as long as its job, and a large file as long as the client's connection is slow.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock, Semaphore

from service.errors import Unavailable
from service.settings import Settings

LARGE = 1024 * 1024  # bytes of a file from which on it needs a place
LARGE_BODY = 4 * 1024 * 1024  # bytes of rows from which on they are read in parts
SHORT = 0.001  # seconds; Python's own are 0.005
BUSY = "As many large bodies as can be at a time are on their way; try again."


class Haste:
    """A block in which a thread that computes lets the others go on after a short while.

    Who answers a small request takes and gives back the interpreter several times, and waits each
    time. Where nobody computes for long it would only take longer: threads interrupt each other.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_blocks = 0
        self._usual = 0.0

    def __enter__(self) -> None:
        with self._lock:
            if self._n_blocks == 0:
                self._usual = sys.getswitchinterval()
                sys.setswitchinterval(SHORT)
            self._n_blocks += 1

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._n_blocks -= 1
            if self._n_blocks == 0:
                sys.setswitchinterval(self._usual)


HASTE = Haste()


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
            with HASTE:
                yield
        finally:
            self.all.release()


def make_places(settings: Settings) -> Places:
    """The places that there are with so many threads; files have one in any case."""
    n_spare = settings.web_threads - 1
    n_streams = max(0, min(settings.max_streams, n_spare))
    return Places(Semaphore(max(1, n_spare)), Semaphore(n_streams))
