"""From a raw table and what was declared of it to a dataset to train on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from service.errors import Fault, InvalidData, pointer
from service.tree.arrays import Bools, Floats
from service.tree.attribute import Attribute, Kind
from service.tree.dataset import Dataset
from service.tree.encode import (
    IGNORED,
    Declaration,
    codes_of,
    encode_categories,
    encode_numbers,
    infer,
    raise_faults,
)
from service.tree.table import Table
from service.tree.target import (
    CLASSIFICATION,
    MOST_CLASSES,
    REGRESSION,
    classes_of,
    encode_classes,
    encode_target_numbers,
    infer_task,
    undeclared,
)

__all__ = ["CLASSIFICATION", "MOST_CLASSES", "REGRESSION", "Plan", "make_dataset"]


@dataclass(frozen=True)
class Plan:
    """Which column is what."""

    target: str
    declared: tuple[Declaration, ...] = ()
    classes: tuple[str, ...] | None = None  # None: the target's values by first appearance
    weight: str | None = None  # the column that holds the rows' weights
    task: str | None = None  # classification or regression; None: as the target looks
    group_costs: Mapping[str, float] = field(default_factory=dict)
    class_weights: Mapping[str, float] = field(default_factory=dict)
    validation_rows: tuple[int, ...] = ()  # held out by pruning that needs it; none: drawn

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
        raise _wrong("/target", f"no row has a column {plan.target!r}")
    _refuse_absent(table, plan)
    attributes, values = _encoded(table, list(inputs_of(table.columns, plan)))
    weights = row_weights(table, plan.weight)
    if (plan.task or infer_task(table, plan.target, plan.classes)) == REGRESSION:
        numbers = encode_target_numbers(table, plan.target)
        return Dataset(attributes, (), values, numbers, weights, plan.group_costs)
    classes = plan.classes if plan.classes is not None else classes_of(table, plan.target)
    target = encode_classes(table, plan.target, classes)
    total = float((weights * class_weights_of(plan, classes)[target]).sum())
    if not 0 < total < np.inf:
        detail = "the weights of the rows must have a sum above 0 that is a finite number"
        raise _wrong("/class_weights", detail)
    return Dataset(attributes, classes, values, target, weights, plan.group_costs)


def _encoded(table: Table, inputs: Sequence[Declaration]) -> tuple[tuple[Attribute, ...], Floats]:
    if not inputs:
        raise _wrong(pointer(*table.place), "there is no column to learn from")
    values = np.empty((table.n_rows, len(inputs)), order="F")
    attributes = []
    for number, each in enumerate(inputs):  # one by one: a column may be read from a file
        attributes.append(infer(table, each))
        values[:, number] = _encode(table, attributes[-1])
    return tuple(attributes), values


def validation_of(table: Table, plan: Plan) -> Bools | None:
    """Per row whether it is to be held out; None where that is left open."""
    if not plan.validation_rows:
        return None
    beyond = [row for row in plan.validation_rows if not 0 <= row < table.n_rows]
    if beyond:
        raise _wrong("/validation_rows", f"there is no row {beyond[0]}")
    held = np.zeros(table.n_rows, dtype=bool)
    held[list(plan.validation_rows)] = True
    if held.all():
        raise _wrong("/validation_rows", "there is no row left to train on")
    return held


def _refuse_absent(table: Table, plan: Plan) -> None:
    """A declared column that no row has is most often a spelling mistake."""
    faults = [
        Fault(pointer("attributes", number, "name"), f"no row has a column {each.name!r}")
        for number, each in enumerate(plan.declared)
        if each.name not in table.columns
    ]
    if plan.weight is not None and plan.weight not in table.columns:
        faults.append(Fault("/weight", f"no row has a column {plan.weight!r}"))
    raise_faults(iter(faults), "some declared columns are not there")


def inputs_of(names: Iterable[str], plan: Plan) -> Iterator[Declaration]:
    """The declared inputs in declared order, then the other columns in order of appearance."""
    yield from (each for each in plan.declared if each.kind != IGNORED)
    known = {each.name for each in plan.declared} | {plan.target, plan.weight}
    yield from (Declaration(name) for name in names if name not in known)


def _encode(table: Table, attribute: Attribute) -> Floats:
    if attribute.kind == Kind.NUMERIC:
        return encode_numbers(table, attribute.name)
    encoded, strangers = encode_categories(table, attribute.name, codes_of(attribute.values))
    raise_faults(undeclared(table, attribute.name, strangers, "values"))
    return encoded


def row_weights(table: Table, name: str | None) -> Floats:
    """Per row its weight: 1, or what a column says."""
    if name is None:
        return np.ones(table.n_rows)
    weights = encode_numbers(table, name)
    bad = np.flatnonzero(np.isnan(weights) | (weights < 0)).tolist()
    raise_faults(table.fault(row, name, "must be a weight: a number, not below 0") for row in bad)
    if not np.isfinite(weights.sum()) or weights.sum() <= 0:
        raise _wrong("/weight", "the weights must have a sum above 0 that is a finite number")
    return weights


def class_weights_of(plan: Plan, classes: tuple[str, ...]) -> Floats:
    """Per class the factor of its rows' weights in training; metrics know nothing of it."""
    strangers = [name for name in plan.class_weights if name not in classes]
    if strangers:
        detail = f"{strangers[0]!r} is no class of the target"
        raise _wrong(pointer("class_weights", strangers[0]), detail)
    return np.array([plan.class_weights.get(name, 1.0) for name in classes])


def _wrong(place: str, detail: str) -> InvalidData:
    return InvalidData(detail, [Fault(place, detail)])
