"""The best cut of a column by gain between rows of any weight.

Logarithms are slow. So the cuts of a block are measured by quick ones, all at once, and only what
comes near the best is measured exactly.
"""

from typing import Any

import numpy as np

from service.tree.kernels.compile import lean, rough
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.rooms import KNOWN, LEFT, MOVED, TERMS, WEIGHT
from service.tree.kernels.score import x_log_x

BLOCK = 64  # cuts that are measured together
LANES = 8  # cuts that are measured at once; there are always as many, whatever the last are
LEFT_SIDE, RIGHT_SIDE, SIZE = range(3)  # per row of a block, lines of Work.block
NEAR = 1e-5  # of a node's weight: how far a quick score may be off
SHORT = np.float32
ONE, NOTHING = SHORT(1), SHORT(0)
ROOT_HALF = np.int32(0x3F3504F3)  # the bits of the root of 1/2
MANTISSA = np.int32(23)
# of log2(1 + x) by the powers of x, where 1 + x lies between the roots of 1/2 and of 2: with as
# many powers, no others come closer everywhere (Remez)
C1, C2, C3, C4 = SHORT(1.4426997), SHORT(-0.7213759), SHORT(0.480465), SHORT(-0.35896185)
C5, C6, C7 = SHORT(0.29726258), SHORT(-0.27269793), SHORT(0.17063446)


@rough
def quick(x: Any) -> Any:
    """About x times its binary logarithm, 0 at 0, for x up to 1: off by a millionth at most.

    No branch, no table and no division, and short numbers, so that many are computed at once.
    """
    bits = SHORT(x).view(np.int32)
    exponent = np.int32(np.int32(bits - ROOT_HALF) >> MANTISSA)
    scaled = np.int32(bits - np.int32(exponent << MANTISSA)).view(np.float32)
    far = scaled - ONE
    series = C1 + far * (C2 + far * (C3 + far * (C4 + far * (C5 + far * (C6 + far * C7)))))
    return x * (SHORT(exponent) + far * series)


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
    at, place, scale, error = 0, first + low, 1.0 / known, NEAR * known
    while place <= first + high:
        end = min(place + BLOCK, first + high + 1)
        for number in range(sums.shape[1]):
            sums[MOVED, number] = sums[LEFT, number]
        beyond = _gather(entries, place, end, layout, rows, sums, before, scale, block)
        _measure(end - place, block)
        highest = known * _highest(entries, place, end, layout, sums, scale, block)
        # what is beaten within the block need not be measured
        limit = max(best + tie - error, highest - 2.0 * (tie + error))
        if highest > limit:
            found, best = _best_of(
                entries, place, end, layout, rows, sums, before, known, block, limit, tie, best
            )
            at = found - first if found >= 0 else at
        before, place = beyond, end
    return at, best


@lean
def _gather(
    entries: Any, start: int, end: int, layout: Layout, rows: Any, sums: Any, before: float,
    scale: float, block: Any,
) -> float:  # fmt: skip
    """The weight on the left once all rows of a block are there.

    Noted are the size of the left side before each row, and its class on both sides after it:
    as parts of the whole, by which no score changes but that it is such a part itself.
    """
    for place in range(start, end):
        entry, at = entries[U(place)], U(place - start)
        number = (entry >> layout.shift) & layout.class_mask
        weight = rows[WEIGHT, entry & layout.row_mask]
        left = sums[LEFT, number] + weight
        block[SIZE, at] = SHORT(before * scale)
        block[LEFT_SIDE, at] = SHORT(left * scale)
        block[RIGHT_SIDE, at] = SHORT((sums[KNOWN, number] - left) * scale)
        sums[LEFT, number] = left
        before += weight
    return before


@lean
def _measure(n_cuts: int, block: Any) -> None:
    """Writes down what the class of each row adds once it has moved, and what sizes take off."""
    for at in range((n_cuts + LANES - 1) & -LANES):
        size = block[SIZE, U(at)]
        block[SIZE, U(at)] = quick(size) + quick(max(ONE - size, NOTHING))
        left, right = block[LEFT_SIDE, U(at)], block[RIGHT_SIDE, U(at)]
        block[LEFT_SIDE, U(at)] = quick(left) + quick(max(right, NOTHING))


@lean
def _highest(
    entries: Any, start: int, end: int, layout: Layout, sums: Any, scale: float, block: Any
) -> float:
    """The highest quick score of a block; that of each cut takes the place of its size."""
    highest, found = -np.inf, 0.0
    for number in range(sums.shape[1]):
        left, whole = sums[MOVED, number], sums[KNOWN, number]
        term = np.float64(quick(SHORT(left * scale)))
        term += np.float64(quick(SHORT(max(whole - left, 0.0) * scale)))
        sums[TERMS, number] = term
        found += term
    for place in range(start, end):
        entry, at = entries[U(place)], U(place - start)
        here = found - block[SIZE, at] if entry & layout.tie_bit == 0 else -np.inf
        number = (entry >> layout.shift) & layout.class_mask
        term = np.float64(block[LEFT_SIDE, at])
        found += term - sums[TERMS, number]
        sums[TERMS, number] = term
        block[SIZE, at], highest = SHORT(here), max(highest, here)
    return highest


@lean
def _best_of(
    entries: Any, start: int, end: int, layout: Layout, rows: Any, sums: Any, before: float,
    known: float, block: Any, limit: float, tie: float, best: float,
) -> tuple[int, float]:  # fmt: skip
    """Which cut of a block is the first better one, -1 for none, and the best score."""
    at = -1
    for place in range(start, end):
        if known * block[SIZE, U(place - start)] > limit:
            here = _exactly(entries, start, place, layout, rows, sums, before, known)
            if here > best + tie:
                best, at = here, place
    return at, best


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
