"""Predicting: probabilities or numbers for rows, and how sure the tree is of the path."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from service.actions.load import Loaded
from service.errors import Fault
from service.tree import predict as tree_predict
from service.tree.arrays import Floats
from service.tree.costs import expected_costs, has_costs
from service.tree.inputs import encode_inputs
from service.tree.predict import Predictions
from service.tree.route import Router, route
from service.tree.table import Table


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
        names = [attribute.name for attribute in self.loaded.version.attributes]
        per_row: list[list[str]] = [[] for _ in range(len(self.predictions.leaves))]
        for row, pairs in groupby(self.predictions.met.tolist(), key=itemgetter(0)):
            per_row[row] = [names[attribute] for _, attribute in pairs]
        return per_row


def predict(loaded: Loaded, table: Table, missing: str, *, strict: bool) -> Answer:
    """What the version says of each row."""
    inputs = encode_inputs(loaded.compiled, table, loaded.not_inputs, strict=strict)
    return answer_to(loaded, inputs.values, missing, inputs.strangers)


def answer_to(
    loaded: Loaded,
    values: Floats,
    missing: str,
    strangers: tuple[Fault, ...],
    router: Router = route,
) -> Answer:
    """What the version says of rows of numbers."""
    version, compiled = loaded.version, loaded.compiled
    costs = None
    if has_costs(version.attributes):
        costs = expected_costs(compiled, values, missing, version.group_costs, router)
    predictions = tree_predict.predict(compiled, values, missing, router)
    return Answer(loaded, predictions, costs, strangers)


def by_row(answer: Answer) -> Iterator[dict[str, Any]]:
    """The answer as one object a row; null is what a row without an answer has."""
    said = _numbers(answer) if answer.loaded.compiled.tree.is_regression else _classes(answer)
    leaves, certain = answer.predictions.leaves.tolist(), answer.predictions.certain.tolist()
    for row, ((head, bounds), n_leaves, unknown) in enumerate(
        zip(said, leaves, answer.unknown, strict=True)
    ):
        told = head | {
            "leaves": n_leaves,
            "unknown": unknown,
            "bounds": bounds if n_leaves else None,
            "certain": certain[row],
        }
        yield told if answer.costs is None else told | {"cost": _known(answer.costs[row])}


def _classes(answer: Answer) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Per row the class and its probabilities, and the bounds of these."""
    classes = answer.loaded.version.classes
    found = answer.predictions
    bounds = zip(found.lowest.tolist(), found.highest.tolist(), strict=True)
    for best, probabilities, (lowest, highest) in zip(
        found.classes.tolist(), found.probabilities.tolist(), bounds, strict=True
    ):
        head: dict[str, Any] = {"class": None, "probabilities": None}
        if best >= 0:
            named = dict(zip(classes, probabilities, strict=True))
            head = {"class": classes[best], "probabilities": named}
        yield head, dict(zip(classes, zip(lowest, highest, strict=True), strict=True))


def _numbers(answer: Answer) -> Iterator[tuple[dict[str, Any], list[float]]]:
    """Per row the value and its deviation, and the bounds of the value."""
    found = answer.predictions
    bounds = zip(found.lowest[:, 0].tolist(), found.highest[:, 0].tolist(), strict=True)
    for value, deviation, (lowest, highest) in zip(
        found.means.tolist(), found.deviation.tolist(), bounds, strict=True
    ):
        yield {"value": _known(value), "deviation": _known(deviation)}, [lowest, highest]


def _known(number: float) -> float | None:
    return None if number != number else float(number)


def by_column(answer: Answer) -> dict[str, Any]:
    """The answer as one object of columns, for many rows; NaN is written as null."""
    found = answer.predictions
    is_regression = answer.loaded.compiled.tree.is_regression
    head, bounds = _number_columns(found) if is_regression else _class_columns(answer)
    told = head | {
        "leaves": found.leaves.tolist(),
        "unknown": answer.unknown,
        "bounds": bounds,
        "certain": found.certain.tolist(),
    }
    return told if answer.costs is None else told | {"cost": answer.costs.tolist()}


def _class_columns(answer: Answer) -> tuple[dict[str, Any], dict[str, Any]]:
    found = answer.predictions
    classes = answer.loaded.version.classes
    named = [*classes, None]  # -1, no answer, is the last
    columns = zip(classes, found.lowest.T.tolist(), found.highest.T.tolist(), strict=True)
    head = {
        "class": [named[best] for best in found.classes.tolist()],
        "probabilities": dict(zip(classes, found.probabilities.T.tolist(), strict=True)),
    }
    return head, {name: {"lowest": low, "highest": high} for name, low, high in columns}


def _number_columns(found: Predictions) -> tuple[dict[str, Any], dict[str, Any]]:
    head = {"value": found.means.tolist(), "deviation": found.deviation.tolist()}
    return head, {
        "lowest": found.lowest[:, 0].tolist(),
        "highest": found.highest[:, 0].tolist(),
    }
