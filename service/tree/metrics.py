"""How good predictions are: probabilities or means beside the truth, all sums by weight.

What has no value (no weight, one class only, a constant target) is None, never NaN.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.criterion import likeliest

N_BINS = 10  # of equal width, for calibration
SMALLEST = 1e-15  # the log-loss counts no probability as less than this, so that it stays finite
DECIMALS = 12  # scores that are equal so far are a tie to the AUC: mixing leaves rounds the rest

# (probabilities (row, class), target, weights) -> value
ClassificationMetric: TypeAlias = Callable[[Floats, Ints, Floats], float | None]
# (predicted means, target, weights) -> value
RegressionMetric: TypeAlias = Callable[[Floats, Floats, Floats], float | None]


def accuracy(probabilities: Floats, target: Ints, weights: Floats) -> float | None:
    """The part of the weight whose class was predicted."""
    return _mean(likeliest(probabilities) == target, weights)


def balanced_accuracy(probabilities: Floats, target: Ints, weights: Floats) -> float | None:
    """The mean over the classes that occur of the part of each that was predicted."""
    table = confusion(probabilities, target, weights)
    sizes = table.sum(axis=1)
    occurs = sizes > 0
    if not occurs.any():
        return None
    return float((np.diag(table)[occurs] / sizes[occurs]).mean())


def log_loss(probabilities: Floats, target: Ints, weights: Floats) -> float | None:
    """The mean of -ln of the true class's probability, which counts as at least `SMALLEST`."""
    true = probabilities[np.arange(len(target)), target] / probabilities.sum(axis=1)
    return _mean(-np.log(np.maximum(true, SMALLEST)), weights)


def brier(probabilities: Floats, target: Ints, weights: Floats) -> float | None:
    """The mean squared distance to certainty, summed over all classes: 0 best, 2 worst."""
    certain = np.eye(probabilities.shape[1])[target]
    return _mean(((probabilities - certain) ** 2).sum(axis=1), weights)


def auc(probabilities: Floats, target: Ints, weights: Floats) -> float | None:
    """The chance that a row of a class scores above one of another, half for a tie.

    Of two classes the second is the one scored. Of more, each is set against the rest, and the
    values are averaged by the weight of the class.
    """
    n_classes = probabilities.shape[1]
    if n_classes == 2:
        return area_under_curve(probabilities[:, 1], target == 1, weights)
    areas = [
        area_under_curve(probabilities[:, number], target == number, weights)
        for number in range(n_classes)
    ]
    sizes = _sums(target, weights, n_classes)
    known = [number for number, area in enumerate(areas) if area is not None]
    return _mean(np.array([areas[number] for number in known], dtype=np.float64), sizes[known])


def area_under_curve(scores: Floats, positive: Bools, weights: Floats) -> float | None:
    """The weight of (positive, negative) pairs in right order, as part of all such pairs."""
    _, place = np.unique(np.round(scores, DECIMALS), return_inverse=True)
    ups = _sums(place, weights * positive)
    downs = _sums(place, weights * ~positive)
    pairs = ups.sum() * downs.sum()
    if not pairs > 0:
        return None
    below = np.cumsum(downs) - downs
    return float((ups * (below + downs / 2)).sum() / pairs)


def confusion(probabilities: Floats, target: Ints, weights: Floats) -> Floats:
    """The weight per (actual class, predicted class)."""
    n_classes = probabilities.shape[1]
    cell = target * n_classes + likeliest(probabilities)
    return _sums(cell, weights, n_classes**2).reshape(n_classes, n_classes)


def calibration_bins(probabilities: Floats, target: Ints, weights: Floats) -> Floats:
    """Per bin of the predicted class's probability: weight, and its sums of probability and hits.

    Bin 0 is [0, 0.1), the last one [0.9, 1].
    """
    predicted = likeliest(probabilities)
    sure = probabilities[np.arange(len(target)), predicted]
    places = np.clip((sure * N_BINS).astype(np.int64), 0, N_BINS - 1)
    sums = [weights, weights * sure, weights * (predicted == target)]
    return np.column_stack([_sums(places, column, N_BINS) for column in sums])


def calibration_error(probabilities: Floats, target: Ints, weights: Floats) -> float | None:
    """The mean over the bins, by weight, of how far probability and accuracy are apart (ECE)."""
    bins = calibration_bins(probabilities, target, weights)
    total = bins[:, 0].sum()
    return float(np.abs(bins[:, 1] - bins[:, 2]).sum() / total) if total > 0 else None


@np.errstate(over="ignore")  # of numbers beyond 1e154: what is not finite has no value
def mean_squared_error(means: Floats, target: Floats, weights: Floats) -> float | None:
    """The mean squared error."""
    return _mean((means - target) ** 2, weights)


def root_mean_squared_error(means: Floats, target: Floats, weights: Floats) -> float | None:
    """The root of the mean squared error, in the unit of the target."""
    squared = mean_squared_error(means, target, weights)
    return None if squared is None else float(np.sqrt(squared))


@np.errstate(over="ignore")
def mean_absolute_error(means: Floats, target: Floats, weights: Floats) -> float | None:
    """The mean absolute error."""
    return _mean(np.abs(means - target), weights)


def r_squared(means: Floats, target: Floats, weights: Floats) -> float | None:
    """The part of the target's variance that is explained; None where the target is constant."""
    counted = target[weights > 0]
    # not "variance is 0": the mean of equal numbers can round to another number
    if len(counted) == 0 or counted.min() == counted.max():
        return None
    left = mean_squared_error(means, target, weights)
    whole = mean_squared_error(constant(target, weights), target, weights)
    return None if left is None or not whole else 1.0 - left / whole


def constant(target: Floats, weights: Floats) -> Floats:
    """The prediction of one who knows only the mean of the target."""
    return np.full(len(target), _mean(target, weights) or 0.0)


CLASSIFICATION: dict[str, ClassificationMetric] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "log_loss": log_loss,
    "brier": brier,
    "auc": auc,
    "calibration_error": calibration_error,
}

REGRESSION: dict[str, RegressionMetric] = {
    "mse": mean_squared_error,
    "rmse": root_mean_squared_error,
    "mae": mean_absolute_error,
    "r2": r_squared,
}


def classification_report(probabilities: Floats, target: Ints, weights: Floats) -> dict[str, Any]:
    """All classification metrics, the confusion matrix and the calibration bins, as JSON."""
    given = (probabilities, target, weights)
    return {
        **_extent(weights),
        **{name: metric(*given) for name, metric in CLASSIFICATION.items()},
        "confusion": confusion(*given).tolist(),
        "calibration": [
            _bin(number, *sums) for number, sums in enumerate(calibration_bins(*given).tolist())
        ],
    }


def regression_report(means: Floats, target: Floats, weights: Floats) -> dict[str, Any]:
    """All regression metrics, and those of the target's own mean as the baseline, as JSON."""
    baseline = constant(target, weights)
    return {
        **_extent(weights),
        **{name: metric(means, target, weights) for name, metric in REGRESSION.items()},
        "baseline": {
            name: metric(baseline, target, weights)
            for name, metric in REGRESSION.items()
            if name != "r2"
        },
    }


def _extent(weights: Floats) -> dict[str, Any]:
    return {"rows": int((weights > 0).sum()), "weight": float(weights.sum())}


def _bin(number: int, weight: float, probability: float, hits: float) -> dict[str, float | None]:
    return {
        "lower": number / N_BINS,
        "upper": (number + 1) / N_BINS,
        "weight": weight,
        "mean_probability": probability / weight if weight > 0 else None,
        "accuracy": hits / weight if weight > 0 else None,
    }


def _sums(places: Ints, weights: Floats, n_places: int = 0) -> Floats:
    return np.bincount(places, weights, n_places).astype(np.float64)


@np.errstate(over="ignore", invalid="ignore")
def _mean(values: Floats | Bools, weights: Floats) -> float | None:
    total = weights.sum()
    if not total > 0:
        return None
    mean = float((weights * values).sum() / total)
    return mean if np.isfinite(mean) else None
