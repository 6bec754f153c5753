"""Prediction: the weighted mean of the leaves that a row reaches, and how far they differ."""

from dataclasses import dataclass, replace

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.compiled import CompiledTree
from service.tree.criterion import likeliest
from service.tree.mixture import Mixture, marks_of, pooled_answers
from service.tree.route import DIVIDING, POOLING, Routed, Router, route


@dataclass(frozen=True)
class Predictions:
    """Per row what the tree says and how sure it is of the path.

    In regression there is one column, the mean. A row without an answer has NaN and no leaves.
    """

    probabilities: Floats  # (row, class)
    lowest: Floats  # (row, class): the smallest probability of any leaf reached
    highest: Floats
    deviation: Floats  # per row, in regression: the predictive standard deviation
    leaves: Ints  # how many leaves were reached: 1 where nothing that mattered was null
    certain: Bools  # no null mattered, and training rows had reached the leaf
    met: Ints  # pairs (row, attribute): the unknown attributes that mattered

    @property
    def classes(self) -> Ints:
        """Per row the number of the likeliest class, the first of equals; -1 without an answer."""
        return np.where(self.leaves > 0, likeliest(self.probabilities), -1)

    @property
    def means(self) -> Floats:
        """In regression, per row the value that is predicted."""
        return self.probabilities[:, 0]


def predict(
    compiled: CompiledTree, values: Floats, missing: str = "weighted", router: Router = route
) -> Predictions:
    """The predictions for rows of numbers (row, attribute), NaN being null."""
    mixture = compiled.mixture if missing in DIVIDING else None
    ends = ends_of(compiled, missing)
    found = _nothing(len(values), compiled.probabilities.shape[1])
    met = [found.met]
    for routed in router(compiled, values, missing, mixture):
        met.append(_met(compiled, routed, mixture))
        if len(routed.rows) == 0:
            continue
        rows, starts = _starts(routed.rows)
        leaves, weights = routed.leaves, routed.weights
        answers = ends.answers.take(leaves, axis=0)
        found.probabilities[rows] = mixed(weights, answers, starts)
        lowest = highest = answers  # as where all ends are leaves
        if ends.lowest is not ends.answers:
            lowest, highest = (each.take(leaves, axis=0) for each in (ends.lowest, ends.highest))
        found.lowest[rows] = np.minimum.reduceat(lowest, starts)
        found.highest[rows] = np.maximum.reduceat(highest, starts)
        found.leaves[rows] = np.add.reduceat(ends.n_leaves.take(leaves), starts)
        found.certain[rows] = (found.leaves[rows] == 1) & (compiled.tree.weight[leaves[starts]] > 0)
        if compiled.tree.is_regression:
            apart = answers[:, 0] - found.probabilities[routed.rows, 0]
            squares = ends.variance[leaves] + apart * apart
            found.deviation[rows] = np.sqrt(mixed(weights, squares[:, None], starts)[:, 0])
    pairs = _distinct(np.concatenate(met), (len(values), len(compiled.attributes)))
    found.certain[pairs[:, 0]] = False
    return replace(found, met=pairs)


def told_at(compiled: CompiledTree, leaves: Ints) -> Predictions:
    """What is told of rows each of which knew its way to a leaf, whatever their values are."""
    own = compiled.probabilities.take(leaves, axis=0)
    return Predictions(
        probabilities=own,
        lowest=own,
        highest=own,
        deviation=np.sqrt(compiled.tree.variance.take(leaves)),
        leaves=np.ones(len(leaves), dtype=np.int64),
        certain=compiled.tree.weight.take(leaves) > 0,
        met=np.empty((0, 2), dtype=np.int64),
    )


def answers(compiled: CompiledTree, values: Floats, missing: str = "weighted") -> Floats:
    """Only the probabilities, or the means, of rows of numbers."""
    return predict(compiled, values, missing).probabilities


def _nothing(n_rows: int, n_answers: int) -> Predictions:
    probabilities, lowest, highest = (np.full((n_rows, n_answers), np.nan) for _ in range(3))
    leaves = np.zeros(n_rows, dtype=np.int64)
    no_pairs = np.empty((0, 2), dtype=np.int64)
    certain = np.zeros(n_rows, dtype=bool)
    return Predictions(
        probabilities, lowest, highest, np.full(n_rows, np.nan), leaves, certain, no_pairs
    )  # fmt: skip


@dataclass(frozen=True)
class Ends:
    """What a row is told at the node at which it ends."""

    answers: Floats
    lowest: Floats
    highest: Floats
    variance: Floats
    n_leaves: Ints


def ends_of(compiled: CompiledTree, missing: str) -> Ends:
    """Each node as an end: by its mixture where rows may divide, as a leaf where they do not."""
    mixture, tree, own = compiled.mixture, compiled.tree, compiled.probabilities
    if mixture is None or missing not in DIVIDING:
        return Ends(own, own, own, tree.variance, np.ones(len(own), dtype=np.int64))
    answers, variance = mixture.answers, mixture.variance
    if missing == POOLING:
        answers, weight = pooled_answers(mixture), mixture.pooled_weight
        spread = mixture.pooled_spread / np.where(weight > 0, weight, 1.0)
        variance = np.where(weight > 0, spread, variance)  # an empty leaf answers as its parent
    return Ends(answers, mixture.lowest, mixture.highest, variance, mixture.n_leaves)


def _met(compiled: CompiledTree, routed: Routed, mixture: Mixture | None) -> Ints:
    """The unknown attributes that were met, also below the nodes at which rows ended."""
    if mixture is None:
        return routed.met
    above = np.flatnonzero(~compiled.tree.is_leaf[routed.leaves])  # a leaf asks nothing
    if len(above) == 0:
        return routed.met
    rows, starts = _starts(routed.rows[above])
    nodes = routed.leaves[above]
    asked = [np.bitwise_or.reduceat(asks.take(nodes), starts) for asks in mixture.words]
    places, attributes = marks_of(asked, len(compiled.attributes)).nonzero()
    return np.concatenate([routed.met, np.column_stack([rows[places], attributes])])


def _starts(rows: Ints) -> tuple[Ints, Ints]:
    """Each row once, and where it begins; equal rows stand together."""
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    return rows[starts], starts


def _distinct(pairs: Ints, shape: tuple[int, int]) -> Ints:
    """The pairs (row, attribute), each once, sorted."""
    marks = np.zeros(shape, dtype=bool)
    marks[pairs[:, 0], pairs[:, 1]] = True
    return np.argwhere(marks)


def mixed(weights: Floats, answers: Floats, starts: Ints) -> Floats:
    """Per row the mean of its answers by weight; a row's answers stand together from its start."""
    summed = np.add.reduceat(weights[:, None] * answers, starts)
    # the shares of a deep tree sum to one only up to rounding; one end is exact as it is
    counts = np.diff(np.append(starts, len(weights)))
    total = np.where(counts == 1, 1.0, np.add.reduceat(weights, starts))
    return summed / total[:, None]
