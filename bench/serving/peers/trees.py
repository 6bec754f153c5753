"""What every peer has in common: scikit-learn's tree of a scene, and how rows become its matrix."""

import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.tree import DecisionTreeClassifier

from bench.data import TRAINING, Schema, load

DEPTH = "BENCH_DEPTH"
DIRECTORY = "BENCH_DIRECTORY"
MIN_LEAF = 5
FILE = f"{Path(sys.prefix).name}.joblib"  # each environment has its own


def directory() -> Path:
    """Where the rows of the scene are, and the tree."""
    return Path(os.environ[DIRECTORY])


def grown() -> Any:
    """The tree; the numbers of categories are numbers to it."""
    rows = load(directory(), TRAINING)
    depth = int(os.environ[DEPTH])
    tree = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=MIN_LEAF, random_state=0)
    return tree.fit(np.ascontiguousarray(rows.values, dtype=np.float32), rows.target)


def fetched() -> Any:
    """The tree that was kept."""
    return joblib.load(directory() / FILE)


def schema() -> Schema:
    """What the columns are."""
    return Schema(**json.loads((directory() / "schema.json").read_text()))


def encoder() -> Callable[[Iterable[Iterable[Any]]], Any]:
    """Makes a matrix of the values of rows; null becomes NaN."""
    codes = [
        {f"v{code}": float(code) for code in range(n)} | {None: None} if n else None
        for n in schema().n_categories
    ]
    if not any(codes):
        return lambda rows: np.array([list(row) for row in rows], np.float32)

    def encode(rows: Iterable[Iterable[Any]]) -> Any:
        return np.array([list(map(coded, codes, row)) for row in rows], np.float32)

    return encode


def coded(codes: dict[str | None, float | None] | None, value: Any) -> float | None:
    """The number of a category; a number as it is."""
    return value if codes is None else codes[value]


def answers(tree: Any, matrix: Any) -> list[dict[str, Any]]:
    """Per row the class and the probabilities."""
    probabilities = tree.predict_proba(matrix)
    names = [f"k{number}" for number in tree.classes_.tolist()]
    best = probabilities.argmax(axis=1).tolist()
    return [
        {"class": names[winner], "probabilities": dict(zip(names, row, strict=True))}
        for winner, row in zip(best, probabilities.tolist(), strict=True)
    ]


if __name__ == "__main__":
    joblib.dump(grown(), directory() / FILE)
