"""The bytes of a CSV file as Arrow gets them: without the header, and with an end that can be told.

Arrow takes a quote that nobody closes for closed by the end of the file. So one record more stands
at the end, which nobody could foresee; if it does not come out as a record, a quote is still open.
"""

import io
import secrets
from typing import BinaryIO

from service.files.reading.csv_header import Header
from service.files.reading.unpack import Unpacked
from service.files.records import Ingestion

MOST_ENDS = 64 * 1024


class CsvStream(io.RawIOBase):
    """What comes after the header, and the record at the end; lines are counted on the way."""

    def __init__(self, source: BinaryIO, order: Ingestion, header: Header) -> None:
        self._unpacked = Unpacked(source, order.max_bytes)
        self.lines = LineCount()
        self.lines.add(self._unpacked.read(header.n_bytes))
        self.token = secrets.token_hex()  # of the first value of the last record
        empty = header.layout.delimiter * (len(header.layout.names) - 1)
        self._held = b"\n"  # or else Arrow would take the first value's BOM for the file's
        self._last = f'\n"{self.token}"{empty}\n'.encode()

    def readable(self) -> bool:
        """That it can be read."""
        return True

    def read(self, size: int, /) -> bytes:  # type: ignore[override]
        """The next bytes; none at the end."""
        found = self._held + self._counted(size - 1 - len(self._held))
        self._held = b""
        # Arrow drops a line feed at the beginning of a block if the one before ends with a carriage
        # return, even between quotes; so the two are never torn apart.
        if found.endswith(b"\r"):
            following = self._counted(1)
            if following == b"\n":
                return found + following
            self._held = following
        if found:
            return found
        last, self._last = self._last, b""
        return last

    def _counted(self, size: int) -> bytes:
        found = self._unpacked.read(size)
        self.lines.add(found)
        return found

    def close(self) -> None:
        """Read no more."""
        self._unpacked.close()
        super().close()


class LineCount:
    """How many lines there are up to the last one that is not blank."""

    def __init__(self) -> None:
        self._n_ends = 0
        self._ends = b""  # at the end so far: only if more comes, are they between lines
        self._is_blank = True

    def add(self, chunk: bytes) -> None:
        """Count these bytes too."""
        found = self._ends + chunk
        lines = found.rstrip(b"\r\n")
        self._is_blank = self._is_blank and not lines
        self._n_ends += _count_ends(lines)
        self._ends = found[len(lines) :]
        if len(self._ends) > MOST_ENDS:  # then they count, so that they need not be kept
            self._n_ends += _count_ends(self._ends[:-1])
            self._ends = self._ends[-1:]

    @property
    def count(self) -> int:
        """The number of lines."""
        return 0 if self._is_blank else self._n_ends + 1


def _count_ends(lines: bytes) -> int:
    returns = lines.count(b"\r")
    both = lines.count(b"\r\n") if returns else 0
    return lines.count(b"\n") + returns - both
