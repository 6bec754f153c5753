"""What a version is, in a few lines for a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from service.storage.records import Version
from service.tree.target import REGRESSION

WAYS = {"hold_out": "on rows held out", "cross_validation": "by cross-validation"}


def summary(version: Version) -> Iterator[str]:
    """The lines that tell of a version."""
    yield f"{version.model}, version {version.number}: predicts {version.target}"
    yield f"  {version.n_rows:,} rows, {len(version.attributes)} attributes, {version.task}"
    yield f"  {version.n_nodes:,} nodes, {version.n_leaves:,} leaves, depth {version.depth}"
    evaluation = version.metrics.get("evaluation")
    if evaluation:
        yield f"  {_quality(version, evaluation)} {WAYS[evaluation['method']]}"
    yield f"  {_quality(version, version.metrics['training'])} on the rows it was trained on"


def _quality(version: Version, told: Mapping[str, Any]) -> str:
    if version.task == REGRESSION:
        return f"mean absolute error {_number(told['mae'])}, R2 {_number(told['r2'])}"
    return f"accuracy {_number(told['accuracy'])}, log loss {_number(told['log_loss'])}"


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"
