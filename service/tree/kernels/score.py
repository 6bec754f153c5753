"""What rows score: their weight times how pure they are, so that the scores of branches add up.

A gain is what the branches score beyond what their rows score together, over the node's weight.
Statistics are lines of a table: of classes the weight of each; else the sums of weight,
weight x target and weight x target squared.
"""

from typing import Any

import numpy as np

from service.tree.kernels.compile import lean

GAIN, GINI, MISCLASSIFICATION, SQUARED_ERROR = range(4)  # by which rows are scored


@lean
def x_log_x(x: float) -> float:
    """x times its binary logarithm, 0 at 0."""
    return x * np.log2(x) if x > 0 else 0.0


@lean
def clear(sums: Any, line: int) -> None:
    """Makes statistics those of no rows."""
    for number in range(sums.shape[1]):
        sums[line, number] = 0.0


@lean
def weight_of(criterion: int, sums: Any, line: int) -> float:
    """The weight that statistics stand for."""
    if criterion == SQUARED_ERROR:
        return float(sums[line, 0])
    total = 0.0
    for number in range(sums.shape[1]):
        total += sums[line, number]
    return total


@lean
def score(criterion: int, sums: Any, line: int) -> float:
    """What rows with these statistics score together."""
    weight = weight_of(criterion, sums, line)
    if weight <= 0:
        return 0.0
    if criterion == SQUARED_ERROR:
        return float(sums[line, 1] * sums[line, 1] / weight)
    found = 0.0
    for number in range(sums.shape[1]):
        here = sums[line, number]
        if criterion == GAIN:
            found += x_log_x(here)
        elif criterion == GINI:
            found += here * here
        else:
            found = max(found, here)
    if criterion == GAIN:
        return found - x_log_x(weight)
    return found / weight if criterion == GINI else found


@lean
def split_info(sizes: Any, n_branches: int, null_weight: float) -> float:
    """The entropy of the sizes of branches, null being one more."""
    total, found = null_weight, x_log_x(null_weight)
    for branch in range(n_branches):
        total += sizes[0, branch]
        found += x_log_x(sizes[0, branch])
    return max(np.log2(total) - found / total, 0.0) if total > 0 else 0.0


@lean
def is_enough(sizes: Any, n_branches: int, least: float) -> bool:
    """Whether at least two branches hold weight, and as much as is asked for."""
    found = 0
    for branch in range(n_branches):
        if sizes[0, branch] > 0 and sizes[0, branch] >= least:
            found += 1
    return found >= 2
