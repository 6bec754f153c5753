"""What stands for null in the rows of a node: the most common category, or the middle number."""

from typing import Any

from service.tree.kernels.compile import lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.rooms import KNOWN, NULL, WEIGHT
from service.tree.kernels.score import weight_of


@lean
def filled_column(
    entries: Any, start: int, n_known: int, end: int, layout: Layout, rows: Any, out: Any
) -> int:
    """The row with the weighted median; the column with its nulls beside that is written down."""
    total = 0.0
    for place in range(start, start + n_known):
        total += rows[WEIGHT, entries[U(place)] & layout.row_mask]
    passed, middle = 0.0, start
    while middle < start + n_known:
        passed += rows[WEIGHT, entries[U(middle)] & layout.row_mask]
        if passed >= total / 2:
            break
        middle += 1
    middle = min(middle, start + n_known - 1)
    behind = middle + 1  # all that is equal to the median
    while behind < start + n_known and entries[U(behind)] & layout.tie_bit:
        behind += 1
    before, n_null = behind - start, end - start - n_known
    for place in range(before):
        out[U(place)] = entries[U(start + place)]
    for place in range(n_null):
        entry = U(entries[U(start + n_known + place)]) & (layout.null_bit - U(1))
        out[U(before + place)] = entry | layout.tie_bit
    for place in range(behind, start + n_known):
        out[U(place - start + n_null)] = entries[U(place)]
    return int(entries[U(middle)] & layout.row_mask)


@lean
def fill_null(criterion: int, n_values: int, table: Any, sums: Any) -> int:
    """The category with most weight, the first of equals, which gets the rows of null; or -1."""
    best, most = -1, 0.0
    for category in range(n_values):
        weight = weight_of(criterion, table, category)
        if weight > most:
            best, most = category, weight
    if best < 0 or weight_of(criterion, sums, NULL) <= 0:
        return -1
    for number in range(sums.shape[1]):
        table[best, number] += sums[NULL, number]
        sums[KNOWN, number] += sums[NULL, number]
        sums[NULL, number] = 0.0
    return best
