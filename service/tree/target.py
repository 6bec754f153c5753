"""The target: classes, or numbers."""

from collections.abc import Iterator, Sequence

import numpy as np

from service.errors import Fault, InvalidData
from service.tree.arrays import Floats, Ints
from service.tree.columns import Numbers, Texts
from service.tree.encode import (
    categories,
    codes_of,
    encode_categories,
    encode_numbers,
    is_number,
    raise_faults,
)
from service.tree.table import Table

CLASSIFICATION, REGRESSION = "classification", "regression"
MOST_CLASSES = 1000  # every node holds a weight for each; more is a number or an id, no class
LARGEST = 1e75  # of a number to predict: squared errors are squared once more
FEW_NUMBERS = 20  # integers of no more values than this are taken for classes


def infer_task(table: Table, name: str, classes: tuple[str, ...] | None) -> str:
    """What a target looks like: many numbers are a regression, everything else is classes."""
    column = table.column(name)
    if isinstance(column, Numbers | Texts):
        known = _numbers(column)
    else:
        known = [value for value in column if value is not None]
    if classes is not None or not known or not all(map(is_number, known)):
        return CLASSIFICATION
    if any(value != int(value) for value in known):
        return REGRESSION
    return REGRESSION if len(set(known)) > FEW_NUMBERS else CLASSIFICATION


def _numbers(column: Numbers | Texts) -> list[float]:
    """The different numbers of a column; none if it holds texts."""
    if isinstance(column, Texts):
        return []
    known: list[float] = np.unique(column.values[~np.isnan(column.values)]).tolist()
    return known


def classes_of(table: Table, name: str) -> tuple[str, ...]:
    """The classes of a target in order of first appearance."""
    found = categories(table, name)
    if len(found) < 2:
        detail = f"the target {name!r} has fewer than two classes: there is nothing to learn"
        raise InvalidData(detail, [Fault("/target", detail)])
    if len(found) > MOST_CLASSES:
        detail = f"the target {name!r} has {len(found)} classes; {MOST_CLASSES} is the most"
        raise InvalidData(detail, [Fault("/target", detail)])
    return found


def encode_classes(table: Table, name: str, classes: Sequence[str]) -> Ints:
    """Per row the number of its class; a row without one is a fault."""
    encoded, strangers = encode_categories(table, name, codes_of(classes))
    raise_faults(undeclared(table, name, strangers, "classes"))
    _refuse_nulls(table, name, encoded, "class")
    return encoded.astype(np.int64)


def encode_target_numbers(table: Table, name: str) -> Floats:
    """Per row the number to predict; a row without one is a fault."""
    encoded = encode_numbers(table, name)
    _refuse_nulls(table, name, encoded, "number")
    if np.abs(encoded).max() > LARGEST:
        detail = f"the target {name!r} has numbers beyond {LARGEST:g}: their powers overflow"
        raise InvalidData(detail, [Fault("/target", detail)])
    return encoded


def _refuse_nulls(table: Table, name: str, encoded: Floats, what: str) -> None:
    nulls = np.flatnonzero(np.isnan(encoded)).tolist()
    detail = f"is null: a row to train on needs a {what}"
    raise_faults(table.fault(row, name, detail) for row in nulls)


def undeclared(table: Table, name: str, rows: list[int], among: str) -> Iterator[Fault]:
    """A fault for each row whose value is not among the declared ones."""
    for row in rows:
        detail = f"{table.column(name)[row]!r} is not among the declared {among}"
        yield table.fault(row, name, detail)
