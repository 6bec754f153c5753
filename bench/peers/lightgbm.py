"""LightGBM, one tree (of ten classes: one for each); its binning is part of the fit."""

from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np

from bench.data import Rows
from bench.peers.worker import Peer, Settings, serve

MOST_LEAVES = 131_072  # that it allows


def prepare(rows: Rows, settings: Settings) -> Callable[[], Any]:
    """What bins and fits."""
    values = np.ascontiguousarray(rows.values, dtype=np.float32)
    params = _params(rows, settings)
    columns = rows.schema.categorical or "auto"

    def fit() -> Any:
        data = lightgbm.Dataset(values, rows.target, categorical_feature=columns)
        return lightgbm.train(params, data, num_boost_round=1)

    return fit


def _params(rows: Rows, settings: Settings) -> dict[str, Any]:
    n_classes, depth, min_leaf = (
        rows.schema.n_classes,
        settings.get("max_depth"),
        settings["min_leaf"],
    )
    most = max(2, min(MOST_LEAVES, len(rows.target) // min_leaf))
    objective = "multiclass" if n_classes > 2 else "binary" if n_classes else "regression"
    return {
        "objective": objective,
        "num_class": n_classes if n_classes > 2 else 1,
        "num_leaves": 2**depth if depth else most,
        "max_depth": depth or -1,
        "min_data_in_leaf": min_leaf,
        "min_sum_hessian_in_leaf": 0.0,
        "learning_rate": 1.0,
        "max_bin": 255,
        "num_threads": settings["n_threads"],
        "histogram_pool_size": 6144,  # MB, enough for the leaves of a million rows
        "verbose": -1,
    }


def predicted(model: Any, rows: Rows) -> Any:
    """Per row the number of the class, or y."""
    found = model.predict(rows.values)
    if rows.schema.n_classes > 2:
        return found.argmax(axis=1)
    return found > 0.5 if rows.schema.n_classes else found


def n_nodes(model: Any) -> int:
    """Inner nodes and leaves of all trees."""
    trees = model.dump_model()["tree_info"]
    return sum(2 * tree["num_leaves"] - 1 for tree in trees)


if __name__ == "__main__":
    serve(Peer(prepare, n_nodes, predicted))
