"""The best cut of a column between whole rows of two classes."""

from typing import Any

import numpy as np

from service.tree.kernels.compile import lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.score import GAIN, GINI

BLOCK = 32  # cuts that are passed by together where none of them can be better
LONG = 48  # of fewer cuts each is looked at
NEARLY = 1e-14  # by how much a quotient and its factors may be rounded apart


@lean
def count_ones(entries: Any, start: int, end: int, shift: np.uint64) -> int:
    """How many rows of a slice are of the second class."""
    ones = 0
    for place in range(start, end):
        ones += np.int64(entries[U(place)] >> shift) & 1
    return ones


@lean
def _score(criterion: int, zeros: int, ones: int, logs: Any) -> float:
    if criterion == GAIN:
        return float(logs[U(zeros)] + logs[U(ones)] - logs[U(zeros + ones)])
    if criterion == GINI:
        whole = zeros + ones
        return (zeros * zeros + ones * ones) / whole if whole > 0 else 0.0
    return float(max(zeros, ones))


@lean
def _both(criterion: int, zeros: int, ones: int, totals: tuple[int, int], logs: Any) -> float:
    left = _score(criterion, zeros, ones, logs)
    return left + _score(criterion, totals[0] - zeros, totals[1] - ones, logs)


@lean
def _may_beat(criterion: int, zeros: int, ones: int, totals: tuple[int, int], limit: float) -> bool:
    """Whether two sides may score more than a limit; to divide is slow, and seldom needed."""
    if criterion != GINI:
        return True
    left, right = float(zeros), float(totals[0] - zeros)
    other, rest = float(ones), float(totals[1] - ones)
    before, after = left + other, right + rest
    both = (left * left + other * other) * after + (right * right + rest * rest) * before
    return both > limit * (1.0 - NEARLY) * before * after


@lean
def _at_most(
    criterion: int, zeros: int, ones: int, more: tuple[int, int], totals: tuple[int, int], logs: Any
) -> float:
    """What no cut within these further rows scores more than: scores bend upwards."""
    beyond = (zeros + more[0], ones + more[1])
    start = _both(criterion, zeros, ones, totals, logs)
    end = _both(criterion, beyond[0], beyond[1], totals, logs)
    one = _both(criterion, beyond[0], ones, totals, logs)
    other = _both(criterion, zeros, beyond[1], totals, logs)
    return max(max(start, end), max(one, other))


@lean
def scan_two(
    entries: Any, first: int, low: int, high: int, layout: Layout, totals: tuple[int, int],
    criterion: int, logs: Any, tie: float, best: float,
) -> tuple[int, float]:  # fmt: skip
    """How many rows stand before the first cut that is better by more than a tie; 0 for none.

    The cuts are those with at least `low` and at most `high` rows before them.
    """
    at, before, is_long = 0, low, high - low >= LONG
    ones = count_ones(entries, first, first + low, layout.shift)
    while before <= high:
        end = min(before + BLOCK, high + 1)
        if is_long:
            more = count_ones(entries, first + before, first + end, layout.shift)
            moved = (end - before - more, more)
            if _at_most(criterion, before - ones, ones, moved, totals, logs) <= best + tie:
                before, ones = end, ones + more
                continue
        for place in range(before, end):
            entry = entries[U(first + place)]
            if entry & layout.tie_bit == 0 and _may_beat(
                criterion, place - ones, ones, totals, best + tie
            ):
                here = _both(criterion, place - ones, ones, totals, logs)
                if here > best + tie:
                    best, at = here, place
            ones += np.int64(entry >> layout.shift) & 1
        before = end
    return at, best
