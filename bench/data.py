"""Rows made by chance from a recipe; the same recipe always makes the same rows.

A small random network gives every class a score, noise is added, the largest wins. The signal
needs many splits and the noise never ends, so that an unlimited tree grows really deep.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

N_HIDDEN, N_SEEN = 12, 2
N_CATEGORIES = 8
NOISE = 0.4
N_HELD = 5_000
TRAINING, HELD = "training", "held"


@dataclass(frozen=True)
class Recipe:
    """What rows are to be made."""

    n_rows: int
    n_classes: int = 2  # 0: regression
    n_numeric: int = 20
    n_categorical: int = 0
    nulls: float = 0.0  # the part of all values that is null
    seed: int = 0


@dataclass(frozen=True)
class Schema:
    """What the columns are."""

    n_categories: list[int]  # per column; 0: numeric
    n_classes: int  # 0: regression

    @property
    def categorical(self) -> list[int]:
        """The numbers of the categorical columns."""
        return [number for number, n in enumerate(self.n_categories) if n > 0]

    @property
    def names(self) -> list[str]:
        """The columns' names, which say what they are."""
        return [f"{'c' if n else 'n'}{number}" for number, n in enumerate(self.n_categories)]


@dataclass(frozen=True)
class Rows:
    """Values (row, column), stored by column, NaN for null; and the number of the class, or y."""

    schema: Schema
    values: Any
    target: Any

    def some(self, chosen: slice) -> "Rows":
        """Only some of the rows."""
        return Rows(self.schema, np.asfortranarray(self.values[chosen]), self.target[chosen])


def make(recipe: Recipe, n_held: int = N_HELD) -> tuple[Rows, Rows]:
    """Rows to train on, and others that are held out."""
    rng = np.random.default_rng(recipe.seed)
    n_columns = recipe.n_numeric + recipe.n_categorical
    effects = rng.normal(size=(recipe.n_categorical, N_CATEGORIES))
    layers = (
        rng.normal(size=(n_columns, N_HIDDEN)) * _seen(rng, n_columns),
        rng.normal(size=(N_HIDDEN, max(recipe.n_classes, 1))),
    )
    shape = (n_columns, recipe.n_rows + n_held)
    inputs = rng.standard_normal(shape, dtype=np.float32).astype(np.float64)
    values = inputs.copy()
    for column, effect in enumerate(effects, start=recipe.n_numeric):
        values[column] = rng.integers(N_CATEGORIES, size=shape[1])
        inputs[column] = effect[values[column].astype(np.int64)]
    target = _target(rng, np.tanh(inputs.T @ layers[0]) @ layers[1], recipe.n_classes)
    if recipe.nulls > 0:
        values[rng.random(shape) < recipe.nulls] = np.nan
    kinds = [0] * recipe.n_numeric + [N_CATEGORIES] * recipe.n_categorical
    whole = Rows(Schema(kinds, recipe.n_classes), values.T, target)
    return whole.some(slice(recipe.n_rows)), whole.some(slice(recipe.n_rows, None))


def _seen(rng: np.random.Generator, n_columns: int) -> Any:
    """Which columns each hidden unit sees: few, so that a tree can find the signal at all."""
    return rng.random((n_columns, N_HIDDEN)).argsort(axis=0) < N_SEEN


def _target(rng: np.random.Generator, scores: Any, n_classes: int) -> Any:
    scores = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    if n_classes == 0:
        return scores[:, 0] + NOISE * rng.normal(size=len(scores))
    return (scores + NOISE * rng.gumbel(size=scores.shape)).argmax(axis=1)


def save(directory: Path, name: str, rows: Rows) -> None:
    """Writes the rows as arrays."""
    np.save(directory / f"{name}.values.npy", rows.values)
    np.save(directory / f"{name}.target.npy", rows.target)
    (directory / "schema.json").write_text(json.dumps(asdict(rows.schema)))


def load(directory: Path, name: str) -> Rows:
    """The rows that were saved."""
    schema = Schema(**json.loads((directory / "schema.json").read_text()))
    values, target = (np.load(directory / f"{name}.{what}.npy") for what in ("values", "target"))
    return Rows(schema, values, target)


def save_texts(directory: Path, name: str, rows: Rows) -> None:
    """Writes the rows as CSV with a header, and as ARFF; a null is a question mark in both."""
    columns = [_texts(rows.values[:, number], n) for number, n in enumerate(_sizes(rows, "v"))]
    columns.append(_texts(rows.target, ("k", rows.schema.n_classes)))
    body = "".join(",".join(row) + "\n" for row in zip(*columns, strict=True))
    names = [*rows.schema.names, "y"]
    (directory / f"{name}.csv").write_text(",".join(names) + "\n" + body)
    kinds = [*_sizes(rows, "v"), ("k", rows.schema.n_classes)]
    declared = [
        f"@attribute {column} {_kind(*kind)}\n" for column, kind in zip(names, kinds, strict=True)
    ]
    text = "".join(["@relation rows\n", *declared, "@data\n", body])
    (directory / f"{name}.arff").write_text(text)


def _sizes(rows: Rows, letter: str) -> list[tuple[str, int]]:
    return [(letter, n) for n in rows.schema.n_categories]


def _texts(column: Any, kind: tuple[str, int]) -> list[str]:
    letter, n_names = kind
    if n_names == 0:
        return ["?" if value != value else repr(value) for value in column.tolist()]
    names = [f"{letter}{number}" for number in range(n_names)] + ["?"]
    return [names[code] for code in np.nan_to_num(column, nan=-1).astype(np.int64)]


def _kind(letter: str, n_names: int) -> str:
    if n_names == 0:
        return "numeric"
    return "{" + ",".join(f"{letter}{number}" for number in range(n_names)) + "}"
