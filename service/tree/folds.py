"""Folds: which rows are held back together, each class spread evenly, the same for the same seed.

Rows of weight 0 take a place like any other: leave them out before, if they are to change nothing.
"""

import numpy as np

from service.tree.arrays import Bools, Floats, Ints


def stratified_folds(target: Ints, n_folds: int, seed: int) -> Ints:
    """Per row its fold; of a class, and of all, no fold holds two rows more than another.

    There are never more folds than rows, so that none is empty.
    """
    folds = np.empty(len(target), dtype=np.int64)
    # dealt in one round without a new start for each class: so the whole is even, too
    folds[_shuffled_by_class(target, np.random.default_rng(seed))] = np.arange(len(target)) % max(
        1, min(n_folds, len(target))
    )
    return folds


def balanced_folds(target: Ints, weights: Floats, n_folds: int, seed: int) -> Ints:
    """Per row its fold, so that folds weigh alike, each class for itself and on the whole.

    The heaviest rows of a class are dealt first, each to the fold that has least of the class.
    """
    if len(weights) == 0 or (weights == weights[0]).all():
        return stratified_folds(target, n_folds, seed)
    n_folds = max(1, min(n_folds, len(target)))
    folds, total = np.empty(len(target), dtype=np.int64), np.zeros(n_folds)
    chance = np.random.default_rng(seed).random(len(target))
    of_class, last = np.zeros(n_folds), -1
    for row in np.lexsort((chance, -weights, target)).tolist():
        if target[row] != last:
            of_class, last = np.zeros(n_folds), target[row]
        fold = int(np.lexsort((total, of_class))[0])
        folds[row] = fold
        of_class[fold] += weights[row]
        total[fold] += weights[row]
    return folds


def quantile_strata(numbers: Floats, n_strata: int = 10) -> Ints:
    """Per row the stretch of the sorted numbers it stands in: strata of a target of numbers."""
    ranks = np.empty(len(numbers), dtype=np.int64)
    ranks[np.argsort(numbers, kind="stable")] = np.arange(len(numbers))
    return ranks * max(1, min(n_strata, len(numbers) // 2)) // max(len(numbers), 1)


def hold_out(target: Ints, fraction: float, seed: int) -> Bools:
    """Per row whether it is held out: of each class the fraction, to within a row.

    At least one row is held out and one is kept, unless there is only one.
    """
    n_rows = len(target)
    n_out = min(max(round(fraction * n_rows), 1), n_rows - 1)
    held = np.zeros(n_rows, dtype=np.bool_)
    if n_out < 1:
        return held
    generator = np.random.default_rng(seed)
    # every (n_rows / n_out)-th row in the order of the classes, from a random start: with a fixed
    # one a small part would always come from the same class
    steps = np.arange(n_rows + 1) * n_out + generator.integers(n_rows)
    held[_shuffled_by_class(target, generator)] = np.diff(steps // n_rows) > 0
    return held


def _shuffled_by_class(target: Ints, generator: np.random.Generator) -> Ints:
    chance: Floats = generator.random(len(target))
    return np.lexsort((chance, target))
