"""A body that comes in chunks, read like a file: only forwards, and never much of it at once."""

import io
from collections.abc import Iterator

from service.errors import LimitReached


class Stream(io.RawIOBase):
    """Reads give exactly as many bytes as are asked for; fewer only at the end."""

    def __init__(self, chunks: Iterator[bytes], most: int) -> None:
        self._chunks = chunks
        self._most = most  # bytes that may be asked for at once
        self._held = memoryview(b"")

    def readable(self) -> bool:
        """That it can be read."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes; none at the end."""
        return bytes(self.view(size))

    def view(self, size: int) -> memoryview:
        """The same, without a copy of them where they came in one chunk."""
        if not 0 <= size <= self._most:
            raise LimitReached(f"A part of the body has more than {self._most} bytes.")
        if len(self._held) < size:
            self._gather(size)
        found, self._held = self._held[:size], self._held[size:]
        return found

    def _gather(self, size: int) -> None:
        parts: list[bytes | memoryview] = [self._held] if self._held else []
        missing = size - len(self._held)
        while missing > 0:
            chunk = next(self._chunks, b"")
            if not chunk:
                break
            parts.append(chunk)
            missing -= len(chunk)
        self._held = memoryview(parts[0] if len(parts) == 1 else b"".join(parts))
