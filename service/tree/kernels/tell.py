"""Telling kernel: from values straight to what is told of rows, divided where they do not know.

The rows of a block go down together, a node at a time: who comes to a node stands in a list of rows
and weights, and is written into the lists of its children, where there are two without a jump that
depends on a value. What is told is what `route` and `predict` tell, but for the rounding of sums in
another order.

Processes without numba call this too (see `ahead`): it takes bare addresses, makes no array, and
calls nothing.
"""

from typing import Any, NamedTuple

import numpy as np

from service.tree.criterion import TIE
from service.tree.kernels.compile import inlined
from service.tree.kernels.entries import U
from service.tree.kernels.shapes import CLASS, END, ITEM, MET, N_LEAVES, N_TOTALS

AN_END = 1 << 32  # in the number of leaves, while ends are counted there too


class Grove(NamedTuple):
    """A tree, and what each of its nodes tells whoever ends there."""

    nodes: Any  # NODE by node
    table: Any  # branches by category; -1 as if it were null
    share: Any  # by node, and one more: that of whoever knows, which is whole
    asks: Any  # by node so many words: the bits of the attributes that are asked for from there on
    touched: Any  # likewise, also of those on the way there; but for where null has its own branch
    answers: Any  # by node as many as there are, and so are the next two
    lowest: Any
    highest: Any
    variance: Any
    n_leaves: Any


class Shape(NamedTuple):
    """How many of all this there are."""

    n_answers: int
    n_words: int  # of what is asked for; none where nobody ends above a leaf
    n_met: int  # of what is touched: as many as attributes need
    is_regression: int


class Values(NamedTuple):
    """The values of all rows, in either order."""

    cells: Any
    row_step: int
    attribute_step: int
    n_attributes: int


class Space(NamedTuple):
    """Where one block of rows after the other is led down."""

    rows: Any  # the lists: which row of the block ...
    weights: Any  # ... and how much of it
    stack: Any  # per item a node, or -1 less it for who ends there; where its list begins and ends
    cells: Any  # the values of the block, one attribute after the other
    known: Any  # per row of the block the words of what it knows
    forgot: Any  # likewise of what it knows, but a split does not
    totals: Any  # per row of the block its weight, and the mean of its ends so far
    most_rows: int


class Slate(NamedTuple):
    """What is told: per row the answers, in regression the variance, and pairs of bounds."""

    told: Any  # which is all 0 at first
    marks: Any  # likewise: the only end or -1, the likeliest class, how many leaves, what was met
    first_row: int  # of the block


@inlined
def width_of(shape: Shape) -> int:
    """How many numbers are told of a row."""
    return 3 * shape.n_answers + shape.is_regression


@inlined
def _begin(shape: Shape, values: Values, n_rows: int, space: Space, slate: Slate) -> None:
    """Puts the rows of a block at the root, with what each of them knows."""
    for row in range(n_rows):
        space.rows[U(row)], space.weights[U(row)] = row, 1.0
        space.totals[U(row * N_TOTALS)], space.totals[U(row * N_TOTALS + 1)] = 0.0, 0.0
        at = (slate.first_row + row) * width_of(shape) + shape.n_answers + shape.is_regression
        for answer in range(shape.n_answers):
            slate.told[U(at + 2 * answer)] = np.inf
            slate.told[U(at + 2 * answer + 1)] = -np.inf
        given = (slate.first_row + row) * values.row_step
        for attribute in range(values.n_attributes):
            value = values.cells[U(given + attribute * values.attribute_step)]
            space.cells[U(attribute * space.most_rows + row)] = value
        for word in range(shape.n_met):
            known = np.int64(0)
            for attribute in range(word << 6, min((word + 1) << 6, values.n_attributes)):
                value = space.cells[U(attribute * space.most_rows + row)]
                known |= np.int64(value == value) << np.int64(attribute & 63)
            space.known[U(row * shape.n_met + word)] = known
            space.forgot[U(row * shape.n_met + word)] = 0


@inlined
def _push(space: Space, n_items: int, node: int, start: int, end: int) -> int:
    """How many items the stack has with this one, unless nobody is in its list."""
    space.stack[U(n_items * ITEM)] = node
    space.stack[U(n_items * ITEM + 1)] = start
    space.stack[U(n_items * ITEM + 2)] = end
    return n_items + np.int64(end > start)


@inlined
def _append(space: Space, item: int, row: int, weight: float) -> None:
    """Writes some of a row into the list of an item."""
    place = space.stack[U(item * ITEM + 2)]
    space.rows[U(place)], space.weights[U(place)] = row, weight
    space.stack[U(item * ITEM + 2)] = place + 1


@inlined
def _knows(grove: Grove, shape: Shape, node: int, row: int, space: Space) -> bool:
    """Whether a row knows anything that is asked from this node on; or all must divide."""
    common = np.int64(shape.n_words == 0)
    for word in range(shape.n_words):
        asked = grove.asks[U(node * shape.n_words + word)]
        common |= asked & space.known[U(row * shape.n_words + word)]
    return common != 0


@inlined
def _end(
    grove: Grove, shape: Shape, node: int, row: int, weight: float, space: Space, slate: Slate
) -> None:
    """So much of a row of the block ends at a node."""
    own, size = node * shape.n_answers, shape.n_answers + shape.is_regression
    at, total = (slate.first_row + row) * width_of(shape), row * N_TOTALS
    mark = (slate.first_row + row) * (MET + shape.n_met)
    space.totals[U(total)] += weight
    slate.marks[U(mark + END)] = node
    slate.marks[U(mark + N_LEAVES)] += grove.n_leaves[U(node)] + AN_END
    for word in range(shape.n_met):
        slate.marks[U(mark + MET + word)] |= grove.touched[U(node * shape.n_met + word)]
    for answer in range(shape.n_answers):
        slate.told[U(at + answer)] += weight * grove.answers[U(own + answer)]
        low, high = U(at + size + 2 * answer), U(at + size + 2 * answer + 1)
        slate.told[low] = min(slate.told[low], grove.lowest[U(own + answer)])
        slate.told[high] = max(slate.told[high], grove.highest[U(own + answer)])
    if shape.is_regression and weight > 0.0:
        # about the mean so far: squares of large numbers would not be exact
        apart = grove.answers[U(own)] - space.totals[U(total + 1)]
        part = weight / space.totals[U(total)]  # exactly 1 at the first end
        space.totals[U(total + 1)] += apart * part
        spread = apart * apart * (1.0 - part)
        slate.told[U(at + 1)] += weight * (grove.variance[U(node)] + spread)


@inlined
def _cut(grove: Grove, shape: Shape, node: int, item: int, space: Space) -> int:
    """The items with those of both sides of a threshold, and of who ends at the node."""
    at, start = grove.nodes[node], space.stack[U(item * ITEM + 1)]
    first, cut, column = at["first"], at["threshold"], at["attribute"] * space.most_rows
    low_share, high_share = grove.share[U(first)], grove.share[U(first + 1)]
    end = space.stack[U(item * ITEM + 2)]
    low, high, ended, whole = end, 2 * end - start, 3 * end - 2 * start, len(grove.share) - 1
    for place in range(start, end):
        row, weight = space.rows[U(place)], space.weights[U(place)]
        value = space.cells[U(column + row)]
        is_null = value != value
        divides = is_null & _knows(grove, shape, node, row, space)
        space.rows[U(low)] = space.rows[U(high)] = space.rows[U(ended)] = row
        # shares are looked up, whatever is known: to jump by chance takes longer
        mine = np.int64(is_null) * (first - whole)
        space.weights[U(low)] = weight * grove.share[U(whole + mine)]
        space.weights[U(high)] = weight * grove.share[U(whole + mine + np.int64(is_null))]
        space.weights[U(ended)] = weight
        low += np.int64((value <= cut) | (divides & (low_share > 0.0)))
        high += np.int64((value > cut) | (divides & (high_share > 0.0)))
        ended += np.int64(is_null & (not divides))
    item = _push(space, item, first, end, low)
    item = _push(space, item, first + 1, 2 * end - start, high)
    return _push(space, item, -1 - node, 3 * end - 2 * start, ended)


@inlined
def _branch(grove: Grove, node: int, value: float) -> int:
    """The branch that a value takes, also null's own; -1 if none."""
    at, branch = grove.nodes[node], np.int64(-1)
    if value == value:
        branch = np.int64(value > at["threshold"])
        if at["table"] >= 0:
            branch = grove.table[at["table"] + np.int64(value)]
    if branch < 0 and at["null"] != node:
        branch = np.int64(at["null"] - at["first"])
    return branch


@inlined
def _send(grove: Grove, shape: Shape, node: int, item: int, space: Space) -> int:
    """The items with those of all branches, and of who ends at the node."""
    at, start = grove.nodes[node], space.stack[U(item * ITEM + 1)]
    end, n_branches = space.stack[U(item * ITEM + 2)], at["n_branches"]
    for branch in range(n_branches + 1):
        list_start = end + branch * (end - start)
        space.stack[U((item + branch) * ITEM + 1)] = list_start
        space.stack[U((item + branch) * ITEM + 2)] = list_start
    for place in range(start, end):
        row, weight = space.rows[U(place)], space.weights[U(place)]
        value = space.cells[U(at["attribute"] * space.most_rows + row)]
        branch = _branch(grove, node, value)
        if branch < 0 and not _knows(grove, shape, node, row, space):
            branch = n_branches
        if branch >= 0:
            _append(space, item + branch, row, weight)
            continue
        if value == value:  # as where a split leaves a category out
            place = row * shape.n_met + (at["attribute"] >> 6)
            space.forgot[U(place)] |= np.int64(1) << np.int64(at["attribute"] & 63)
        for below in range(n_branches):
            share = grove.share[U(at["first"] + below)]
            if share > 0.0:
                _append(space, item + below, row, weight * share)
    return _kept(at["first"], node, item, n_branches, space)


@inlined
def _kept(first: int, node: int, item: int, n_branches: int, space: Space) -> int:
    """The items without those in whose lists nobody is."""
    n_items = item
    for branch in range(n_branches + 1):
        place = U((item + branch) * ITEM)
        below = first + branch if branch < n_branches else -1 - node
        n_items = _push(space, n_items, below, space.stack[place + U(1)], space.stack[place + U(2)])
    return n_items


@inlined
def _lead(grove: Grove, shape: Shape, n_rows: int, space: Space, slate: Slate) -> None:
    """Leads the rows of a block from the root to all their ends."""
    n_items = _push(space, 0, 0, 0, n_rows)
    while n_items > 0:
        n_items -= 1
        start, end = space.stack[U(n_items * ITEM + 1)], space.stack[U(n_items * ITEM + 2)]
        node = space.stack[U(n_items * ITEM)]
        if node < 0 or grove.nodes[node]["first"] == node:
            node = max(node, -1 - node)
            for place in range(start, end):
                row, weight = space.rows[U(place)], space.weights[U(place)]
                _end(grove, shape, node, row, weight, space, slate)
        elif grove.nodes[node]["table"] < 0 and grove.nodes[node]["null"] == node:
            n_items = _cut(grove, shape, node, n_items, space)
        else:
            n_items = _send(grove, shape, node, n_items, space)


@inlined
def _likeliest(told: Any, at: int, n_answers: int) -> int:
    """The number of the largest answer, the first of equals."""
    best = told[U(at)]
    for answer in range(1, n_answers):
        best = max(best, told[U(at + answer)])
    for answer in range(n_answers):
        if told[U(at + answer)] >= best - TIE:
            return answer
    return 0


@inlined
def _finish(shape: Shape, n_rows: int, space: Space, slate: Slate) -> None:
    """Makes means of the sums; a row with one end and nothing unknown keeps that end's number."""
    for row in range(n_rows):
        at = (slate.first_row + row) * width_of(shape)
        mark = (slate.first_row + row) * (MET + shape.n_met)
        n_ends = slate.marks[U(mark + N_LEAVES)] // AN_END
        slate.marks[U(mark + N_LEAVES)] %= AN_END
        # shares sum to one only up to rounding; a single end is exact as it is
        total = space.totals[U(row * N_TOTALS)] if n_ends != 1 else 1.0
        for answer in range(shape.n_answers + shape.is_regression):
            slate.told[U(at + answer)] /= total  # NaN where there is no end
        met = np.int64(0)
        for word in range(shape.n_met):
            own, place = U(row * shape.n_met + word), U(mark + MET + word)
            slate.marks[place] &= ~space.known[own] | space.forgot[own]
            met |= slate.marks[place]
        if n_ends != 1 or met != 0:
            slate.marks[U(mark + END)] = -1
        slate.marks[U(mark + CLASS)] = _likeliest(slate.told, at, shape.n_answers)


@inlined
def tell_block(
    grove: Grove, shape: Shape, values: Values, n_rows: int, space: Space, slate: Slate
) -> None:
    """Writes what is told of some rows, which begin where the slate says."""
    _begin(shape, values, n_rows, space, slate)
    _lead(grove, shape, n_rows, space, slate)
    _finish(shape, n_rows, space, slate)
