"""The attributes of a dataset as the kernels look them up."""

from typing import Any

import numpy as np

from service.tree.arrays import Ints
from service.tree.attribute import Kind
from service.tree.c45 import C45, WIDE, tolerance_of
from service.tree.context import Context
from service.tree.dataset import Dataset
from service.tree.kernels.c45 import mark_close
from service.tree.kernels.rooms import (
    GROUP,
    HAS_NULL,
    IS_CATEGORICAL,
    IS_CLOSE,
    IS_COUNTED,
    N_VALUES,
    PLACE,
    Columns,
)
from service.tree.presort import Presorted, in_threads, is_ordered


def columns_of(context: Context, columns: Presorted) -> Columns:
    """The attributes as the kernels look them up."""
    data, ordered = context.data, is_ordered(context.data)
    facts = np.zeros((len(data.attributes), 8), np.int64)
    facts[:, IS_CATEGORICAL] = ~ordered
    facts[:, PLACE] = np.where(ordered, np.cumsum(ordered), np.cumsum(~ordered) - 1)
    n_values = np.array([len(each.values) for each in data.attributes])
    facts[:, N_VALUES] = np.where(ordered, 0, n_values)
    facts[:, HAS_NULL] = context.has_null
    facts[:, IS_COUNTED] = ordered | (
        WIDE * context.n_rows - n_values > tolerance_of(context.params)
    )
    groups = sorted({each.group for each in data.attributes if each.group is not None})
    facts[:, GROUP] = [
        -1 if each.group is None else groups.index(each.group) for each in data.attributes
    ]
    values = np.ascontiguousarray(
        data.values.T
    )  # one order of memory, or all is compiled once more
    facts[:, IS_CLOSE] = columns.is_marked & ordered
    if context.params.rules in C45 and not columns.is_marked:
        _mark_close(values, columns, facts)
    costs = np.zeros((2, max(len(facts), len(groups))))
    costs[0, : len(facts)] = [each.cost for each in data.attributes]
    costs[1, : len(groups)] = [data.group_costs.get(name, 0.0) for name in groups]
    scale = np.ones(len(data.classes)) if context.origin is None else context.origin.scale
    return Columns(columns.layout, facts, costs, values, _categories(data), scale)


def _categories(data: Dataset) -> Ints:
    """Per code of a category its number, -1 for null; between two of them there are none."""
    numbers = [
        np.append(np.arange(len(each.values)), -1)
        for each in data.attributes
        if each.kind == Kind.CATEGORICAL
    ]
    return np.repeat(np.concatenate([np.empty(0, np.int64), *numbers]), data.n_statistics)


def _mark_close(values: Any, columns: Presorted, facts: Ints) -> None:
    """Marks the neighbours in each column that are different, but as good as equal to C4.5."""
    ordered = np.flatnonzero(facts[:, IS_CATEGORICAL] == 0)

    def mark(places: range) -> None:
        for attribute in ordered[places].tolist():
            start = int(facts[attribute, PLACE]) * columns.n_rows
            facts[attribute, IS_CLOSE] = mark_close(
                columns.entries, start, columns.n_rows, columns.layout, values, attribute,
                columns.rows,
            )  # fmt: skip

    in_threads(mark, len(ordered), columns.n_rows)
