"""scikit-learn's tree; it sees the numbers of categories as numbers, and learns where nulls go."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bench.data import Rows
from bench.peers.worker import Peer, Settings, serve


def prepare(rows: Rows, settings: Settings) -> Callable[[], Any]:
    """What fits; the values are as the library has them inside, so that none is copied."""
    values = np.ascontiguousarray(rows.values, dtype=np.float32)
    made = DecisionTreeClassifier if rows.schema.n_classes else DecisionTreeRegressor
    tree = made(
        criterion=settings["criterion"],
        min_samples_leaf=settings["min_leaf"],
        max_depth=settings.get("max_depth"),
        random_state=0,
    )
    return lambda: tree.fit(values, rows.target)


if __name__ == "__main__":
    serve(
        Peer(
            prepare,
            lambda tree: tree.tree_.node_count,
            lambda tree, rows: tree.predict(rows.values.astype(np.float32)),
        )
    )
