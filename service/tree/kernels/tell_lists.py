"""Rows that may not know: they go down together, a node at a time, divided by weight.

Who comes to a node stands in a list of rows and weights, and is written into the list of one of its
branches, of those who end there because they know nothing of what is asked below, or of those who
divide. These are then written into the lists of all branches. Nothing jumps by chance, which would
take longer than all the rest.
"""

import numpy as np

from service.tree.kernels.compile import merged
from service.tree.kernels.entries import U
from service.tree.kernels.shapes import ITEM, N_OTHERS
from service.tree.kernels.tell_ends import end_list
from service.tree.kernels.tell_grove import Grove, Shape, Slate, Space, knows


@merged
def _push(space: Space, n_items: int, node: int, start: int, stop: int) -> int:
    """How many items the stack has with this one, unless nobody is in its list."""
    space.stack[U(n_items * ITEM)] = node
    space.stack[U(n_items * ITEM + 1)] = start
    space.stack[U(n_items * ITEM + 2)] = stop
    return n_items + np.int64(stop > start)


@merged
def _open(item: int, n_lists: int, start: int, stop: int, space: Space) -> None:
    """Empty lists for the items from this one on."""
    for number in range(n_lists):
        list_start = stop + number * (stop - start)
        space.stack[U((item + number) * ITEM + 1)] = list_start
        space.stack[U((item + number) * ITEM + 2)] = list_start


@merged
def _cut(
    grove: Grove, shape: Shape, node: int, item: int, start: int, stop: int, space: Space
) -> None:
    """Writes each row into the list of its side of a threshold, or of those who do not know."""
    at, size = grove.nodes[U(node)], stop - start
    cut, column = at["threshold"], at["attribute"] * space.cell_step
    low, high, ended, divided = stop, stop + size, stop + 2 * size, stop + 3 * size
    for place in range(start, stop):
        row, weight = space.rows[U(place)], space.weights[U(place)]
        value = space.cells[U(column + row)]
        divides, is_null = knows(grove, shape, node, row, space), value != value
        side = high if value > cut else low
        lost = divided if divides else ended
        to = lost if is_null else side
        space.rows[U(to)], space.weights[U(to)] = row, weight
        low += np.int64(value <= cut)
        high += np.int64(value > cut)
        ended += np.int64(is_null & (not divides))
        divided += np.int64(is_null & divides)
    for number, last in enumerate((low, high, ended, divided)):
        space.stack[U((item + number) * ITEM + 2)] = last


@merged
def _sort(
    grove: Grove, shape: Shape, node: int, item: int, start: int, stop: int, space: Space
) -> None:
    """Likewise into that of its category's branch, or of null's own."""
    at = grove.nodes[U(node)]
    column, n_branches = at["attribute"] * space.cell_step, at["n_branches"]
    has_table = at["table"] >= 0
    own = np.int64(at["null"] - at["first"]) if at["null"] != node else np.int64(-1)
    table = np.int64(at["table"]) if has_table else np.int64(0)
    for place in range(start, stop):
        row, weight = space.rows[U(place)], space.weights[U(place)]
        value = space.cells[U(column + row)]
        lost = n_branches + np.int64(knows(grove, shape, node, row, space))
        lost = own if own >= 0 else lost
        code = np.int64(value) if has_table and value == value else np.int64(0)
        branch = grove.table[U(table + code)]
        branch = branch if has_table else np.int64(value > at["threshold"])
        branch = branch if value == value else np.int64(-1)
        last = U((item + (branch if branch >= 0 else lost)) * ITEM + 2)
        to = space.stack[last]
        space.rows[U(to)], space.weights[U(to)] = row, weight
        space.stack[last] = to + 1


@merged
def _divide(grove: Grove, node: int, item: int, start: int, stop: int, space: Space) -> None:
    """Writes those who divide into the lists of all branches."""
    at = grove.nodes[U(node)]
    for below in range(at["n_branches"]):
        share, last = grove.share[U(at["first"] + below)], U((item + below) * ITEM + 2)
        if share > 0.0:
            ahead = space.stack[last] - start
            for place in range(start, stop):
                space.rows[U(place + ahead)] = space.rows[U(place)]
                space.weights[U(place + ahead)] = space.weights[U(place)] * share
            space.stack[last] = stop + ahead


@merged
def _forget(grove: Grove, shape: Shape, node: int, start: int, stop: int, space: Space) -> None:
    """Notes who of those who divide has a category that the split leaves out."""
    attribute = grove.nodes[U(node)]["attribute"]
    for place in range(start, stop):
        row = space.rows[U(place)]
        value = space.cells[U(attribute * space.cell_step + row)]
        if value == value:
            word = U(row * shape.n_met + (attribute >> 6))
            space.forgot[word] |= np.int64(1) << np.int64(attribute & 63)


@merged
def _send(grove: Grove, shape: Shape, node: int, item: int, space: Space) -> int:
    """The items with those of all branches in whose lists anybody is, and of who ends there."""
    at = grove.nodes[U(node)]
    start, stop = space.stack[U(item * ITEM + 1)], space.stack[U(item * ITEM + 2)]
    _open(item, at["n_branches"] + N_OTHERS, start, stop, space)
    if at["table"] < 0 and at["null"] == node:
        _cut(grove, shape, node, item, start, stop, space)
    else:
        _sort(grove, shape, node, item, start, stop, space)
    divided = U((item + at["n_branches"] + 1) * ITEM)
    start, stop = space.stack[divided + U(1)], space.stack[divided + U(2)]
    if stop > start:
        _divide(grove, node, item, start, stop, space)
        if at["table"] >= 0:
            _forget(grove, shape, node, start, stop, space)
    n_items = item
    for branch in range(at["n_branches"] + 1):
        place = U((item + branch) * ITEM)
        below = at["first"] + branch if branch < at["n_branches"] else -1 - node
        n_items = _push(space, n_items, below, space.stack[place + U(1)], space.stack[place + U(2)])
    return n_items


@merged
def lead(grove: Grove, shape: Shape, n_rows: int, space: Space, slate: Slate) -> None:
    """Leads so many rows, which stand in the first list, from the root to all their ends."""
    for place in range(n_rows):
        space.weights[U(place)] = 1.0
    n_items = _push(space, 0, 0, 0, n_rows)
    while n_items > 0:
        n_items -= 1
        start, stop = space.stack[U(n_items * ITEM + 1)], space.stack[U(n_items * ITEM + 2)]
        node = space.stack[U(n_items * ITEM)]
        if node < 0 or grove.nodes[U(node)]["first"] == node:
            end_list(grove, shape, max(node, -1 - node), start, stop, space, slate)
        else:
            n_items = _send(grove, shape, node, n_items, space)
