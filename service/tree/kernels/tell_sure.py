"""Rows that know their way: each goes it step by step, and is told what it finds at its leaf.

Who does not know goes as far as it does know. Eight go side by side, so that none of them waits for
what another finds.
"""

from typing import Any

import numpy as np

from service.tree.kernels.compile import merged
from service.tree.kernels.entries import U
from service.tree.kernels.shapes import CLASS, END, MET, N_LEAVES
from service.tree.kernels.tell_ends import likeliest
from service.tree.kernels.tell_grove import Grove, Shape, Slate, Space, Values, width_of


@merged
def _step(nodes: Any, table: Any, node: int, values: Values, first: int) -> int:
    """The child to which a row goes whose values begin there; or the same node, if to none."""
    at = nodes[U(node)]
    value = values.cells[U(at["attribute"] * values.attribute_step + first)]
    is_null, is_category = value != value, at["table"] >= 0
    code = np.int64(at["table"]) + np.int64(0.0 if is_null else value)
    branch = table[U(code if is_category else np.int64(0))]
    branch = branch if is_category else np.int64(value > at["threshold"])
    is_lost = is_null | (branch < 0)
    return np.int64(at["null"]) if is_lost else np.int64(at["first"]) + branch


@merged
def _eight(first: int, last: int, step: int) -> Any:
    """Where the values of eight rows begin, of which the last may be there more than once."""
    return (
        first * step, min(first + 1, last) * step, min(first + 2, last) * step,
        min(first + 3, last) * step, min(first + 4, last) * step, min(first + 5, last) * step,
        min(first + 6, last) * step, min(first + 7, last) * step,
    )  # fmt: skip


@merged
def _step_eight(nodes: Any, table: Any, at: Any, values: Values, own: Any) -> Any:
    """A step of each: written out, or the nodes would not stay in the processor's registers."""
    return (
        _step(nodes, table, at[0], values, own[0]), _step(nodes, table, at[1], values, own[1]),
        _step(nodes, table, at[2], values, own[2]), _step(nodes, table, at[3], values, own[3]),
        _step(nodes, table, at[4], values, own[4]), _step(nodes, table, at[5], values, own[5]),
        _step(nodes, table, at[6], values, own[6]), _step(nodes, table, at[7], values, own[7]),
    )  # fmt: skip


@merged
def _has_moved(at: Any, to: Any) -> bool:
    """Whether any has, found without a jump for each."""
    moved = (at[0] ^ to[0]) | (at[1] ^ to[1]) | (at[2] ^ to[2]) | (at[3] ^ to[3])
    return (moved | (at[4] ^ to[4]) | (at[5] ^ to[5]) | (at[6] ^ to[6]) | (at[7] ^ to[7])) != 0


@merged
def walk(nodes: Any, table: Any, values: Values, n_rows: int, found: Any, start: int) -> None:
    """Finds where each row goes no further; a leaf leads to itself."""
    for first in range(0, n_rows, 8):
        firsts = _eight(first, n_rows - 1, values.row_step)
        root = np.int64(0)
        at = (root, root, root, root, root, root, root, root)
        to = _step_eight(nodes, table, at, values, firsts)
        while _has_moved(at, to):
            at, to = to, _step_eight(nodes, table, to, values, firsts)
        for number in range(8):
            found[U(start + min(first + number, n_rows - 1))] = to[number]


@merged
def _tell(grove: Grove, shape: Shape, node: int, row: int, slate: Slate) -> None:
    """What a leaf tells of a row that has no other end."""
    own, size = node * shape.n_answers, shape.n_answers + shape.is_regression
    at = (slate.first_row + row) * width_of(shape)
    mark = (slate.first_row + row) * (MET + shape.n_met)
    for answer in range(shape.n_answers):
        # as if it were a sum, in which there is no -0.0
        slate.told[U(at + answer)] = 0.0 + grove.answers[U(own + answer)]
        slate.told[U(at + size + 2 * answer)] = grove.lowest[U(own + answer)]
        slate.told[U(at + size + 2 * answer + 1)] = grove.highest[U(own + answer)]
    if shape.is_regression:
        slate.told[U(at + 1)] = grove.variance[U(node)]
    slate.marks[U(mark + END)], slate.marks[U(mark + N_LEAVES)] = node, grove.n_leaves[U(node)]
    slate.marks[U(mark + CLASS)] = likeliest(slate.told, at, shape.n_answers)


@merged
def _meet_nothing(shape: Shape, n_rows: int, slate: Slate) -> None:
    """Notes that no row of a block has met anything; who has will be noted again."""
    for word in range(shape.n_met):  # a word of all rows: zeros side by side LLVM has others write
        for row in range(n_rows):
            slate.marks[U((slate.first_row + row) * (MET + shape.n_met) + MET + word)] = 0


@merged
def lead_sure(grove: Grove, shape: Shape, n_rows: int, space: Space, slate: Slate) -> int:
    """Tells of the rows of a block that come to a leaf; lists all others, and tells how many.

    The first list is that of the others, the second has where each row goes no further.
    """
    n_left, nodes = 0, space.most_rows
    n_attributes = 0  # which nobody asks for here
    values = Values(space.cells, 1, space.cell_step, n_attributes)
    walk(grove.nodes, grove.table, values, n_rows, space.rows, nodes)
    _meet_nothing(shape, n_rows, slate)
    for row in range(n_rows):
        node = space.rows[U(nodes + row)]
        if grove.nodes[U(node)]["first"] == node:
            _tell(grove, shape, node, row, slate)
        else:
            space.rows[U(n_left)] = row
            n_left += 1
    return n_left
