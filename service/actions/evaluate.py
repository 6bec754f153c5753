"""Evaluating: how well a version predicts rows whose target is known."""

from typing import Any

import numpy as np

from service.actions.load import Loaded
from service.errors import Fault, InvalidData
from service.tree.arrays import Floats, Ints
from service.tree.dataset import Dataset
from service.tree.encode import encode_numbers, raise_faults
from service.tree.evaluate import Fitted, report
from service.tree.inputs import encode_inputs
from service.tree.table import Table
from service.tree.target import encode_classes, encode_target_numbers


def evaluate(loaded: Loaded, table: Table, weight: str | None = None) -> dict[str, Any]:
    """The metrics of a version on rows that have the target, and perhaps a weight."""
    version = loaded.version
    if version.target not in table.columns or table.n_rows == 0:
        detail = f"no row has a column {version.target!r}, which is what is predicted"
        raise InvalidData(detail, [Fault("", detail)])
    ignored = (*loaded.not_inputs, *([] if weight is None else [weight]))
    inputs = encode_inputs(loaded.compiled, table, ignored, strict=False)
    weights = np.ones(table.n_rows) if weight is None else _weights(table, weight)
    target: Ints | Floats = (
        encode_classes(table, version.target, version.classes)
        if version.classes
        else encode_target_numbers(table, version.target)
    )
    data = Dataset(version.attributes, version.classes, inputs.values, target, weights)
    return report(data, [Fitted(loaded.compiled, np.arange(table.n_rows))])


def _weights(table: Table, name: str) -> Floats:
    weights = encode_numbers(table, name)
    bad = np.flatnonzero(np.isnan(weights) | (weights < 0)).tolist()
    detail = "must be a weight: a number, not below 0"
    raise_faults(Fault(table.pointer(row, name), detail) for row in bad)
    return weights
