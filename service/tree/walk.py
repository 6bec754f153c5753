"""Walking: what routing gives, by kernels, for those who train and score; the web has no numba."""

from collections.abc import Iterator

import numpy as np

from service.tree.arrays import Floats
from service.tree.compiled import CompiledTree
from service.tree.kernels import route as kernels
from service.tree.kernels.mix import mix_rows
from service.tree.kernels.route import Cells, Descent, Found, Room
from service.tree.kernels.sums import LEVELS
from service.tree.laid import laid_asks, laid_nodes, laid_table
from service.tree.mixture import Mixture
from service.tree.predict import ends_of
from service.tree.route import DIVIDING, POOLING, Routed

MOST_AT_ONCE = 1 << 20  # leaves that rows with nulls may reach together in one block

HOW: dict[str, int] = {
    "weighted": kernels.DIVIDE,
    POOLING: kernels.DIVIDE,
    "last_prediction": kernels.STOP,
    "default_child": kernels.LARGEST,
    "none": kernels.GIVE_UP,
}


def walk(
    compiled: CompiledTree,
    values: Floats,
    missing: str = "weighted",
    mixture: Mixture | None = None,
) -> Iterator[Routed]:
    """What became of the rows, as `route` tells it; blocks hold as many rows as have room."""
    descent, cells, room = descent_of(compiled, mixture), _cells(values), _room(compiled)
    used = np.unique(compiled.tree.attribute[~compiled.tree.is_leaf])
    may_divide = kernels.have_nulls(cells, used) | bool((compiled.table < 0).any())
    complete, partial = np.flatnonzero(~may_divide), np.flatnonzero(may_divide)
    if len(complete):
        leaves = kernels.end_nodes(descent, cells, complete, room)
        yield Routed(complete, leaves, np.ones(len(leaves)), np.empty((0, 2), dtype=np.int64))
    how, training = HOW[missing], _training(compiled, missing, mixture)
    while len(partial):
        found = _found(compiled, len(partial), mixture)
        n_rows, n, n_pairs = kernels.route_rows(descent, cells, partial, how, training, room, found)
        yield Routed(found.rows[:n], found.leaves[:n], found.weights[:n], found.met[:n_pairs])
        partial = partial[n_rows:]


def answers(compiled: CompiledTree, values: Floats, missing: str = "weighted") -> Floats:
    """The probabilities, or the mean, that `predict` tells of each row; NaN without an answer."""
    mixture = compiled.mixture if missing in DIVIDING else None
    ends = np.array(ends_of(compiled, missing).answers, order="C")
    mixed = np.empty((len(values), ends.shape[1]))
    mix_rows(
        descent_of(compiled, mixture), _cells(values), ends, HOW[missing],
        _training(compiled, missing, mixture), _room(compiled), mixed,
    )  # fmt: skip
    return mixed


def descent_of(compiled: CompiledTree, mixture: Mixture | None) -> Descent:
    """The tree as its kernels walk it."""
    return Descent(
        laid_nodes(compiled),
        laid_table(compiled),
        np.array(compiled.tree.share),
        laid_asks(compiled, mixture),
    )


def _cells(values: Floats) -> Cells:
    """The values as they lie in memory; they are copied only where neither order is theirs."""
    n_rows, n_attributes = values.shape
    if values.flags.f_contiguous:
        return Cells(values.ravel(order="F"), 1, n_rows, n_rows, n_attributes)
    return Cells(np.ascontiguousarray(values).ravel(), n_attributes, 1, n_rows, n_attributes)


def _room(compiled: CompiledTree) -> Room:
    words = (len(compiled.attributes) + 63) // 64
    return Room(
        rows=np.empty(kernels.LANES, dtype=np.int64),
        halts=np.empty(kernels.LANES, dtype=np.int64),
        nodes=np.empty(len(compiled.tree), dtype=np.int64),
        weights=np.empty(len(compiled.tree)),
        terms=np.empty(compiled.n_leaves),
        known=np.empty(words, dtype=np.int64),
        met=np.empty(words, dtype=np.int64),
        todo=np.empty(2 * LEVELS, dtype=np.int64),
        sums=np.empty(LEVELS),
    )


def _found(compiled: CompiledTree, n_rows: int, mixture: Mixture | None) -> Found:
    """Room for the ends of some rows, and always for those of one."""
    n_leaves, n_attributes = compiled.n_leaves, len(compiled.attributes)
    marks = n_attributes if mixture is not None else 1
    n_ends = max(n_leaves, min(n_rows * n_leaves, MOST_AT_ONCE // marks))
    n_pairs = max(n_attributes, min(n_rows * n_attributes, MOST_AT_ONCE))
    return Found(
        np.empty(n_ends, dtype=np.int64),
        np.empty(n_ends, dtype=np.int64),
        np.empty(n_ends),
        np.empty((n_pairs, 2), dtype=np.int64),
    )


def _training(compiled: CompiledTree, missing: str, mixture: Mixture | None) -> Floats:
    """Per node the training weight where it is pooled; else nothing."""
    if missing != POOLING:
        return np.empty(0)
    return np.array(compiled.tree.weight if mixture is None else mixture.pooled_weight)
