"""Cuts as rpart has them, to the last bit, and its choice.

Sums are taken one row after another and terms in rpart's order. There is no tolerance: one
candidate is better than another if it is so in its last bit, and the first of equals wins.
"""

import math
from typing import Any

import numpy as np

from service.tree.kernels.compile import lean
from service.tree.kernels.cut import scan, window
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.rooms import (
    FOUND,
    GAIN_HERE,
    IMPROVEMENT,
    KNOWN,
    LARGEST,
    LEFT,
    RIGHT,
    RISK,
    TARGET,
    WEIGHT,
    Columns,
    Rules,
    Work,
)
from service.tree.kernels.rpart_near import near_cut
from service.tree.kernels.rpart_sides import after_cut, before_cut, holds
from service.tree.kernels.score import GAIN, SQUARED_ERROR, score
from service.tree.kernels.sets import ROUNDING

NEGLIGIBLE = 1e-10  # beside the largest improvement seen: what rounding makes of none
NEAR = 1e-9  # of the weight: cuts that score less than this below the best are measured exactly
LOG_2 = math.log(2.0)


@lean
def cut_rpart(
    rules: Rules, columns: Columns, work: Work, rows: Any, entries: Any, first: int, n_known: int,
    weight: float, is_whole: bool, to_beat: float,
) -> tuple[int, float, float]:  # fmt: skip
    """How many rows stand before the first best cut, 0 for none, what it improves, what it gains.

    What cannot gain more than `to_beat` is not found.
    """
    layout, least = columns.layout, rules.min_weight
    if n_known < 2:
        return 0, 0.0, 0.0
    if rules.criterion == SQUARED_ERROR:
        at, improvement = _cut_numbers(entries, first, n_known, layout, rows, least, is_whole)
        return at, improvement, improvement / weight
    # which cuts come near the best is found without regard to how sums are rounded
    sums, logs, criterion = work.sums, work.logs, rules.criterion
    span = window(entries, first, n_known, layout, rows, least - ROUNDING, is_whole, sums)
    bound = score(criterion, sums, KNOWN) + to_beat * weight - NEAR * weight
    at, best = scan(
        criterion, entries, first, span, layout, rows, sums, is_whole, logs, work.before,
        work.block, 0.0, bound,
    )  # fmt: skip
    if at == 0:
        return 0, 0.0, 0.0
    if is_whole:
        at, improvement = near_cut(
            criterion, entries, first, n_known, span, layout, rows, columns.scale, sums, logs,
            best - NEAR * weight,
        )  # fmt: skip
    else:
        at, improvement = _cut_classes(
            criterion, entries, first, n_known, layout, rows, columns.scale, sums, least
        )
    return at, improvement, improvement / weight / (LOG_2 if criterion == GAIN else 1.0)


@lean
def _cut_classes(
    criterion: int, entries: Any, first: int, n_known: int, layout: Layout, rows: Any, scale: Any,
    sums: Any, min_weight: float,
) -> tuple[int, float]:  # fmt: skip
    """The cut between rows of any weight, each of which is measured."""
    reached, right = _all_right(entries, first, n_known, layout, rows, scale, sums)
    impurity, left, passed = before_cut(criterion, sums, RIGHT, scale, right), 0.0, 0.0
    at, best = 0, impurity
    for place in range(1, n_known):
        entry = entries[U(first + place - 1)]
        number = (entry >> layout.shift) & layout.class_mask
        weight = rows[WEIGHT, entry & layout.row_mask]
        sums[LEFT, number] += weight
        sums[RIGHT, number] += -weight
        left += scale[number] * weight
        right += -(scale[number] * weight)
        passed += weight
        if entries[U(first + place)] & layout.tie_bit == 0 and holds(
            min_weight, passed, reached - passed
        ):
            after = after_cut(criterion, sums, scale, left, right)
            if after < best:
                at, best = place, after
    return at, impurity - best


@lean
def _all_right(
    entries: Any, first: int, n_known: int, layout: Layout, rows: Any, scale: Any, sums: Any
) -> tuple[float, float]:
    """The weight of all rows, plain and in the scale of their classes; they stand on the right."""
    reached = right = 0.0
    for number in range(sums.shape[1]):
        sums[LEFT, number] = sums[RIGHT, number] = 0.0
    for place in range(first, first + n_known):
        entry = entries[U(place)]
        number = (entry >> layout.shift) & layout.class_mask
        weight = rows[WEIGHT, entry & layout.row_mask]
        sums[RIGHT, number] += weight
        right += scale[number] * weight
        reached += weight
    return reached, right


@lean
def mean_of(
    entries: Any, first: int, n_known: int, layout: Layout, rows: Any
) -> tuple[float, float]:
    """The mean of the targets, and the weight of the rows."""
    total = weight = 0.0
    for place in range(first, first + n_known):
        row = entries[U(place)] & layout.row_mask
        total += rows[TARGET, row] * rows[WEIGHT, row]
        weight += rows[WEIGHT, row]
    return total / weight, weight


@lean
def _cut_numbers(
    entries: Any, first: int, n_known: int, layout: Layout, rows: Any, min_weight: float,
    is_whole: bool,
) -> tuple[int, float]:  # fmt: skip
    """The same for a number: what the sums on both sides, squared, improve."""
    mean, reached = mean_of(entries, first, n_known, layout, rows)
    at, best, left, right, passed, after = 0, 0.0, 0.0, 0.0, 0.0, reached
    for place in range(1, n_known):
        row = entries[U(first + place - 1)] & layout.row_mask
        weight = 1.0 if is_whole else rows[WEIGHT, row]
        moved = (rows[TARGET, row] - mean) * weight
        left += moved
        right += -moved
        passed += weight
        after += -weight
        if entries[U(first + place)] & layout.tie_bit == 0 and holds(
            min_weight, passed, reached - passed
        ):
            squares = left * left / passed + right * right / after
            if squares > best and np.isfinite(squares):
                at, best = place, squares
    return at, best


@lean
def squared_error(entries: Any, start: int, end: int, layout: Layout, rows: Any) -> float:
    """The risk of a node in regression, its rows in the order of the entries."""
    if start == end:
        return 0.0
    mean, _ = mean_of(entries, start, end - start, layout, rows)
    total = 0.0
    for place in range(start, end):
        row = entries[U(place)] & layout.row_mask
        apart = rows[TARGET, row] - mean
        total += apart * apart * rows[WEIGHT, row]
    return total


@lean
def note_improvement(
    found: Any, attribute: int, split: int, improvement: float, gain: float
) -> None:
    """Writes down a split, unless it improves nothing."""
    found[attribute, FOUND] = split if improvement > 0 else 0
    found[attribute, GAIN_HERE], found[attribute, IMPROVEMENT] = gain, improvement


@lean
def choose_rpart(rules: Rules, found: Any, numbers: Any, node: int) -> int:
    """The first split that improves most; -1 where rounding is all that improves."""
    best, most = -1, 0.0
    largest = max(numbers[node, LARGEST], rules.largest)
    # in regression an improvement is a part of the node's risk
    risk = numbers[node, RISK] if rules.criterion == SQUARED_ERROR else 1.0
    for attribute in range(len(found)):
        if found[attribute, FOUND] == 0:
            continue
        improvement = found[attribute, IMPROVEMENT] / risk
        found[attribute, IMPROVEMENT] = improvement
        largest = max(largest, improvement)
        if improvement > largest * NEGLIGIBLE and (best < 0 or improvement > most):
            best, most = attribute, improvement
    return best
