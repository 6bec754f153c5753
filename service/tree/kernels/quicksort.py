"""The order in which rpart's quicksort leaves equal values."""

from typing import Any

import numpy as np

from service.tree.kernels.compile import kernel
from service.tree.kernels.entries import Layout

SHORT = 12  # a stretch of fewer values is sorted by insertion, which keeps the order of equals


@kernel
def _inserted(values: Any, order: Any, start: int, stop: int) -> None:
    for place in range(start + 1, stop + 1):
        value, row, at = values[place], order[place], place
        while at > start and values[at - 1] > value:
            values[at], order[at] = values[at - 1], order[at - 1]
            at -= 1
        values[at], order[at] = value, row


@kernel
def _median(first: float, middle: float, last: float) -> float:
    return max(min(first, middle), min(max(first, middle), last))


@kernel
def _parted(values: Any, order: Any, start: int, stop: int) -> tuple[int, int]:
    """Where the small values end and the large ones begin, after they were moved there."""
    pivot = _median(values[start], values[(start + stop) // 2], values[stop])
    low, high = start, stop
    while low < high:
        while values[low] < pivot:
            low += 1
        while values[high] > pivot:
            high -= 1
        if low < high:
            if values[low] > values[high]:
                values[low], values[high] = values[high], values[low]
                order[low], order[high] = order[high], order[low]
            low += 1
            high -= 1
    while values[low] >= pivot and low > start:
        low -= 1
    while values[high] <= pivot and high < stop:
        high += 1
    return low, high


@kernel
def sort_by_quicksort(values: Any, order: Any) -> None:
    """Sorts the values, and the order with them, as rpart does."""
    stack = np.empty((128, 2), np.int64)
    stack[0, 0], stack[0, 1], top = 0, len(values) - 1, 1
    while top > 0:
        top -= 1
        start, stop = stack[top, 0], stack[top, 1]
        while stop - start + 1 >= SHORT:
            low, high = _parted(values, order, start, stop)
            # the longer stretch waits, so that few ever do
            if low - start < stop - high:
                stack[top, 0], stack[top, 1] = high, stop
                stop = low
            else:
                stack[top, 0], stack[top, 1] = start, low
                start = high
            top += 1
        _inserted(values, order, start, stop)


@kernel
def write_ranked(
    order: Any, values: Any, rows: Any, plain: Any, layout: Layout, out: Any
) -> None:  # fmt: skip
    """The entries of a column in the order of rpart, nulls last."""
    place, before = 0, np.nan
    for at in range(len(order)):
        value = values[rows[order[at]]]
        if not np.isnan(value):
            entry = np.uint64(plain[order[at]])
            out[place] = entry | layout.tie_bit if value == before else entry
            place, before = place + 1, value
    for at in range(len(order)):
        if np.isnan(values[rows[order[at]]]):
            out[place] = np.uint64(plain[order[at]]) | layout.null_bit
            place += 1
