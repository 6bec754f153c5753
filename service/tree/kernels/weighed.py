"""The best cut of a column by gain between rows of any weight.

Logarithms are slow. So the cuts of a block are measured by quick ones, all at once, and only what
comes near the best is measured exactly.
"""

from typing import Any

import numpy as np

from service.tree.kernels.compile import lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.rooms import KNOWN, LEFT, MOVED, TERMS, WEIGHT
from service.tree.kernels.score import x_log_x

BLOCK = 64  # cuts that are measured together
HERE, THERE, STEP, BEFORE, CHANGE = range(5)  # per row of a block, lines of Work.block
NEAR = 1e-8  # of a node's weight: how far a quick score may be off
ROOT_HALF = np.int64(0x3FE6A09E667F3BCD)  # the bits of the root of 1/2
MANTISSA = np.int64(52)
# of the series of log2((1 + x) / (1 - x)) by the odd powers of x
FIRST, THIRD, FIFTH, SEVENTH, NINTH = (2 / np.log(2.0) / power for power in (1, 3, 5, 7, 9))


@lean
def quick(x: float) -> float:
    """About x times its binary logarithm, 0 at 0: off by a billionth of x at most.

    No branch and no table, so that many are computed at once.
    """
    bits = np.float64(x).view(np.int64)
    exponent = (bits - ROOT_HALF) >> MANTISSA
    scaled = np.int64(bits - (exponent << MANTISSA)).view(np.float64)
    ratio = (scaled - 1.0) / (scaled + 1.0)
    square = ratio * ratio
    series = FIRST + square * (THIRD + square * (FIFTH + square * (SEVENTH + square * NINTH)))
    return x * (np.float64(exponent) + ratio * series)


@lean
def scan_weighed(
    entries: Any, first: int, low: int, high: int, layout: Layout, rows: Any, sums: Any,
    block: Any, tie: float, best: float,
) -> tuple[int, float]:  # fmt: skip
    """How many rows stand before the first cut that is better by more than a tie; 0 for none.

    The cuts are those with at least `low` and at most `high` rows before them; LEFT holds the
    sums of the rows before the first of them.
    """
    known = before = 0.0
    for number in range(sums.shape[1]):
        known += sums[KNOWN, number]
        before += sums[LEFT, number]
    at, place, error = 0, first + low, NEAR * known
    while place <= first + high:
        end = min(place + BLOCK, first + high + 1)
        for number in range(sums.shape[1]):
            sums[MOVED, number] = sums[LEFT, number]
        beyond = _gather(entries, place, end, layout, rows, sums, before, block)
        if _at_most(sums, before, beyond, known) + error > best + tie:
            found, best = _best_of(
                entries, place, end, layout, rows, sums, before, known, block, tie, error, best
            )
            at = found - first if found >= 0 else at
        before, place = beyond, end
    return at, best


@lean
def _gather(
    entries: Any, start: int, end: int, layout: Layout, rows: Any, sums: Any, before: float,
    block: Any,
) -> float:  # fmt: skip
    """The weight on the left once all rows of a block are there; each step is noted."""
    for place in range(start, end):
        entry, at = entries[U(place)], U(place - start)
        number = (entry >> layout.shift) & layout.class_mask
        weight, here = rows[WEIGHT, entry & layout.row_mask], sums[LEFT, number]
        block[HERE, at], block[THERE, at] = here, sums[KNOWN, number] - here
        block[STEP, at], block[BEFORE, at] = weight, before
        sums[LEFT, number] = here + weight
        before += weight
    return before


@lean
def _at_most(sums: Any, before: float, beyond: float, known: float) -> float:
    """What no cut of a block scores more than; MOVED holds what is on the left of its start.

    Each class is taken at whichever end scores more, and the sides' sizes where they cost least.
    """
    found = 0.0
    for number in range(sums.shape[1]):
        whole, one, other = sums[KNOWN, number], sums[MOVED, number], sums[LEFT, number]
        start = quick(one) + quick(max(whole - one, 0.0))
        found += max(start, quick(other) + quick(max(whole - other, 0.0)))
    middle = min(max(known * 0.5, before), beyond)
    return found - quick(middle) - quick(max(known - middle, 0.0))


@lean
def _best_of(
    entries: Any, start: int, end: int, layout: Layout, rows: Any, sums: Any, before: float,
    known: float, block: Any, tie: float, error: float, best: float,
) -> tuple[int, float]:  # fmt: skip
    """Which cut of a block is the first better one, -1 for none, and the best score."""
    at = -1
    _measure(end - start, known, block)
    # what is beaten within the block need not be measured
    highest = _highest(entries, start, end, layout, sums, block)
    limit = max(best + tie - error, highest - 2.0 * (tie + error))
    for place in range(start, end):
        if block[HERE, U(place - start)] > limit:
            here = _exactly(entries, start, place, layout, rows, sums, before, known)
            if here > best + tie:
                best, at = here, place
    return at, best


@lean
def _highest(entries: Any, start: int, end: int, layout: Layout, sums: Any, block: Any) -> float:
    """The highest quick score of a block; that of each cut is written down."""
    highest, found = -np.inf, 0.0
    for number in range(sums.shape[1]):
        one = sums[MOVED, number]
        found += quick(one) + quick(max(sums[KNOWN, number] - one, 0.0))
    for place in range(start, end):
        at = U(place - start)
        is_cut = entries[U(place)] & layout.tie_bit == 0
        here = found - block[BEFORE, at] if is_cut else -np.inf
        block[HERE, at], highest = here, max(highest, here)
        found += block[CHANGE, at]
    return highest


@lean
def _measure(n_cuts: int, known: float, block: Any) -> None:
    """Writes down by how much each row changes the classes' sum, and what both sizes take off."""
    for at in range(n_cuts):
        here, there, step = block[HERE, U(at)], block[THERE, U(at)], block[STEP, U(at)]
        moved = quick(here + step) + quick(max(there - step, 0.0))
        block[CHANGE, U(at)] = moved - quick(here) - quick(max(there, 0.0))
        before = block[BEFORE, U(at)]
        block[BEFORE, U(at)] = quick(before) + quick(max(known - before, 0.0))


@lean
def _exactly(
    entries: Any, start: int, place: int, layout: Layout, rows: Any, sums: Any, before: float,
    known: float,
) -> float:  # fmt: skip
    """What the cut before a place scores; MOVED holds what is on the left of the block's start."""
    for number in range(sums.shape[1]):
        sums[TERMS, number] = sums[MOVED, number]
    for at in range(start, place):
        entry = entries[U(at)]
        weight = rows[WEIGHT, entry & layout.row_mask]
        sums[TERMS, (entry >> layout.shift) & layout.class_mask] += weight
        before += weight
    found = -x_log_x(before) - x_log_x(known - before)
    for number in range(sums.shape[1]):
        left = sums[TERMS, number]
        found += x_log_x(left) + x_log_x(sums[KNOWN, number] - left)
    return found
