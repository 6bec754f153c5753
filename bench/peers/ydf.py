"""YDF's CART learner without pruning; its data set is made before the clock runs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import ydf

from bench.data import Rows, Schema
from bench.peers.worker import Peer, Settings, serve


def prepare(rows: Rows, settings: Settings) -> Callable[[], Any]:
    """What fits."""
    depth = settings.get("max_depth")
    learner = ydf.CartLearner(
        label="y",
        task=ydf.Task.CLASSIFICATION if rows.schema.n_classes else ydf.Task.REGRESSION,
        min_examples=settings["min_leaf"],
        max_depth=depth + 1 if depth else -1,  # a root alone has depth 1 there
        validation_ratio=0.0,
        num_threads=settings["n_threads"],
    )
    data = ydf.create_vertical_dataset(
        _columns(rows), columns=[*_features(rows.schema), _target(rows.schema)]
    )
    return lambda: learner.train(data, verbose=0)


def _features(schema: Schema) -> list[ydf.Column]:
    return [
        ydf.Column(name, ydf.Semantic.CATEGORICAL, min_vocab_frequency=1)
        if n
        else ydf.Column(name, ydf.Semantic.NUMERICAL)
        for name, n in zip(schema.names, schema.n_categories, strict=True)
    ]


def _target(schema: Schema) -> ydf.Column:
    if schema.n_classes:
        return ydf.Column("y", ydf.Semantic.CATEGORICAL, min_vocab_frequency=1)
    return ydf.Column("y", ydf.Semantic.NUMERICAL)


def _columns(rows: Rows) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for number, (name, n) in enumerate(
        zip(rows.schema.names, rows.schema.n_categories, strict=True)
    ):
        column = rows.values[:, number]
        columns[name] = _texts(column, "v", n) if n else column.astype(np.float32)
    n_classes = rows.schema.n_classes
    columns["y"] = _texts(rows.target, "k", n_classes) if n_classes else rows.target
    return columns


def _texts(column: Any, letter: str, n_names: int) -> Any:
    names = np.array([f"{letter}{number}" for number in range(n_names)] + [""])
    return names[np.nan_to_num(column, nan=-1).astype(np.int64)]


def predicted(model: Any, rows: Rows) -> Any:
    """Per row the number of the class, or y."""
    columns = {name: column for name, column in _columns(rows).items() if name != "y"}
    if not rows.schema.n_classes:
        return model.predict(columns)
    return np.array([int(name[1:]) for name in model.predict_class(columns)])


if __name__ == "__main__":
    serve(Peer(prepare, lambda model: model.num_nodes(), predicted))
