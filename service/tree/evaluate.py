"""Evaluation: how well trees predict rows they were not trained on, and what nulls cost them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.compiled import CompiledTree
from service.tree.dataset import Dataset, rows_of
from service.tree.metrics import (
    CLASSIFICATION,
    REGRESSION,
    classification_report,
    regression_report,
)
from service.tree.predict import answers

BATCH = 50_000  # rows predicted at once
NULLED = (0.1, 0.3, 0.5)  # the parts of an attribute's values that are taken away

Fit: TypeAlias = Callable[[Dataset], CompiledTree | None]
Answering: TypeAlias = Callable[[CompiledTree, Floats], Floats]  # rows of numbers -> probabilities


@dataclass(frozen=True)
class Fitted:
    """A tree, and the rows that it has not seen."""

    compiled: CompiledTree
    unseen: Ints


def fitted(data: Dataset, folds: Ints, fit: Fit) -> Iterator[Fitted]:
    """For each fold a tree that was trained without it; fold -1 is trained on by all."""
    for fold in np.unique(folds[folds >= 0]):
        if data.weights[folds != fold].sum() <= 0:
            continue  # without its rows there is nothing to train on
        compiled = fit(rows_of(data, folds != fold))
        if compiled is not None:
            yield Fitted(compiled, np.flatnonzero(folds == fold))


def report(
    data: Dataset, trees: Sequence[Fitted], answering: Answering = answers
) -> dict[str, Any]:
    """The metrics over all rows that some tree has not seen."""
    rows = np.sort(np.concatenate([each.unseen for each in trees]))
    told = _told(trees, data.values, answering)[rows]
    target, weights = data.target[rows], data.weights[rows]
    if data.is_regression:
        return regression_report(told[:, 0], target.astype(np.float64), weights)
    return classification_report(told, target.astype(np.int64), weights)


def _told(trees: Sequence[Fitted], values: Floats, answering: Answering) -> Floats:
    """Per row what the tree says that has not seen it; NaN where all have."""
    told = np.full((len(values), trees[0].compiled.probabilities.shape[1]), np.nan)
    for each in trees:
        # some at a time: those of a large dataset would all be copied
        for start in range(0, len(each.unseen), BATCH):
            rows = each.unseen[start : start + BATCH]
            told[rows] = answering(each.compiled, values[rows])
    return told


def nulled_report(
    data: Dataset, trees: Sequence[Fitted], seed: int, answering: Answering = answers
) -> dict[str, Any]:
    """Per attribute that matters, the metrics after a part of its values was taken away."""
    rows = np.sort(np.concatenate([each.unseen for each in trees]))
    order = np.random.default_rng(seed).permutation(rows)
    used = sorted({number for each in trees for number in _used(each.compiled)})
    nulled = partial(_nulled, data, trees, rows, answering)
    whole = nulled(0.0, data.values)
    return {
        data.attributes[number].name: [
            whole,
            *(nulled(part, _without(data, number, order, part)) for part in NULLED),
        ]
        for number in used
    }


def _used(compiled: CompiledTree) -> list[int]:
    tree = compiled.tree
    numbers: list[int] = np.unique(tree.attribute[tree.is_reached & ~tree.is_leaf]).tolist()
    return numbers


def _without(data: Dataset, number: int, order: Ints, part: float) -> Floats:
    values = data.values.copy()
    values[order[: round(part * len(order))], number] = np.nan
    return values


def _nulled(
    data: Dataset,
    trees: Sequence[Fitted],
    rows: Ints,
    answering: Answering,
    part: float,
    values: Floats,
) -> dict[str, float | None]:
    """The metrics that are one number, after so large a part was taken away."""
    found, weights = _told(trees, values, answering)[rows], data.weights[rows]
    if data.is_regression:
        numbers = data.target[rows].astype(np.float64)
        told = {name: of(found[:, 0], numbers, weights) for name, of in REGRESSION.items()}
        return {"nulled": part, **told}
    target = data.target[rows].astype(np.int64)
    told = {name: of(found, target, weights) for name, of in CLASSIFICATION.items()}
    return {"nulled": part, **told}
