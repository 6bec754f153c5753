"""How good a split is: weights per (branch, class) in, score out; higher is better.

Leading axes are candidates, so that all cuts of a numeric attribute are scored in one call.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from service.tree.arrays import Floats

TIE = 1e-12  # scores closer than this are equal: the first attribute, then the lowest cut, wins

Impurity: TypeAlias = Callable[[Floats], Floats]


def entropy(distribution: Floats) -> Floats:
    """Bits needed to tell the class, over the last axis; 0 where there is no weight."""
    total = distribution.sum(axis=-1)
    safe = np.where(total > 0, total, 1.0)
    bits: Floats = np.log2(safe) - _x_log_x(distribution).sum(axis=-1) / safe
    return np.maximum(bits, 0.0)


def gini(distribution: Floats) -> Floats:
    """The chance that two draws differ in class, over the last axis; 0 where there is no weight."""
    total = distribution.sum(axis=-1)
    safe = np.where(total > 0, total, 1.0)
    same = ((distribution / safe[..., None]) ** 2).sum(axis=-1)
    return np.where(total > 0, np.maximum(1.0 - same, 0.0), 0.0)


def _x_log_x(x: Floats) -> Floats:
    return x * np.log2(np.where(x > 0, x, 1.0))


def decrease(impurity: Impurity, branches: Floats) -> Floats:
    """How much impurity the split of branches (..., branch, class) takes away."""
    sizes = branches.sum(axis=-1)
    total = sizes.sum(axis=-1)
    after = (sizes * impurity(branches)).sum(axis=-1) / np.where(total > 0, total, 1.0)
    left: Floats = impurity(branches.sum(axis=-2)) - after
    return left


@dataclass(frozen=True)
class Score:
    """What is known of the best split on one attribute when the attributes are compared."""

    gain: float  # decrease of impurity over the known rows, times their part of the weight
    split_info: float  # entropy of the branch sizes, null being one more branch


Choice: TypeAlias = Callable[[Sequence[Score]], int]


def first_best(scores: Floats) -> int:
    """The position of the first score that no other exceeds by more than a tie."""
    return int(np.argmax(scores >= scores.max() - TIE))


def largest_gain(scores: Sequence[Score]) -> int:
    """The position of the attribute with the largest gain."""
    return first_best(np.array([score.gain for score in scores]))


def largest_ratio_above_average(scores: Sequence[Score]) -> int:
    """The position of the largest gain per bit of branching among gains not below their mean.

    The mean keeps out attributes with hardly any gain, whose ratio can be large by accident.
    """
    gains = np.array([score.gain for score in scores])
    infos = np.array([score.split_info for score in scores])
    eligible = gains >= gains.mean() - TIE
    ratios = gains / np.where(infos > 0, infos, np.inf)
    return first_best(np.where(eligible, ratios, -np.inf))


@dataclass(frozen=True)
class Criterion:
    """An impurity, and how the best attribute is chosen by what it scored."""

    impurity: Impurity
    choose: Choice


CRITERIA: dict[str, Criterion] = {
    "gain": Criterion(entropy, largest_gain),
    "gain_ratio": Criterion(entropy, largest_ratio_above_average),
    "gini": Criterion(gini, largest_gain),
}
