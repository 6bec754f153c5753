"""The best division of categories into two sets as rpart finds it, to the last bit.

Categories move to the left one after another: in the order of their mean, or so that every set is
come by; the sums on both sides are taken along.
"""

from typing import Any

import numpy as np

from service.tree.kernels.compile import kernel, lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.rooms import (
    KNOWN,
    MAJORITY,
    STOP,
    TARGET,
    WEIGHT,
    Rules,
)
from service.tree.kernels.rpart_moves import (
    COUNT,
    N_ALL,
    OTHER,
    SCALED,
    SIZE,
    SIZE_ALL,
    begin,
    is_lower,
    keep,
    move,
    worth,
)
from service.tree.kernels.rpart_sides import before_cut
from service.tree.kernels.score import GAIN, SQUARED_ERROR
from service.tree.kernels.subsets import best_subset

MOST_MOVED = 16  # categories of which all sets are tried where there are more than two classes
MOST_CELLS = 1 << 22  # sets times classes that are tried at the most
LOG_2 = np.log(2.0)


@kernel
def sets_rpart(
    rules: Rules, layout: Layout, scale: Any, entries: Any, start: int, end: int, rows: Any,
    codes: Any, categories: Any, line: int, n_values: int, table: Any, sums: Any, sides: Any,
    attribute: int, weight: float,
) -> tuple[float, float, float]:  # fmt: skip
    """What the best division improves, 0 for none, what it gains, and what stood for null."""
    moved, reached = np.zeros((n_values, 3)), np.zeros(8)
    filled = -1
    if rules.missing == MAJORITY:
        filled = _most_common(entries, start, end, layout, rows, codes, categories, line, moved)
    base = _summed(
        rules.criterion, entries, start, end, layout, rows, codes, categories, line, filled, scale,
        table, sums, moved, reached,
    )  # fmt: skip
    present = _present(moved)
    if len(present) < 2:
        return 0.0, 0.0, np.nan
    best = _divided(rules, scale, table, sums, moved, reached, present, sides, attribute, base)
    if best <= base:
        return 0.0, 0.0, np.nan
    if not is_lower(rules.criterion, scale, sums, reached):
        for at in range(len(present)):
            sides[attribute, present[at]] = 1 - sides[attribute, present[at]]
    _place_absent(
        rules, entries, start, end, layout, rows, codes, categories, line, filled, moved, sides,
        attribute,
    )  # fmt: skip
    improvement = best - base
    gain = improvement / weight / (LOG_2 if rules.criterion == GAIN else 1.0)
    return improvement, gain, np.nan if filled < 0 else float(filled)


@kernel
def _present(moved: Any) -> Any:
    """The categories that rows have."""
    found, n_found = np.empty(len(moved), np.int64), 0
    for category in range(len(moved)):
        if moved[category, COUNT] > 0:
            found[n_found] = category
            n_found += 1
    return found[:n_found]


@lean
def code_of(codes: Any, categories: Any, line: int, row: Any, filled: int) -> int:
    """The category of a row, or what is filled in for null."""
    code = int(categories[codes[row, line]])
    return filled if code < 0 else code


@lean
def _most_common(
    entries: Any, start: int, end: int, layout: Layout, rows: Any, codes: Any,
    categories: Any, line: int, moved: Any,
) -> int:  # fmt: skip
    """The category with most weight, the first of equals; -1 where none is known, or no null."""
    best, has_null = -1, False
    for place in range(start, end):
        row = entries[U(place)] & layout.row_mask
        code = code_of(codes, categories, line, row, -1)
        has_null = has_null or code < 0
        if code >= 0:
            moved[code, SIZE] += rows[WEIGHT, row]
    for category in range(len(moved)):
        if moved[category, SIZE] > (moved[best, SIZE] if best >= 0 else 0.0):
            best = category
    for category in range(len(moved)):
        moved[category, SIZE] = 0.0
    return best if has_null else -1


@lean
def _summed(
    criterion: int, entries: Any, start: int, end: int, layout: Layout, rows: Any, codes: Any,
    categories: Any, line: int, filled: int, scale: Any, table: Any, sums: Any, moved: Any,
    reached: Any,
) -> float:  # fmt: skip
    """What no division at all is worth; what each category moves is written down."""
    mean = 0.0
    if criterion == SQUARED_ERROR:
        mean = _mean(entries, start, end, layout, rows, codes, categories, line, filled)
    for each in range(sums.shape[1]):
        sums[KNOWN, each] = 0.0
        for category in range(len(moved)):
            table[category, each] = 0.0
    for place in range(start, end):
        entry = entries[U(place)]
        row = entry & layout.row_mask
        code, weight = code_of(codes, categories, line, row, filled), rows[WEIGHT, row]
        if code < 0:
            continue
        number: Any = U(0)
        step = own = weight
        if criterion == SQUARED_ERROR:
            step = (rows[TARGET, row] - mean) * weight
        else:
            number = (entry >> layout.shift) & layout.class_mask
            own = scale[number] * weight
            sums[KNOWN, number] += weight
        table[code, number] += step
        moved[code, SCALED] += own
        moved[code, COUNT] += 1.0
        moved[code, SIZE] += weight
        reached[OTHER] += own
        reached[N_ALL] += 1.0
        reached[SIZE_ALL] += weight
    if criterion == SQUARED_ERROR or reached[N_ALL] == 0:
        return 0.0
    return -float(before_cut(criterion, sums, KNOWN, scale, reached[OTHER]))


@lean
def _mean(
    entries: Any, start: int, end: int, layout: Layout, rows: Any, codes: Any,
    categories: Any, line: int, filled: int,
) -> float:  # fmt: skip
    """The mean of the targets of rows that know their category."""
    total = weight = 0.0
    for place in range(start, end):
        row = entries[U(place)] & layout.row_mask
        if code_of(codes, categories, line, row, filled) >= 0:
            total += rows[TARGET, row] * rows[WEIGHT, row]
            weight += rows[WEIGHT, row]
    return total / weight if weight > 0 else 0.0


@kernel
def _divided(
    rules: Rules, scale: Any, table: Any, sums: Any, moved: Any, reached: Any, present: Any,
    sides: Any, line: int, start: float,
) -> float:  # fmt: skip
    """What the best division is worth; 0 is the side of the categories that moved."""
    n_classes, n_values, order = sums.shape[1], len(moved), present.copy()
    if rules.criterion == SQUARED_ERROR or n_classes <= 2:
        keys = np.empty(len(present))
        for at in range(len(present)):
            keys[at] = table[present[at], 0] / moved[present[at], SCALED]
        by_key = np.argsort(keys, kind="mergesort")
        for at in range(len(present)):
            order[at] = present[by_key[at]]
        return float(
            _along(rules, scale, table, sums, moved, reached, order, present, sides, line, start)
        )
    # the last category stays where it is; where no row has it, each division comes twice
    n_moved = len(present) - (1 if present[-1] == n_values - 1 else 0)
    if n_moved <= MOST_MOVED and n_classes << n_moved <= MOST_CELLS:
        return float(
            _by_all(rules, scale, table, sums, moved, reached, n_moved, present, sides, line, start)
        )
    n_left = 1
    if best_subset(rules, n_values, sides, line, table, sums):
        n_left = 0
        for at in range(len(present)):
            if sides[line, present[at]] == 0:
                order[n_left] = present[at]
                n_left += 1
    order = order[:n_left]
    return float(
        _along(rules, scale, table, sums, moved, reached, order, present, sides, line, start)
    )


@lean
def _along(
    rules: Rules, scale: Any, table: Any, sums: Any, moved: Any, reached: Any, order: Any,
    present: Any, sides: Any, line: int, start: float,
) -> float:  # fmt: skip
    """What the best of the first categories of an order is worth."""
    best, n_left = start, 0
    begin(rules.criterion, sums)
    for at in range(len(order)):
        move(table, sums, moved, reached, order[at], 1.0)
        here = worth(rules, scale, sums, reached)
        if here > best and np.isfinite(here):
            best, n_left = here, at + 1
            keep(sums, reached)
    for at in range(len(present)):
        sides[line, present[at]] = 1
    for at in range(n_left):
        sides[line, order[at]] = 0
    return best


@lean
def _by_all(
    rules: Rules, scale: Any, table: Any, sums: Any, moved: Any, reached: Any, n_moved: int,
    present: Any, sides: Any, line: int, start: float,
) -> float:  # fmt: skip
    """What the best of all sets is worth; one category is changed at a time."""
    best, chosen = start, 0
    begin(rules.criterion, sums)
    for step in range(1, 1 << n_moved):
        lowest, code, at = step & -step, step ^ (step >> 1), 0
        while lowest >> at > 1:
            at += 1
        move(table, sums, moved, reached, present[at], 1.0 if code & lowest else -1.0)
        here = worth(rules, scale, sums, reached)
        if here > best and np.isfinite(here):
            best, chosen = here, code
            keep(sums, reached)
    for at in range(len(present)):
        sides[line, present[at]] = 1 - ((chosen >> at) & 1)
    return best


@lean
def _place_absent(
    rules: Rules, entries: Any, start: int, end: int, layout: Layout, rows: Any, codes: Any,
    categories: Any, line: int, filled: int, moved: Any, sides: Any, attribute: int,
) -> None:  # fmt: skip
    """A category that no row has goes with the larger side, or nowhere where rows may stop."""
    n_absent, left, right = 0, 0.0, 0.0
    for category in range(len(moved)):
        n_absent += 1 if moved[category, COUNT] == 0 else 0
    for place in range(start, end if n_absent > 0 and rules.missing != STOP else start):
        row = entries[U(place)] & layout.row_mask
        code = code_of(codes, categories, line, row, filled)
        if code >= 0 and sides[attribute, code] == 0:
            left += rows[WEIGHT, row]
        elif code >= 0:
            right += rows[WEIGHT, row]
    larger = 0 if left >= right else 1
    for category in range(len(moved)):
        if moved[category, COUNT] == 0:
            sides[attribute, category] = -1 if rules.missing == STOP else larger
