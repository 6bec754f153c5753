"""Routing: all rows step down together; where a row does not know, it goes down every branch."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.compiled import CompiledTree
from service.tree.nodes import Split

MOST_AT_ONCE = 1 << 22  # leaves that rows with nulls may reach together in one block


@dataclass(frozen=True)
class Routed:
    """The leaves that rows reached, and the unknown attributes that they met on the way.

    Sorted by row; over the leaves of a row the weights sum to 1.
    """

    rows: Ints
    leaves: Ints
    weights: Floats
    met: Ints  # pairs (row, attribute), each once, sorted


@dataclass(frozen=True)
class _Front:
    """Rows on their way: which row, at which node, with which weight."""

    rows: Ints
    nodes: Ints
    weights: Floats

    def where(self, chosen: "np.typing.NDArray[np.bool_]") -> "_Front":
        return _Front(self.rows[chosen], self.nodes[chosen], self.weights[chosen])


def route(compiled: CompiledTree, values: Floats) -> Iterator[Routed]:
    """What became of the rows, block by block, so that memory stays bounded."""
    used = np.unique(compiled.tree.attribute[~compiled.tree.is_leaf])
    has_null = np.isnan(values[:, used]).any(axis=1)
    whole, partial = np.flatnonzero(~has_null), np.flatnonzero(has_null)
    if len(whole):
        yield _route_block(compiled, values, whole)
    step = max(1, MOST_AT_ONCE // compiled.n_leaves)
    for start in range(0, len(partial), step):
        yield _route_block(compiled, values, partial[start : start + step])


def _route_block(compiled: CompiledTree, values: Floats, rows: Ints) -> Routed:
    front = _Front(rows, np.zeros(len(rows), dtype=np.int64), np.ones(len(rows)))
    arrived: list[_Front] = []
    met = [np.empty((0, 2), dtype=np.int64)]
    while len(front.rows):
        at_leaf = compiled.tree.attribute[front.nodes] < 0
        arrived.append(front.where(at_leaf))
        front = front.where(~at_leaf)
        attributes = compiled.tree.attribute[front.nodes]
        given = values[front.rows, attributes]
        null = np.isnan(given)
        unknown = front.where(null)
        met.append(np.column_stack([unknown.rows, attributes[null]]))
        front = _join([_down_one(compiled, front.where(~null), given[~null]),
                       _down_every(compiled, unknown)])  # fmt: skip
    reached = _join(arrived)
    order = np.lexsort((reached.nodes, reached.rows))
    pairs = np.unique(np.concatenate(met), axis=0)
    return Routed(reached.rows[order], reached.nodes[order], reached.weights[order], pairs)


def _down_one(compiled: CompiledTree, front: _Front, given: Floats) -> _Front:
    is_cut = compiled.tree.split[front.nodes] == Split.THRESHOLD
    branch = np.where(is_cut, given > compiled.threshold[front.nodes], given).astype(np.int64)
    return _Front(front.rows, compiled.first_child[front.nodes] + branch, front.weights)


def _down_every(compiled: CompiledTree, front: _Front) -> _Front:
    n_branches = compiled.n_branches[front.nodes]
    origin = np.repeat(np.arange(len(front.rows)), n_branches)
    firsts = np.cumsum(n_branches) - n_branches
    branch = np.arange(len(origin)) - firsts[origin]
    children = compiled.first_child[front.nodes[origin]] + branch
    shares = compiled.tree.share[children]
    below = _Front(front.rows[origin], children, front.weights[origin] * shares)
    return below.where(shares > 0)


def _join(fronts: list[_Front]) -> _Front:
    return _Front(
        np.concatenate([front.rows for front in fronts]),
        np.concatenate([front.nodes for front in fronts]),
        np.concatenate([front.weights for front in fronts]),
    )
