"""An NDJSON file: one object a line, whose values are what JSON says they are."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from service.errors import InvalidFile, Misfit
from service.files.reading.look import Look
from service.files.reading.names import check_count, check_name
from service.files.reading.ndjson_line import LONGEST_LINE, has_long_numbers, read_line
from service.files.reading.table_file import Batch
from service.files.reading.unpack import BOM, Unpacked
from service.files.reading.values import look_at_values, values_as
from service.files.records import Ingestion

BLOCK_BYTES = 1024**2  # which are ten times as many once they are Python's values
BATCH_CELLS = 500_000  # for rows without values take few bytes, but many cells


@dataclass
class NdjsonFile:
    """An NDJSON file; its columns are known when all of it was read."""

    source: BinaryIO
    order: Ingestion
    first_line: int | None = None
    format: str = "ndjson"

    def batches(self) -> Generator[Batch, None, None]:
        """All rows as lists of values, None for null."""
        names: dict[str, None] = {}
        n_rows, is_aligned = 0, True
        for first, block in self._blocks():
            rows = []
            is_exact = has_long_numbers(block)
            for number, line in _filled(first, block):
                rows.append(read_line(line, number, is_exact=is_exact))
                if not names.keys() >= rows[-1].keys():
                    self._add_names(names, rows[-1], number)
                is_aligned = is_aligned and number == n_rows + len(rows)
            n_rows += len(rows)
            yield from _batches(rows, list(names))
        self.first_line = 1 if is_aligned else None

    def look(self, cells: Any) -> Look:
        """What some values tell of their column."""
        return look_at_values(cells)

    def convert(self, cells: Any, type_: Any) -> Any:
        """The values as an array of this type."""
        return values_as(cells, type_)

    def lines_of(self, rows: Sequence[int]) -> Mapping[int, int]:
        """On which lines these rows stand."""
        if self.first_line is not None:
            return {row: self.first_line + row for row in rows}
        wanted, last = set(rows), max(rows, default=-1)
        found: dict[int, int] = {}
        filled = (number for block in self._blocks() for number, _ in _filled(*block))
        for row, number in enumerate(filled):
            if row > last:
                break
            if row in wanted:
                found[row] = number
        return found

    def _add_names(self, names: dict[str, None], row: Mapping[str, Any], number: int) -> None:
        for name in row:
            if name not in names:
                check_name(name, f"a column in line {number}", number)
                names[name] = None
        check_count(len(names), self.order)

    def _blocks(self) -> Iterator[tuple[int, bytes]]:
        """Some whole lines after the other, each time with the number of the first."""
        number, rest = 1, b""
        with Unpacked(self.source, self.order.max_bytes) as unpacked:
            while chunk := unpacked.read(BLOCK_BYTES):
                lines, end, rest = (rest + chunk).rpartition(b"\n")
                if len(rest) > LONGEST_LINE:
                    raise _too_long(number + lines.count(b"\n") + len(end))
                if end:
                    yield number, lines.removeprefix(BOM) if number == 1 else lines
                    number += lines.count(b"\n") + 1
        yield number, rest.removeprefix(BOM) if number == 1 else rest


def open_ndjson(source: BinaryIO, order: Ingestion) -> NdjsonFile:
    """The NDJSON file that the source is."""
    return NdjsonFile(source, order)


def _filled(first: int, block: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, each with its number."""
    for number, line in enumerate(block.split(b"\n"), start=first):
        if line and not line.isspace():
            yield number, line


def _batches(rows: Sequence[dict[str, Any]], names: list[str]) -> Iterator[Batch]:
    most = max(1, BATCH_CELLS // max(1, len(names)))
    for start in range(0, len(rows), most):
        some = rows[start : start + most]
        yield Batch(len(some), _columns(some, names))


def _columns(rows: Sequence[dict[str, Any]], names: list[str]) -> dict[str, Sequence[Any]]:
    if names and all(list(row) == names for row in rows):  # as usual; half the time
        values = zip(*(row.values() for row in rows), strict=True)
        return dict(zip(names, values, strict=True))
    return {name: [row.get(name) for row in rows] for name in names}


def _too_long(number: int) -> InvalidFile:
    detail = f"is longer than {LONGEST_LINE} bytes"
    return InvalidFile(f"Line {number} {detail}.", [Misfit(number, None, detail)])
