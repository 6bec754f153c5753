"""Predicting: probabilities or numbers for rows, and how sure the tree is of the path."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from service.actions.load import Loaded
from service.errors import Fault
from service.tree import predict as tree_predict
from service.tree.arrays import Floats
from service.tree.costs import expected_costs, has_costs
from service.tree.few import WEIGHTED
from service.tree.inputs import encode_inputs
from service.tree.predict import Predictions
from service.tree.route import Router, route
from service.tree.table import Table
from service.tree.tell import predictions_of, tell


@dataclass(frozen=True)
class Answer:
    """The predictions for a table and the values in it that no category has."""

    loaded: Loaded
    predictions: Predictions
    costs: Floats | None  # per row; None where nothing has a cost
    strangers: tuple[Fault, ...]

    @property
    def unknown(self) -> list[list[str]]:
        """Per row the names of the unknown attributes that mattered."""
        attributes = self.loaded.version.attributes
        rows, met = self.predictions.met.T
        if len(met) == 0:
            return [[]] * len(self.predictions.leaves)
        names = [attributes[attribute].name for attribute in met.tolist()]
        ends = rows.searchsorted(np.arange(len(self.predictions.leaves)), side="right").tolist()
        return [names[start:end] for start, end in pairwise([0, *ends])]


def predict(loaded: Loaded, table: Table, missing: str, *, strict: bool) -> Answer:
    """What the version says of each row."""
    inputs = encode_inputs(loaded.compiled, table, loaded.not_inputs, strict=strict)
    return answer_to(loaded, inputs.values, missing, inputs.strangers)


def answer_to(
    loaded: Loaded,
    values: Floats,
    missing: str,
    strangers: tuple[Fault, ...],
    router: Router | None = None,
) -> Answer:
    """What the version says of rows of numbers, led down by a router if one is given."""
    version, compiled, way = loaded.version, loaded.compiled, router or route
    costs = None
    if has_costs(version.attributes):
        costs = expected_costs(compiled, values, missing, version.group_costs, way)
    if router is None and missing == WEIGHTED:
        predictions = predict_weighted(loaded, values)
    else:
        predictions = tree_predict.predict(compiled, values, missing, way)
    return Answer(loaded, predictions, costs, strangers)


def predict_weighted(loaded: Loaded, values: Floats) -> Predictions:
    """The predictions for rows of numbers by the usual strategy, the fastest way there is."""
    if loaded.teller is not None:
        return predictions_of(loaded.compiled, tell(loaded.teller, values))
    return tree_predict.predict(loaded.compiled, values)


# Of one row: the number of the class or -1, the probabilities or the mean alone, the deviation,
# the lowest and the highest of them, how many leaves were reached, and whether that is certain.
Said: TypeAlias = tuple[int, Sequence[float], float, Sequence[float], Sequence[float], int, bool]
Phrase: TypeAlias = Callable[[tuple[str, ...], Said, Sequence[str]], dict[str, Any]]


def by_row(answer: Answer) -> Iterator[dict[str, Any]]:
    """The answer as one object a row; null is what a row without an answer has."""
    found, put = answer.predictions, phrase_of(answer.loaded)
    classes = found.leaves if answer.loaded.compiled.tree.is_regression else found.classes
    columns = (classes, found.probabilities, found.deviation, found.lowest, found.highest)
    said = zip(*(each.tolist() for each in (*columns, found.leaves, found.certain)), strict=True)
    names = answer.loaded.version.classes
    told = (put(names, each, unknown) for each, unknown in zip(said, answer.unknown, strict=True))
    if answer.costs is None:
        return told
    return (row | {"cost": _known(cost)} for row, cost in zip(told, answer.costs, strict=True))


def phrase_of(loaded: Loaded) -> Phrase:
    """What makes an object of what is said of one row."""
    return _told_number if loaded.compiled.tree.is_regression else _told_class


def _told_class(names: tuple[str, ...], said: Said, unknown: Sequence[str]) -> dict[str, Any]:
    best, probabilities, _, lowest, highest, n_leaves, is_certain = said
    bounds = dict(zip(names, zip(lowest, highest, strict=True), strict=True))
    return {
        "class": names[best] if n_leaves else None,
        "probabilities": dict(zip(names, probabilities, strict=True)) if n_leaves else None,
        "leaves": n_leaves,
        "unknown": unknown,
        "bounds": bounds if n_leaves else None,
        "certain": is_certain,
    }


def _told_number(_names: tuple[str, ...], said: Said, unknown: Sequence[str]) -> dict[str, Any]:
    _, (mean,), deviation, (lowest,), (highest,), n_leaves, is_certain = said
    return {
        "value": _known(mean),
        "deviation": _known(deviation),
        "leaves": n_leaves,
        "unknown": unknown,
        "bounds": [lowest, highest] if n_leaves else None,
        "certain": is_certain,
    }


def _known(number: float) -> float | None:
    return None if number != number else float(number)


def by_column(answer: Answer) -> dict[str, Any]:
    """The answer as one object of columns, for many rows; NaN is written as null."""
    return _lists(in_arrays(answer, answer.unknown))


def _lists(columns: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _lists(each) if isinstance(each, dict) else _list(each)
        for name, each in columns.items()
    }


def _list(column: Any) -> Any:
    return column.tolist() if isinstance(column, np.ndarray) else column


def in_arrays(answer: Answer, unknown: Sequence[object]) -> dict[str, Any]:
    """The same with arrays for lists of numbers, and in the caller's words what is unknown."""
    found = answer.predictions
    is_regression = answer.loaded.compiled.tree.is_regression
    head, bounds = _number_columns(found) if is_regression else _class_columns(answer)
    told = head | {
        "leaves": found.leaves,
        "unknown": unknown,
        "bounds": bounds,
        "certain": found.certain,
    }
    return told if answer.costs is None else told | {"cost": answer.costs}


def _class_columns(answer: Answer) -> tuple[dict[str, Any], dict[str, Any]]:
    found = answer.predictions
    classes = answer.loaded.version.classes
    named = np.array([*classes, None], dtype=object)  # -1, no answer, is the last
    # column by column in memory, which is how they are written
    columns = list(np.ascontiguousarray(found.probabilities.T))
    lowest = highest = columns  # as where all rows come to one leaf
    if found.lowest is not found.probabilities:
        lowest, highest = (
            list(np.ascontiguousarray(each.T)) for each in (found.lowest, found.highest)
        )
    head = {
        "class": named[found.classes].tolist(),
        "probabilities": dict(zip(classes, columns, strict=True)),
    }
    bounds = zip(classes, lowest, highest, strict=True)
    return head, {name: {"lowest": low, "highest": high} for name, low, high in bounds}


def _number_columns(found: Predictions) -> tuple[dict[str, Any], dict[str, Any]]:
    lowest, highest = (each[:, 0].copy() for each in (found.lowest, found.highest))
    head = {"value": found.means.copy(), "deviation": found.deviation}
    return head, {"lowest": lowest, "highest": highest}
