"""Telling kernel: from values straight to what is told of rows, divided where they do not know.

What is told is what `route` and `predict` tell, but for the rounding of sums in another order.

Processes without numba call this too (see `ahead`): it takes bare addresses, makes no array, and
calls nothing.
"""

import numpy as np

from service.tree.kernels.compile import merged
from service.tree.kernels.entries import U
from service.tree.kernels.shapes import CLASS, END, MET, N_LEAVES, N_TOTALS
from service.tree.kernels.tell_ends import AN_END, likeliest
from service.tree.kernels.tell_grove import Grove, Shape, Slate, Space, Values, width_of
from service.tree.kernels.tell_lists import lead
from service.tree.kernels.tell_sure import lead_sure


@merged
def _begin(shape: Shape, n_rows: int, space: Space, slate: Slate) -> None:
    """Says nothing yet of the rows in the first list."""
    size = shape.n_answers + shape.is_regression
    for place in range(n_rows):
        row = space.rows[U(place)]
        space.totals[U(row * N_TOTALS)], space.totals[U(row * N_TOTALS + 1)] = 0.0, 0.0
        at = (slate.first_row + row) * width_of(shape)
        for number in range(width_of(shape)):
            slate.told[U(at + number)] = 0.0 if number < size else -np.inf
        mark = (slate.first_row + row) * (MET + shape.n_met)
        slate.marks[U(mark + END)], slate.marks[U(mark + N_LEAVES)] = -1, 0
        for word in range(shape.n_met):
            # the first is 0 already; but LLVM would call somebody to write zeros side by side
            slate.marks[U(mark + MET + word)] = 0
            space.forgot[U(row * shape.n_met + word)] = 0


@merged
def _know(shape: Shape, n_attributes: int, n_rows: int, space: Space) -> None:
    """Notes what each row of a block knows."""
    for attribute in range(n_attributes):
        word, number, first = attribute >> 6, attribute & 63, attribute * space.cell_step
        bit, before = np.int64(1) << np.int64(number), np.int64(0 if number == 0 else -1)
        for row in range(n_rows):
            value, own = space.cells[U(first + row)], U(row * shape.n_met + word)
            space.known[own] = (space.known[own] & before) | (bit if value == value else 0)


@merged
def _taken(values: Values, n_rows: int, space: Space, first_row: int) -> Space:
    """The room, with the values of the rows of a block; where they lie, or copied."""
    cells, step = values.cells[first_row:], values.attribute_step
    if values.row_step != 1:
        cells, step = space.cells, space.most_rows
        for attribute in range(values.n_attributes):
            given = first_row * values.row_step + attribute * values.attribute_step
            for row in range(n_rows):
                value = values.cells[U(given + row * values.row_step)]
                cells[U(attribute * step + row)] = value
    return Space(
        space.rows, space.weights, space.stack, cells, step, space.known, space.forgot,
        space.totals, space.most_rows,
    )  # fmt: skip


@merged
def _finish(shape: Shape, n_rows: int, space: Space, slate: Slate) -> None:
    """Makes means of the sums; a row with one end and nothing unknown keeps that end's number.

    Those who knew their way have a node, but no ends were counted, and all was told of them.
    """
    size = shape.n_answers + shape.is_regression
    for row in range(n_rows):
        at = (slate.first_row + row) * width_of(shape)
        mark = (slate.first_row + row) * (MET + shape.n_met)
        n_ends = slate.marks[U(mark + N_LEAVES)] // AN_END
        if n_ends == 0 and slate.marks[U(mark + END)] >= 0:
            continue
        slate.marks[U(mark + N_LEAVES)] %= AN_END
        # shares sum to one only up to rounding; a single end is exact as it is
        total = space.totals[U(row * N_TOTALS)] if n_ends != 1 else 1.0
        for answer in range(size):
            slate.told[U(at + answer)] /= total  # NaN where there is no end
        for answer in range(shape.n_answers):
            low = U(at + size + 2 * answer)
            slate.told[low] = -slate.told[low]
        met = np.int64(0)
        for word in range(shape.n_met):
            own, place = U(row * shape.n_met + word), U(mark + MET + word)
            slate.marks[place] &= ~space.known[own] | space.forgot[own]
            met |= slate.marks[place]
        if n_ends != 1 or met != 0:
            slate.marks[U(mark + END)] = -1
        slate.marks[U(mark + CLASS)] = likeliest(slate.told, at, shape.n_answers)


@merged
def tell_block(
    grove: Grove, shape: Shape, values: Values, n_rows: int, space: Space, slate: Slate
) -> None:
    """Writes what is told of some rows, which begin where the slate says."""
    here = _taken(values, n_rows, space, slate.first_row)
    n_left = lead_sure(grove, shape, n_rows, here, slate)
    if n_left > 0:
        _know(shape, values.n_attributes, n_rows, here)
        _begin(shape, n_left, here, slate)
        lead(grove, shape, n_left, here, slate)
        _finish(shape, n_rows, here, slate)
