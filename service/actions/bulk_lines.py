"""NDJSON in bulk: an object a line, read by the form of the version where all of a block fit it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from service.actions.ask_parts import rows_reader
from service.actions.bulk import PLACE, Asked, Block, encoded
from service.actions.wrong_json import what_is_wrong
from service.errors import InvalidData, LineFault, pointer
from service.files.reading.ndjson_line import LONGEST_LINE
from service.files.reading.unpack import BOM
from service.files.records import Ingestion
from service.tree.arrays import Floats
from service.tree.encode import MOST_FAULTS
from service.tree.table import Table, table_of_rows

BLOCK_BYTES = 256 * 1024  # some thousand rows, which take a few milliseconds
MOST_CELLS = 2_000_000  # of a block, where its rows have names that no other has


@dataclass(frozen=True)
class Part:
    """Some whole lines, as they came."""

    text: bytes
    first_line: int
    first_row: int


def read_lines(chunks: Iterator[bytes], asked: Asked, _order: Ingestion) -> Iterator[Block]:
    """The rows, a block at a time; InvalidData names line, row and attribute."""
    form = asked.ready.form
    read = None if form is None else rows_reader(asked.ready, form)
    n_rows = 0
    for first_line, text in _texts(chunks):
        part = Part(text, first_line, n_rows)
        values = None if read is None else _fitting(read, text)
        if values is None:
            blocks = _by_hand(part, asked)
        else:
            blocks = _in_blocks(part, values, asked.most_rows)
        for block in blocks:
            yield block
            n_rows += len(block)


def _texts(chunks: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Some whole lines after the other, each time with the number of the first."""
    number, held = 1, b""
    for chunk in chunks:
        held += chunk
        if len(held) < BLOCK_BYTES:
            continue
        lines, end, rest = held.rpartition(b"\n")
        if len(rest) > LONGEST_LINE:
            raise _too_long(number + lines.count(b"\n") + len(end))
        held = rest
        if end:
            yield number, lines.removeprefix(BOM) if number == 1 else lines
            number += lines.count(b"\n") + 1
    if held:
        held = held.removesuffix(b"\n")
        yield number, held.removeprefix(BOM) if number == 1 else held


def _too_long(line: int) -> InvalidData:
    detail = f"line {line} is longer than {LONGEST_LINE} bytes"
    return InvalidData(detail, [LineFault("", detail, line)])


def _fitting(read: Callable[[bytes], Floats | None], text: bytes) -> Floats | None:
    """The values of the rows, if each is a line of its own and fits."""
    if text.count(b"\n") != text.count(b"}\n{"):  # rows that fit have no objects in them
        return None
    values = read(text.replace(b"\n", b",\n"))
    return values if values is not None and len(values) == text.count(b"\n") + 1 else None


def _in_blocks(part: Part, values: Floats, most: int) -> Iterator[Block]:
    for start in range(0, len(values), most):
        some = values[start : start + most]
        yield Block(some, Table({}, len(some), PLACE, first_row=part.first_row + start))


def _by_hand(part: Part, asked: Asked) -> Iterator[Block]:
    """The same, where something is unusual or wrong."""
    filled = [
        (number, line)
        for number, line in enumerate(part.text.split(b"\n"), start=part.first_line)
        if line and not line.isspace()
    ]
    for start in range(0, len(filled), asked.most_rows):
        some = filled[start : start + asked.most_rows]
        rows = _objects(some, part.first_row + start)
        table = table_of_rows(rows, PLACE, MOST_CELLS)
        lines = [number for number, _ in some]
        yield encoded(asked, replace(table, first_row=part.first_row + start, lines=lines))


def _objects(lines: Sequence[tuple[int, bytes]], first_row: int) -> list[dict[str, Any]]:
    objects: list[dict[str, Any]] = []
    faults: list[LineFault] = []
    for row, (number, line) in enumerate(lines, start=first_row):
        found = _object(line)
        if isinstance(found, str):
            faults.append(LineFault(pointer(*PLACE, row), found, number))
        else:
            objects.append(found)
    if faults:
        raise InvalidData("some rows are not objects", faults[:MOST_FAULTS])
    return objects


def _object(line: bytes) -> dict[str, Any] | str:
    """The object that a line is, or why it is none."""
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return what_is_wrong(line, error, error.msg)
    return found if isinstance(found, dict) else "must be an object"
