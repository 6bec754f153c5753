"""Rows that all know their way, as processes without numba call it: to their leaves, and to Arrow.

What a leaf tells is looked up where it is written, and stands nowhere in between.
"""

from math import sqrt
from typing import Any

import numpy as np

from service.tree.kernels.ahead_arrow import set_bit
from service.tree.kernels.compile import merged
from service.tree.kernels.entries import U
from service.tree.kernels.memory import array_at
from service.tree.kernels.signed import FLOATS, INTS, LETTERS, NODES, WHOLE, signed
from service.tree.kernels.tell_ends import likeliest
from service.tree.kernels.tell_grove import Values
from service.tree.kernels.tell_sure import walk


@signed(NODES, INTS, WHOLE, WHOLE, FLOATS, WHOLE, WHOLE, WHOLE, WHOLE, INTS, INTS)
def find_leaves(
    nodes: Any, table: Any, n_nodes: int, n_table: int,
    cells: Any, n_rows: int, row_step: int, attribute_step: int, n_attributes: int,
    leaves: Any, n_lost: Any,
) -> None:  # fmt: skip
    """Writes to which leaf each row goes, or where it does not know on; and how many do not."""
    all_nodes, found, lost = array_at(nodes, n_nodes), array_at(leaves, n_rows), 0
    values = Values(array_at(cells, n_rows * n_attributes), row_step, attribute_step, n_attributes)
    walk(all_nodes, array_at(table, n_table), values, n_rows, found, 0)
    for row in range(n_rows):
        node = found[U(row)]
        lost += np.int64(all_nodes[U(node)]["first"] != node)
    array_at(n_lost, 1)[0] = lost


@merged
def _lay(told: Any, n_answers: int, leaves: Any, places: Any, size: int, out: Any) -> None:
    """Writes columns: of each answer what the leaves say, which is its lowest and highest too."""
    for answer in range(n_answers):
        own, low = places[U(answer)], places[U(size + 2 * answer)]
        high = places[U(size + 2 * answer + 1)]
        for row in range(len(leaves)):
            said = told[U(leaves[U(row)] * n_answers + answer)]
            out[U(own + row)] = out[U(low + row)] = out[U(high + row)] = said


@merged
def _lay_marks(
    told: Any, n_answers: int, weight: Any, leaves: Any, classes: Any, counts: Any, certain: Any
) -> None:
    """Writes per row its class, its only leaf, and a bit if any training row had come there."""
    for row in range(len(leaves)):
        leaf = leaves[U(row)]
        classes[U(row)] = np.uint8(likeliest(told, leaf * n_answers, n_answers))
        counts[U(row)] = 1
        set_bit(certain, row, np.int64(weight[U(leaf)] > 0.0))


@signed(
    *(FLOATS, FLOATS, FLOATS, WHOLE, WHOLE, WHOLE, INTS, WHOLE),
    *(FLOATS, WHOLE, INTS, LETTERS, INTS, LETTERS),
)
def write_arrow_leaves(
    told: Any, variance: Any, weight: Any, n_nodes: int, n_answers: int, is_regression: int,
    leaves: Any, n_rows: int,
    floats: Any, n_floats: int, places: Any, classes: Any, counts: Any, certain: Any,
) -> None:  # fmt: skip
    """Writes what leaves tell of rows, as `write_arrow` writes what is told of each row."""
    answers, own = array_at(told, n_nodes * n_answers), array_at(leaves, n_rows)
    size, room = n_answers + is_regression, array_at(floats, n_floats)
    starts = array_at(places, size + 2 * n_answers)
    _lay(answers, n_answers, own, starts, size, room)
    if is_regression:
        spread = array_at(variance, n_nodes)
        for row in range(n_rows):
            room[U(starts[1] + row)] = sqrt(spread[U(own[U(row)])])
    _lay_marks(
        answers, n_answers, array_at(weight, n_nodes), own, array_at(classes, n_rows),
        array_at(counts, n_rows), array_at(certain, (n_rows + 7) >> 3),
    )  # fmt: skip
