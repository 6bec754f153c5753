"""The best division of categories into two sets as rpart finds it, to the last bit."""

from typing import Any

import numpy as np

from service.tree.kernels.compile import kernel
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.rooms import KNOWN, LEFT, RIGHT, SIZES, TARGET, WEIGHT, Rules
from service.tree.kernels.rpart import _after, _all_right, _before, holds, mean_of
from service.tree.kernels.score import SQUARED_ERROR
from service.tree.kernels.subsets import best_subset

MOST_MOVED = 16  # categories of which all sets are tried where there are more than two classes
MOST_CELLS = 1 << 22  # sets times classes that are tried at the most
SUM, SCALED, COUNT, SIZE = range(4)  # per category, columns of what is moved


@kernel
def moved_of(
    rules: Rules, entries: Any, start: int, end: int, layout: Layout, rows: Any, codes: Any,
    line: int, scale: Any, table: Any, moved: Any,
) -> int:  # fmt: skip
    """How many rows know their category; per category what is moved with it is written down."""
    n_known, mean = 0, 0.0
    moved[:] = 0.0
    table[:] = 0.0
    if rules.criterion == SQUARED_ERROR:
        mean = _known_mean(entries, start, end, layout, rows, codes, line)
    for place in range(start, end):
        entry = entries[U(place)]
        row = entry & layout.row_mask
        code = codes[line, row]
        if code < 0:
            continue
        weight, n_known = rows[WEIGHT, row], n_known + 1
        if rules.criterion == SQUARED_ERROR:
            table[code, 0] += (rows[TARGET, row] - mean) * weight
            moved[code, SCALED] += weight
        else:
            number = (entry >> layout.shift) & layout.class_mask
            table[code, number] += weight
            moved[code, SCALED] += scale[number] * weight
        moved[code, COUNT] += 1
        moved[code, SIZE] += weight
    return n_known


@kernel
def _known_mean(
    entries: Any, start: int, end: int, layout: Layout, rows: Any, codes: Any, line: int
) -> float:
    total = weight = 0.0
    for place in range(start, end):
        row = entries[U(place)] & layout.row_mask
        if codes[line, row] >= 0:
            total += rows[TARGET, row] * rows[WEIGHT, row]
            weight += rows[WEIGHT, row]
    return total / weight if weight > 0 else 0.0
