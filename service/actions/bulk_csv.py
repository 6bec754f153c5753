"""CSV in bulk: a header with the names of attributes, then a record for each row.

It is read by the rules of uploads; but what is a number and what a category the version tells.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from service.actions.bulk import PLACE, Asked, Block, check_names, encoded
from service.actions.bulk_columns import WARNINGS, Columns
from service.actions.flat import CLASS, UNKNOWN
from service.actions.score import EXACT, NUMBER, SPACES
from service.errors import Fault, InvalidData, LineFault, pointer
from service.files.reading.csv_lines import LONGEST_RECORD, Layout, Unreadable, fault_of, is_utf8
from service.files.reading.csv_records import open_records
from service.files.records import Ingestion
from service.files.stream import Stream
from service.tree.arrays import Ints
from service.tree.attribute import Kind, category_text
from service.tree.columns import Numbers, Texts
from service.tree.encode import MOST_FAULTS
from service.tree.table import Table

PAIRS = (UNKNOWN, WARNINGS)
BETWEEN = ";"  # names in one field
IN_NUMBERS = frozenset("0123456789.eE+-")


@dataclass(frozen=True)
class Reading:
    """How the texts of a CSV are taken."""

    asked: Asked
    order: Ingestion
    layout: Layout
    nulls: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "nulls", frozenset({"", *self.order.nulls}))


def read_csv(chunks: Iterator[bytes], asked: Asked, order: Ingestion) -> Iterator[Block]:
    """The rows, a block at a time; InvalidData names line, row and attribute."""
    found = open_records(Stream(chunks, LONGEST_RECORD), order)
    check_names(asked, found.layout.names, found.line)
    reading, n_rows = Reading(asked, order, found.layout), 0
    while True:
        some = _some(found.rows, asked.most_rows, n_rows)
        if not some:
            return
        _check(some, found.layout, n_rows)
        yield encoded(asked, _table(reading, some, n_rows))
        n_rows += len(some)


def _some(
    records: Iterator[tuple[int, list[str]]], most: int, first_row: int
) -> list[tuple[int, list[str]]]:
    found: list[tuple[int, list[str]]] = []
    try:
        found.extend(islice(records, most))
    except Unreadable as error:
        fault = LineFault(pointer(*PLACE, first_row + len(found)), error.detail, error.line)
        raise InvalidData(f"Line {error.line} cannot be read: {error.detail}.", [fault]) from None
    return found


def _check(records: Sequence[tuple[int, list[str]]], layout: Layout, first_row: int) -> None:
    n_names = len(layout.names)
    if all(len(record) == n_names and is_utf8("".join(record)) for _, record in records):
        return
    faults: list[Fault] = []
    for row, (line, record) in enumerate(records, start=first_row):
        misfit = fault_of(line, record, layout)
        if misfit is not None:
            faults.append(LineFault(pointer(*PLACE, row), misfit.detail, line))
    raise InvalidData("Some lines cannot be read.", faults[:MOST_FAULTS])


def _table(reading: Reading, records: Sequence[tuple[int, list[str]]], first_row: int) -> Table:
    lines = [line for line, _ in records]
    columns = dict(
        zip(reading.layout.names, zip(*(each for _, each in records), strict=True), strict=True)
    )
    loaded = reading.asked.ready.loaded
    raw: dict[str, Sequence[Any]] = {}
    for attribute, codes in zip(loaded.version.attributes, loaded.compiled.codes, strict=True):
        if attribute.name in columns:
            texts = columns[attribute.name]
            is_numeric = attribute.kind == Kind.NUMERIC
            raw[attribute.name] = (
                _numbers(reading, texts) if is_numeric else _categories(reading, texts, codes)
            )
    return Table(raw, len(records), PLACE, first_row=first_row, lines=lines)


def _numbers(reading: Reading, texts: Sequence[str]) -> Sequence[Any]:
    """The numbers that texts are; what is none stays a text."""
    bare: Sequence[str | None] = texts
    if reading.order.decimal != "." or not reading.nulls.isdisjoint(texts):
        bare = [None if text in reading.nulls else _pointed(reading, text) for text in texts]
    if IN_NUMBERS.issuperset("".join(text for text in bare if text is not None)):
        with suppress(ValueError):
            numbers = np.array([np.nan if text is None else float(text) for text in bare])
            if not np.isinf(numbers).any():
                return Numbers(numbers)
    return [_number(text) for text in bare]


def _pointed(reading: Reading, text: str) -> str:
    """The text with a decimal point where it has the sign that was asked for."""
    if reading.order.decimal == ".":
        return text
    return text.replace(".", "·").replace(reading.order.decimal, ".")


def _number(text: str | None) -> float | str | None:
    if text is None:
        return None
    bare = text.strip(SPACES)
    if not bare or not IN_NUMBERS.issuperset(bare):
        return text
    try:
        return float(bare)
    except ValueError:
        return text


def _categories(reading: Reading, texts: Sequence[str], known: Mapping[str, float]) -> Texts:
    """The texts; where one is no category but a number, that of the number: 1.50 is 1.5."""
    distinct = dict.fromkeys(texts)
    named = [
        text if text in known else category_text(_plain_number(_pointed(reading, text), text))
        for text in distinct
        if text not in reading.nulls
    ]
    numbers = iter(range(len(named)))
    codes = {text: -1 if text in reading.nulls else next(numbers) for text in distinct}
    return Texts(tuple(named), np.array(list(map(codes.__getitem__, texts)), dtype=np.int64))


def _plain_number(pointed: str, text: str) -> float | str:
    bare = pointed.strip(SPACES)
    if not NUMBER.fullmatch(bare) or abs(float(bare)) > EXACT:
        return text
    return float(bare)


def write_csv(asked: Asked, blocks: Iterator[Block]) -> Iterator[bytes]:
    """A header, and a line for each row; null is an empty field."""
    columns, version = Columns(asked), asked.ready.loaded.version
    names = [each.name for each in version.attributes]
    yield _written([columns.names])
    for block in blocks:
        told = columns.of(block)
        fields = {name: _fields(column) for name, column in told.items() if name not in PAIRS}
        fields |= {name: _named(told[name], names, len(block)) for name in PAIRS}
        if CLASS in told:
            classes = [*version.classes, None]  # -1, no answer, is the last
            fields[CLASS] = [classes[best] for best in told[CLASS].tolist()]
        yield _written(zip(*(fields[name] for name in told), strict=True))


def _fields(column: Any) -> Sequence[Any]:
    if column.dtype == bool:
        return ["true" if each else "false" for each in column.tolist()]
    return [None if each != each else each for each in column.tolist()]


def _named(pairs: Ints, names: Sequence[str], n_rows: int) -> Sequence[str]:
    """Per row some names, of pairs (row, number of the name)."""
    named = [""] * n_rows
    for row, number in pairs.tolist():
        named[row] = f"{named[row]}{BETWEEN}{names[number]}" if named[row] else names[number]
    return named


def _written(records: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(records)
    return text.getvalue().encode()
