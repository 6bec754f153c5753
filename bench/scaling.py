"""How the seconds of our learner grow with rows, columns, classes and nulls.

    .venv/bin/python -m bench.scaling                all
    .venv/bin/python -m bench.scaling rows columns   some
    .venv/bin/python -m bench.scaling --scale 0.01   a trial with a hundredth of the rows

The exponent is the slope of the least-squares line through the logarithms of size and seconds, each
the smallest of several runs: 1 is proportional. n log n has a slope of about 1.08 between 10,000
and a million rows. Where there are nulls, the pairs (row, weight) that dividing them makes stand
beside the seconds. Ends with 1 if a limit is not kept.
"""

import argparse
import sys
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bench.data import Recipe, make
from bench.pairs import Blowup, blowup
from bench.peers.ours import dataset
from bench.workloads import EXACT, MIN_LEAF
from service.tree.learn import study
from service.tree.params import resolve
from service.tree.pruners import Task

N_RUNS = 3
WARM_UP = 500
ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
FEWER_ROWS = ROWS[:4]  # of data with nulls, whose pairs are more than its rows
COLUMNS = (5, 10, 20, 40, 80)
CLASSES = (2, 4, 8, 16, 32)
NULLS = (0.05, 0.1, 0.2, 0.4)
NUMERIC = Recipe(100_000)
MIXED = Recipe(100_000, n_numeric=10, n_categorical=10)


@dataclass(frozen=True)
class Axis:
    """What grows, and what stays."""

    grows: str  # which part of the recipe
    sizes: tuple[float, ...]
    recipe: Recipe = NUMERIC
    params: dict[str, Any] = field(default_factory=dict)
    limit: float | None = None  # of the exponent


def of_rows(recipe: Recipe, **params: Any) -> Axis:
    """Rows grow, and the seconds must be hardly more than proportional."""
    return Axis("n_rows", ROWS, recipe, params, limit=1.1)


C45 = {"preset": "c45", "pruning": "none"}
AXES: dict[str, Axis] = {
    "rows": of_rows(NUMERIC),
    "rows, 10 classes": of_rows(replace(NUMERIC, n_classes=10)),
    "rows, regression": of_rows(replace(NUMERIC, n_classes=0), criterion="squared_error"),
    "rows, depth 8": of_rows(NUMERIC, max_depth=8),
    "rows, histogram": of_rows(NUMERIC, search="histogram"),
    "rows, mixed": of_rows(MIXED),
    "rows, mixed, 10 % null": Axis("n_rows", FEWER_ROWS, replace(MIXED, nulls=0.1)),
    "rows, mixed, 40 % null": Axis("n_rows", FEWER_ROWS, replace(MIXED, nulls=0.4)),
    "columns": Axis("n_numeric", COLUMNS),
    "classes": Axis("n_classes", CLASSES),
    "nulls": Axis("nulls", NULLS, MIXED),
    "nulls, c45": Axis("nulls", NULLS, MIXED, C45),
}


@dataclass(frozen=True)
class Point:
    """What one size takes."""

    size: float
    seconds: float
    nodes: int
    pairs: Blowup | None  # None: there are no nulls


def measured(recipe: Recipe, settings: dict[str, Any]) -> tuple[float, int, Blowup | None]:
    """The smallest seconds of several runs, the nodes and the pairs."""
    overrides = EXACT | {"min_weight": MIN_LEAF} | settings
    params = resolve(overrides.pop("preset", "id3"), overrides)
    training, _ = make(recipe, n_held=0)
    task = Task(dataset(training), params)
    study(replace(task, data=dataset(training.some(slice(WARM_UP)))))
    seconds = []
    for _ in range(N_RUNS):
        started = time.perf_counter()
        tree = study(task).served
        seconds.append(time.perf_counter() - started)
    return min(seconds), len(tree), blowup(tree, task.data) if recipe.nulls > 0 else None


def exponent(points: list[Point]) -> float:
    """The slope of the line through the logarithms."""
    sizes, seconds = (np.log([getattr(p, name) for p in points]) for name in ("size", "seconds"))
    return float(np.polynomial.polynomial.polyfit(sizes, seconds, 1)[1])


def points_of(axis: Axis, scale: float) -> list[Point]:
    """What every size takes, of a part of the rows."""
    found = []
    for size in axis.sizes:
        grown: dict[str, Any] = {axis.grows: size}
        recipe = replace(axis.recipe, **grown)
        recipe = replace(recipe, n_rows=max(1, round(recipe.n_rows * scale)))
        found.append(Point(getattr(recipe, axis.grows), *measured(recipe, axis.params)))
    return found


def main() -> None:
    """Prints a line for each size, and the exponent of each axis."""
    parser = argparse.ArgumentParser(prog="python -m bench.scaling")
    parser.add_argument("axes", nargs="*", metavar="axis")
    parser.add_argument("--scale", type=float, default=1.0, help="times the rows, for a trial")
    options = parser.parse_args()
    if unknown := [name for name in options.axes if name not in AXES]:
        parser.error(f"nothing is called {unknown[0]!r}; there are {', '.join(map(repr, AXES))}")
    kept = []
    print(
        f"{'what grows':26}{'size':>12}{'seconds':>10}{'nodes':>10}{'pairs/row':>11}{'at once':>9}"
    )
    for name in options.axes or AXES:
        points = points_of(AXES[name], options.scale)
        for point in points:
            pairs = point.pairs or Blowup(1.0, 1.0)
            print(
                f"{name:26}{point.size:12g}{point.seconds:10.4f}{point.nodes:10}"
                f"{pairs.at_the_leaves:11.2f}{pairs.at_once:9.2f}"
            )
        limit, found = AXES[name].limit, exponent(points)
        kept.append(limit is None or found <= limit)
        told = "" if limit is None else f", limit {limit}: {'holds' if kept[-1] else 'too much'}"
        print(f"{name:26}exponent {found:.3f}{told}", flush=True)
    sys.exit(0 if all(kept) else 1)


if __name__ == "__main__":
    main()
