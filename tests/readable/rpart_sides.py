"""How rpart measures candidates: from the sums on both sides, to the last bit.

Sums are taken one row after another and terms in rpart's order. numpy's own sum adds in pairs,
and is rounded otherwise.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.context import Context
from service.tree.parts import statistics
from tests.readable.candidate import ROUNDING
from tests.readable.parts import View

NEAR = 1e-9  # relative: candidates closer to the best than this are measured again, exactly

Impurity: TypeAlias = Callable[[Floats], Floats]


def summed(numbers: Floats) -> float:
    """The sum, one after another."""
    return float(np.cumsum(numbers)[-1])


@dataclass(frozen=True)
class Sides:
    """What is left and right of each of many candidates.

    The statistics are weights by class; in regression the sum of targets about their mean.
    """

    left: Floats  # (candidate, statistic)
    right: Floats
    left_weight: Floats  # in the scale of the classes
    right_weight: Floats

    def only(self, chosen: Ints | slice) -> "Sides":
        """Those of some candidates."""
        return Sides(
            self.left[chosen], self.right[chosen],
            self.left_weight[chosen], self.right_weight[chosen],
        )  # fmt: skip

    def after(self, moved: Floats, scaled: Floats) -> "Sides":
        """One candidate after each move of statistics from right to left, from the last one on."""
        return Sides(
            _running(self.left[-1:], moved), _running(self.right[-1:], -moved),
            _running(self.left_weight[-1:], scaled), _running(self.right_weight[-1:], -scaled),
        )  # fmt: skip


def _running(start: Floats, moved: Floats) -> Floats:
    passed: Floats = np.cumsum(np.concatenate([start, moved]), axis=0)[1:]
    return passed


def gini(p: Floats) -> Floats:
    """The part of the Gini index that a class of this probability contributes."""
    return p * (1.0 - p)


def information(p: Floats) -> Floats:
    """The part of the entropy, in nats, that a class of this probability contributes."""
    safe = np.where(p > 0, p, 1.0)
    return -safe * np.log(safe)


def exact_information(p: Floats) -> Floats:
    """The same by the C library's logarithm, which numpy's may miss by the last bit."""
    return np.array([-each * math.log(each) if each > 0 else 0.0 for each in p.tolist()])


FAST: dict[str, Impurity] = {"gini": gini, "gain": information}
EXACT: dict[str, Impurity] = {"gini": gini, "gain": exact_information}


@dataclass(frozen=True)
class Known:
    """The rows that know an attribute, as the sides count them."""

    statistics: Floats  # (row, statistic)
    scaled: Floats  # per row its weight in the scale of its class
    start: Sides  # the one candidate with all rows on the right
    impurity: float  # of all of them, times their weight


def known(context: Context, seen: View) -> Known:
    """The rows of a view, which stand in rpart's order."""
    if context.data.is_regression:
        mean = summed(seen.target * seen.weights) / summed(seen.weights)
        rows = ((seen.target - mean) * seen.weights)[:, None]
        # about the mean all targets sum to nothing, whatever rounding says
        start = _all_right(np.zeros(1), summed(seen.weights))
        return Known(rows, seen.weights, start, 0.0)
    assert context.origin is not None
    scale, impurity = context.origin.scale, EXACT[context.params.criterion]
    rows = statistics(seen.target, seen.weights, seen.n_classes)
    scaled = scale[seen.target.astype(np.int64)] * seen.weights
    whole, weight = np.cumsum(rows, axis=0)[-1], summed(scaled)
    total = summed(weight * impurity(scale * whole / weight))
    return Known(rows, scaled, _all_right(whole, weight), total)


def _all_right(whole: Floats, weight: float) -> Sides:
    nothing = np.zeros((1, len(whole)))
    return Sides(nothing, whole[None], np.zeros(1), np.array([weight]))


def best(context: Context, sides: Sides, allowed: Bools, impurity: float) -> tuple[int, float]:
    """The first candidate that improves most, and by how much; -1 where none improves."""
    if context.data.is_regression:
        return _best_squares(sides, allowed)
    assert context.origin is not None
    scale, criterion = context.origin.scale, context.params.criterion
    after = _impurities(FAST[criterion], scale, sides)
    after = np.where(allowed & np.isfinite(after), after, np.inf)
    if not np.isfinite(after.min()):
        return -1, 0.0
    near = np.flatnonzero(after <= after.min() + NEAR * abs(impurity))
    exact = _impurities(EXACT[criterion], scale, sides.only(near))
    at = int(np.argmin(exact))
    return (int(near[at]), impurity - float(exact[at])) if exact[at] < impurity else (-1, 0.0)


def _impurities(impurity: Impurity, scale: Floats, sides: Sides) -> Floats:
    """Per candidate the impurity of both sides together, times their weights."""
    total = np.zeros(len(sides.left_weight))
    with np.errstate(divide="ignore", invalid="ignore"):  # an empty side, which is not allowed
        for number, factor in enumerate(scale.tolist()):
            p = factor * sides.left[:, number] / sides.left_weight
            total += sides.left_weight * impurity(p)
            p = factor * sides.right[:, number] / sides.right_weight
            total += sides.right_weight * impurity(p)
    return total


def _best_squares(sides: Sides, allowed: Bools) -> tuple[int, float]:
    left, right = sides.left[:, 0], sides.right[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = left * left / sides.left_weight + right * right / sides.right_weight
    squares = np.where(allowed & np.isfinite(squares), squares, -np.inf)
    at = int(np.argmax(squares))
    return (at, float(squares[at])) if squares[at] > 0 else (-1, 0.0)


def enough(context: Context, sizes: Floats) -> Bools:
    """Per candidate whether both sides (candidate, side) hold as much weight as is asked for."""
    held = (sizes > 0) & (sizes >= context.params.min_weight - ROUNDING)
    return np.logical_and(held[:, 0], held[:, 1])
