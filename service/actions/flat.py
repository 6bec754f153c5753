"""Answers as flat columns, for files: what is nested in JSON has names joined by dots."""

from typing import Any

import numpy as np

from service.actions.predict import Answer
from service.storage.records import VersionDraft
from service.tree.arrays import Floats
from service.tree.costs import has_costs
from service.tree.target import REGRESSION

ROW = "row"  # which row of the dataset is answered, from 0
CLASS, UNKNOWN = "class", "unknown"
ROUTE = ("leaves", UNKNOWN, "certain")
NESTED = ("probabilities", "bounds")  # as NDJSON has them, not flat


def flat_names(version: VersionDraft) -> list[str]:
    """The names of the columns that the answers of a version have."""
    if version.task == REGRESSION:
        head = ["value", "deviation"]
        bounds = ["bounds.lowest", "bounds.highest"]
    else:
        head = [CLASS, *(f"probabilities.{name}" for name in version.classes)]
        bounds = [
            f"bounds.{name}.{end}" for name in version.classes for end in ("lowest", "highest")
        ]
    costs = ["cost"] if has_costs(version.attributes) else []
    return [ROW, *head, *ROUTE, *bounds, *costs]


def flat_columns(answer: Answer, first_row: int) -> dict[str, Any]:
    """The answer by column: arrays, and lists where it is texts; NaN where there is none."""
    rows = np.arange(first_row, first_row + len(answer.predictions.leaves))
    told = {ROW: rows} | flat_arrays(answer)
    if CLASS in told:
        named = [*answer.loaded.version.classes, None]  # -1, no answer, is the last
        told[CLASS] = [named[best] for best in told[CLASS].tolist()]
    return told | {UNKNOWN: answer.unknown}


def flat_arrays(answer: Answer) -> dict[str, Any]:
    """The same in arrays only, without `row`: classes by number, pairs for what is unknown."""
    found, version = answer.predictions, answer.loaded.version
    head: list[Any]
    if version.task == REGRESSION:
        head = [found.means, found.deviation]
        bounds = [found.lowest[:, 0], found.highest[:, 0]]
    else:
        probabilities, lowest, highest = _by_class(found.probabilities, found.lowest, found.highest)
        head = [found.classes, *probabilities]
        bounds = [end for pair in zip(lowest, highest, strict=True) for end in pair]
    told = [*head, found.leaves, found.met, found.certain, *bounds]
    costs = [] if answer.costs is None else [answer.costs]
    return dict(zip(flat_names(version)[1:], [*told, *costs], strict=True))


def _by_class(*tables: Floats) -> list[Floats]:
    """Each table (row, class) with its columns in one piece; the same one is made once."""
    made = {id(table): table for table in tables}
    made = {number: np.ascontiguousarray(table.T) for number, table in made.items()}
    return [made[id(table)] for table in tables]
