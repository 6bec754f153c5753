"""Sending the rows of a node down its branches, with the weights in which they arrive there.

They are the first column, and stay in the order in which they came.
"""

from typing import Any

import numpy as np

from service.tree.kernels.compile import lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.part import EVERYWHERE, ONE, ZERO
from service.tree.kernels.rooms import ENDS, SHARES, SIZES, STARTS, WEIGHT


@lean
def part_two_rows(
    entries: Any, start: int, end: int, side: Any, rows: Any, arrived: Any, layout: Layout,
    takes: Any, ones: Any, marks: Any, parts: Any,
) -> None:  # fmt: skip
    """Two branches, in place; what each gets in all is written down as its size."""
    n_zeros, n_ones, size, share = U(start), ZERO, 0.0, parts[SHARES, 0]
    for place in range(start, end):
        entry = entries[U(place)]
        where = U(side[entry & layout.row_mask])
        weight = arrived[U(place)] * (share if where == EVERYWHERE else 1.0)
        is_zero = (takes[0] >> where) & ONE
        # written to both, and kept where it belongs: no branch to predict
        entries[n_zeros], arrived[n_zeros] = entry, weight
        ones[n_ones] = entry
        size += weight if is_zero else 0.0
        n_zeros += is_zero
        n_ones += (takes[1] >> where) & ONE
    parts[SIZES, 0] = size
    size, share = 0.0, parts[SHARES, 1]
    for at in range(np.int64(n_ones)):
        entry, place = ones[U(at)], U(marks[STARTS, 1] + at)
        row = entry & layout.row_mask
        weight = rows[WEIGHT, row] * (share if U(side[row]) == EVERYWHERE else 1.0)
        entries[place], arrived[place] = entry, weight
        size += weight
    parts[SIZES, 1] = size


@lean
def part_rows(
    entries: Any, start: int, end: int, weights: Any, out: Any, arrived: Any, side: Any,
    layout: Layout, n_branches: int, marks: Any, parts: Any, offset: int,
) -> None:  # fmt: skip
    """The first column, with the weights in which its rows arrive; they stay in their order.

    What each branch gets in all is written down as its size.
    """
    for branch in range(n_branches):
        marks[ENDS, branch] = offset + marks[STARTS, branch]
        parts[SIZES, branch] = 0.0
    for at in range(start, end):
        branch = np.int64(side[entries[U(at)] & layout.row_mask])
        if branch < n_branches:
            place = marks[ENDS, branch]
            out[U(place)], arrived[U(place)] = entries[U(at)], weights[U(at)]
            parts[SIZES, branch] += weights[U(at)]
            marks[ENDS, branch] = place + 1
        elif branch == n_branches:
            for each in range(n_branches):
                if parts[SHARES, each] > 0:
                    place = marks[ENDS, each]
                    weight = weights[U(at)] * parts[SHARES, each]
                    out[U(place)], arrived[U(place)] = entries[U(at)], weight
                    parts[SIZES, each] += weight
                    marks[ENDS, each] = place + 1
