"""Telling: what the tree says of rows and how sure it is, divided by weight where one is null.

The fast way to what `predict` finds, by the kernel of `kernels/tell.py` in native code.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from service.tree.arrays import Floats, Ints
from service.tree.compiled import CompiledTree
from service.tree.criterion import likeliest
from service.tree.descend import cells_of, descend
from service.tree.kernels.shapes import END, ITEM, MET, N_LEAVES, N_OTHERS, N_TOTALS
from service.tree.laid import laid_asks, laid_nodes, laid_table
from service.tree.mixture import marks_of, words_of
from service.tree.native import Natives, address_of
from service.tree.predict import Predictions, ends_of, predict

MOST_ENTRIES = 1 << 17  # of the lists of a block: they stay in the processor's cache
MOST_ROWS = 1_024  # of a block: the more, the longer are the lists of nodes far down
ALL_BITS = (1 << 64) - 1
HELD = 1 << 16  # answers of leaves to which rows come, up to which other threads of Python wait
FEW = 1_000  # rows that walk to their leaves while other threads of Python wait
MANY = 256  # leaves: hardly a row comes to more


class Told(NamedTuple):
    """What is told of rows: their answers (in regression the mean and the variance) and bounds."""

    numbers: Floats  # (row, answers and then pairs of lowest and highest)
    marks: Ints  # (row, END or -1, CLASS, N_LEAVES, words of the unknown attributes that mattered)
    is_regression: bool

    @property
    def ends(self) -> Ints:
        """Per row the leaf to which it knew the way, -1 for others."""
        return self.marks[:, END]

    @property
    def leaves(self) -> Ints:
        """Per row how many leaves it came to."""
        return self.marks[:, N_LEAVES]

    @property
    def probabilities(self) -> Floats:
        """Per row and class, or in regression the mean."""
        return self.numbers[:, : 1 if self.is_regression else self.numbers.shape[1] // 3]

    @property
    def bounds(self) -> Floats:
        """Per row the lowest and the highest answer, by class one pair after the other."""
        return self.numbers[:, 2 if self.is_regression else self.numbers.shape[1] // 3 :]

    def some(self, rows: Ints | slice) -> "Told":
        """What is told of some of the rows."""
        return Told(self.numbers[rows], self.marks[rows], self.is_regression)


@dataclass(frozen=True)
class Teller:
    """A tree as the kernel wants it."""

    natives: Natives
    arrays: tuple[npt.NDArray[np.generic], ...]
    arguments: tuple[int, ...]
    n_lists: int  # that are there at once, of as many entries as a block has rows
    row_answers: int  # that are looked at for a row, at the most or nearly so
    width: int  # numbers and ...
    n_marks: int  # ... marks of a row
    is_regression: bool
    n_bytes: int  # of memory, about, beside the tree, whose arrays most of these are


def make_teller(compiled: CompiledTree, natives: Natives) -> Teller:
    """The tree made ready to be told by kernels."""
    ends, tree = ends_of(compiled, "weighted"), compiled.tree
    asks, touched = laid_asks(compiled, compiled.mixture), _touched(compiled)
    floats = (ends.answers, ends.lowest, ends.highest, ends.variance)
    answers, lowest, highest, variance = (np.ascontiguousarray(each) for each in floats)
    nodes, table = laid_nodes(compiled), laid_table(compiled)
    share, n_leaves = np.ascontiguousarray(tree.share), np.ascontiguousarray(ends.n_leaves)
    arrays = (nodes, table, share, asks, touched, answers, lowest, highest, variance, n_leaves)
    n_lists = _n_lists(compiled)
    sizes = (len(tree), len(table), answers.shape[1], asks.shape[1])
    kinds = (int(tree.is_regression), len(compiled.attributes), n_lists)
    arguments = (*map(address_of, arrays), *sizes, *kinds)
    n_leaves_met = compiled.n_leaves if compiled.mixture is None else min(compiled.n_leaves, MANY)
    return Teller(
        natives=natives,
        arrays=arrays,
        arguments=arguments,
        n_lists=n_lists,
        row_answers=n_leaves_met * answers.shape[1],
        width=3 * answers.shape[1] + tree.is_regression,
        n_marks=MET + touched.shape[1],
        is_regression=tree.is_regression,
        n_bytes=sum(each.nbytes for each in (nodes, table, asks, touched)) + 1_000,
    )


def _touched(compiled: CompiledTree) -> Ints:
    """Per node words of the attributes that are asked for there, below, and on the way there.

    Those on the way are not where null has a branch of its own.
    """
    tree = compiled.tree
    touched = np.zeros((len(tree), -(-len(compiled.attributes) // 64)), dtype=np.int64)
    for level in tree.levels[1:]:
        nodes = level.start + np.flatnonzero(tree.is_reached[level])
        parents = tree.parent[nodes]
        attributes = tree.attribute[parents]
        bits = np.where(compiled.null_branch[parents] < 0, 1, 0) << (attributes & 63)
        touched[nodes] = touched[parents]
        touched[nodes, attributes >> 6] |= bits
    if compiled.mixture is not None:
        touched |= laid_asks(compiled, compiled.mixture)
    return touched


def _n_lists(compiled: CompiledTree) -> int:
    """How many lists there are at the most: the first, and those of all nodes on the way down.

    There are two at least, which is what those take who know their way.
    """
    tree = compiled.tree
    below = np.zeros(len(tree), dtype=np.int64)
    for level in reversed(tree.levels[1:]):
        # of those who divide nobody is left once there are children
        n_own = compiled.n_branches[level] + N_OTHERS - 1
        own = np.where(tree.is_leaf[level], 0, below[level] + n_own)
        np.maximum.at(below, tree.parent[level], own)
    return int(1 + compiled.n_branches[0] + N_OTHERS + below[0])


def tell(teller: Teller, values: Floats) -> Told:
    """What is told of rows of numbers (row, attribute), NaN being null."""
    n_rows, n_attributes = values.shape
    if not (values.flags.c_contiguous or values.flags.f_contiguous):
        values = np.ascontiguousarray(values)
    most_rows = max(1, min(n_rows, MOST_ROWS, MOST_ENTRIES // teller.n_lists))
    n_entries = teller.n_lists * most_rows
    n_told, n_marks = n_rows * teller.width, n_rows * teller.n_marks
    n_floats = n_told + n_entries + (n_attributes + N_TOTALS) * most_rows
    n_known = (teller.n_marks - MET) * most_rows
    n_ints = n_marks + n_entries + ITEM * teller.n_lists + 2 * n_known
    room = np.empty(n_floats + n_ints)  # one array for both: to ask where it lies takes its time
    start, (row_step, step) = address_of(room), values.strides
    kernel = teller.natives.tell_rows
    call = kernel if n_rows * teller.row_answers <= HELD else kernel.at_length
    call(
        *teller.arguments, address_of(values), n_rows, row_step >> 3, step >> 3, most_rows,
        start, start + 8 * n_floats,
    )  # fmt: skip
    marks = room[n_floats : n_floats + n_marks].view(np.int64)
    numbers = room[:n_told].reshape(n_rows, teller.width)
    return Told(numbers, marks.reshape(n_rows, teller.n_marks), teller.is_regression)


def find_leaves(teller: Teller, values: Floats) -> Ints | None:
    """The leaf of each row of numbers, in one order or the other; None if some do not know it."""
    n_rows, n_attributes = values.shape
    leaves, (row_step, step) = np.empty(n_rows + 1, dtype=np.int64), values.strides
    nodes, table, *_ = teller.arrays
    start, kernel = address_of(leaves), teller.natives.find_leaves
    call = kernel if n_rows <= FEW else kernel.at_length
    call(
        *teller.arguments[:2], len(nodes), len(table), address_of(values), n_rows, row_step >> 3,
        step >> 3, n_attributes, start, start + 8 * n_rows,
    )  # fmt: skip
    return leaves[:n_rows] if leaves[n_rows] == 0 else None


def tell_by_hand(compiled: CompiledTree, values: Floats) -> Told:
    """The same without native code."""
    found = predict(compiled, values)
    marks = np.zeros(values.shape, dtype=bool)
    marks[found.met[:, 0], found.met[:, 1]] = True
    ends = np.where(found.leaves == 1, descend(compiled, cells_of(values)), -1)
    ends[marks.any(axis=1)] = -1
    pairs = np.stack((found.lowest, found.highest), axis=2)
    bounds = pairs.reshape(len(values), 2 * pairs.shape[1])  # of no rows too
    parts = [found.probabilities, bounds]
    if compiled.tree.is_regression:
        parts.insert(1, np.square(found.deviation)[:, None])
    return Told(
        np.hstack(parts),
        np.column_stack((ends, likeliest(found.probabilities), found.leaves, *words_of(marks))),
        compiled.tree.is_regression,
    )  # fmt: skip


def attributes_in(words: Sequence[int]) -> list[int]:
    """The attributes whose bits are set in the words of a row's marks."""
    found = []
    for number, word in enumerate(words):
        bits = word & ALL_BITS
        while bits:
            lowest = bits & -bits
            found.append(64 * number + lowest.bit_length() - 1)
            bits ^= lowest
    return found


def predictions_of(compiled: CompiledTree, told: Told, *, with_met: bool = True) -> Predictions:
    """The same as predictions; without what was met if nobody wants it, which takes longest."""
    ends, bounds = told.ends, told.bounds
    variance = told.numbers[:, 1] if told.is_regression else np.full(len(ends), np.nan)
    return Predictions(
        probabilities=told.probabilities,
        lowest=bounds[:, ::2],
        highest=bounds[:, 1::2],
        deviation=np.sqrt(variance),
        leaves=told.leaves.copy(),
        certain=(ends >= 0) & (compiled.tree.weight.take(ends) > 0),
        met=_met(compiled, told) if with_met else np.empty((0, 2), dtype=np.int64),
    )


def _met(compiled: CompiledTree, told: Told) -> Ints:
    """The pairs (row, attribute) of what was unknown and mattered."""
    marks = marks_of([*told.marks[:, MET:].T], len(compiled.attributes))
    # np.argwhere takes several times as long
    rows, attributes = np.divmod(np.flatnonzero(marks), len(compiled.attributes))
    return np.column_stack((rows, attributes))
