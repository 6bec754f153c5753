"""Raw values to numbers, once, at the border: what a column is, and what is wrong with it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from service.errors import Fault, InvalidData
from service.tree.arrays import Floats, Ints
from service.tree.attribute import Attribute, Kind, category_text
from service.tree.columns import Numbers, Texts
from service.tree.table import Table

MOST_FAULTS = 100  # named in one answer; a wrong column would name each of its rows

IGNORED = "ignored"


@dataclass(frozen=True)
class Declaration:
    """What a request says of a column; what it leaves open (None) is inferred."""

    name: str
    kind: str | None = None
    values: tuple[str, ...] | None = None
    cost: float = 1.0
    group: str | None = None


def is_number(value: object) -> bool:
    """Whether a raw value is a number; true and false are not."""
    return type(value) is int or type(value) is float


def is_category(value: object) -> bool:
    """Whether a raw value can be a category: a string, number, true or false."""
    return isinstance(value, str | int | float)


def infer(table: Table, declaration: Declaration) -> Attribute:
    """The attribute a column is: as declared, else numeric if all of its values are numbers."""
    column = table.column(declaration.name)
    kind = declaration.kind or (Kind.CATEGORICAL if declaration.values is not None else None)
    if kind is None:
        kind = Kind.NUMERIC if _holds_numbers(column) else Kind.CATEGORICAL
    values = declaration.values or ()
    if kind != Kind.NUMERIC and declaration.values is None:
        values = categories(table, declaration.name)
    return Attribute(declaration.name, Kind(kind), values, declaration.cost, declaration.group)


def categories(table: Table, name: str) -> tuple[str, ...]:
    """The categories of a column in order of first appearance."""
    column = table.column(name)
    if isinstance(column, Numbers | Texts):
        return tuple(dict.fromkeys(_distinct(column)[0]))
    raise_faults(_misfits(table, name, is_category, "must be a string, a number, true or false"))
    texts = dict.fromkeys(category_text(value) for value in column if value is not None)
    if "\0" in "".join(texts):
        raise_faults(_misfits(table, name, _is_storable, "holds the character U+0000"))
    return tuple(texts)


def encode_numbers(table: Table, name: str) -> Floats:
    """The column as numbers, NaN for null; anything else than a number is a fault."""
    column = table.column(name)
    if isinstance(column, Numbers):
        return column.values
    if not set(map(type, column)) <= {int, float, type(None)}:
        raise_faults(_misfits(table, name, is_number, "must be a number"))
    encoded: Floats = np.array(column, dtype=np.float64)
    if np.isinf(encoded).any():
        raise_faults(_misfits(table, name, _is_finite, "is too large for a number"))
    return encoded


def encode_categories(
    table: Table, name: str, codes: Mapping[str, float]
) -> tuple[Floats, list[int]]:
    """The column as numbers of categories, NaN for null and for strangers; and the strangers' rows.

    Misfits that are no category at all (lists, objects) are faults.
    """
    column = table.column(name)
    if isinstance(column, Numbers | Texts):
        texts, numbers = _distinct(column)
        named = np.array([*(codes.get(text, np.nan) for text in texts), np.nan])
        found: Floats = named.take(numbers)
        if not np.isnan(found.sum()):  # faster than a look at each
            return found, []
        return found, np.flatnonzero(np.isnan(found) & (numbers >= 0)).tolist()
    if not set(map(type, column)) <= {str, int, float, bool, type(None)}:
        raise_faults(_misfits(table, name, is_category, "must be a string, number, true or false"))
    encoded: Floats = np.array(
        [np.nan if value is None else codes.get(category_text(value), np.nan) for value in column],
        dtype=np.float64,
    )
    nulls = np.flatnonzero(np.isnan(encoded))
    return encoded, [row for row in nulls.tolist() if column[row] is not None]


def codes_of(values: Sequence[str]) -> dict[str, float]:
    """Per category its number."""
    return {value: float(code) for code, value in enumerate(values)}


def raise_faults(faults: Iterator[Fault], detail: str = "some values cannot be used") -> None:
    """Raises InvalidData that names the faults; without any, does nothing."""
    found = list(islice(faults, MOST_FAULTS))
    if found:
        raise InvalidData(detail, found)


def _holds_numbers(column: Sequence[Any]) -> bool:
    """Whether a column has values, all of them numbers."""
    if isinstance(column, Numbers):
        return not bool(np.isnan(column.values).all())
    types = {str} if isinstance(column, Texts) else set(map(type, column)) - {type(None)}
    return bool(types) and types <= {int, float}


def _distinct(column: Numbers | Texts) -> tuple[Sequence[str], Ints]:
    """The texts in order of first appearance, and per row the number of its own, -1 for null."""
    if isinstance(column, Texts):
        return column.categories, column.codes
    known = ~np.isnan(column.values)
    found, first, inverse = np.unique(column.values[known], return_index=True, return_inverse=True)
    order = np.argsort(first)
    numbers = np.full(len(column), -1)
    numbers[known] = np.argsort(order)[inverse]
    return [category_text(float(value)) for value in found[order]], numbers


def _misfits(table: Table, name: str, fits: Callable[[Any], bool], detail: str) -> Iterator[Fault]:
    for row, value in enumerate(table.column(name)):
        if value is not None and not fits(value):
            yield table.fault(row, name, detail)


def _is_storable(value: object) -> bool:
    return not isinstance(value, str) or "\0" not in value


def _is_finite(value: float) -> bool:
    return bool(np.isfinite(float(value)))
