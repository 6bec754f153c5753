"""Answers that nobody has read yet.

Most clients send all they have before they read. Whoever would wait for them to read, while they
wait to be read themselves, would wait for ever; so what they do not take is put aside.
"""

import select
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from socket import socket
from typing import BinaryIO

from service.errors import LimitReached
from service.files.place import reachable

IN_MEMORY = 8 * 1024**2  # bytes; what comes on top is put into a file
PIECE = 64 * 1024  # bytes at a time: as many as fit where there is any room at all
LARGE_PIECE = 1024**2  # bytes at a time where nobody minds to wait

Spooled = Callable[[], AbstractContextManager[BinaryIO]]


class Backlog:
    """Bytes in the order in which they came, the first ones in memory."""

    def __init__(self, spooled: Spooled, most: int) -> None:
        self._spooled = spooled
        self._most = most
        self._stack = ExitStack()
        self._first: deque[bytes | memoryview] = deque()
        self._file: BinaryIO | None = None
        self._read = self._written = 0  # bytes of the file
        self.n_bytes = 0

    def __enter__(self) -> "Backlog":
        return self

    def __exit__(self, *_error: object) -> None:
        self._first.clear()
        self._stack.close()

    @property
    def is_full(self) -> bool:
        """Whether no more is to be put aside."""
        return self.n_bytes > self._most

    def add(self, piece: bytes) -> None:
        """Put a piece aside, behind all others."""
        self.n_bytes += len(piece)
        if not piece:
            return
        if self._read == self._written and self.n_bytes <= IN_MEMORY:
            self._first.append(piece)
            return
        if self._file is None:
            self._file = self._stack.enter_context(self._spooled())
        with reachable():
            self._file.seek(self._written)
            self._file.write(piece)
            self._file.flush()
        self._written += len(piece)

    def take(self, most: int) -> bytes:
        """The next bytes, which are then no longer here."""
        if not self._first:
            self._first.append(self._from_file(most))
        piece = self._first.popleft()
        if len(piece) > most:
            self._first.appendleft(memoryview(piece)[most:])
            piece = memoryview(piece)[:most]
        self.n_bytes -= len(piece)
        return bytes(piece)

    def _from_file(self, most: int) -> bytes:
        assert self._file is not None
        self._file.seek(self._read)
        piece = self._file.read(most)
        self._read += len(piece)
        if self._read == self._written:  # room for what comes
            self._read = self._written = 0
            self._file.truncate(0)
        return piece


def collected(pieces: Iterable[bytes], backlog: Backlog) -> Iterator[bytes]:
    """All pieces, which are put aside now; LimitReached if they are too many."""
    for piece in pieces:
        backlog.add(piece)
        if backlog.is_full:
            raise LimitReached(
                "The answer is larger than can be put aside (BOUGH_MAX_BULK_BYTES); ask for"
                " application/x-ndjson, and read while you send."
            )
    return _rest(backlog)


def flowing(
    pieces: Iterable[bytes], backlog: Backlog, is_ready: Callable[[], bool]
) -> Iterator[bytes]:
    """All pieces, as soon as whoever asked is ready for them."""
    for piece in pieces:
        backlog.add(piece)
        while backlog.n_bytes and (backlog.is_full or is_ready()):
            yield backlog.take(PIECE)
    yield from _rest(backlog)


def _rest(backlog: Backlog) -> Iterator[bytes]:
    while backlog.n_bytes:
        yield backlog.take(LARGE_PIECE)


def readiness(connection: socket | None) -> Callable[[], bool]:
    """What tells whether a client takes more at the moment; without a connection it does."""
    if connection is None:
        return lambda: True
    room = select.poll()
    room.register(connection, select.POLLOUT)
    return lambda: bool(room.poll(0))
