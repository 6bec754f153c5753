"""Categories that move from the right set to the left, or back, as rpart counts them."""

from typing import Any

import numpy as np

from service.tree.kernels.compile import lean
from service.tree.kernels.rooms import (
    KNOWN,
    LEFT,
    MOVED,
    RIGHT,
    TERMS,
    Rules,
)
from service.tree.kernels.rpart_sides import after_cut, holds
from service.tree.kernels.score import SQUARED_ERROR

# the weights of both sides in the scale of their classes, the rows and the weight on the left, the
# weights of both sides where it was best, the rows and the weight of all
ONE, OTHER, N_LEFT, SIZE_LEFT, BEST_ONE, BEST_OTHER, N_ALL, SIZE_ALL = range(8)
SCALED, COUNT, SIZE = range(3)  # per category, what is moved with it


@lean
def begin(criterion: int, sums: Any) -> None:
    """Puts all rows on the right."""
    for number in range(sums.shape[1]):
        sums[LEFT, number] = 0.0
        # about the mean all targets sum to nothing, whatever rounding says
        sums[RIGHT, number] = 0.0 if criterion == SQUARED_ERROR else sums[KNOWN, number]


@lean
def move(table: Any, sums: Any, moved: Any, reached: Any, category: int, sign: float) -> None:
    """Moves a category to the left, or with a minus to the right again."""
    for number in range(sums.shape[1]):
        sums[LEFT, number] += sign * table[category, number]
        sums[RIGHT, number] += -(sign * table[category, number])
    reached[ONE] += sign * moved[category, SCALED]
    reached[OTHER] += -(sign * moved[category, SCALED])
    reached[N_LEFT] += sign * moved[category, COUNT]
    reached[SIZE_LEFT] += sign * moved[category, SIZE]


@lean
def worth(rules: Rules, scale: Any, sums: Any, reached: Any) -> float:
    """What both sides are worth: the more the better; minus infinity where one is too light."""
    left = reached[SIZE_LEFT]
    if not 0 < reached[N_LEFT] < reached[N_ALL] or not holds(
        rules.min_weight, left, reached[SIZE_ALL] - left
    ):
        return -np.inf
    one, other = reached[ONE], reached[OTHER]
    if rules.criterion == SQUARED_ERROR:
        return float(sums[LEFT, 0] * sums[LEFT, 0] / one + sums[RIGHT, 0] * sums[RIGHT, 0] / other)
    return -float(after_cut(rules.criterion, sums, scale, one, other))


@lean
def keep(sums: Any, reached: Any) -> None:
    """Writes down both sides as they are."""
    for number in range(sums.shape[1]):
        sums[MOVED, number], sums[TERMS, number] = sums[LEFT, number], sums[RIGHT, number]
    reached[BEST_ONE], reached[BEST_OTHER] = reached[ONE], reached[OTHER]


@lean
def is_lower(criterion: int, scale: Any, sums: Any, reached: Any) -> bool:
    """Whether the mean of the left side, as it was kept, is the smaller one."""
    one, other = reached[BEST_ONE], reached[BEST_OTHER]
    if criterion == SQUARED_ERROR:
        return bool(sums[MOVED, 0] / one <= sums[TERMS, 0] / other)
    left = right = 0.0
    for number in range(sums.shape[1]):
        left += scale[number] * sums[MOVED, number] / one * number
        right += scale[number] * sums[TERMS, number] / other * number
    return left < right
