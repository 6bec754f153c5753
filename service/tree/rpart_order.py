"""What rpart settles once, on all rows, for the tree and for the trees of all folds.

Equal values of a number keep the order in which rpart's quicksort leaves them. That order decides
how sums are rounded, and so which of two equally good splits is the larger in its last bit.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.attribute import Attribute, Kind
from service.tree.dataset import Dataset
from service.tree.params import Params

SHORT = 12  # a stretch of fewer values is sorted by insertion, which keeps the order of equals


def is_rpart(params: Params) -> bool:
    """Whether the search is rpart's: it has no other criteria, splits, costs or null branches."""
    return (
        params.rules == "rpart"
        and params.criterion in ("gini", "gain", "squared_error")
        and params.categorical == "subset"
        and params.cost_rule == "none"
        and params.missing != "own_branch"
    )


@dataclass(frozen=True)
class Origin:
    """The order of the rows by each attribute, and the scale of each class's weights."""

    data: Dataset
    scale: Floats  # per class the factor of its weights: 1 but for rounding
    largest: float  # an improvement must not be negligible beside this one

    @cached_property
    def ranks(self) -> tuple[Ints, ...]:
        """Per attribute, by row: its place in the order."""
        return tuple(_rank(self.data, number) for number in range(len(self.data.attributes)))


def _rank(data: Dataset, attribute: int) -> Ints:
    rank = np.arange(len(data.weights))
    if data.attributes[attribute].kind != Kind.CATEGORICAL:
        present = np.flatnonzero(data.weights > 0)
        values = data.values[present, attribute]
        null = null_of(data.attributes[attribute])
        order = sorted_by_quicksort(np.where(np.isfinite(values), values, null))
        rank[present[order]] = np.arange(len(present))
    return rank


def null_of(attribute: Attribute) -> float:
    """The number that null is where rpart sorts: 0, which is below its ranks; ours begin there."""
    return -1.0 if attribute.kind == Kind.ORDINAL else 0.0


def origin_of(data: Dataset, *, is_fold: bool) -> Origin:
    """The origin of trees that are grown from these rows, or from a part of them."""
    present = np.flatnonzero(data.weights > 0)
    if data.is_regression:
        return Origin(data, np.empty(0), 1.0 if is_fold else 0.0)
    weights = data.weights[present]
    classes = data.target[present].astype(np.int64)
    scale = _scale(weights, classes, len(data.classes))
    return Origin(data, scale, float(weights.sum()) if is_fold else 0.0)


def _scale(weights: Floats, classes: Ints, n_classes: int) -> Floats:
    """The prior of each class over its frequency; both are the same, but sums are rounded."""
    scale = np.ones(n_classes)
    n_classes = int(classes.max(initial=-1)) + 1
    if n_classes < 2:
        return scale
    prior = _priors(weights, classes, n_classes)
    frequency = np.bincount(classes, weights, n_classes) / np.cumsum(weights)[-1]
    altered = np.cumsum(np.tile(prior, (n_classes - 1, 1)), axis=0)[-1]
    total = np.cumsum(np.repeat(prior, n_classes - 1))[-1]
    safe = np.where(frequency > 0, frequency, 1.0)
    scale[:n_classes] = np.where(frequency > 0, altered / (total * safe), 0.0)
    return scale


def _priors(weights: Floats, classes: Ints, n_classes: int) -> Floats:
    """Per class its part of the weight; R sums with more digits than it keeps."""
    order = np.argsort(classes, kind="stable")
    ends = np.bincount(classes, minlength=n_classes).cumsum()[:-1]
    parts = np.split(weights[order].astype(np.longdouble), ends)
    totals = np.array([part.cumsum()[-1] if len(part) else 0.0 for part in parts], np.float64)
    return totals / np.float64(totals.astype(np.longdouble).cumsum()[-1])


def sorted_by_quicksort(values: Floats) -> Ints:
    """The positions of the values in ascending order, equals as quicksort happens to leave them."""
    moved, order = values.copy(), np.arange(len(values))
    stretches = [(0, len(values) - 1)]
    while stretches:
        start, stop = stretches.pop()
        if stop - start + 1 >= SHORT:
            low, high = _parted(moved[start : stop + 1], order[start : stop + 1])
            stretches += [(start, start + low), (start + high, stop)]
    return order[np.argsort(moved, kind="stable")]


def _parted(values: Floats, order: Ints) -> tuple[int, int]:
    """Moves small values before large ones, in place; where the small end, where the large begin.

    Two pointers run towards each other, and what they stop at changes places: the n-th value
    from the left that is not small goes with the n-th from the right that is not large.
    """
    pivot = _median(float(values[0]), float(values[(len(values) - 1) // 2]), float(values[-1]))
    from_left = np.flatnonzero(values >= pivot)
    from_right = np.flatnonzero(values <= pivot)[::-1]
    pairs = min(len(from_left), len(from_right))
    pairs = int(np.count_nonzero(from_left[:pairs] < from_right[:pairs]))
    left, right = from_left[:pairs], from_right[:pairs]
    swap = values[left] > values[right]
    left, right = left[swap], right[swap]
    values[left], values[right] = values[right], values[left]
    order[left], order[right] = order[right], order[left]
    met_left = min([*from_left[pairs : pairs + 1], *from_right[max(pairs - 1, 0) : pairs]])
    met_right = max([*from_right[pairs : pairs + 1], *from_left[max(pairs - 1, 0) : pairs]])
    small = np.flatnonzero(values[: met_left + 1] < pivot)
    large = np.flatnonzero(values[met_right:] > pivot)
    return (
        int(small[-1]) if len(small) else 0,
        met_right + int(large[0]) if len(large) else len(values) - 1,
    )


def _median(first: float, middle: float, last: float) -> float:
    return sorted((first, middle, last))[1]
