"""XGBoost, one tree by histogram (of ten classes: one for each); its binning is part of the fit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import xgboost

from bench.data import Rows
from bench.peers.worker import Peer, Settings, serve


def prepare(rows: Rows, settings: Settings) -> Callable[[], Any]:
    """What bins and fits."""
    values = np.ascontiguousarray(rows.values, dtype=np.float32)
    params = _params(rows.schema.n_classes, settings)

    def fit() -> Any:
        data = xgboost.QuantileDMatrix(values, rows.target, max_bin=255, **_kinds(rows, settings))
        return xgboost.train(params, data, num_boost_round=1)

    return fit


def _kinds(rows: Rows, settings: Settings) -> dict[str, Any]:
    kinds = ["c" if n else "q" for n in rows.schema.n_categories]
    return {"feature_types": kinds, "enable_categorical": True, "nthread": settings["n_threads"]}


def _params(n_classes: int, settings: Settings) -> dict[str, Any]:
    params = {"objective": "reg:squarederror"}
    row_weight = 1.0  # what a row adds to its leaf's weight, which is a sum of second derivatives
    if n_classes == 2:
        params, row_weight = {"objective": "binary:logistic"}, 0.25
    if n_classes > 2:
        params = {"objective": "multi:softprob", "num_class": n_classes}
        row_weight = 2 / n_classes * (1 - 1 / n_classes)
    return params | {
        "tree_method": "hist",
        "max_bin": 255,
        "max_depth": settings.get("max_depth") or 0,
        "min_child_weight": settings["min_leaf"] * row_weight * (1 - 1e-6),
        "base_score": 0.5,
        "reg_lambda": 0.0,
        "eta": 1.0,
        "nthread": settings["n_threads"],
    }


def predicted(model: Any, rows: Rows) -> Any:
    """Per row the number of the class, or y."""
    found = model.predict(xgboost.DMatrix(rows.values, **_kinds(rows, {"n_threads": 2})))
    if rows.schema.n_classes > 2:
        return found.argmax(axis=1)
    return found > 0.5 if rows.schema.n_classes else found


def n_nodes(model: Any) -> int:
    """Inner nodes and leaves of all trees."""
    return sum(tree.count("\n") for tree in model.get_dump())


if __name__ == "__main__":
    serve(Peer(prepare, n_nodes, predicted))
