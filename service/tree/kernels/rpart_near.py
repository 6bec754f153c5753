"""The best cut between whole rows as rpart has it: only what comes near the best is measured."""

from typing import Any

from service.tree.kernels.classes import (
    BLOCK,
    add_slice,
    at_most,
    joined_score,
    moved,
    pair_of,
    sizes_of,
)
from service.tree.kernels.compile import lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.rooms import KNOWN, LEFT, MOVED, RIGHT
from service.tree.kernels.rpart_sides import after_cut, before_cut


@lean
def near_cut(
    criterion: int, entries: Any, first: int, n_known: int, span: tuple[int, int],
    layout: Layout, rows: Any, scale: Any, sums: Any, logs: Any, bound: float,
) -> tuple[int, float]:  # fmt: skip
    """The first best of the cuts that score no less than the bound, and what it improves."""
    right = scaled(entries, first, first + n_known, layout, scale, (0.0, 0.0))[0]
    impurity = before_cut(criterion, sums, KNOWN, scale, right)
    sides = scaled(entries, first, first + span[0], layout, scale, (0.0, right))
    for number in range(sums.shape[1]):
        sums[LEFT, number] = 0.0
    add_slice(entries, first, first + span[0], layout, rows, True, sums, LEFT)
    for number in range(sums.shape[1]):
        sums[RIGHT, number] = sums[KNOWN, number] - sums[LEFT, number]
    at, best, place, last = 0, impurity, first + span[0], first + span[1] + 1
    while place < last:
        end = min(place + BLOCK, last)
        for number in range(sums.shape[1]):
            sums[MOVED, number] = 0.0
        add_slice(entries, place, end, layout, rows, True, sums, MOVED)
        pair, sizes = pair_of(criterion, sums, logs), sizes_of(sums)
        if at_most(criterion, sums, pair, sizes, logs) >= bound:
            found, best = _measured(
                criterion, entries, place, end, layout, scale, sums, pair, sizes, sides, logs,
                bound, best,
            )  # fmt: skip
            at = found - first if found >= 0 else at
        else:
            for number in range(sums.shape[1]):
                sums[LEFT, number] += sums[MOVED, number]
                sums[RIGHT, number] -= sums[MOVED, number]
        sides = scaled(entries, place, end, layout, scale, sides)
        place = end
    return at, impurity - best


@lean
def scaled(
    entries: Any, start: int, end: int, layout: Layout, scale: Any, sides: tuple[float, float]
) -> tuple[float, float]:
    """The weights of both sides after a slice went to the left, in the scale of its classes."""
    left, right = sides
    is_even = True
    for number in range(len(scale)):
        is_even = is_even and scale[number] == 1.0
    if is_even:
        return left + (end - start), right - (end - start)
    for place in range(start, end):
        factor = scale[(entries[U(place)] >> layout.shift) & layout.class_mask]
        left += factor
        right += -factor
    return left, right


@lean
def _measured(
    criterion: int, entries: Any, start: int, end: int, layout: Layout, scale: Any, sums: Any,
    pair: tuple[float, float], sizes: Any, sides: tuple[float, float], logs: Any, bound: float,
    best: float,
) -> tuple[int, float]:  # fmt: skip
    """Which cut of a block is the first with less impurity, -1 for none; its rows are moved."""
    at, before, after, left, right = -1, sizes[0], sizes[1], sides[0], sides[1]
    for place in range(start, end):
        entry = entries[U(place)]
        if (
            entry & layout.tie_bit == 0
            and joined_score(criterion, pair, (before, after, 0.0), logs) >= bound
        ):
            impurity = after_cut(criterion, sums, scale, left, right)
            if impurity < best:
                at, best = place, impurity
        number = (entry >> layout.shift) & layout.class_mask
        pair = moved(criterion, pair, sums, number, 1.0, logs)
        before, after = before + 1.0, after - 1.0
        left += scale[number]
        right += -scale[number]
    return at, best
