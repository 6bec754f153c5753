"""A CSV file record by record, slowly, to tell on which line something stands.

Arrow reads CSV fast, but knows no lines. Python's reader takes the same texts for the same
records, and counts.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, cast

from service.errors import InvalidFile, Misfit
from service.files.reading.unpack import Unpacked
from service.tree.encode import MOST_FAULTS

LONGEST_RECORD = 2 * 1024**2  # bytes; what has more is no row but a mistake
NEARBY = 100_000  # lines after the first fault in which more are looked for
TOO_LONG = f"the row that begins here is longer than {LONGEST_RECORD} bytes; is a quote not closed?"
NOT_CLOSED = "a quote is opened in the row that begins here, and never closed"
NOT_UTF8 = "it is not UTF-8"


class Unreadable(Exception):
    """No record can be made of the lines from this one on."""

    def __init__(self, line: int, detail: str) -> None:
        super().__init__(detail)
        self.line = line
        self.detail = detail


@dataclass(frozen=True)
class Layout:
    """How the records of a file are made."""

    names: tuple[str, ...]
    delimiter: str


def records(lines: Iterator[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Each record with the line it begins on; blank lines are none."""
    csv.field_size_limit(LONGEST_RECORD)
    fed = _Fed(lines)
    reader = csv.reader(fed, delimiter=delimiter)
    while True:
        begin = reader.line_num + 1
        fed.begin(begin)
        try:
            record = next(reader, None)
        except csv.Error:
            raise Unreadable(begin, TOO_LONG) from None
        if record is None:
            return
        if record and fed.is_over:
            raise Unreadable(begin, NOT_CLOSED)
        if record:
            yield begin, record


def faults(source: BinaryIO, max_bytes: int, layout: Layout) -> InvalidFile:
    """What is wrong with the records of a file that Arrow could not read."""
    found: list[Misfit] = []
    try:
        for line, record in _rows(source, max_bytes, layout):
            if fault := fault_of(line, record, layout):
                found.append(fault)
            if len(found) == MOST_FAULTS or (found and line > (found[0].line or 0) + NEARBY):
                break
    except Unreadable as error:
        found.append(Misfit(error.line, None, error.detail))
    if not found:  # the two readers do not agree
        return InvalidFile("The file cannot be read as CSV.")
    first = found[0]
    return InvalidFile(f"Line {first.line} cannot be read: {first.detail}.", found)


def lines_of(
    source: BinaryIO, max_bytes: int, layout: Layout, rows: Sequence[int]
) -> dict[int, int]:
    """On which lines these rows, numbered from 0, begin."""
    wanted, last = set(rows), max(rows, default=-1)
    found: dict[int, int] = {}
    for row, (line, _) in enumerate(_rows(source, max_bytes, layout)):
        if row > last:
            break
        if row in wanted:
            found[row] = line
    return found


def _rows(source: BinaryIO, max_bytes: int, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """The records after the header."""
    with Unpacked(source, max_bytes) as unpacked:
        # what is not UTF-8 is kept as lone surrogates, so that the record can be told
        text = io.TextIOWrapper(
            cast(BinaryIO, unpacked), "utf-8-sig", "surrogateescape", newline=""
        )
        lines = iter(lambda: text.readline(LONGEST_RECORD + 1), "")
        found = records(lines, layout.delimiter)
        next(found)
        yield from found


def fault_of(line: int, record: list[str], layout: Layout) -> Misfit | None:
    """What is wrong with a record, if anything is."""
    n_names = len(layout.names)
    if not is_utf8("".join(record)):
        place = next(place for place, value in enumerate(record) if not is_utf8(value))
        return Misfit(line, layout.names[place] if place < n_names else None, NOT_UTF8)
    if len(record) != n_names:
        detail = f"it has {_counted(len(record), 'value')}, but the header has {n_names}"
        return Misfit(line, None, detail)
    return None


def is_utf8(text: str) -> bool:
    """Whether a text was UTF-8 in the file."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def n_bytes(text: str) -> int:
    """How many bytes of the file a text was."""
    return len(text.encode(errors="surrogateescape"))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


class _Fed:
    """Lines on their way to the reader, and then one more.

    The one more is a blank line of its own, unless a quote is open: then it is swallowed.
    """

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._n_bytes = 0
        self._begin = 1
        self.is_over = False

    def begin(self, line: int) -> None:
        """A record begins on this line."""
        self._begin = line
        self._n_bytes = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self.is_over:
            raise StopIteration
        line = next(self._lines, None)
        if line is None:
            self.is_over = True
            return "\n"
        self._n_bytes += len(line) if line.isascii() else n_bytes(line)
        if self._n_bytes > LONGEST_RECORD:
            raise Unreadable(self._begin, TOO_LONG)
        return line
