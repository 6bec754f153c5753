"""Predicting: probabilities for rows, and how sure the tree is of the path."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from service.actions.load import Loaded
from service.errors import Fault
from service.tree import predict as tree_predict
from service.tree.inputs import encode_inputs
from service.tree.predict import Predictions
from service.tree.table import Table


@dataclass(frozen=True)
class Answer:
    """The predictions for a table and the values in it that no category has."""

    loaded: Loaded
    predictions: Predictions
    strangers: tuple[Fault, ...]

    @property
    def unknown(self) -> list[list[str]]:
        """Per row the names of the unknown attributes that mattered."""
        names = [attribute.name for attribute in self.loaded.version.attributes]
        per_row: list[list[str]] = [[] for _ in range(len(self.predictions.leaves))]
        for row, pairs in groupby(self.predictions.met.tolist(), key=itemgetter(0)):
            per_row[row] = [names[attribute] for _, attribute in pairs]
        return per_row


def predict(loaded: Loaded, table: Table, *, strict: bool) -> Answer:
    """What the version says of each row."""
    inputs = encode_inputs(loaded.compiled, table, loaded.not_inputs, strict=strict)
    predictions = tree_predict.predict(loaded.compiled, inputs.values)
    return Answer(loaded, predictions, inputs.strangers)


def by_row(answer: Answer) -> Iterator[dict[str, Any]]:
    """The answer as one object a row."""
    classes = answer.loaded.version.classes
    found = answer.predictions
    bounds = zip(found.lowest.tolist(), found.highest.tolist(), strict=True)
    for best, probabilities, leaves, unknown, (lowest, highest) in zip(
        found.classes.tolist(),
        found.probabilities.tolist(),
        found.leaves.tolist(),
        answer.unknown,
        bounds,
        strict=True,
    ):
        yield {
            "class": classes[best],
            "probabilities": dict(zip(classes, probabilities, strict=True)),
            "leaves": leaves,
            "unknown": unknown,
            "bounds": dict(zip(classes, zip(lowest, highest, strict=True), strict=True)),
            "certain": leaves == 1,
        }


def by_column(answer: Answer) -> dict[str, Any]:
    """The answer as one object of columns, for many rows."""
    classes = answer.loaded.version.classes
    found = answer.predictions
    columns = zip(classes, found.lowest.T.tolist(), found.highest.T.tolist(), strict=True)
    return {
        "class": [classes[best] for best in found.classes.tolist()],
        "probabilities": dict(zip(classes, found.probabilities.T.tolist(), strict=True)),
        "leaves": found.leaves.tolist(),
        "unknown": answer.unknown,
        "bounds": {name: {"lowest": low, "highest": high} for name, low, high in columns},
        "certain": (found.leaves == 1).tolist(),
    }
