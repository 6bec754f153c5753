"""Answers as flat columns, for files: what is nested in JSON has names joined by dots."""

from typing import Any

import numpy as np

from service.actions.predict import Answer
from service.storage.records import VersionDraft
from service.tree.costs import has_costs
from service.tree.target import REGRESSION

ROW = "row"  # which row of the dataset is answered, from 0
ROUTE = ("leaves", "unknown", "certain")
NESTED = ("probabilities", "bounds")  # as NDJSON has them, not flat


def flat_names(version: VersionDraft) -> list[str]:
    """The names of the columns that the answers of a version have."""
    if version.task == REGRESSION:
        head = ["value", "deviation"]
        bounds = ["bounds.lowest", "bounds.highest"]
    else:
        head = ["class", *(f"probabilities.{name}" for name in version.classes)]
        bounds = [
            f"bounds.{name}.{end}" for name in version.classes for end in ("lowest", "highest")
        ]
    costs = ["cost"] if has_costs(version.attributes) else []
    return [ROW, *head, *ROUTE, *bounds, *costs]


def flat_columns(answer: Answer, first_row: int) -> dict[str, Any]:
    """The answer by column: arrays, and lists where it is texts; NaN where there is none."""
    found, version = answer.predictions, answer.loaded.version
    head: list[Any]
    if version.task == REGRESSION:
        head = [found.means, found.deviation]
        bounds = [found.lowest[:, 0], found.highest[:, 0]]
    else:
        named = [*version.classes, None]  # -1, no answer, is the last
        head = [[named[best] for best in found.classes.tolist()], *found.probabilities.T]
        pairs = zip(found.lowest.T, found.highest.T, strict=True)
        bounds = [end for pair in pairs for end in pair]
    rows = np.arange(first_row, first_row + len(found.leaves))
    told = [rows, *head, found.leaves, answer.unknown, found.certain, *bounds]
    costs = [] if answer.costs is None else [answer.costs]
    return dict(zip(flat_names(version), [*told, *costs], strict=True))
