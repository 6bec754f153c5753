"""What the columns of a file are, what of them cannot be used, and what is odd about them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from service.errors import InvalidFile, Misfit
from service.files.reading.look import STRANGERS, UNUSABLE, Look, Sight, Why, told
from service.files.reading.table_file import TableFile
from service.files.records import Ingestion
from service.tree.attribute import Kind
from service.tree.encode import MOST_FAULTS

DECIMAL_COMMA = re.compile(r"'[+-]?[0-9]+,[0-9]+'")  # as it is told: in quotes


@dataclass(frozen=True)
class Found:
    """A column as it will be kept."""

    name: str
    kind: Kind
    look: Look

    @property
    def type(self) -> Any:
        """Whole numbers, numbers or texts."""
        if self.kind != Kind.NUMERIC:
            return pa.string()
        look = self.look
        is_float = look.is_fractional or look.is_wide or look.count(Why.BEYOND)
        return pa.float64() if is_float else pa.int64()


@dataclass(frozen=True)
class Odd:
    """Something to tell of a row."""

    row: int
    column: str
    detail: str


def find_columns(looks: Mapping[str, Look], order: Ingestion) -> tuple[Found, ...]:
    """What each column is."""
    return tuple(Found(name, _kind(name, look, order), look) for name, look in looks.items())


def refuse_faults(file: TableFile, columns: tuple[Found, ...]) -> None:
    """Refuse values that cannot be used, and name them."""
    odds = sorted((odd for column in columns for odd in _faults(column)), key=lambda odd: odd.row)
    if odds:
        raise InvalidFile("Some values cannot be used.", _placed(file, odds[:MOST_FAULTS]))


def warnings(file: TableFile, columns: tuple[Found, ...], order: Ingestion) -> tuple[Misfit, ...]:
    """What is odd in the columns whose kind was not told, each where it first shows."""
    declared = {*order.numeric, *order.categorical}
    undeclared = [column for column in columns if column.name not in declared]
    odds = [odd for column in undeclared for odd in _oddities(column, file.format)]
    return _placed(file, odds[:MOST_FAULTS])


def first_text(column: Found, order: Ingestion) -> int | None:
    """The first row whose value is no number; in a column named as categorical none is."""
    if column.kind == Kind.NUMERIC:
        return None
    if column.name in order.categorical:
        return column.look.first_known
    return min((sight.row for sight in column.look.sights), default=None)


def _kind(name: str, look: Look, order: Ingestion) -> Kind:
    if name in order.numeric:
        return Kind.NUMERIC
    is_numeric = look.n_known and not look.count(*STRANGERS) and name not in order.categorical
    return Kind.NUMERIC if is_numeric else Kind.CATEGORICAL


def _faults(column: Found) -> Iterator[Odd]:
    # A column is of numbers in spite of some text only if it was said to be.
    whys = (*UNUSABLE, Why.TEXT, Why.TOO_LARGE) if column.kind == Kind.NUMERIC else UNUSABLE
    for sight in column.look.seen(*whys):
        yield _odd(column, sight, sight.why.value)


def _oddities(column: Found, format_: str) -> Iterator[Odd]:
    """Numbers among which some stand that make the column one of categories."""
    look = column.look
    if format_ == "csv" and _has_decimal_commas(look):
        first = next(look.seen(Why.TEXT))
        detail = "has a decimal comma, so that it is a category; upload it with decimal=, instead"
        yield _odd(column, first, detail)
        return
    is_mostly_numbers = 2 * look.count(*Why) <= look.n_known
    is_of_long_numbers = not look.count(Why.TEXT, Why.CODE)
    if not look.count(*STRANGERS) or not (is_mostly_numbers or is_of_long_numbers):
        return
    first = min(look.seen(*STRANGERS), key=lambda sight: sight.row)
    remedy = "name the column in categorical if that is meant"
    if is_of_long_numbers:
        remedy += ", or in numeric to have them rounded"
    elif format_ == "csv":
        remedy += ", or the value in nulls if it means null"
    taken = f"so that all of {told(column.name)} are taken for categories"
    yield _odd(column, first, f"{first.why.value}, {taken}; {remedy}")


def _has_decimal_commas(look: Look) -> bool:
    """Whether all that is no number would be one, had it a point in the place of a comma."""
    seen = list(look.seen(Why.TEXT))
    return bool(seen) and all(DECIMAL_COMMA.fullmatch(sight.text) for sight in seen)


def _odd(column: Found, sight: Sight, detail: str) -> Odd:
    return Odd(sight.row, column.name, f"{sight.text} {detail}")


def _placed(file: TableFile, odds: list[Odd]) -> tuple[Misfit, ...]:
    lines = file.lines_of([odd.row for odd in odds]) if odds else {}
    return tuple(_misfit(odd, lines.get(odd.row)) for odd in odds)


def _misfit(odd: Odd, line: int | None) -> Misfit:
    if line is not None:
        return Misfit(line, odd.column, odd.detail)
    return Misfit(None, odd.column, f"{odd.detail} (in row {odd.row}, counted from 0)")
