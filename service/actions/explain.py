"""Explaining: each prediction with the weighted paths that it is the mean of."""

from collections.abc import Sequence
from typing import Any

from service.actions.load import Loaded
from service.actions.predict import Answer, by_row
from service.errors import Fault
from service.tree import explain as tree_explain
from service.tree import predict as tree_predict
from service.tree.explain import Path, Step
from service.tree.inputs import encode_inputs
from service.tree.table import Table


def explain(
    loaded: Loaded, table: Table, most_paths: int, *, strict: bool
) -> tuple[list[dict[str, Any]], tuple[Fault, ...]]:
    """Per row its prediction and its paths, heaviest first; and the values no category has."""
    inputs = encode_inputs(loaded.compiled, table, loaded.not_inputs, strict=strict)
    predictions = tree_predict.predict(loaded.compiled, inputs.values)
    told = tree_explain.explain(loaded.compiled, inputs.values, most_paths)
    answers = by_row(Answer(loaded, predictions, inputs.strangers))
    explanations = [
        answer | _paths(loaded, table, row, paths, answer["leaves"])
        for row, (answer, paths) in enumerate(zip(answers, told, strict=True))
    ]
    return explanations, inputs.strangers


def _paths(
    loaded: Loaded, table: Table, row: int, paths: Sequence[Path], n_leaves: int
) -> dict[str, Any]:
    classes = loaded.version.classes
    return {
        "paths": [
            {
                "weight": path.weight,
                "leaf": path.leaf,
                "support": path.support,
                "distribution": dict(zip(classes, path.distribution, strict=True)),
                "steps": [_step(loaded, table, row, step) for step in path.steps],
            }
            for path in paths
        ],
        "omitted_paths": n_leaves - len(paths),
    }


def _step(loaded: Loaded, table: Table, row: int, step: Step) -> dict[str, Any]:
    name = loaded.version.attributes[step.attribute].name
    return {
        "node": step.node,
        "attribute": name,
        "operator": step.operator,
        "value": step.value,
        "given": table.column(name)[row],
        "share": step.share,
        "weight": step.weight,
    }
