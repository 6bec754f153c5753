"""A bed: the rows of one subtree, and how they are divided over the beds of its branches."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from service.tree.arrays import Ints
from service.tree.engine import wide
from service.tree.kernels.lay import group_rows, lay_bed
from service.tree.kernels.part import part_columns, part_many
from service.tree.kernels.rooms import SHARES, STARTS, Columns, Room, Work

MANY = 4_000  # rows of a node from which on its columns are shared out

Divide: TypeAlias = Callable[[range], None]  # what lays some columns out


@dataclass(frozen=True)
class Bed:
    """The rows of one subtree, and where its root stands among the nodes at the top."""

    room: Room
    columns: Columns
    n_rows: int
    slot: int
    depth: int
    largest: float = 0.0  # the largest improvement above, which rpart looks at


def divided(
    bed: Bed, work: Work, n_branches: int, pool: ThreadPoolExecutor, *, is_wide: bool
) -> list[Room]:
    """The room of each branch, with its own rows first, and then those that go everywhere."""
    sizes = np.diff(work.marks[STARTS, : n_branches + 1])
    strides = np.maximum(wide(sizes) if is_wide else sizes, 1)
    n_columns = len(bed.room.entries) // bed.room.stride
    divide = _divide_two if n_branches == 2 else _divide_many
    share_out, columns = divide(bed, work, sizes, strides)
    _in_halves(share_out, n_columns, bed.n_rows, pool)
    rooms = [
        _room(bed.room, entries, int(stride), int(size))
        for entries, stride, size in zip(columns, strides, sizes, strict=True)
    ]

    _lay_beds(bed, work, rooms, pool)
    return rooms


def _lay_beds(bed: Bed, work: Work, rooms: list[Room], pool: ThreadPoolExecutor) -> None:
    """Writes down what is known of the rows of each branch."""
    n_branches, room, layout = len(rooms), bed.room, bed.columns.layout
    order, starts = np.empty(bed.n_rows, np.uint32), np.empty(n_branches + 4, np.int64)
    group_rows(room.entries, bed.n_rows, layout, room.side, n_branches + 2, starts, order)

    def lay(branches: range) -> None:
        for branch in branches:
            share = float(work.parts[SHARES, branch])
            everywhere = n_branches if share > 0 else -1
            lay_bed(layout, order, starts, branch, everywhere, share, room, rooms[branch])

    _in_halves(lay, n_branches, bed.n_rows, pool)


def _in_halves(work: Divide, n_places: int, n_rows: int, pool: ThreadPoolExecutor) -> None:
    """Does the work of some places, by both threads where there are many rows."""
    if n_rows < MANY:
        work(range(n_places))
        return
    other = pool.submit(work, range(1, n_places, 2))
    try:
        work(range(0, n_places, 2))  # by whoever would wait: to wake one is sooner than two
    finally:
        other.result()


def _divide_two(bed: Bed, work: Work, sizes: Ints, strides: Ints) -> tuple[Divide, list[Any]]:
    """What lays out the columns of two branches; each has its own memory, to be given back soon."""
    room, n_columns = bed.room, len(bed.room.entries) // bed.room.stride
    outs = [np.empty(stride * n_columns, room.entries.dtype) for stride in strides.tolist()]

    def divide(columns: range) -> None:
        part_columns(
            room.entries, room.stride, bed.n_rows, (columns.start, columns.stop, columns.step),
            outs[0], outs[1], (int(strides[0]), int(strides[1])), (int(sizes[0]), int(sizes[1])),
            bed.columns.layout, room.numbers, work.marks, work.parts,
        )  # fmt: skip

    return divide, outs


def _divide_many(bed: Bed, work: Work, sizes: Ints, strides: Ints) -> tuple[Divide, list[Any]]:
    """What lays out the columns of any branches at one go."""
    room, n_branches = bed.room, len(sizes)
    bases = np.append(0, np.cumsum(strides * (len(room.entries) // room.stride)))
    out = np.empty(int(bases[-1]), room.entries.dtype)

    def divide(columns: range) -> None:
        marks = work.marks.copy()
        for column in columns:
            start = column * room.stride
            marks[STARTS, :n_branches] = bases[:-1] + column * strides
            part_many(
                room.entries, start, start + bed.n_rows, out, 0, room.side, bed.columns.layout,
                n_branches, room.numbers, True, marks, work.parts,
            )  # fmt: skip

    return divide, [out[bases[each] : bases[each + 1]] for each in range(n_branches)]


def _room(room: Room, entries: Any, stride: int, size: int) -> Room:
    """The room of so many rows of another."""
    return Room(
        entries, stride, np.empty(stride), np.empty((3, size)), np.empty(size, room.origin.dtype),
        np.empty((size, room.codes.shape[1]), room.codes.dtype), np.empty(size, room.side.dtype),
        np.empty(size, room.numbers.dtype),
    )  # fmt: skip
