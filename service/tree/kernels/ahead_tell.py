"""Telling, as processes without numba call it."""

from typing import Any

from service.tree.kernels.compile import merged
from service.tree.kernels.memory import array_at
from service.tree.kernels.shapes import ITEM, MET, N_TOTALS
from service.tree.kernels.signed import FLOATS, INTS, NODES, WHOLE, signed
from service.tree.kernels.tell import tell_block
from service.tree.kernels.tell_grove import Grove, Shape, Slate, Space, Values, width_of


@merged
def _space(
    floats: Any, ints: Any, n_lists: int, most_rows: int, n_cells: int, n_known: int
) -> Space:
    """The room of a block, part by part."""
    n_entries, n_stack = n_lists * most_rows, ITEM * n_lists
    return Space(
        ints[:n_entries], floats[:n_entries], ints[n_entries : n_entries + n_stack],
        floats[n_entries : n_entries + n_cells], most_rows,
        ints[n_entries + n_stack : n_entries + n_stack + n_known],
        ints[n_entries + n_stack + n_known :], floats[n_entries + n_cells :], most_rows,
    )  # fmt: skip


@signed(
    *(NODES, INTS, FLOATS, INTS, INTS, FLOATS, FLOATS, FLOATS, FLOATS, INTS),
    *(WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE),
    *(FLOATS, WHOLE, WHOLE, WHOLE),
    *(WHOLE, FLOATS, INTS),
)
def tell_rows(
    nodes: Any, table: Any, share: Any, asks: Any, touched: Any, answers: Any, lowest: Any,
    highest: Any, variance: Any, n_leaves: Any,
    n_nodes: int, n_table: int, n_answers: int, n_words: int, is_regression: int,
    n_attributes: int, n_lists: int,
    cells: Any, n_rows: int, row_step: int, attribute_step: int,
    most_rows: int, floats: Any, ints: Any,
) -> None:  # fmt: skip
    """Writes what is told of all rows, a block of the most rows after the other.

    The numbers that are told, then room for those of a block; and so the marks.
    """
    shape = Shape(n_answers, n_words, (n_attributes + 63) >> 6, is_regression)
    n_all, n_entries = n_nodes * n_answers, n_lists * most_rows
    grove = Grove(
        array_at(nodes, n_nodes), array_at(table, n_table), array_at(share, n_nodes),
        array_at(asks, n_nodes * n_words), array_at(touched, n_nodes * shape.n_met),
        array_at(answers, n_all), array_at(lowest, n_all), array_at(highest, n_all),
        array_at(variance, n_nodes), array_at(n_leaves, n_nodes),
    )  # fmt: skip
    n_told, n_noted = n_rows * width_of(shape), n_rows * (MET + shape.n_met)
    n_cells, n_known = n_attributes * most_rows, shape.n_met * most_rows
    all_floats = array_at(floats, n_told + n_entries + n_cells + N_TOTALS * most_rows)
    all_ints = array_at(ints, n_noted + n_entries + ITEM * n_lists + 2 * n_known)
    space = _space(all_floats[n_told:], all_ints[n_noted:], n_lists, most_rows, n_cells, n_known)
    values = Values(array_at(cells, n_rows * n_attributes), row_step, attribute_step, n_attributes)
    first_row = 0
    while first_row < n_rows:  # a range might raise, which nobody would hear here
        n_block = min(most_rows, n_rows - first_row)
        slate = Slate(all_floats, all_ints, first_row)
        if n_answers == 2 and n_words == 1 and shape.n_met == 1 and is_regression == 0:
            # the same, but the compiler knows how often each loop is passed, which are very short
            tell_block(grove, Shape(2, 1, 1, 0), values, n_block, space, slate)
        else:
            tell_block(grove, shape, values, n_block, space, slate)
        first_row += most_rows
