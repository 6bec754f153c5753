"""Rows that know all that the tree may ask for: each has one way, and goes it step by step.

A step of one row after that of another: none of them waits for what the one before it finds.
"""

import numpy as np

from service.tree.kernels.compile import merged
from service.tree.kernels.entries import U
from service.tree.kernels.tell_ends import end
from service.tree.kernels.tell_grove import Grove, Shape, Slate, Space, knows_all


@merged
def _step(grove: Grove, node: int, value: float) -> int:
    """The child to which a value leads, or the same node where it leads nowhere."""
    at = grove.nodes[U(node)]
    is_category = at["table"] >= 0
    code = np.int64(at["table"]) + np.int64(value)
    branch = grove.table[U(code if is_category else np.int64(0))]
    branch = branch if is_category else np.int64(value > at["threshold"])
    below = np.int64(at["first"]) + branch
    return below if branch >= 0 else node


@merged
def _step_all(grove: Grove, n_going: int, space: Space) -> int:
    """Leads rows one step further; how many of them can go on."""
    nodes, going, n_next = space.most_rows, 2 * space.most_rows, 0
    for place in range(n_going):
        row = space.rows[U(going + place)]
        node = space.rows[U(nodes + row)]
        value = space.cells[U(grove.nodes[U(node)]["attribute"] * space.most_rows + row)]
        below = _step(grove, node, value)
        space.rows[U(nodes + row)], space.rows[U(going + n_next)] = below, row
        n_next += np.int64((below != node) & (grove.nodes[U(below)]["first"] != below))
    return n_next


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
def lead_sure(grove: Grove, shape: Shape, n_rows: int, space: Space, slate: Slate) -> int:
    """Leads those rows of a block to their leaves; lists all others, and tells how many.

    The first list is that of the others, the second has the node of each row, or -1, and the third
    who goes on.
    """
    n_left, n_sure = _list(grove, shape, n_rows, space)
    n_going = n_sure if grove.nodes[0]["first"] != 0 else 0
    while n_going > 0:
        n_going = _step_all(grove, n_going, space)
    for row in range(n_rows if n_sure > 0 else 0):
        node = space.rows[U(space.most_rows + row)]
        if node < 0:
            continue
        if grove.nodes[U(node)]["first"] == node:
            end(grove, shape, node, row, 1.0, space, slate)
        else:  # a split on the way leaves its category out
            space.rows[U(n_left)] = row
            n_left += 1
    return n_left
