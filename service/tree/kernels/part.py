"""Sending the entries of a node down its branches, each column in its own order.

A row's side is its branch; beyond the last branch there are two more: everywhere and nowhere.
"""

from typing import Any

import numpy as np

from service.tree.kernels.compile import lean
from service.tree.kernels.entries import Layout, U, is_tied
from service.tree.kernels.rooms import (
    BEHIND,
    ENDS,
    LAST,
    OPEN,
    SHARES,
    STARTS,
    TAKERS,
)

ZERO, ONE = U(0), U(1)
EVERYWHERE = U(2)  # the side of a row that goes down both of two branches
SIDES = U(30)  # bits from which on a number tells the side of its row, where there are two branches
NUMBER = (ONE << SIDES) - ONE


@lean
def part_two(
    entries: Any, start: int, end: int, side: Any, layout: Layout, takes: Any, ones: Any,
    ones_start: int,
) -> None:  # fmt: skip
    """Two branches, in place; each takes the rows of some sides, which are given as bits."""
    if is_tied(entries, start, end, layout.tie_bit):
        n_ones = _part_tied(entries, start, end, side, layout, takes, ones)
    else:
        n_ones = _part_plain(entries, start, end, side, layout.row_mask, takes, ones)
    for place in range(np.int64(n_ones)):
        entries[U(ones_start + place)] = ones[U(place)]


@lean
def _part_plain(
    entries: Any, start: int, end: int, side: Any, row_mask: Any, takes: Any, ones: Any
) -> Any:
    """How many go down the second branch, of a column where no two are equal."""
    n_zeros, n_ones = U(start), ZERO
    for place in range(start, end):
        entry = entries[U(place)]
        where = U(side[entry & row_mask])
        # written to both, and kept where it belongs: no branch to predict
        entries[n_zeros] = entry
        ones[n_ones] = entry
        n_zeros += (takes[0] >> where) & ONE
        n_ones += (takes[1] >> where) & ONE
    return n_ones


@lean
def _part_tied(
    entries: Any, start: int, end: int, side: Any, layout: Layout, takes: Any, ones: Any
) -> Any:
    """The same where some are."""
    n_zeros, n_ones, tie_bit = U(start), ZERO, layout.tie_bit
    tie_zero = tie_one = ZERO  # a tie with the last entry of that branch
    for place in range(start, end):
        entry = U(entries[U(place)])
        tie = entry & tie_bit
        where, plain = U(side[entry & layout.row_mask]), entry ^ tie
        zero, one = (takes[0] >> where) & ONE, (takes[1] >> where) & ONE
        tie_zero, tie_one = tie_zero & tie, tie_one & tie
        entries[n_zeros] = plain | tie_zero
        ones[n_ones] = plain | tie_one
        n_zeros += zero
        n_ones += one
        tie_zero |= tie_bit & (ZERO - zero)
        tie_one |= tie_bit & (ZERO - one)
    return n_ones


@lean
def _apart_tied(
    entries: Any, start: int, end: int, left: Any, right: Any, places: tuple[int, int],
    sizes: tuple[int, int], layout: Layout, takes: Any, numbers: Any, behind: tuple[int, int],
) -> None:  # fmt: skip
    """Two branches, each to a place of its own, with new numbers; who goes down both comes last.

    With its number each row has its side: one look far away in memory is faster than two.
    """
    zero_at, one_at = U(places[0]), U(places[1])
    zero_end, one_end = U(places[0] + sizes[0]), U(places[1] + sizes[1])
    zero_behind, one_behind = U(behind[0]), U(behind[1])
    tie_zero = tie_one = ZERO
    tie_bit, above = layout.tie_bit, (layout.tie_bit - ONE) & ~layout.row_mask
    for place in range(start, end):
        entry = U(entries[U(place)])
        row, plain = entry & layout.row_mask, entry & above
        tie_zero, tie_one = tie_zero & entry, tie_one & entry
        told = U(numbers[row])
        where, number = told >> SIDES, told & NUMBER
        shared = ZERO - (where >> ONE)  # all bits for one that goes down both
        zero, one = (takes[0] >> where) & ONE, (takes[1] >> where) & ONE
        if zero_at < zero_end:  # in front of what belongs to others
            left[zero_at] = plain | (number + (shared & zero_behind)) | (tie_zero & tie_bit)
        if one_at < one_end:
            right[one_at] = plain | (number + (shared & one_behind)) | (tie_one & tie_bit)
        zero_at, one_at = zero_at + zero, one_at + one
        tie_zero |= tie_bit & (ZERO - zero)
        tie_one |= tie_bit & (ZERO - one)


@lean
def _apart_plain(
    entries: Any, start: int, end: int, left: Any, right: Any, places: tuple[int, int],
    sizes: tuple[int, int], layout: Layout, takes: Any, numbers: Any, behind: tuple[int, int],
) -> None:  # fmt: skip
    """The same of a column where no two are equal."""
    zero_at, one_at = U(places[0]), U(places[1])
    zero_end, one_end = U(places[0] + sizes[0]), U(places[1] + sizes[1])
    zero_behind, one_behind = U(behind[0]), U(behind[1])
    for place in range(start, end):
        entry = U(entries[U(place)])
        row = entry & layout.row_mask
        told = U(numbers[row])
        where, number = told >> SIDES, entry - row + (told & NUMBER)
        shared = ZERO - (where >> ONE)
        if zero_at < zero_end:
            left[zero_at] = number + (shared & zero_behind)
        if one_at < one_end:
            right[one_at] = number + (shared & one_behind)
        zero_at += (takes[0] >> where) & ONE
        one_at += (takes[1] >> where) & ONE


@lean
def part_columns(
    entries: Any, stride: int, n_rows: int, columns: tuple[int, int, int], left: Any, right: Any,
    strides: tuple[int, int], sizes: tuple[int, int], layout: Layout, numbers: Any, marks: Any,
    parts: Any,
) -> None:  # fmt: skip
    """Some columns of two branches, which have memory of their own; numbers come with sides."""
    takes, behind = takes_of(marks, parts), (marks[BEHIND, 0], marks[BEHIND, 1])
    for column in range(columns[0], columns[1], columns[2]):
        start, places = column * stride, (column * strides[0], column * strides[1])
        if is_tied(entries, start, start + n_rows, layout.tie_bit):
            _apart_tied(
                entries, start, start + n_rows, left, right, places, sizes, layout, takes, numbers,
                behind,
            )  # fmt: skip
        else:
            _apart_plain(
                entries, start, start + n_rows, left, right, places, sizes, layout, takes, numbers,
                behind,
            )  # fmt: skip


@lean
def takes_of(marks: Any, parts: Any) -> Any:
    """For each of two branches the sides that it takes, as bits; nothing if it is not open."""
    lefts = ONE | (ONE << EVERYWHERE if parts[SHARES, 0] > 0 else ZERO)
    rights = ONE << ONE | (ONE << EVERYWHERE if parts[SHARES, 1] > 0 else ZERO)
    return lefts if marks[OPEN, 0] else ZERO, rights if marks[OPEN, 1] else ZERO


@lean
def part_many(
    entries: Any, start: int, end: int, out: Any, offset: int, side: Any, layout: Layout,
    n_branches: int, numbers: Any, is_new: bool, marks: Any, parts: Any,
) -> None:  # fmt: skip
    """Many branches, or rows that go down all of them; with new numbers where they are given any.

    A row that goes everywhere is numbered behind the branch's own rows. Only what is open gets
    all of its rows.
    """
    n_takers = _begin(offset, n_branches, marks, parts)
    if not is_tied(entries, start, end, layout.tie_bit):
        _part_untied(
            entries, start, end, out, side, layout.row_mask, n_branches, n_takers, numbers, is_new,
            marks,
        )  # fmt: skip
        return
    group, above = 0, (layout.tie_bit - ONE) & ~layout.row_mask
    for place in range(start, end):
        entry = U(entries[U(place)])
        group += 1 if entry & layout.tie_bit == ZERO else 0
        row = entry & layout.row_mask
        where, plain = U(side[row]), entry & above
        number = U(numbers[row]) if is_new else row
        if where < U(n_branches):
            if marks[OPEN, where]:
                _put(out, where, plain | number, group, layout.tie_bit, marks)
        elif where == U(n_branches):
            for taker in range(n_takers):
                branch = U(marks[TAKERS, U(taker)])
                own = number + U(marks[BEHIND, branch])
                _put(out, branch, plain | own, group, layout.tie_bit, marks)


@lean
def _begin(offset: int, n_branches: int, marks: Any, parts: Any) -> int:
    """How many open branches take what goes everywhere; each has its entries before it."""
    n_takers = 0
    for branch in range(n_branches):
        marks[ENDS, branch] = offset + marks[STARTS, branch]
        marks[LAST, branch] = -1
        if parts[SHARES, branch] > 0 and marks[OPEN, branch]:
            marks[TAKERS, n_takers] = branch
            n_takers += 1
    return n_takers


@lean
def _part_untied(
    entries: Any, start: int, end: int, out: Any, side: Any, row_mask: Any, n_branches: int,
    n_takers: int, numbers: Any, is_new: bool, marks: Any,
) -> None:  # fmt: skip
    """The same where no two entries are equal.

    A branch that is not open has places too, and gets its own rows: to ask would take longer.
    """
    ends, takers, behind = marks[ENDS], marks[TAKERS], marks[BEHIND]
    for place in range(start, end):
        entry = U(entries[U(place)])
        row = entry & row_mask
        where = U(side[row])
        number = entry - row + U(numbers[row]) if is_new else entry
        if where < U(n_branches):
            to = ends[where]
            out[U(to)], ends[where] = number, to + 1
        elif where == U(n_branches):
            for taker in range(n_takers):
                branch = U(takers[U(taker)])
                to = ends[branch]
                out[U(to)], ends[branch] = number + U(behind[branch]), to + 1


@lean
def _put(out: Any, branch: Any, entry: Any, group: int, tie_bit: Any, marks: Any) -> None:
    place = marks[ENDS, branch]
    out[U(place)] = entry | (tie_bit if marks[LAST, branch] == group else ZERO)
    marks[ENDS, branch] = place + 1
    marks[LAST, branch] = group


@lean
def give_numbers(
    entries: Any, start: int, end: int, side: Any, layout: Layout, n_branches: int, numbers: Any,
    marks: Any,
) -> None:  # fmt: skip
    """Numbers the rows of each branch anew, and those that go everywhere by themselves."""
    for branch in range(n_branches + 2):
        marks[ENDS, branch] = 0
    for at in range(start, end):
        row = entries[U(at)] & layout.row_mask
        branch = np.int64(side[row])
        numbers[row] = marks[ENDS, branch]
        marks[ENDS, branch] += 1
    for branch in range(n_branches):
        marks[BEHIND, branch] = marks[ENDS, branch]


@lean
def tell_sides(n_rows: int, side: Any, numbers: Any) -> None:
    """Lets the number of each row tell its side, which is one of four."""
    for row in range(n_rows):
        numbers[U(row)] |= U(side[U(row)]) << SIDES


@lean
def move_down(entries: Any, to: int, start: int, size: int) -> None:
    """Puts so many entries, which stand behind, in their place."""
    for at in range(size):
        entries[U(to + at)] = entries[U(start + at)]
