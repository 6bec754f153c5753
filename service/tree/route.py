"""Routing: all rows step down together; where one does not know, the strategy says where to."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.compiled import CompiledTree
from service.tree.mixture import Mixture
from service.tree.nodes import Split

MOST_AT_ONCE = 1 << 22  # leaves that rows with nulls may reach together in one block


@dataclass(frozen=True)
class Routed:
    """The nodes at which rows ended, and the unknown attributes that they met on the way.

    Sorted by row; over the nodes of a row the weights sum to 1. A row that does not occur has
    no answer (strategy `none`).
    """

    rows: Ints
    leaves: Ints
    weights: Floats
    met: Ints  # pairs (row, attribute), each once, sorted


@dataclass(frozen=True)
class Front:
    """Rows on their way: which row, at which node, with which weight."""

    rows: Ints
    nodes: Ints
    weights: Floats

    def where(self, chosen: Bools) -> "Front":
        """Only some of them."""
        return Front(self.rows[chosen], self.nodes[chosen], self.weights[chosen])


Strategy: TypeAlias = Callable[[CompiledTree, Front], tuple[Front, Front]]  # who goes on, who ends
Router: TypeAlias = Callable[[CompiledTree, Floats, str, Mixture | None], Iterator[Routed]]


def down_every(compiled: CompiledTree, front: Front) -> tuple[Front, Front]:
    """All go down every branch that has a share, their weight divided."""
    n_branches = compiled.n_branches[front.nodes]
    origin = np.repeat(np.arange(len(front.rows)), n_branches)
    firsts = np.cumsum(n_branches) - n_branches
    branch = np.arange(len(origin)) - firsts[origin]
    children = compiled.first_child[front.nodes[origin]] + branch
    shares = compiled.tree.share[children]
    below = Front(front.rows[origin], children, front.weights[origin] * shares)
    return below.where(shares > 0), _nobody(front)


def stop_here(_compiled: CompiledTree, front: Front) -> tuple[Front, Front]:
    """All end where they stand."""
    return _nobody(front), front


def down_largest(compiled: CompiledTree, front: Front) -> tuple[Front, Front]:
    """All go down the branch with the largest share."""
    children = compiled.first_child[front.nodes] + compiled.largest_branch[front.nodes]
    return replace(front, nodes=children), _nobody(front)


def give_up(_compiled: CompiledTree, front: Front) -> tuple[Front, Front]:
    """Nobody goes on or ends: there is no answer."""
    return _nobody(front), _nobody(front)


def _nobody(front: Front) -> Front:
    return front.where(np.zeros(len(front.rows), dtype=bool))


POOLING = "aggregate"
DIVIDING = ("weighted", POOLING)  # strategies by which a row may come to several leaves

STRATEGIES: dict[str, Strategy] = {
    "weighted": down_every,
    POOLING: down_every,
    "last_prediction": stop_here,
    "default_child": down_largest,
    "none": give_up,
}


def route(
    compiled: CompiledTree,
    values: Floats,
    missing: str = "weighted",
    mixture: Mixture | None = None,
) -> Iterator[Routed]:
    """What became of the rows, block by block, so that memory stays bounded.

    With a mixture a row also ends at a node below which nothing is asked that it knows.
    """
    used = np.unique(compiled.tree.attribute[~compiled.tree.is_leaf])
    # a category in neither set of a split is undecided like null, so that its row may divide too
    may_divide = np.isnan(values[:, used]).any(axis=1) | bool((compiled.table < 0).any())
    complete, partial = np.flatnonzero(~may_divide), np.flatnonzero(may_divide)
    if len(complete):
        yield _route_block(compiled, values, complete, missing, None)
    marks = len(compiled.attributes) if mixture is not None else 1
    step = max(1, MOST_AT_ONCE // (compiled.n_leaves * marks))
    for start in range(0, len(partial), step):
        yield _route_block(compiled, values, partial[start : start + step], missing, mixture)


def _route_block(
    compiled: CompiledTree, values: Floats, rows: Ints, missing: str, mixture: Mixture | None
) -> Routed:
    front = Front(rows, np.zeros(len(rows), dtype=np.int64), np.ones(len(rows)))
    known = ~np.isnan(values[rows[0] : rows[-1] + 1])  # rows stand in their order
    arrived: list[Front] = []
    met = [np.empty((0, 2), dtype=np.int64)]
    while len(front.rows):
        is_end = compiled.tree.attribute[front.nodes] < 0
        if mixture is not None:
            known_below = mixture.asks[front.nodes] & known[front.rows - rows[0]]
            is_end = np.asarray(~known_below.any(axis=1))
        arrived.append(front.where(is_end))
        front = front.where(~is_end)
        attributes = compiled.tree.attribute[front.nodes]
        given = values[front.rows, attributes]
        branches = branches_at(compiled, front.nodes, given)
        undecided = branches < 0
        children = compiled.first_child[front.nodes] + branches
        decided = replace(front, nodes=children).where(~undecided)
        lost = front.where(undecided)
        met.append(np.column_stack([lost.rows, attributes[undecided]]))
        going, ending = STRATEGIES[missing](compiled, lost)
        arrived.append(ending)
        front = _join([decided, going])
    weights = compiled.tree.weight if mixture is None else mixture.pooled_weight
    return _collected(_join(arrived), np.concatenate(met), weights if missing == POOLING else None)


def branches_at(compiled: CompiledTree, nodes: Ints, given: Floats) -> Ints:
    """Per value the branch it takes at its node, -1 where the node does not say."""
    null = np.isnan(given)
    known = np.where(null, 0.0, given)
    codes = known.astype(np.int64)
    branch = np.where(compiled.tree.split[nodes] == Split.THRESHOLD,
                      known > compiled.threshold[nodes], codes)  # fmt: skip
    has_table = compiled.table_start[nodes] >= 0
    branch[has_table] = compiled.table[compiled.table_start[nodes][has_table] + codes[has_table]]
    return np.where(null | (branch < 0), compiled.null_branch[nodes], branch)


def _collected(reached: Front, met: Ints, training: Floats | None) -> Routed:
    order = np.lexsort((reached.nodes, reached.rows))
    rows, nodes, weights = (
        reached.rows[order],
        reached.nodes[order],
        reached.weights[order],
    )
    if training is not None and len(rows):
        # the leaves' training weights are pooled, in the place of the shares on the way
        weights = training[nodes]
        _, starts, counts = np.unique(rows, return_index=True, return_counts=True)
        pooled = np.repeat(np.add.reduceat(weights, starts), counts)
        # a row whose known value ended in an empty branch has that branch's answer alone
        weights = np.where(pooled > 0, weights / np.where(pooled > 0, pooled, 1.0),
                           1.0 / np.repeat(counts, counts))  # fmt: skip
    return Routed(rows, nodes, weights, np.unique(met, axis=0))


def _join(fronts: list[Front]) -> Front:
    return Front(
        np.concatenate([front.rows for front in fronts]),
        np.concatenate([front.nodes for front in fronts]),
        np.concatenate([front.weights for front in fronts]),
    )
