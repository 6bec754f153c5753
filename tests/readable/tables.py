"""Statistics by category, and along the sorted values of a number."""

from collections.abc import Iterator

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.parts import statistics
from tests.readable.parts import View, totals

BLOCK = 1 << 22  # numbers in hand at once while the cuts of a numeric attribute are tried


def by_category(view: View, n_values: int) -> Floats:
    """The statistics of each category: (category, statistic)."""
    codes = view.values.astype(np.int64)
    if view.n_classes:
        cells = codes * view.n_classes + view.target.astype(np.int64)
        table = np.bincount(cells, view.weights, n_values * view.n_classes)
        return table.astype(np.float64).reshape(n_values, view.n_classes)
    moments = statistics(view.target, view.weights, 0).T
    return np.stack([np.bincount(codes, moment, n_values) for moment in moments], axis=-1)


def in_order(view: View) -> View:
    """The view with its rows in the order of their values."""
    order = np.argsort(view.values, kind="stable")
    return View(
        view.values[order], view.target[order], view.weights[order],
        view.null, view.n_classes, view.filled,
    )  # fmt: skip


def along(ordered: View, cuts: Ints) -> Iterator[tuple[slice, Floats]]:
    """For each cut behind an ordered row the statistics (cut, side, statistic) of both sides.

    Block by block, so that many rows of many classes fit: the slice says which cuts.
    """
    whole = totals(ordered.target, ordered.weights, ordered.n_classes)
    passed = np.zeros_like(whole)
    step = max(1, BLOCK // len(whole))
    for start in range(0, int(cuts[-1]) + 1, step):
        rows = slice(start, start + step)
        running = statistics(ordered.target[rows], ordered.weights[rows], ordered.n_classes)
        running = passed + np.cumsum(running, axis=0)
        here = slice(*np.searchsorted(cuts, [start, start + step]).tolist())
        left = running[cuts[here] - start]
        right = whole - left
        if ordered.n_classes:
            right = np.maximum(right, 0.0)  # what is left of a class after rounding is nothing
        yield here, np.stack([left, right], axis=-2)
        passed = running[-1]
