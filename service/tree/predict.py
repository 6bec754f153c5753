"""Prediction: the weighted mean of the leaves that a row reaches, and how far they differ."""

from dataclasses import dataclass

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.compiled import CompiledTree
from service.tree.criterion import TIE
from service.tree.route import Routed, route


@dataclass(frozen=True)
class Predictions:
    """Per row what the tree says and how sure it is of the path."""

    probabilities: Floats  # (row, class)
    lowest: Floats  # (row, class): the smallest probability of any leaf reached
    highest: Floats
    leaves: Ints  # how many leaves were reached: 1 where nothing that mattered was null
    met: Ints  # pairs (row, attribute): the unknown attributes that mattered

    @property
    def classes(self) -> Ints:
        """Per row the number of the likeliest class, the first of equals."""
        best = self.probabilities.max(axis=1, keepdims=True)
        first: Ints = np.argmax(self.probabilities >= best - TIE, axis=1)
        return first


def predict(compiled: CompiledTree, values: Floats) -> Predictions:
    """The predictions for rows of numbers (row, attribute), NaN being null."""
    shape = (len(values), len(compiled.classes))
    probabilities, lowest, highest = np.empty(shape), np.empty(shape), np.empty(shape)
    leaves = np.empty(len(values), dtype=np.int64)
    met = [np.empty((0, 2), dtype=np.int64)]
    for routed in route(compiled, values):
        rows, starts, counts = np.unique(routed.rows, return_index=True, return_counts=True)
        answers = compiled.probabilities[routed.leaves]
        probabilities[rows] = _mixed(routed, answers, starts, counts)
        lowest[rows] = np.minimum.reduceat(answers, starts)
        highest[rows] = np.maximum.reduceat(answers, starts)
        leaves[rows] = counts
        met.append(routed.met)
    return Predictions(probabilities, lowest, highest, leaves, np.concatenate(met))


def _mixed(routed: Routed, answers: Floats, starts: Ints, counts: Ints) -> Floats:
    mixed = np.add.reduceat(routed.weights[:, None] * answers, starts)
    # the shares of a deep tree sum to one only up to rounding; one leaf is exact as it is
    total = np.where(counts == 1, 1.0, np.add.reduceat(routed.weights, starts))
    return mixed / total[:, None]
