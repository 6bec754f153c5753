"""The best division of categories into two sets.

With two classes, or a number to predict, some best division is a prefix of the categories ordered
by the chance of a class (or the mean): Fisher 1958, Breiman et al. 1984. With more classes all
divisions of few categories are tried; of many, the prefixes of several orders, then single moves.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.criterion import TIE, Criterion, decrease, first_best

MOST_TRIED = 10  # categories of which all divisions are tried
MOST_GROUPED = 6  # classes of which all groupings give an order
ROUNDING = 1e-9  # weights that ought to be equal differ by less


def best_subset(
    criterion: Criterion, table: Floats, n_classes: int, min_weight: float
) -> Ints | None:
    """Per category its side, 0 for the set with the first category; None if no division will do."""
    present = np.flatnonzero(criterion.weight(table) > 0)
    if len(present) < 2:
        return None
    here = table[present]
    sides = np.array(list(_divisions(here, n_classes)), dtype=np.int64)
    sides ^= sides[:, :1]
    gains = _gains(criterion, here, sides, min_weight)
    at = first_best(gains)
    if gains[at] == -np.inf:
        return None
    best = sides[at]
    if n_classes > 2 and len(here) > MOST_TRIED:
        best = _climbed(criterion, here, best, min_weight)
    chosen = np.zeros(len(table), dtype=np.int64)
    chosen[present] = best ^ best[0]
    return chosen


def _divisions(table: Floats, n_classes: int) -> Iterator[Ints]:
    """The divisions to try, each a side (0 or 1) per category."""
    if n_classes > 2 and len(table) <= MOST_TRIED:
        yield from _all_divisions(len(table))
        return
    for key in _keys(table, n_classes):
        order = np.argsort(key, kind="stable")
        side = np.ones(len(table), dtype=np.int64)
        for category in order[:-1]:
            side[category] = 0
            yield side.copy()


def _all_divisions(n_categories: int) -> Iterator[Ints]:
    """Every division once, by the set that holds the first category, smaller sets first."""
    others = range(1, n_categories)
    for size in range(n_categories - 1):
        for members in combinations(others, size):
            side = np.ones(n_categories, dtype=np.int64)
            side[[0, *members]] = 0
            yield side


def _keys(table: Floats, n_classes: int) -> Iterator[Floats]:
    """What to order the categories by."""
    if n_classes == 0:
        yield table[:, 1] / table[:, 0]
        return
    chances = table / table.sum(axis=1, keepdims=True)
    if n_classes == 2:
        yield chances[:, 1]
    elif n_classes <= MOST_GROUPED:
        for size in range(1, n_classes // 2 + 1):
            for group in combinations(range(n_classes), size):
                yield chances[:, list(group)].sum(axis=1)
    else:
        yield from chances.T
        yield _principal(table, chances)


def _principal(table: Floats, chances: Floats) -> Floats:
    """The score of each category on the direction in which their chances differ most."""
    weights = table.sum(axis=1)
    centred = chances - np.average(chances, axis=0, weights=weights)
    _, vectors = np.linalg.eigh((centred * weights[:, None]).T @ centred)
    score: Floats = centred @ vectors[:, -1]
    return score


def _gains(criterion: Criterion, table: Floats, sides: Ints, min_weight: float) -> Floats:
    right = sides.astype(np.float64) @ table
    left = (1.0 - sides) @ table
    branches = np.stack([left, right], axis=-2)
    sizes = criterion.weight(branches)
    allowed = (sizes > 0).all(axis=1) & (sizes >= min_weight - ROUNDING).all(axis=1)
    return np.where(allowed, decrease(criterion, branches), -np.inf)


def _climbed(criterion: Criterion, table: Floats, side: Ints, min_weight: float) -> Ints:
    """The division after all single moves of a category that gain have been made."""
    best = float(_gains(criterion, table, side[None], min_weight)[0])
    while True:
        moves = side ^ np.eye(len(side), dtype=np.int64)
        gains = _gains(criterion, table, moves, min_weight)
        at = first_best(gains)
        if gains[at] <= best + TIE:
            return side
        side, best = moves[at], float(gains[at])
