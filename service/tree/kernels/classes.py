"""The best cut of a column between rows of many classes, or of any weight but for gain."""

from typing import Any

import numpy as np

from service.tree.kernels.compile import lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.rooms import LEFT, MOVED, RIGHT, SECOND, TERMS, WEIGHT
from service.tree.kernels.score import GAIN, GINI, MISCLASSIFICATION, clear

BLOCK = 64  # cuts that are passed by together where none of them can be better
LONG = 96  # of fewer cuts each is looked at
NEARLY = 1e-14  # by how much a quotient and its factors may be rounded apart


@lean
def add_slice(
    entries: Any, start: int, end: int, layout: Layout, rows: Any, is_whole: bool, sums: Any,
    line: int,
) -> None:  # fmt: skip
    """Adds the rows of a slice to the sums of their classes."""
    if is_whole:
        for place in range(start, end):
            sums[line, (entries[U(place)] >> layout.shift) & layout.class_mask] += 1.0
        return
    if sums.shape[1] == 2:
        _add_to_two(entries, start, end, layout, rows, sums, line)
        return
    for place in range(start, end):
        entry = entries[U(place)]
        weight = rows[WEIGHT, entry & layout.row_mask]
        sums[line, (entry >> layout.shift) & layout.class_mask] += weight


@lean
def _add_to_two(
    entries: Any, start: int, end: int, layout: Layout, rows: Any, sums: Any, line: int
) -> None:
    """The same for two classes: either gets the weight or 0, and neither waits for memory."""
    one, other = sums[line, 0], sums[line, 1]
    for place in range(start, end):
        row = entries[U(place)] & layout.row_mask
        weight, second = rows[WEIGHT, row], rows[SECOND, row]
        one += weight - second
        other += second
    sums[line, 0], sums[line, 1] = one, other


@lean
def joined_score(criterion: int, pair: tuple[float, float], sizes: Any, logs: Any) -> float:
    """The score of both sides; by gain their rows must be whole."""
    if criterion == GAIN:
        return pair[0] - logs[U(sizes[0])] - logs[U(sizes[1])]
    if criterion == GINI:
        return pair[0] / sizes[0] + pair[1] / sizes[1]
    return pair[0] + pair[1]


@lean
def may_beat(
    criterion: int, pair: tuple[float, float], before: float, after: float, limit: float
) -> bool:
    """Whether two sides may score more than a limit; to divide is slow, and seldom needed."""
    if criterion != GINI:
        return True
    return pair[0] * after + pair[1] * before > limit * (1.0 - NEARLY) * before * after


@lean
def pair_of(criterion: int, sums: Any, logs: Any) -> tuple[float, float]:
    """Both sides summed over classes: of x log x in one, of squares or the largest in two."""
    one = other = 0.0
    for number in range(sums.shape[1]):
        here, there = sums[LEFT, number], sums[RIGHT, number]
        if criterion == GAIN:
            sums[TERMS, number] = logs[U(here)] + logs[U(there)]
            one += sums[TERMS, number]
        elif criterion == GINI:
            one += here * here
            other += there * there
        else:
            one, other = max(one, here), max(other, there)
    return one, other


@lean
def at_most(criterion: int, sums: Any, pair: tuple[float, float], sizes: Any, logs: Any) -> float:
    """What no cut scores more than while some rows move from right to left.

    Each class is taken at whichever end scores more, and the sides' sizes where they cost least.
    """
    before, after, far = sizes
    if after <= far and criterion != MISCLASSIFICATION:
        return np.inf
    one = other = more = squares = 0.0
    per_before, per_after = 2.0 / before, 2.0 / after
    for number in range(sums.shape[1]):
        here, there, step = sums[LEFT, number], sums[RIGHT, number], sums[MOVED, number]
        if criterion == GAIN:
            end = logs[U(here + step)] + logs[U(max(there - step, 0.0))]
            one += max(sums[TERMS, number], end)
        elif criterion == GINI:
            more += step * max(0.0, here * per_before - there * per_after)
            squares += step * step
        else:
            one, other = max(one, here + step), max(other, there)
    if criterion == GAIN:
        middle = min(max((after - before) * 0.5, 0.0), far)
        middle = np.floor(middle)  # as good as the next number above
        sizes = (before + middle, after - middle, 0.0)
        return joined_score(criterion, (one, 0.0), sizes, logs)
    if criterion == GINI:
        end = pair[0] / (before + far) + pair[1] / (after - far)
        more += squares * (1.0 / before + 1.0 / (after - far))
        return max(pair[0] / before + pair[1] / after, end) + more
    return one + other


@lean
def moved(
    criterion: int, pair: tuple[float, float], sums: Any, number: Any, weight: float,
    logs: Any,
) -> tuple[float, float]:  # fmt: skip
    """The pair after a row has moved from right to left."""
    here, there = sums[LEFT, number], sums[RIGHT, number]
    sums[LEFT, number] = here + weight
    sums[RIGHT, number] = max(there - weight, 0.0)
    if criterion == GAIN:
        term = logs[U(here + weight)]
        term += logs[U(sums[RIGHT, number])]
        change = term - sums[TERMS, number]
        sums[TERMS, number] = term
        return pair[0] + change, 0.0
    if criterion == GINI:
        return pair[0] + weight * (2 * here + weight), pair[1] - weight * (2 * there - weight)
    return pair_of(criterion, sums, logs)


@lean
def _step_through(
    entries: Any, start: int, end: int, layout: Layout, rows: Any, criterion: int, sums: Any,
    pair: tuple[float, float], sizes: Any, is_whole: bool, logs: Any, tie: float, best: float,
) -> tuple[int, float]:  # fmt: skip
    """Which cut of a block is the first better one, -1 for none, and the best score; rows move."""
    at, before, after = -1, sizes[0], sizes[1]
    for place in range(start, end):
        entry = entries[U(place)]
        if entry & layout.tie_bit == 0 and may_beat(criterion, pair, before, after, best + tie):
            here = joined_score(criterion, pair, (before, after, 0.0), logs)
            if here > best + tie:
                best, at = here, place
        weight = 1.0 if is_whole else rows[WEIGHT, entry & layout.row_mask]
        number = (entry >> layout.shift) & layout.class_mask
        pair = moved(criterion, pair, sums, number, weight, logs)
        before, after = before + weight, after - weight
    return at, best


@lean
def scan_gini(
    entries: Any, first: int, low: int, high: int, layout: Layout, sums: Any, tie: float,
    best: float,
) -> tuple[int, float]:  # fmt: skip
    """The same between whole rows by gini, where a step takes less than to see whether to make it.

    LEFT and RIGHT hold the counts of the rows on both sides of the first cut. What is squared on
    the right follows from all counts and those on the left: (all - left)^2 = all^2 - 2 all left +
    left^2. All of these are whole numbers, and exact.
    """
    at, before, after, one, rest = 0, 0.0, 0.0, 0.0, 0.0
    for number in range(sums.shape[1]):
        left, right = sums[LEFT, number], sums[RIGHT, number]
        before, after = before + left, after + right
        one, rest = one + left * left, rest + (right * right - left * left)
        sums[RIGHT, number] = 2.0 * (left + right)
    limit = (best + tie) * (1.0 - NEARLY)
    for place in range(first + low, first + high + 1):
        entry, other = entries[U(place)], rest + one
        if one * after + other * before > limit * before * after and entry & layout.tie_bit == 0:
            here = one / before + other / after
            if here > best + tie:
                best, at, limit = here, place - first, (here + tie) * (1.0 - NEARLY)
        number = (entry >> layout.shift) & layout.class_mask
        left = sums[LEFT, number]
        sums[LEFT, number] = left + 1.0
        one, rest = one + (2.0 * left + 1.0), rest - sums[RIGHT, number]
        before, after = before + 1.0, after - 1.0
    return at, best


@lean
def sizes_of(sums: Any) -> tuple[float, float, float]:
    """The weights on the left, on the right, and of what is about to move."""
    left = right = moved = 0.0
    for number in range(sums.shape[1]):
        left += sums[LEFT, number]
        right += sums[RIGHT, number]
        moved += sums[MOVED, number]
    return left, right, moved


@lean
def scan_classes(
    entries: Any, first: int, low: int, high: int, layout: Layout, rows: Any, criterion: int,
    sums: Any, is_whole: bool, logs: Any, tie: float, best: float,
) -> tuple[int, float]:  # fmt: skip
    """How many rows stand before the first cut that is better by more than a tie; 0 for none.

    The cuts are those with at least `low` and at most `high` rows before them; LEFT and RIGHT
    hold the sums of the rows on both sides of the first of them.
    """
    at, place, is_long = 0, first + low, high - low >= LONG
    while place <= first + high:
        end = min(place + BLOCK, first + high + 1)
        pair = pair_of(criterion, sums, logs)
        clear(sums, MOVED)
        if is_long:
            add_slice(entries, place, end, layout, rows, is_whole, sums, MOVED)
        sizes = sizes_of(sums)
        if is_long and at_most(criterion, sums, pair, sizes, logs) <= best + tie:
            for number in range(sums.shape[1]):
                sums[LEFT, number] += sums[MOVED, number]
                sums[RIGHT, number] = max(sums[RIGHT, number] - sums[MOVED, number], 0.0)
        else:
            found, best = _step_through(
                entries, place, end, layout, rows, criterion, sums, pair, sizes, is_whole, logs,
                tie, best,
            )  # fmt: skip
            at = found - first if found >= 0 else at
        place = end
    return at, best
