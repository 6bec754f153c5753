"""What is asked of every server: trees by depth and attributes, rows by number and nulls."""

from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any

import numpy as np

from bench.data import Recipe, Rows, make

N_ATTRIBUTES = 12
N_TRAINING = 20_000
DEPTHS = (5, 15)
NUMERIC, MIXED = "numeric", "mixed"
N_CATEGORICAL = {NUMERIC: 0, MIXED: 6}
N_ROWS = {1: "1", 100: "100", 10_000: "10k"}
PERCENTS = (0, 10, 50)
N_BODIES = {1: 64, 100: 8, 10_000: 2}  # sent in turn, so that no answer is to be had twice
N_CONNECTIONS = {1: 8, 100: 8, 10_000: 4}
DIGITS = 4  # of a number, as measured ones have


@dataclass(frozen=True)
class Scene:
    """A tree, which a server has to itself."""

    depth: int
    kind: str

    @property
    def name(self) -> str:
        """Also the model's."""
        return f"d{self.depth}-{self.kind}"

    @property
    def recipe(self) -> Recipe:
        """The rows that the tree is grown on; they have no nulls, so that it is as deep for all."""
        n_categorical = N_CATEGORICAL[self.kind]
        n_numeric = N_ATTRIBUTES - n_categorical
        return Recipe(N_TRAINING, n_numeric=n_numeric, n_categorical=n_categorical)


@dataclass(frozen=True)
class Cell:
    """Requests of so many rows, of whose values so many percent are null."""

    scene: Scene
    n_rows: int
    percent: int

    @property
    def name(self) -> str:
        """As it is called in tables."""
        return f"{self.scene.name}-{N_ROWS[self.n_rows]}-{self.percent}"

    @property
    def n_connections(self) -> int:
        """How many clients ask at once."""
        return N_CONNECTIONS[self.n_rows]


SCENES = tuple(Scene(depth, kind) for kind in N_CATEGORICAL for depth in DEPTHS)
CELLS = {
    cell.name: cell
    for cell in (
        Cell(scene, n_rows, percent)
        for scene in SCENES
        for n_rows in N_ROWS
        for percent in PERCENTS
    )
}


def chosen(patterns: list[str]) -> list[Cell]:
    """The cells that any of the patterns names; all if there is none."""
    named = patterns or ["*"]
    return [cell for name, cell in CELLS.items() if any(fnmatch(name, each) for each in named)]


def rows_of(scene: Scene) -> tuple[Rows, Rows]:
    """Rows to train on, and others to ask about."""
    training, asked = make(scene.recipe, n_held=max(n * N_BODIES[n] for n in N_ROWS))
    for rows in (training, asked):
        rows.values[:] = rows.values.round(DIGITS)
    return training, asked


def questions(cell: Cell, asked: Rows) -> list[Rows]:
    """The rows of each body."""
    rng = np.random.default_rng(cell.percent)
    n_bodies = N_BODIES[cell.n_rows]
    some = asked.some(slice(cell.n_rows * n_bodies))
    some.values[_nulls(rng, some.values.shape, cell.percent)] = np.nan
    starts = range(0, cell.n_rows * n_bodies, cell.n_rows)
    return [some.some(slice(start, start + cell.n_rows)) for start in starts]


def _nulls(rng: np.random.Generator, shape: tuple[int, ...], percent: int) -> Any:
    return rng.random(shape) < percent / 100
