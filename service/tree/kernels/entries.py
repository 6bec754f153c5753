"""Entries: a row in one number, with its class, and how it stands in the order of a column.

A column of a node is a slice of entries in the order of their values; those that are null stand
at the end. A tie says that an entry has the same value as the one before it.
"""

from typing import Any, NamedTuple

import numpy as np

from service.tree.kernels.compile import lean

U = np.uint64  # a place that is unsigned is not looked at for counting from the end


class Layout(NamedTuple):
    """Where the parts of an entry lie."""

    shift: np.uint64  # from here on the class
    row_mask: np.uint64
    class_mask: np.uint64
    null_bit: np.uint64
    close_bit: np.uint64  # to C4.5, it may be as good as equal to the one before it
    tie_bit: np.uint64


def make_layout(n_rows: int, n_classes: int) -> Layout:
    """The layout that holds so many rows of so many classes."""
    shift = max(1, (n_rows - 1).bit_length())
    class_bits = max(1, (n_classes - 1).bit_length())
    null_bit = 1 << (shift + class_bits)
    parts = (shift, (1 << shift) - 1, (1 << class_bits) - 1, null_bit)
    return Layout(*map(np.uint64, (*parts, null_bit << 1, null_bit << 2)))


@lean
def count_known(entries: Any, start: int, end: int, null_bit: np.uint64) -> int:
    """How many entries of a slice are not null."""
    low, high = start, end
    if low == high or entries[U(high - 1)] & null_bit == 0:
        return high - low
    while low < high:
        middle = (low + high) >> 1
        if entries[U(middle)] & null_bit:
            high = middle
        else:
            low = middle + 1
    return low - start


@lean
def is_tied(entries: Any, start: int, end: int, tie_bit: np.uint64) -> bool:
    """Whether some entries of a slice have equal values."""
    seen = U(0)
    for place in range(start, end):  # all of them, many at once
        seen |= entries[U(place)]
    return bool(seen & tie_bit != 0)
