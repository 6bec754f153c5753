"""How mixed rows are, and how much of that a split takes away.

Rows are summed up as statistics, a vector: in classification the weight of each class, in
regression the sums of weight, weight x target and weight x target squared. Leading axes are
candidates, so that all cuts of a numeric attribute are measured in one call.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from service.tree.arrays import Floats, Ints

TIE = 1e-12  # scores closer than this are equal: the first attribute, then the lowest cut, wins
FEW_ROWS = 50  # for each class, up to which numpy is faster along the classes

Measure: TypeAlias = Callable[[Floats], Floats]


def class_weight(statistics: Floats) -> Floats:
    """The weight that statistics over classes stand for."""
    weight: Floats = statistics.sum(axis=-1)
    return weight


def number_weight(statistics: Floats) -> Floats:
    """The weight that statistics of numbers stand for."""
    return statistics[..., 0]


def entropy(distribution: Floats) -> Floats:
    """Bits needed to tell the class, over the last axis; 0 where there is no weight."""
    total = distribution.sum(axis=-1)
    safe = np.where(total > 0, total, 1.0)
    bits: Floats = np.log2(safe) - x_log_x(distribution).sum(axis=-1) / safe
    return np.maximum(bits, 0.0)


def gini(distribution: Floats) -> Floats:
    """The chance that two draws differ in class, over the last axis; 0 where there is no weight."""
    total = distribution.sum(axis=-1)
    safe = np.where(total > 0, total, 1.0)
    same = ((distribution / safe[..., None]) ** 2).sum(axis=-1)
    return np.where(total > 0, np.maximum(1.0 - same, 0.0), 0.0)


def misclassification(distribution: Floats) -> Floats:
    """The part that the likeliest class gets wrong; it is often 0 for splits that help below."""
    total = distribution.sum(axis=-1)
    safe = np.where(total > 0, total, 1.0)
    return np.where(total > 0, 1.0 - distribution.max(axis=-1, initial=0.0) / safe, 0.0)


def variance(moments: Floats) -> Floats:
    """The variance of a number; its moments are best taken about a mean that is near."""
    safe = np.where(moments[..., 0] > 0, moments[..., 0], 1.0)
    return np.maximum(moments[..., 2] / safe - (moments[..., 1] / safe) ** 2, 0.0)


def x_log_x(x: Floats) -> Floats:
    """x times its binary logarithm, 0 at 0."""
    return x * np.log2(np.where(x > 0, x, 1.0))


@dataclass(frozen=True)
class Criterion:
    """An impurity, and the weight of the statistics it is of."""

    impurity: Measure
    weight: Measure = class_weight


CRITERIA: dict[str, Criterion] = {
    "gain": Criterion(entropy),
    "gain_ratio": Criterion(entropy),
    "gini": Criterion(gini),
    "misclassification": Criterion(misclassification),
    "squared_error": Criterion(variance, number_weight),
}


def decrease(criterion: Criterion, branches: Floats) -> Floats:
    """How much impurity the split into branches (..., branch, statistic) takes away."""
    sizes = criterion.weight(branches)
    total = sizes.sum(axis=-1)
    after = (sizes * criterion.impurity(branches)).sum(axis=-1) / np.where(total > 0, total, 1.0)
    left: Floats = criterion.impurity(branches.sum(axis=-2)) - after
    return left


def first_best(scores: Floats, tie: float = TIE) -> int:
    """The position of the first score that no other exceeds by more than a tie."""
    return int(np.argmax(scores >= scores.max() - tie))


def likeliest(answers: Floats) -> Ints:
    """Per row (row, class) the number of the likeliest class, the first of equals."""
    n_rows, n_classes = answers.shape
    first: Ints
    if n_rows < FEW_ROWS * n_classes:
        best = answers.max(axis=1, keepdims=True)
        first = np.argmax(answers >= best - TIE, axis=1)
        return first
    # class by class, since numpy is slow along a short axis
    limit, first = np.maximum.reduce(list(answers.T)) - TIE, np.zeros(n_rows, dtype=np.int64)
    for number in reversed(range(n_classes)):
        first[answers[:, number] >= limit] = number
    return first
