"""Laying beds: what is known of the rows of a node, under their new numbers in each branch."""

from typing import Any

from service.tree.kernels.compile import lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.rooms import APART, TARGET, WEIGHT, Room


@lean
def group_rows(
    entries: Any, n_rows: int, layout: Layout, side: Any, n_sides: int, starts: Any, order: Any
) -> None:
    """Puts the rows in the order of their sides, each as they came; `starts` is where they begin.

    There is one more start than sides, and room for one more: while they are put down, each start
    stands one further on.
    """
    for number in range(n_sides + 2):
        starts[number] = 0
    for at in range(n_rows):
        starts[U(side[entries[U(at)] & layout.row_mask]) + U(2)] += 1
    for number in range(2, n_sides + 2):
        starts[number] += starts[number - 1]
    for at in range(n_rows):
        row = entries[U(at)] & layout.row_mask
        number = U(side[row]) + U(1)
        order[U(starts[number])] = row
        starts[number] += 1


@lean
def lay_bed(
    layout: Layout, order: Any, starts: Any, branch: int, everywhere: int, share: float,
    whole: Room, room: Room,
) -> None:  # fmt: skip
    """Writes down what is known of the rows of one branch, first of those that are its own."""
    n_rows = _lay(order, starts[branch], starts[branch + 1], 0, 1.0, whole, room)
    if everywhere >= 0:
        n_rows = _lay(
            order, starts[everywhere], starts[everywhere + 1], n_rows, share, whole, room
        )  # fmt: skip
    for at in range(n_rows):
        room.arrived[U(at)] = room.rows[WEIGHT, room.entries[U(at)] & layout.row_mask]


@lean
def _lay(
    order: Any, start: int, end: int, first: int, share: float, whole: Room, room: Room
) -> int:
    """The number behind those of the rows, which are given from a first one on."""
    for at in range(start, end):
        row, to = U(order[U(at)]), U(first + at - start)
        room.rows[WEIGHT, to] = whole.rows[WEIGHT, row] * share
        room.rows[APART, to], room.rows[TARGET, to] = (
            whole.rows[APART, row],
            whole.rows[TARGET, row],
        )
        room.origin[to] = whole.origin[row]
        for line in range(whole.codes.shape[1]):
            room.codes[to, U(line)] = whole.codes[row, U(line)]
    return int(first + end - start)
