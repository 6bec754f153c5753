"""The best cut of a node on one attribute whose values have an order."""

from typing import Any

import numpy as np

from service.tree.kernels.classes import add_slice, scan_classes, scan_gini
from service.tree.kernels.compile import lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.numbers import scan_numbers, scan_whole_numbers
from service.tree.kernels.rooms import APART, KNOWN, LEFT, NULL, RIGHT, SECOND, TOTAL, WEIGHT
from service.tree.kernels.score import GAIN, GINI, SQUARED_ERROR, clear
from service.tree.kernels.two import scan_two
from service.tree.kernels.two_weighed import scan_two_weighed
from service.tree.kernels.weighed import scan_weighed


@lean
def tell_known(
    criterion: int, entries: Any, start: int, end: int, layout: Layout, rows: Any, is_whole: bool,
    sums: Any,
) -> None:  # fmt: skip
    """Writes down the statistics of the rows of a slice, which do not know, and of the others."""
    for number in range(sums.shape[1]):
        sums[NULL, number], sums[KNOWN, number] = 0.0, sums[TOTAL, number]
    if start == end:
        return
    if criterion == SQUARED_ERROR:
        add_moments(entries, start, end, layout, rows, sums, NULL)
    else:
        add_slice(entries, start, end, layout, rows, is_whole, sums, NULL)
    smallest = 0.0
    for number in range(sums.shape[1]):
        sums[KNOWN, number] -= sums[NULL, number]
        smallest += 1e-12 * sums[KNOWN, number]
    if criterion != SQUARED_ERROR:
        # what rounding leaves of a class that nobody knows is nothing
        for number in range(sums.shape[1]):
            if sums[KNOWN, number] <= smallest:
                sums[KNOWN, number] = 0.0


@lean
def add_moments(
    entries: Any, start: int, end: int, layout: Layout, rows: Any, sums: Any, line: int
) -> None:
    """Adds the rows of a slice to the sums of weight, weight x target and its square."""
    for place in range(start, end):
        row = entries[U(place)] & layout.row_mask
        weight, target = rows[WEIGHT, row], rows[APART, row]
        sums[line, 0] += weight
        sums[line, 1] += weight * target
        sums[line, 2] += weight * target * target


@lean
def window(
    entries: Any, first: int, n_known: int, layout: Layout, rows: Any, least: float,
    is_whole: bool, sums: Any,
) -> tuple[int, int]:  # fmt: skip
    """The fewest and the most rows before a cut that leaves so much weight on both sides.

    Unless all rows are whole, LEFT gets the sums of the classes of the fewest.
    """
    if is_whole:
        low = max(1, int(np.ceil(least)))
        return low, n_known - low
    if is_too_light(sums, least):
        return n_known, 0
    if sums.shape[1] == 2:
        low, weight = _fewest_of_two(entries, first, n_known, layout, rows, least, sums)
    else:
        low, weight = _fewest(entries, first, n_known, layout, rows, least, sums)
    if weight < least:
        return n_known, 0
    return low, _most(entries, first, n_known, layout, rows, least)


@lean
def is_too_light(sums: Any, least: float) -> bool:
    """Whether what is known surely does not weigh twice as much as each side must."""
    known = 0.0
    for number in range(sums.shape[1]):
        known += sums[KNOWN, number]
    return known < (2.0 - 1e-9) * least


@lean
def _most(entries: Any, first: int, n_known: int, layout: Layout, rows: Any, least: float) -> int:
    """How many rows may stand before a cut that leaves so much weight behind it; 0 for none.

    Most of the way by four rows at a time: to add one after the other is to wait for each.
    """
    high, weight = n_known, 0.0
    while high >= 4:
        four = 0.0
        for place in range(first + high - 4, first + high):
            four += rows[WEIGHT, entries[U(place)] & layout.row_mask]
        if weight + four >= least:
            break
        high, weight = high - 4, weight + four
    while high > 0 and (weight < least or high == n_known):
        high -= 1
        weight += rows[WEIGHT, entries[U(first + high)] & layout.row_mask]
    return high if weight >= least else 0


@lean
def _fewest(
    entries: Any, first: int, n_known: int, layout: Layout, rows: Any, least: float, sums: Any
) -> tuple[int, float]:
    """How many rows weigh so much, and what they do; all where they do not."""
    low, weight = 0, 0.0
    clear(sums, LEFT)
    while low < n_known and (weight < least or low == 0):
        entry = entries[U(first + low)]
        own = rows[WEIGHT, entry & layout.row_mask]
        sums[LEFT, (entry >> layout.shift) & layout.class_mask] += own
        weight += own
        low += 1
    return low, weight


@lean
def _fewest_of_two(
    entries: Any, first: int, n_known: int, layout: Layout, rows: Any, least: float, sums: Any
) -> tuple[int, float]:
    """The same for two classes: either gets the weight or 0, and neither waits for memory."""
    low, weight, one, other = 0, 0.0, 0.0, 0.0
    while low < n_known and (weight < least or low == 0):
        row = entries[U(first + low)] & layout.row_mask
        own, second = rows[WEIGHT, row], rows[SECOND, row]
        one += own - second
        other += second
        weight += own
        low += 1
    sums[LEFT, 0], sums[LEFT, 1] = one, other
    return low, weight


@lean
def scan(
    criterion: int, entries: Any, first: int, span: tuple[int, int], layout: Layout, rows: Any,
    sums: Any, is_whole: bool, logs: Any, sides: Any, block: Any, tie: float, best: float,
) -> tuple[int, float]:  # fmt: skip
    """How many rows stand before the best cut, 0 for none, and what its sides score.

    Of rows that are not whole, LEFT holds the sums of those before the first cut.
    """
    low, high = span
    if criterion == SQUARED_ERROR:
        known = (sums[KNOWN, 0], sums[KNOWN, 1])
        if is_whole:
            return scan_whole_numbers(entries, first, low, high, layout, rows, known, tie, best)
        return scan_numbers(entries, first, low, high, layout, rows, known, tie, best)
    if is_whole and sums.shape[1] == 2:
        totals = (int(sums[KNOWN, 0]), int(sums[KNOWN, 1]))
        return scan_two(entries, first, low, high, layout, totals, criterion, logs, tie, best)
    if is_whole:
        clear(sums, LEFT)
        add_slice(entries, first, first + low, layout, rows, is_whole, sums, LEFT)
    if criterion == GAIN and not is_whole:
        return _scan_parts(
            entries, first, low, high, layout, rows, sums, sides, block, tie, best
        )  # fmt: skip
    for number in range(sums.shape[1]):
        sums[RIGHT, number] = max(sums[KNOWN, number] - sums[LEFT, number], 0.0)
    if criterion == GINI and is_whole:
        return scan_gini(entries, first, low, high, layout, sums, tie, best)
    return scan_classes(
        entries, first, low, high, layout, rows, criterion, sums, is_whole, logs, tie, best
    )


@lean
def _scan_parts(
    entries: Any, first: int, low: int, high: int, layout: Layout, rows: Any, sums: Any,
    sides: Any, block: Any, tie: float, best: float,
) -> tuple[int, float]:  # fmt: skip
    """The same by gain between rows of any weight."""
    if sums.shape[1] == 2:
        return scan_two_weighed(
            entries, first, low, high, layout, rows, sums, sides, block, tie, best
        )
    return scan_weighed(entries, first, low, high, layout, rows, sums, block, tie, best)


@lean
def left_weight(
    entries: Any, first: int, cut: int, layout: Layout, rows: Any, is_whole: bool
) -> float:
    """The weight of the rows before a cut."""
    if is_whole:
        return float(cut)
    weight = 0.0
    for place in range(first, first + cut):
        weight += rows[WEIGHT, entries[U(place)] & layout.row_mask]
    return weight


@lean
def count_cuts(entries: Any, start: int, end: int, tie_bit: np.uint64) -> int:
    """How many entries of a slice can be cut before."""
    found = 0
    for place in range(start, end):
        found += 1 if entries[U(place)] & tie_bit == 0 else 0
    return found
