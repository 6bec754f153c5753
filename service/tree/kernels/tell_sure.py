"""Rows that know all that the tree may ask for: each has one way, and goes it step by step.

Eight go side by side, so that none of them waits for what another finds.
"""

from typing import Any

import numpy as np

from service.tree.kernels.compile import merged
from service.tree.kernels.entries import U
from service.tree.kernels.shapes import CLASS, END, MET, N_LEAVES
from service.tree.kernels.tell_ends import likeliest
from service.tree.kernels.tell_grove import Grove, Shape, Slate, Space, knows_all, width_of


@merged
def _step(grove: Grove, node: int, row: int, space: Space) -> int:
    """The child to which a row goes, or the same node where its value leads nowhere."""
    at = grove.nodes[U(node)]
    value = space.cells[U(at["attribute"] * space.cell_step + row)]
    is_category = at["table"] >= 0
    code = np.int64(at["table"]) + np.int64(value)
    branch = grove.table[U(code if is_category else np.int64(0))]
    branch = branch if is_category else np.int64(value > at["threshold"])
    below = np.int64(at["first"]) + branch
    return below if branch >= 0 else node


@merged
def _eight(rows: Any, first: int, last: int) -> Any:
    """Eight rows of a list, of which the last may be there more than once."""
    return (
        rows[U(first)], rows[U(min(first + 1, last))], rows[U(min(first + 2, last))],
        rows[U(min(first + 3, last))], rows[U(min(first + 4, last))], rows[U(min(first + 5, last))],
        rows[U(min(first + 6, last))], rows[U(min(first + 7, last))],
    )  # fmt: skip


@merged
def _step_eight(grove: Grove, at: Any, rows: Any, space: Space) -> Any:
    """A step of each: written out, or the nodes would not stay in the processor's registers."""
    return (
        _step(grove, at[0], rows[0], space), _step(grove, at[1], rows[1], space),
        _step(grove, at[2], rows[2], space), _step(grove, at[3], rows[3], space),
        _step(grove, at[4], rows[4], space), _step(grove, at[5], rows[5], space),
        _step(grove, at[6], rows[6], space), _step(grove, at[7], rows[7], space),
    )  # fmt: skip


@merged
def _has_moved(at: Any, to: Any) -> bool:
    """Whether any has, found without a jump for each."""
    moved = (at[0] ^ to[0]) | (at[1] ^ to[1]) | (at[2] ^ to[2]) | (at[3] ^ to[3])
    return (moved | (at[4] ^ to[4]) | (at[5] ^ to[5]) | (at[6] ^ to[6]) | (at[7] ^ to[7])) != 0


@merged
def _walk(grove: Grove, n_sure: int, space: Space) -> None:
    """Leads the rows in the third list to where they go no further; a leaf leads to itself."""
    nodes, listed = space.most_rows, 2 * space.most_rows
    for first in range(listed, listed + n_sure, 8):
        rows = _eight(space.rows, first, listed + n_sure - 1)
        root = np.int64(0)
        at = (root, root, root, root, root, root, root, root)
        to = _step_eight(grove, at, rows, space)
        while _has_moved(at, to):
            at, to = to, _step_eight(grove, to, rows, space)
        for number in range(8):
            space.rows[U(nodes + rows[number])] = to[number]


@merged
def _list(grove: Grove, shape: Shape, n_rows: int, space: Space) -> tuple[int, int]:
    """How many rows of a block do not know all, and how many do, now that they are listed."""
    n_left, n_sure = 0, 0
    for row in range(n_rows):
        is_sure = knows_all(grove, shape, row, space)
        space.rows[U(n_left)] = space.rows[U(2 * space.most_rows + n_sure)] = row
        space.rows[U(space.most_rows + row)] = 0 if is_sure else -1
        n_left += np.int64(not is_sure)
        n_sure += np.int64(is_sure)
    return n_left, n_sure


@merged
def _tell(grove: Grove, shape: Shape, node: int, row: int, space: Space, slate: Slate) -> None:
    """What a node tells of a row that has no other end, and knows all that it was asked for."""
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
    for word in range(shape.n_met):
        known = space.known[U(row * shape.n_met + word)]
        # nothing, but LLVM would call somebody outside to write zeros
        slate.marks[U(mark + MET + word)] = grove.touched[U(node * shape.n_met + word)] & ~known


@merged
def lead_sure(grove: Grove, shape: Shape, n_rows: int, space: Space, slate: Slate) -> int:
    """Tells of those rows of a block; lists all others, and tells how many.

    The first list is that of the others, the second has the node of each row, or -1, and the third
    who knows all.
    """
    n_left, n_sure = _list(grove, shape, n_rows, space)
    _walk(grove, n_sure, space)
    for row in range(n_rows if n_sure > 0 else 0):
        node = space.rows[U(space.most_rows + row)]
        if node < 0:
            continue
        if grove.nodes[U(node)]["first"] == node:
            _tell(grove, shape, node, row, space, slate)
        else:  # a split on the way leaves its category out
            space.rows[U(n_left)] = row
            n_left += 1
    return n_left
