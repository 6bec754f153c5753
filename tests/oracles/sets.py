"""The data sets of the oracles, and what each oracle made of them."""

import csv
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.attribute import Attribute, Kind
from service.tree.dataset import Dataset

ORACLES = Path(__file__).parent.parent / "data" / "oracles"


@dataclass(frozen=True)
class OracleSet:
    """Rows to train on, rows full of nulls to predict, and the fold of each training row."""

    name: str
    data: Dataset  # attributes, categories and classes in declared order; regression: no classes
    probe: Floats  # (row, attribute); row 0 knows nothing
    folds: Ints

    @property
    def is_complete(self) -> bool:
        """Whether no training row has a null."""
        return not np.isnan(self.data.values).any()


@cache
def oracle_set(name: str) -> OracleSet:
    """The set of that name."""
    schema = _json(f"data/{name}.json")
    attributes = tuple(
        Attribute(entry["name"], Kind(entry["kind"]), tuple(entry.get("values", ())))
        for entry in schema["features"]
    )
    classes = tuple(schema.get("classes", ()))
    rows = _rows(f"data/{name}.csv")
    texts = [row[-1] for row in rows]
    target = np.array([classes.index(text) if classes else float(text) for text in texts])
    data = Dataset(attributes, classes, _values(rows, attributes), target, np.ones(len(rows)))
    folds = np.array([int(fold) for _, fold in _rows(f"folds/{name}.csv")], dtype=np.int64)
    return OracleSet(name, data, _values(_rows(f"data/{name}.probe.csv"), attributes), folds)


def expected(oracle: str, name: str, run: str) -> dict[str, Any]:
    """What the oracle made of the set under the settings of the run."""
    found: dict[str, Any] = _json(f"expected/{oracle}/{name}.json")["runs"][run]
    return found


def names_of(task: str) -> list[str]:
    """The names of all sets of a task, "classification" or "regression"."""
    schemas = (_json(f"data/{path.name}") for path in sorted((ORACLES / "data").glob("*.json")))
    return [schema["name"] for schema in schemas if schema["task"] == task]


def _values(rows: list[list[str]], attributes: tuple[Attribute, ...]) -> Floats:
    columns = [
        [_number(row[place], attribute) for row in rows]
        for place, attribute in enumerate(attributes)
    ]
    return np.array(columns, dtype=np.float64).T


def _number(text: str, attribute: Attribute) -> float:
    if text == "":
        return float("nan")
    if attribute.kind == Kind.NUMERIC:
        return float(text)
    return float(attribute.values.index(text))


def _rows(path: str) -> list[list[str]]:
    with (ORACLES / path).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


@cache
def _json(path: str) -> Any:
    return json.loads((ORACLES / path).read_text(encoding="utf-8"))


CLASSIFICATION = names_of("classification")
REGRESSION = names_of("regression")
COMPLETE = [name for name in CLASSIFICATION + REGRESSION if oracle_set(name).is_complete]
