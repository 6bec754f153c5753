"""Explaining: each prediction with the weighted paths that it is the mean of."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from service.actions.load import Loaded
from service.actions.predict import answer_to, by_row
from service.errors import Fault
from service.tree import explain as tree_explain
from service.tree.arrays import Floats
from service.tree.costs import has_costs, path_costs
from service.tree.explain import Path, Step
from service.tree.inputs import encode_inputs
from service.tree.table import Table


def explain(
    loaded: Loaded, table: Table, most_paths: int, missing: str, *, strict: bool
) -> tuple[list[dict[str, Any]], tuple[Fault, ...]]:
    """Per row its prediction and its paths, heaviest first; and the values no category has."""
    inputs = encode_inputs(loaded.compiled, table, loaded.not_inputs, strict=strict)
    told = tree_explain.explain(loaded.compiled, inputs.values, most_paths, missing)
    answers = by_row(answer_to(loaded, inputs.values, missing, inputs.strangers))
    explanations = [
        answer
        | {
            "paths": [_path(loaded, table, row, path) for path in paths],
            "omitted_paths": answer["leaves"] - len(paths),
        }
        for row, (answer, paths) in enumerate(zip(answers, told, strict=True))
    ]
    if has_costs(loaded.version.attributes):
        _add_costs(loaded, inputs.values, explanations)
    return explanations, inputs.strangers


def _path(loaded: Loaded, table: Table, row: int, path: Path) -> dict[str, Any]:
    return {
        "weight": path.weight,
        "leaf": path.leaf,
        "support": path.support,
        **_said(loaded, path),
        "steps": [_step(loaded, table, row, step) for step in path.steps],
    }


def _said(loaded: Loaded, path: Path) -> dict[str, Any]:
    """What the training rows at the end of a path were."""
    tree = loaded.compiled.tree
    if tree.is_regression:
        deviation = float(np.sqrt(tree.variance[path.leaf]))
        return {"mean": float(tree.mean[path.leaf]), "deviation": deviation}
    return {"distribution": dict(zip(loaded.version.classes, path.distribution, strict=True))}


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


def _add_costs(loaded: Loaded, values: Floats, explanations: Sequence[dict[str, Any]]) -> None:
    paths = [path for told in explanations for path in told["paths"]]
    rows = np.repeat(np.arange(len(explanations)), [len(told["paths"]) for told in explanations])
    leaves = np.array([path["leaf"] for path in paths], dtype=np.int64)
    groups = loaded.version.group_costs
    costs = path_costs(loaded.compiled, values, rows, leaves, groups).tolist()
    for path, cost in zip(paths, costs, strict=True):
        path["cost"] = cost
