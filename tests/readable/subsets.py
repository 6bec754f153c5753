"""The best division of categories into two sets.

With two classes, or a number to predict, some best division is a prefix of the categories ordered
by the chance of a class (or the mean): Fisher 1958, Breiman et al. 1984. With more classes all
divisions of few categories are tried; of many, the prefixes of several orders, then single moves.
"""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.context import Context
from service.tree.criterion import decrease, first_best
from tests.readable.candidate import ROUNDING

MOST_TRIED = 10  # categories of which all divisions are tried
MOST_GROUPED = 6  # classes of which all groupings give an order


def best_subset(context: Context, table: Floats, n_classes: int) -> Ints | None:
    """Per category its side, 0 for the set with the first category; None if no division will do."""
    present = np.flatnonzero(context.criterion.weight(table) > 0)
    if len(present) < 2:
        return None
    here = table[present]
    if n_classes > 2 and len(here) <= MOST_TRIED:
        best = _best_of_all(context, here)
    else:
        best = _best_prefix(context, here, n_classes)
        if best is not None and n_classes > 2:
            best = _climbed(context, here, best)
    if best is None:
        return None
    chosen = np.zeros(len(table), dtype=np.int64)
    chosen[present] = best ^ best[0]
    return chosen


def _best_of_all(context: Context, table: Floats) -> Ints | None:
    """The best of all divisions, smaller sets first among equals."""
    sides = np.array(list(_all_divisions(len(table))), dtype=np.int64)
    gains = _gains(context, table, sides)
    at = first_best(gains, context.tie)
    best: Ints = sides[at]
    return None if gains[at] == -np.inf else best


def _best_prefix(context: Context, table: Floats, n_classes: int) -> Ints | None:
    """The best prefix of any of the orders; of equals the shortest of the first order."""
    best, most = None, -np.inf
    whole = table.sum(axis=0)
    for key in _keys(table, n_classes):
        order = np.argsort(key, kind="stable")
        left = np.cumsum(table[order], axis=0)[:-1]
        branches = np.stack([left, whole - left], axis=-2)
        gains = _allowed_gains(context, branches)
        at = first_best(gains, context.tie)
        if gains[at] > most + context.tie:
            best, most = np.ones(len(table), dtype=np.int64), float(gains[at])
            best[order[: at + 1]] = 0
    return best


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


def _gains(context: Context, table: Floats, sides: Ints) -> Floats:
    right = sides.astype(np.float64) @ table
    left = (1.0 - sides) @ table
    return _allowed_gains(context, np.stack([left, right], axis=-2))


def _allowed_gains(context: Context, branches: Floats) -> Floats:
    """Per division (division, side, statistic) its gain; minus infinity where a side is light."""
    sizes, least = context.criterion.weight(branches), context.params.min_weight - ROUNDING
    allowed = (sizes > 0).all(axis=1) & (sizes >= least).all(axis=1)
    return np.where(allowed, decrease(context.criterion, branches), -np.inf)


def _climbed(context: Context, table: Floats, side: Ints) -> Ints:
    """The division after all single moves of a category that gain have been made."""
    best = float(_gains(context, table, side[None])[0])
    while True:
        moves = side ^ np.eye(len(side), dtype=np.int64)
        gains = _gains(context, table, moves)
        at = first_best(gains, context.tie)
        if gains[at] <= best + context.tie:
            return side
        side, best = moves[at], float(gains[at])
