"""Sending the entries of a column where no two are equal down a few branches, four at a time.

What branch an entry takes is not foreseen: it is written to all of them, and kept by its own.
"""

from typing import Any

from service.tree.kernels.compile import lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.part import ONE, ZERO, move_down
from service.tree.kernels.rooms import OPEN, SHARES, STARTS

# branches up to which this is faster than to look where each row goes
MOST_WHOLE = 4
MOST_SHARED = 8  # where some rows go down all of them


@lean
def part_few(
    entries: Any, offset: int, start: int, end: int, side: Any, layout: Layout, n_branches: int,
    marks: Any, parts: Any,
) -> None:  # fmt: skip
    """The branches of one column, by way of the places behind, with a place between any two."""
    behind = offset + end - start
    for first in range(0, n_branches, 4):
        takes = (
            _takes(marks, parts, n_branches, first),
            _takes(marks, parts, n_branches, first + 1),
            _takes(marks, parts, n_branches, first + 2),
            _takes(marks, parts, n_branches, first + 3),
        )
        places = (
            _place(marks, behind, n_branches, first),
            _place(marks, behind, n_branches, first + 1),
            _place(marks, behind, n_branches, first + 2),
            _place(marks, behind, n_branches, first + 3),
        )
        _part_four(entries, offset + start, offset + end, side, layout.row_mask, takes, places)
    for branch in range(n_branches):
        size = marks[STARTS, branch + 1] - marks[STARTS, branch] if marks[OPEN, branch] else 0
        place = _place(marks, behind, n_branches, branch)
        move_down(entries, offset + marks[STARTS, branch], place, size)


@lean
def _takes(marks: Any, parts: Any, n_branches: int, branch: int) -> Any:
    """The sides that a branch takes, as bits; nothing if it is not open, or there is none."""
    if branch >= n_branches or not marks[OPEN, branch]:
        return ZERO
    everywhere = ONE << U(n_branches) if parts[SHARES, branch] > 0 else ZERO
    return (ONE << U(branch)) | everywhere


@lean
def _place(marks: Any, behind: int, n_branches: int, branch: int) -> int:
    """Where the entries of a branch are put; what nobody takes, behind the last."""
    at = min(branch, n_branches)
    return int(behind + marks[STARTS, at] + at)


@lean
def _part_four(
    entries: Any, start: int, end: int, side: Any, row_mask: Any, takes: Any, places: Any
) -> None:
    """Four branches of a column where no two are equal, each to a place of its own.

    One place behind the last entry of each must be free.
    """
    first, second, third, fourth = U(places[0]), U(places[1]), U(places[2]), U(places[3])
    for place in range(start, end):
        entry = entries[U(place)]
        where = U(side[entry & row_mask])
        entries[first] = entry
        entries[second] = entry
        entries[third] = entry
        entries[fourth] = entry
        first += (takes[0] >> where) & ONE
        second += (takes[1] >> where) & ONE
        third += (takes[2] >> where) & ONE
        fourth += (takes[3] >> where) & ONE
