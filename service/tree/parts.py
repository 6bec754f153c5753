"""The rows a tree is grown from, and their statistics."""

from dataclasses import dataclass

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.dataset import Dataset


@dataclass(frozen=True)
class Part:
    """The rows at one node, each with the weight in which it arrived."""

    rows: Ints
    weights: Floats


def whole(data: Dataset) -> Part:
    """All rows that have any weight."""
    rows = np.flatnonzero(data.weights > 0)
    return Part(rows, data.weights[rows])


def statistics(target: Ints | Floats, weights: Floats, n_classes: int) -> Floats:
    """Per row its statistics: (row, class), or (row, moment) without classes."""
    if n_classes == 0:
        return np.stack([weights, weights * target, weights * target * target], axis=-1)
    rows = np.zeros((len(target), n_classes))
    rows[np.arange(len(target)), target.astype(np.int64)] = weights
    return rows
