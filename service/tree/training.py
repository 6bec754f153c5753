"""From a raw table and what was declared of it to a dataset to train on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from service.errors import Fault, InvalidData, pointer
from service.tree.arrays import Floats, Ints
from service.tree.attribute import Attribute, Kind
from service.tree.dataset import Dataset
from service.tree.encode import (
    IGNORED,
    Declaration,
    categories,
    codes_of,
    encode_categories,
    encode_numbers,
    infer,
    raise_faults,
)
from service.tree.table import Table

MOST_CLASSES = 1000  # every node holds a weight for each; more is a number or an id, no class


@dataclass(frozen=True)
class Plan:
    """Which column is what."""

    target: str
    declared: tuple[Declaration, ...] = ()
    classes: tuple[str, ...] | None = None  # None: the target's values by first appearance
    weight: str | None = None  # the column that holds the rows' weights

    @property
    def ignored(self) -> tuple[str, ...]:
        """The columns that are no input: they may stand in a row to predict, and mean nothing."""
        extra = () if self.weight is None else (self.weight,)
        return extra + tuple(each.name for each in self.declared if each.kind == IGNORED)


def make_dataset(table: Table, plan: Plan) -> Dataset:
    """The dataset of a table; InvalidData names each row and field that cannot be used."""
    if table.n_rows == 0:
        raise InvalidData("there are no rows", [Fault(pointer(*table.place), "has no rows")])
    if plan.target not in table.columns:
        detail = f"no row has a column {plan.target!r}"
        raise InvalidData(detail, [Fault("/target", detail)])
    attributes = tuple(infer(table, each) for each in _inputs(table, plan))
    if not attributes:
        detail = "there is no column to learn from"
        raise InvalidData(detail, [Fault(pointer(*table.place), detail)])
    classes = _classes(table, plan)
    values = np.empty((table.n_rows, len(attributes)), order="F")
    for number, attribute in enumerate(attributes):
        values[:, number] = _encode(table, attribute)
    target = _encode_target(table, plan.target, classes)
    return Dataset(attributes, classes, values, target, _weights(table, plan.weight))


def _inputs(table: Table, plan: Plan) -> Iterator[Declaration]:
    """The declared inputs in declared order, then the other columns in order of appearance."""
    yield from (each for each in plan.declared if each.kind != IGNORED)
    known = {each.name for each in plan.declared} | {plan.target, plan.weight}
    yield from (Declaration(name) for name in table.columns if name not in known)


def _encode(table: Table, attribute: Attribute) -> Floats:
    if attribute.kind == Kind.NUMERIC:
        return encode_numbers(table, attribute.name)
    encoded, strangers = encode_categories(table, attribute.name, codes_of(attribute.values))
    raise_faults(_undeclared(table, attribute.name, strangers, "values"))
    return encoded


def _classes(table: Table, plan: Plan) -> tuple[str, ...]:
    classes = plan.classes if plan.classes is not None else categories(table, plan.target)
    if len(classes) < 2:
        detail = f"the target {plan.target!r} has fewer than two classes: there is nothing to learn"
        raise InvalidData(detail, [Fault("/target", detail)])
    if len(classes) > MOST_CLASSES:
        detail = f"the target {plan.target!r} has more than {MOST_CLASSES} classes"
        raise InvalidData(detail, [Fault("/target", detail)])
    return classes


def _encode_target(table: Table, name: str, classes: Sequence[str]) -> Ints:
    encoded, strangers = encode_categories(table, name, codes_of(classes))
    raise_faults(_undeclared(table, name, strangers, "classes"))
    nulls = np.flatnonzero(np.isnan(encoded)).tolist()
    raise_faults(
        Fault(table.pointer(row, name), "is null: a row to train on needs a class") for row in nulls
    )
    return encoded.astype(np.int64)


def _undeclared(table: Table, name: str, rows: list[int], among: str) -> Iterator[Fault]:
    for row in rows:
        detail = f"{table.column(name)[row]!r} is not among the declared {among}"
        yield Fault(table.pointer(row, name), detail)


def _weights(table: Table, name: str | None) -> Floats:
    if name is None:
        return np.ones(table.n_rows)
    weights = encode_numbers(table, name)
    bad = np.flatnonzero(np.isnan(weights) | (weights < 0)).tolist()
    raise_faults(
        Fault(table.pointer(row, name), "must be a weight: a number, not below 0") for row in bad
    )
    if not np.isfinite(weights.sum()) or weights.sum() <= 0:
        detail = "the weights must have a sum above 0 that is a finite number"
        raise InvalidData(detail, [Fault("/weight", detail)])
    return weights
