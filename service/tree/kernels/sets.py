"""The best division of the categories of an attribute."""

from typing import Any

import numpy as np

from service.tree.kernels.compile import lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.rooms import APART, KNOWN, LEFT, NULL, RIGHT, SIZES, SUBSET, WEIGHT, Rules
from service.tree.kernels.score import SQUARED_ERROR, clear, score, weight_of

ROUNDING = 1e-9  # weights that ought to be equal differ by less


@lean
def write_codes(
    values: Any, attributes: Any, starts: Any, size: int, rows: Any, first: int, last: int,
    codes: Any,
) -> None:  # fmt: skip
    """Where the statistics of some rows' categories begin, so many each; null has a line too."""
    for number in range(first, last):
        for place in range(len(attributes)):
            value = values[U(attributes[U(place)]), U(rows[U(number)])]
            is_null = np.isnan(value)
            line = starts[U(place + 1)] - 1 if is_null else starts[U(place)] + int(value)
            codes[U(number), U(place)] = line * size


@lean
def fill_tables(
    criterion: int, entries: Any, start: int, end: int, layout: Layout, rows: Any, codes: Any,
    first: int, last: int, cells: Any,
) -> None:  # fmt: skip
    """Adds the rows to the statistics of their categories of some attributes.

    All attributes of a row at once: what one adds to has nothing to do with the next.
    """
    for place in range(start, end):
        entry = entries[U(place)]
        row = entry & layout.row_mask
        weight, moment, square = rows[WEIGHT, row], 0.0, 0.0
        number = (entry >> layout.shift) & layout.class_mask
        if criterion == SQUARED_ERROR:
            moment = weight * rows[APART, row]
            square = moment * rows[APART, row]
        for attribute in range(first, last):
            code = U(codes[row, U(attribute)])
            if criterion == SQUARED_ERROR:
                cells[code] += weight
                cells[code + U(1)] += moment
                cells[code + U(2)] += square
            else:
                cells[code + number] += weight


@lean
def tell_table(n_values: int, table: Any, sums: Any) -> None:
    """Writes down the statistics of all categories together, and of null."""
    for number in range(sums.shape[1]):
        sums[NULL, number], sums[KNOWN, number] = table[n_values, number], 0.0
        for category in range(n_values):
            sums[KNOWN, number] += table[category, number]


@lean
def measure(criterion: int, n_values: int, table: Any, parts: Any) -> None:
    """Writes down the sizes of the categories, each a branch."""
    for category in range(n_values):
        parts[SIZES, category] = weight_of(criterion, table, category)


@lean
def multiway(criterion: int, n_values: int, table: Any) -> float:
    """What the categories score, each a branch."""
    found = 0.0
    for category in range(n_values):
        found += score(criterion, table, category)
    return found


@lean
def two_sides(
    rules: Rules, n_values: int, sides: Any, line: int, table: Any, sums: Any, parts: Any
) -> float:
    """What both sides score; of a subset split, categories that no row has go with the larger."""
    clear(sums, LEFT)
    clear(sums, RIGHT)
    for category in range(n_values):
        into = LEFT if sides[line, category] == 0 else RIGHT
        for number in range(sums.shape[1]):
            sums[into, number] += table[category, number]
    parts[SIZES, 0] = weight_of(rules.criterion, sums, LEFT)
    parts[SIZES, 1] = weight_of(rules.criterion, sums, RIGHT)
    if rules.categorical == SUBSET:
        larger = 0 if parts[SIZES, 0] >= parts[SIZES, 1] else 1
        for category in range(n_values):
            if weight_of(rules.criterion, table, category) <= 0:
                sides[line, category] = larger
    return score(rules.criterion, sums, LEFT) + score(rules.criterion, sums, RIGHT)


@lean
def divided(rules: Rules, sums: Any) -> float:
    """What is left and the rest score, minus infinity where a side is too light."""
    for number in range(sums.shape[1]):
        sums[RIGHT, number] = sums[KNOWN, number] - sums[LEFT, number]
    one = weight_of(rules.criterion, sums, LEFT)
    other = weight_of(rules.criterion, sums, RIGHT)
    least = rules.min_weight - ROUNDING
    if one <= 0 or other <= 0 or one < least or other < least:
        return -np.inf
    return score(rules.criterion, sums, LEFT) + score(rules.criterion, sums, RIGHT)


@lean
def best_category(
    rules: Rules, n_values: int, sides: Any, line: int, table: Any, sums: Any
) -> bool:
    """Whether one category can be divided from the rest; then the best is on side 0."""
    tie, best, at = rules.tie * weight_of(rules.criterion, sums, KNOWN), -np.inf, -1
    for category in range(n_values if n_values > 1 else 0):
        for number in range(sums.shape[1]):
            sums[LEFT, number] = table[category, number]
        here = divided(rules, sums)
        if here > best + tie or (at < 0 and here > -np.inf):
            best, at = here, category
    for category in range(n_values):
        sides[line, category] = 0 if category == at else 1
    return at >= 0
