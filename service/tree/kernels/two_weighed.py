"""The best cut of a column by gain between rows of any weight of two classes.

As between many classes the cuts of a block are measured by quick logarithms first. With two, the
sums before each cut are few enough to be kept, and no cut waits for what the one before it scores.
"""

from typing import Any

import numpy as np

from service.tree.kernels.compile import lean, rough
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.rooms import KNOWN, LEFT, SECOND, WEIGHT
from service.tree.kernels.score import x_log_x
from service.tree.kernels.weighed import BLOCK, LANES, NEAR, NOTHING, ONE, SHORT, quick

HERE, THERE, BOTH = range(3)  # the weight before each cut of a block, lines of Work.before
IS_CUT, MARK = range(2)  # 1 where no tie is cut apart, and the quick score: lines of Work.block
RAISED = SHORT(2)  # added to a score it is above 0, and has the order of its bits


@lean
def scan_two_weighed(
    entries: Any, first: int, low: int, high: int, layout: Layout, rows: Any, sums: Any,
    sides: Any, block: Any, tie: float, best: float,
) -> tuple[int, float]:  # fmt: skip
    """How many rows stand before the first cut that is better by more than a tie; 0 for none.

    The cuts are those with at least `low` and at most `high` rows before them; LEFT holds the
    sums of the rows before the first of them.
    """
    whole, left = (sums[KNOWN, 0], sums[KNOWN, 1]), (sums[LEFT, 0], sums[LEFT, 1])
    known, before = whole[0] + whole[1], left[0] + left[1]
    at, place, error = 0, first + low, NEAR * known
    while place <= first + high:
        end = min(place + BLOCK, first + high + 1)
        left, before = _gather(entries, place, end, layout, rows, left, before, sides, block)
        mark = _measure(end - place, whole, 1.0 / known, sides, block)
        if mark > NOTHING:
            highest = known * (np.float64(mark) - RAISED)
            # what is beaten within the block need not be measured
            limit = max(best + tie - error, highest - 2.0 * (tie + error))
            if highest > limit:
                found, best = _best_of(end - place, whole, known, sides, block, limit, tie, best)
                at = place + found - first if found >= 0 else at
        place = end
    return at, best


@lean
def _gather(
    entries: Any, start: int, end: int, layout: Layout, rows: Any, left: tuple[float, float],
    before: float, sides: Any, block: Any,
) -> tuple[tuple[float, float], float]:  # fmt: skip
    """What is on the left once all rows of a block are there; noted is what is before each."""
    one, other = left
    for place in range(start, end):
        row, at = entries[U(place)] & layout.row_mask, U(place - start)
        sides[HERE, at], sides[THERE, at], sides[BOTH, at] = one, other, before
        weight, second = rows[WEIGHT, row], rows[SECOND, row]
        one += weight - second
        other += second
        before += weight
    for place in range(start, end):  # by itself, which is done for many at once
        tie = entries[U(place)] & layout.tie_bit
        block[IS_CUT, U(place - start)] = NOTHING if tie else ONE
    for at in range(end - start, (end - start + LANES - 1) & -LANES):
        block[IS_CUT, U(at)] = NOTHING
    return (one, other), before


@rough
def _measure(n_cuts: int, whole: tuple[float, float], scale: float, sides: Any, block: Any) -> Any:
    """The highest mark of a block: a quick score, raised, as part of the whole; 0 for a tie."""
    highest = np.int32(0)
    for at in range((n_cuts + LANES - 1) & -LANES):
        one, other, size = sides[HERE, U(at)], sides[THERE, U(at)], sides[BOTH, U(at)]
        both = SHORT(size * scale)
        found = quick(SHORT(one * scale)) + quick(SHORT(other * scale)) - quick(both)
        found += quick(max(SHORT((whole[0] - one) * scale), NOTHING))
        found += quick(max(SHORT((whole[1] - other) * scale), NOTHING))
        found -= quick(max(ONE - both, NOTHING))
        mark = (found + RAISED) * block[IS_CUT, U(at)]
        block[MARK, U(at)] = mark
        highest = max(highest, SHORT(mark).view(np.int32))  # which is found for many at once
    return np.int32(highest).view(np.float32)


@lean
def _best_of(
    n_cuts: int, whole: tuple[float, float], known: float, sides: Any, block: Any, limit: float,
    tie: float, best: float,
) -> tuple[int, float]:  # fmt: skip
    """Which cut of a block is the first better one, -1 for none, and the best score."""
    found, least = -1, max(limit / known + RAISED, 0.0)
    for at in range(n_cuts):
        if block[MARK, U(at)] > least:
            one, other, before = sides[HERE, U(at)], sides[THERE, U(at)], sides[BOTH, U(at)]
            here = -x_log_x(before) - x_log_x(known - before)
            here += x_log_x(one) + x_log_x(whole[0] - one)
            here += x_log_x(other) + x_log_x(whole[1] - other)
            if here > best + tie:
                best, found = here, at
    return found, best
