"""Sending the entries of a node down its branches, each column in its own order.

A row's side is its branch; beyond the last branch there are two more: everywhere and nowhere.
"""

from typing import Any

import numpy as np

from service.tree.kernels.compile import lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.rooms import BEHIND, ENDS, LAST, SHARES, STARTS

ZERO, ONE = U(0), U(1)


@lean
def part_two(entries: Any, start: int, end: int, side: Any, layout: Layout, ones: Any) -> None:
    """Two branches, in place: every row takes one of them."""
    n_zeros, n_ones = U(start), ZERO
    tie_zero = tie_one = ZERO  # a tie with the last entry of that branch
    tie_bit, plain = layout.tie_bit, layout.tie_bit - ONE
    for place in range(start, end):
        entry = U(entries[U(place)])
        tie_zero &= entry
        tie_one &= entry
        one = U(side[entry & layout.row_mask])
        # written to both, and kept where it belongs: no branch to predict
        entries[n_zeros] = (entry & plain) | (tie_zero & tie_bit)
        ones[n_ones] = (entry & plain) | (tie_one & tie_bit)
        n_zeros += ONE - one
        n_ones += one
        tie_zero |= tie_bit & (one - ONE)
        tie_one |= tie_bit & (ZERO - one)
    for place in range(np.int64(n_ones)):
        entries[n_zeros + U(place)] = ones[U(place)]


@lean
def part_many(
    entries: Any, start: int, end: int, out: Any, offset: int, side: Any, layout: Layout,
    n_branches: int, numbers: Any, marks: Any, parts: Any,
) -> None:  # fmt: skip
    """Many branches, or rows that go down all of them; rows get the numbers that are given.

    A row that goes everywhere is numbered behind the branch's own rows.
    """
    for branch in range(n_branches):
        marks[ENDS, branch] = marks[STARTS, branch]
        marks[LAST, branch] = -1
    group, above = 0, (layout.tie_bit - ONE) & ~layout.row_mask
    for place in range(start, end):
        entry = U(entries[U(place)])
        group += 1 if entry & layout.tie_bit == ZERO else 0
        row = entry & layout.row_mask
        where, number = np.int64(side[row]), U(numbers[row])
        if where < n_branches:
            _put(out, offset, where, (entry & above) | number, group, layout.tie_bit, marks)
        elif where == n_branches:
            for branch in range(n_branches):
                if parts[SHARES, branch] > 0:
                    own = number + U(marks[BEHIND, branch])
                    _put(out, offset, branch, (entry & above) | own, group, layout.tie_bit, marks)


@lean
def _put(
    out: Any, offset: int, branch: int, entry: Any, group: int, tie_bit: Any, marks: Any
) -> None:
    place = marks[ENDS, branch]
    out[U(offset + place)] = entry | (tie_bit if marks[LAST, branch] == group else ZERO)
    marks[ENDS, branch] = place + 1
    marks[LAST, branch] = group


@lean
def part_rows(
    entries: Any, start: int, end: int, weights: Any, out: Any, arrived: Any, side: Any,
    layout: Layout, n_branches: int, marks: Any, parts: Any,
) -> None:  # fmt: skip
    """The first column, with the weights in which its rows arrive; they stay in their order."""
    for branch in range(n_branches):
        marks[ENDS, branch] = marks[STARTS, branch]
    for at in range(start, end):
        branch = np.int64(side[entries[U(at)] & layout.row_mask])
        if branch < n_branches:
            place = marks[ENDS, branch]
            out[U(place)], arrived[U(place)] = entries[U(at)], weights[U(at)]
            marks[ENDS, branch] = place + 1
        elif branch == n_branches:
            for each in range(n_branches):
                if parts[SHARES, each] > 0:
                    place = marks[ENDS, each]
                    out[U(place)] = entries[U(at)]
                    arrived[U(place)] = weights[U(at)] * parts[SHARES, each]
                    marks[ENDS, each] = place + 1


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
def move_down(entries: Any, offset: int, start: int, end: int, size: int) -> None:
    """Puts what stands behind a slice in its place."""
    for at in range(size):
        entries[U(offset + start + at)] = entries[U(offset + end + at)]
