"""How rpart measures the two sides of a candidate: terms in its order, to the last bit."""

import math
from typing import Any

from service.tree.kernels.compile import lean
from service.tree.kernels.rooms import LEFT, RIGHT
from service.tree.kernels.score import GINI
from service.tree.kernels.sets import ROUNDING


@lean
def _impurity(criterion: int, p: float) -> float:
    """What a class of this probability adds to the impurity."""
    if criterion == GINI:
        return p * (1.0 - p)
    return -p * math.log(p) if p > 0 else 0.0


@lean
def after_cut(criterion: int, sums: Any, scale: Any, left: float, right: float) -> float:
    """The impurity of both sides together, times their weights."""
    total = 0.0
    for number in range(sums.shape[1]):
        total += left * _impurity(criterion, scale[number] * sums[LEFT, number] / left)
        total += right * _impurity(criterion, scale[number] * sums[RIGHT, number] / right)
    return total


@lean
def before_cut(criterion: int, sums: Any, line: int, scale: Any, weight: float) -> float:
    """The impurity of all rows, whose sums are a line, times their weight."""
    total = 0.0
    for number in range(sums.shape[1]):
        total += weight * _impurity(criterion, scale[number] * sums[line, number] / weight)
    return total


@lean
def holds(min_weight: float, left: float, right: float) -> bool:
    """Whether both sides hold as much weight as is asked for."""
    least = min_weight - ROUNDING
    return left > 0 and right > 0 and left >= least and right >= least
