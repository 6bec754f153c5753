"""How many (row, weight) pairs dividing the nulls makes, counted on a finished tree."""

from dataclasses import dataclass

import numpy as np

from service.tree.arrays import Bools, Floats
from service.tree.dataset import Dataset
from service.tree.nodes import Operator, Tree

MOST_ROWS = 5_000  # of the data that are followed; the others fare alike
LEAST = 1e-6  # of a row's weight; less than that is not carried on


@dataclass(frozen=True)
class Blowup:
    """Pairs per row."""

    at_the_leaves: float  # in all
    at_once: float  # at most, by nodes that wait while one after the other is walked depth-first


def blowup(tree: Tree, data: Dataset) -> Blowup:
    """What becomes of the rows when each goes down every branch that it may belong to."""
    n_rows = min(len(data.target), MOST_ROWS)
    waiting = [(0, np.arange(n_rows), np.ones(n_rows))]
    n_waiting, most, at_leaves = n_rows, n_rows, 0
    while waiting:
        node, rows, weights = waiting.pop()
        n_waiting -= len(rows)
        if tree.is_leaf[node]:
            at_leaves += len(rows)
            continue
        values = data.values[rows, tree.attribute[node]]
        first = tree.first_child[node]
        for child in range(first, first + tree.n_branches[node]):
            null = np.isnan(values)
            passed = np.where(null, weights * tree.share[child], weights)
            here = (_meets(tree, child, values) | null) & (passed >= LEAST)
            waiting.append((child, rows[here], passed[here]))
            n_waiting += int(here.sum())
        most = max(most, n_waiting)
    return Blowup(at_leaves / n_rows, most / n_rows)


def _meets(tree: Tree, node: int, values: Floats) -> Bools:
    """Which values fulfil the condition on the edge to the node."""
    operator, value = Operator(tree.operator[node]), tree.value[node]
    if operator == Operator.AT_MOST:
        return np.asarray(values <= value)
    if operator == Operator.ABOVE:
        return np.asarray(values > value)
    if operator == Operator.EQUAL:
        return np.asarray(values == value)
    return np.isin(values, tree.categories(node))
