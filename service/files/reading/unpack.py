"""The bytes of an uploaded file: gzip is looked through, and there is an end to them."""

import gzip
import io
import zlib
from threading import Lock
from typing import BinaryIO

from service.errors import InvalidFile, LimitReached

GZIP = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"


class Unpacked(io.RawIOBase):
    """What a file holds, read from its beginning, unpacked if it is packed.

    It may be read from another thread, as Arrow does; once it is closed, nobody reads the source
    any more, so that it can be read anew.
    """

    def __init__(self, source: BinaryIO, max_bytes: int) -> None:
        self.is_packed = is_packed(source)
        source.seek(0)
        self._inner = gzip.GzipFile(fileobj=source) if self.is_packed else source
        self._max_bytes = max_bytes
        self._n_bytes = 0
        self._lock = Lock()

    def readable(self) -> bool:
        """That it can be read."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes; none at the end."""
        with self._lock:
            if self.closed:
                return b""
            found = self._next(size)
            self._n_bytes += len(found)
        if self._n_bytes > self._max_bytes:
            raise LimitReached(
                f"The file has more than {self._max_bytes} bytes when it is unpacked; that is"
                " the limit (BOUGH_MAX_DATASET_BYTES)."
            )
        return found

    def close(self) -> None:
        """Read no more."""
        with self._lock:
            super().close()

    def _next(self, size: int) -> bytes:
        try:
            return self._inner.read(size)
        except EOFError:
            raise InvalidFile("The gzip stream ends too early: some of it was lost.") from None
        except (gzip.BadGzipFile, zlib.error):
            raise InvalidFile("The gzip stream is damaged.") from None


def is_packed(source: BinaryIO) -> bool:
    """Whether a file is packed by gzip."""
    source.seek(0)
    return source.read(len(GZIP)) == GZIP
