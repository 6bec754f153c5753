"""Sending the entries of a column down a few branches, four at a time.

What branch an entry takes is not foreseen: it is written to all of them, and kept by its own.
"""

from typing import Any

from service.tree.kernels.compile import lean
from service.tree.kernels.entries import Layout, U, is_tied
from service.tree.kernels.part import ONE, ZERO, move_down
from service.tree.kernels.rooms import OPEN, SHARES, STARTS, TAKERS

# open branches up to which this is faster than to look where each row goes
MOST_WHOLE = 4
MOST_SHARED = 8  # where many rows go down all of them ...
MANY_SHARED = 4  # ... which is more than one in so many
MOST_SIDES = 62  # branches whose sides, with everywhere and nowhere, are the bits of a number


@lean
def part_few(
    entries: Any, offset: int, start: int, end: int, side: Any, layout: Layout, n_branches: int,
    marks: Any, parts: Any,
) -> None:  # fmt: skip
    """The open branches of one column, by way of the places behind, with one between any two."""
    behind, n_takers = offset + end - start, list_open(marks, n_branches)
    tied = is_tied(entries, offset + start, offset + end, layout.tie_bit)
    for first in range(0, n_takers, 4):
        takes = (
            _takes(marks, parts, n_branches, n_takers, first),
            _takes(marks, parts, n_branches, n_takers, first + 1),
            _takes(marks, parts, n_branches, n_takers, first + 2),
            _takes(marks, parts, n_branches, n_takers, first + 3),
        )
        places = (
            _place(marks, behind, n_branches, n_takers, first),
            _place(marks, behind, n_branches, n_takers, first + 1),
            _place(marks, behind, n_branches, n_takers, first + 2),
            _place(marks, behind, n_branches, n_takers, first + 3),
        )
        if tied:
            _part_tied(entries, offset + start, offset + end, side, layout, takes, places)
        elif first + 2 >= n_takers:
            _part_pair(entries, offset + start, offset + end, side, layout.row_mask, takes, places)
        else:
            _part_four(entries, offset + start, offset + end, side, layout.row_mask, takes, places)
    for taker in range(n_takers):
        branch = marks[TAKERS, taker]
        size = marks[STARTS, branch + 1] - marks[STARTS, branch]
        place = _place(marks, behind, n_branches, n_takers, taker)
        move_down(entries, offset + marks[STARTS, branch], place, size)


@lean
def list_open(marks: Any, n_branches: int) -> int:
    """How many branches are open; TAKERS gets which."""
    n_takers = 0
    for branch in range(n_branches):
        if marks[OPEN, branch]:
            marks[TAKERS, n_takers] = branch
            n_takers += 1
    return n_takers


@lean
def _takes(marks: Any, parts: Any, n_branches: int, n_takers: int, taker: int) -> Any:
    """The sides that a branch takes, as bits; nothing where there is none."""
    if taker >= n_takers:
        return ZERO
    branch = marks[TAKERS, taker]
    everywhere = ONE << U(n_branches) if parts[SHARES, branch] > 0 else ZERO
    return (ONE << U(branch)) | everywhere


@lean
def _place(marks: Any, behind: int, n_branches: int, n_takers: int, taker: int) -> int:
    """Where the entries of a branch are put; what nobody takes, behind the last."""
    at = marks[TAKERS, taker] if taker < n_takers else n_branches
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


@lean
def _part_pair(
    entries: Any, start: int, end: int, side: Any, row_mask: Any, takes: Any, places: Any
) -> None:
    """The first two of them alone."""
    first, second = U(places[0]), U(places[1])
    for place in range(start, end):
        entry = entries[U(place)]
        where = U(side[entry & row_mask])
        entries[first] = entry
        entries[second] = entry
        first += (takes[0] >> where) & ONE
        second += (takes[1] >> where) & ONE


@lean
def _part_tied(
    entries: Any, start: int, end: int, side: Any, layout: Layout, takes: Any, places: Any
) -> None:
    """Four branches of a column where some are equal."""
    first, second, third, fourth = U(places[0]), U(places[1]), U(places[2]), U(places[3])
    tie_one = tie_two = tie_three = tie_four = ZERO  # a tie with the last entry of that branch
    for place in range(start, end):
        entry = U(entries[U(place)])
        tie = entry & layout.tie_bit
        where, plain = U(side[entry & layout.row_mask]), entry ^ tie
        tie_one, tie_two, tie_three = tie_one & tie, tie_two & tie, tie_three & tie
        tie_four &= tie
        entries[first] = plain | tie_one
        entries[second] = plain | tie_two
        entries[third] = plain | tie_three
        entries[fourth] = plain | tie_four
        one, two = (takes[0] >> where) & ONE, (takes[1] >> where) & ONE
        three, four = (takes[2] >> where) & ONE, (takes[3] >> where) & ONE
        first, second, third, fourth = first + one, second + two, third + three, fourth + four
        tie_one |= layout.tie_bit & (ZERO - one)
        tie_two |= layout.tie_bit & (ZERO - two)
        tie_three |= layout.tie_bit & (ZERO - three)
        tie_four |= layout.tie_bit & (ZERO - four)
