"""Prediction: the weighted mean of the leaves that a row reaches, and how far they differ."""

from dataclasses import dataclass, replace

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.compiled import CompiledTree
from service.tree.criterion import TIE
from service.tree.mixture import Mixture
from service.tree.route import Routed, route


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
    certain: Bools  # one leaf, and one that training rows had reached
    met: Ints  # pairs (row, attribute): the unknown attributes that mattered

    @property
    def classes(self) -> Ints:
        """Per row the number of the likeliest class, the first of equals; -1 without an answer."""
        best = self.probabilities.max(axis=1, keepdims=True, initial=-np.inf)
        first: Ints = np.argmax(self.probabilities >= best - TIE, axis=1)
        return np.where(self.leaves > 0, first, -1)

    @property
    def means(self) -> Floats:
        """In regression, per row the value that is predicted."""
        return self.probabilities[:, 0]


def predict(compiled: CompiledTree, values: Floats, missing: str = "weighted") -> Predictions:
    """The predictions for rows of numbers (row, attribute), NaN being null."""
    mixture = compiled.mixture if missing == "weighted" else None
    ends = _ends(compiled) if mixture is None else mixture
    found = _nothing(len(values), compiled.probabilities.shape[1])
    met = [found.met]
    for routed in route(compiled, values, missing, mixture):
        met.append(_met(routed, mixture))
        if len(routed.rows) == 0:
            continue
        rows, starts = np.unique(routed.rows, return_index=True)
        leaves, weights = routed.leaves, routed.weights
        found.probabilities[rows] = _mixed(weights, ends.answers[leaves], starts)
        found.lowest[rows] = np.minimum.reduceat(ends.lowest[leaves], starts)
        found.highest[rows] = np.maximum.reduceat(ends.highest[leaves], starts)
        found.leaves[rows] = np.add.reduceat(ends.n_leaves[leaves], starts)
        found.certain[rows] = (found.leaves[rows] == 1) & (compiled.tree.weight[leaves[starts]] > 0)
        if compiled.tree.is_regression:
            apart = ends.answers[leaves, 0] - found.probabilities[routed.rows, 0]
            squares = ends.variance[leaves] + apart * apart
            found.deviation[rows] = np.sqrt(_mixed(weights, squares[:, None], starts)[:, 0])
    return replace(found, met=np.unique(np.concatenate(met), axis=0))


def _nothing(n_rows: int, n_answers: int) -> Predictions:
    probabilities, lowest, highest = (np.full((n_rows, n_answers), np.nan) for _ in range(3))
    leaves = np.zeros(n_rows, dtype=np.int64)
    no_pairs = np.empty((0, 2), dtype=np.int64)
    certain = np.zeros(n_rows, dtype=bool)
    return Predictions(
        probabilities, lowest, highest, np.full(n_rows, np.nan), leaves, certain, no_pairs
    )  # fmt: skip


def _ends(compiled: CompiledTree) -> Mixture:
    """Each node as an end of its own: what it answers as a leaf."""
    answers = compiled.probabilities
    marks = np.zeros((0, 0), dtype=bool)
    ones = np.ones(len(answers), dtype=np.int64)
    return Mixture(marks, answers, answers, answers, compiled.tree.variance, ones)


def _met(routed: Routed, mixture: Mixture | None) -> Ints:
    """The unknown attributes that were met, also below the nodes at which rows ended."""
    if mixture is None:
        return routed.met
    ends, attributes = np.nonzero(mixture.asks[routed.leaves])
    return np.concatenate([routed.met, np.column_stack([routed.rows[ends], attributes])])


def _mixed(weights: Floats, answers: Floats, starts: Ints) -> Floats:
    mixed = np.add.reduceat(weights[:, None] * answers, starts)
    # the shares of a deep tree sum to one only up to rounding; one end is exact as it is
    counts = np.diff(np.append(starts, len(weights)))
    total = np.where(counts == 1, 1.0, np.add.reduceat(weights, starts))
    return mixed / total[:, None]
