"""Candidates as rpart has them, to the last bit.

Sums are taken one row after another and terms in rpart's order. There is no tolerance: one
candidate is better than another if it is so in its last bit, and the first of equals wins.
"""

import math
from typing import Any

import numpy as np

from service.tree.kernels.compile import kernel
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.rooms import IMPROVEMENT, FOUND, LEFT, RIGHT, TARGET, WEIGHT
from service.tree.kernels.score import GINI
from service.tree.kernels.sets import ROUNDING

NEGLIGIBLE = 1e-10  # beside the largest improvement seen: what rounding makes of none


@kernel
def _impurity(criterion: int, p: float) -> float:
    """What a class of this probability adds to the impurity."""
    if criterion == GINI:
        return p * (1.0 - p)
    return -p * math.log(p) if p > 0 else 0.0


@kernel
def _after(criterion: int, sums: Any, scale: Any, left: float, right: float) -> float:
    """The impurity of both sides together, times their weights."""
    total = 0.0
    for number in range(sums.shape[1]):
        total += left * _impurity(criterion, scale[number] * sums[LEFT, number] / left)
        total += right * _impurity(criterion, scale[number] * sums[RIGHT, number] / right)
    return total


@kernel
def _before(criterion: int, sums: Any, scale: Any, weight: float) -> float:
    """The impurity of all rows, which stand on the right, times their weight."""
    total = 0.0
    for number in range(sums.shape[1]):
        total += weight * _impurity(criterion, scale[number] * sums[RIGHT, number] / weight)
    return total


@kernel
def holds(rules_min_weight: float, left: float, right: float) -> bool:
    """Whether both sides hold as much weight as is asked for."""
    least = rules_min_weight - ROUNDING
    return left > 0 and right > 0 and left >= least and right >= least


@kernel
def cut_classes(
    criterion: int, entries: Any, first: int, n_known: int, layout: Layout, rows: Any, scale: Any,
    sums: Any, min_weight: float,
) -> tuple[int, float]:  # fmt: skip
    """How many rows stand before the first of the best cuts, 0 for none, and what it improves."""
    reached, right = _all_right(entries, first, n_known, layout, rows, scale, sums)
    impurity, left, passed = _before(criterion, sums, scale, right), 0.0, 0.0
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
            after = _after(criterion, sums, scale, left, right)
            if after < best:
                at, best = place, after
    return at, impurity - best


@kernel
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


@kernel
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


@kernel
def cut_numbers(
    entries: Any, first: int, n_known: int, layout: Layout, rows: Any, min_weight: float
) -> tuple[int, float]:
    """The same for a number: what the sums on both sides, squared, improve."""
    mean, reached = mean_of(entries, first, n_known, layout, rows)
    at, best, left, right, passed, after = 0, 0.0, 0.0, 0.0, 0.0, reached
    for place in range(1, n_known):
        row = entries[U(first + place - 1)] & layout.row_mask
        weight = rows[WEIGHT, row]
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


@kernel
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


@kernel
def choose_rpart(found: Any, largest: float) -> int:
    """The first split that improves most; -1 where rounding is all that improves."""
    best = -1
    for attribute in range(len(found)):
        if found[attribute, FOUND] == 0:
            continue
        improvement = found[attribute, IMPROVEMENT]
        largest = max(largest, improvement)
        if improvement <= largest * NEGLIGIBLE:
            continue
        if best < 0 or improvement > found[best, IMPROVEMENT]:
            best = attribute
    return best
