"""Routing: all rows step down together; where one does not know, the strategy says where to."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.compiled import CompiledTree
from service.tree.descend import cells_of, children_at, descend
from service.tree.mixture import Mixture, words_of

MOST_AT_ONCE = 1 << 22  # leaves that rows with nulls may reach together in one block
MOST_ROWS = 500  # in one block of them: what is on its way stays in the processor's cache


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


class Front(NamedTuple):
    """Rows on their way: which row, at which node, with which weight."""

    rows: Ints
    nodes: Ints
    weights: Floats

    def where(self, chosen: Bools) -> "Front":
        """Only some of them."""
        return self.some(chosen.nonzero()[0])

    def some(self, places: Ints) -> "Front":
        """Those at these places."""
        return Front(self.rows.take(places), self.nodes.take(places), self.weights.take(places))


NOBODY = Front(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))

Strategy: TypeAlias = Callable[[CompiledTree, Front], tuple[Front, Front]]  # who goes on, who ends
Router: TypeAlias = Callable[[CompiledTree, Floats, str, Mixture | None], Iterator[Routed]]


def down_every(compiled: CompiledTree, front: Front) -> tuple[Front, Front]:
    """All go down every branch that has a share, their weight divided."""
    first = compiled.first_child.take(front.nodes)
    if compiled.is_plain:  # with two branches each
        children = np.concatenate((first, first + 1))
        rows = np.concatenate((front.rows, front.rows))
        weights = np.concatenate((front.weights, front.weights))
    else:
        n_branches = compiled.n_branches.take(front.nodes)
        children = (first - n_branches.cumsum() + n_branches).repeat(n_branches)
        children += np.arange(len(children))
        rows, weights = front.rows.repeat(n_branches), front.weights.repeat(n_branches)
    shares = compiled.tree.share.take(children)
    weights *= shares
    below = Front(rows, children, weights)
    return below if shares.all() else below.where(shares > 0), NOBODY


def stop_here(_compiled: CompiledTree, front: Front) -> tuple[Front, Front]:
    """All end where they stand."""
    return NOBODY, front


def down_largest(compiled: CompiledTree, front: Front) -> tuple[Front, Front]:
    """All go down the branch with the largest share."""
    largest = compiled.largest_branch.take(front.nodes)
    children = compiled.first_child.take(front.nodes) + largest
    return Front(front.rows, children, front.weights), NOBODY


def give_up(_compiled: CompiledTree, _front: Front) -> tuple[Front, Front]:
    """Nobody goes on or ends: there is no answer."""
    return NOBODY, NOBODY


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
    # a category in neither set of a split is undecided like null, so that its row may divide too
    may_divide = np.isnan(values[:, compiled.used]).any(axis=1) | compiled.is_forgetful
    complete, partial = np.flatnonzero(~may_divide), np.flatnonzero(may_divide)
    if len(complete):
        leaves = descend(compiled, cells_of(values[complete]))
        yield Routed(complete, leaves, np.ones(len(leaves)), np.empty((0, 2), dtype=np.int64))
    step = min(MOST_ROWS, max(1, MOST_AT_ONCE // compiled.n_leaves))
    for start in range(0, len(partial), step):
        rows = partial[start : start + step]
        yield _named(rows, _route_block(compiled, values[rows], missing, mixture))


def _named(rows: Ints, routed: Routed) -> Routed:
    """What became of the rows of a block, by their own numbers."""
    met = np.column_stack([rows.take(routed.met[:, 0]), routed.met[:, 1]])
    return Routed(rows.take(routed.rows), routed.leaves, routed.weights, met)


def _route_block(
    compiled: CompiledTree, values: Floats, missing: str, mixture: Mixture | None
) -> Routed:
    cells, known = cells_of(values), words_of(~np.isnan(values))
    starts, met = cells.starts(compiled), np.zeros(values.shape, dtype=bool)
    nowhere = np.zeros(cells.n_rows, dtype=np.int64)
    front = Front(np.arange(cells.n_rows), nowhere, np.ones(cells.n_rows))
    arrived: list[Front] = []
    while len(front.rows):
        given = cells.at(starts.take(front.nodes) + front.rows)
        children, is_lost = children_at(compiled, front.nodes, given)
        moved = Front(front.rows, children, front.weights)
        (lost,) = is_lost.nonzero()
        if len(lost) == 0:
            front = moved
            continue
        ended, undecided = _parted(compiled, front.some(lost), known, mixture)
        met[undecided.rows, compiled.tree.attribute.take(undecided.nodes)] = True
        going, ending = STRATEGIES[missing](compiled, undecided)
        arrived += (ended, ending)
        front = _join((moved.where(~is_lost), going))
    weights = compiled.tree.weight if mixture is None else mixture.pooled_weight
    reached = _sorted(_join(arrived), len(starts))
    return _collected(reached, np.argwhere(met), weights if missing == POOLING else None)


def _parted(
    compiled: CompiledTree, lost: Front, known: Sequence[Ints], mixture: Mixture | None
) -> tuple[Front, Front]:
    """Of those who could not decide, who has ended, and who still has a way to go."""
    if mixture is None:
        is_inner = compiled.tree.attribute.take(lost.nodes) >= 0
        return lost.where(~is_inner), lost.where(is_inner)
    # what each knows of what is asked from its node on; at a leaf that is nothing
    common = mixture.words[0].take(lost.nodes) & known[0].take(lost.rows)
    for asks, knows in zip(mixture.words[1:], known[1:], strict=True):
        common |= asks.take(lost.nodes) & knows.take(lost.rows)
    return lost.where(common == 0), lost.some(common.nonzero()[0])


def _sorted(reached: Front, n_nodes: int) -> Front:
    """By row, then by node."""
    n_bits = len(reached.rows).bit_length()
    keys = reached.rows * n_nodes + reached.nodes << n_bits
    keys |= np.arange(len(keys))  # its place: numbers are sorted faster than their order is told
    keys.sort()
    return reached.some(keys & (1 << n_bits) - 1)


def _collected(reached: Front, met: Ints, training: Floats | None) -> Routed:
    rows, nodes, weights = reached.rows, reached.nodes, reached.weights
    if training is not None and len(rows):
        # the leaves' training weights are pooled, in the place of the shares on the way
        weights = training[nodes]
        _, starts, counts = np.unique(rows, return_index=True, return_counts=True)
        pooled = np.repeat(np.add.reduceat(weights, starts), counts)
        # a row whose known value ended in an empty branch has that branch's answer alone
        weights = np.where(pooled > 0, weights / np.where(pooled > 0, pooled, 1.0),
                           1.0 / np.repeat(counts, counts))  # fmt: skip
    return Routed(rows, nodes, weights, met)


def _join(fronts: Sequence[Front]) -> Front:
    rows, nodes, weights = zip(*fronts, strict=True)
    return Front(np.concatenate(rows), np.concatenate(nodes), np.concatenate(weights))
