"""Evaluating: how well a version predicts rows whose target is known."""

from typing import Any

import numpy as np

from service.actions.load import Loaded
from service.errors import Fault, InvalidData
from service.tree.arrays import Floats, Ints
from service.tree.dataset import Dataset
from service.tree.evaluate import Fitted, report
from service.tree.inputs import encode_inputs
from service.tree.table import Table
from service.tree.target import encode_classes, encode_target_numbers
from service.tree.training import row_weights


def evaluate(
    loaded: Loaded, table: Table, weight: str | None = None
) -> tuple[dict[str, Any], tuple[Fault, ...]]:
    """The metrics on rows that have the target; and the values in them that no category has."""
    version = loaded.version
    if version.target not in table.columns or table.n_rows == 0:
        detail = f"no row has a column {version.target!r}, which is what is predicted"
        raise InvalidData(detail, [Fault("", detail)])
    ignored = (*loaded.not_inputs, *([] if weight is None else [weight]))
    inputs = encode_inputs(loaded.compiled, table, ignored, strict=False)
    weights = row_weights(table, weight)
    target: Ints | Floats = (
        encode_classes(table, version.target, version.classes)
        if version.classes
        else encode_target_numbers(table, version.target)
    )
    data = Dataset(version.attributes, version.classes, inputs.values, target, weights)
    metrics = report(data, [Fitted(loaded.compiled, np.arange(table.n_rows))])
    return metrics, inputs.strangers
