"""Routing kernels: rows step down together, and one that divides goes on alone.

Nodes stand in breadth-first order. A row that is first in, first out in its queue of nodes thus
ends at them in ascending order, and nothing is sorted.
"""

from typing import Any, NamedTuple

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.kernels.compile import kernel
from service.tree.kernels.sums import summed

LANES = 8  # rows that step down together: the processor works on one while it waits for another
DIVIDE, STOP, LARGEST, GIVE_UP = range(4)  # what becomes of a row that is undecided


class Descent(NamedTuple):
    """A tree as its kernels walk it."""

    nodes: Any  # NODE by node, in half a cache line each
    table: Ints  # branches by category; -1 as if it were null
    share: Floats  # by node
    asks: Ints  # (node, word): the bits of a mixture's marks; no words without a mixture


class Cells(NamedTuple):
    """A matrix of values in either order, without a copy."""

    values: Floats
    row_step: int
    attribute_step: int
    n_rows: int
    n_attributes: int


class Room(NamedTuple):
    """Where one row at a time is routed; made once for all."""

    rows: Ints  # by lane
    halts: Ints  # by lane: the node where its row ends or is undecided
    nodes: Ints  # the queue; at its head, the ends
    weights: Floats  # of these
    terms: Floats  # to be summed
    known: Ints  # bits by attribute
    met: Ints  # likewise
    todo: Ints  # what is still to be summed
    sums: Floats


class Found(NamedTuple):
    """Room for what becomes of rows, as in Routed."""

    rows: Ints
    leaves: Ints
    weights: Floats
    met: Ints


@kernel
def have_nulls(cells: Cells, attributes: Ints) -> Bools:
    """Per row whether one of these attributes is null."""
    found = np.zeros(cells.n_rows, dtype=np.bool_)
    block = 1024  # its cells stay in the cache, whatever the order
    for start in range(0, cells.n_rows, block):
        end = min(start + block, cells.n_rows)
        for attribute in attributes:
            at = attribute * cells.attribute_step
            for row in range(start, end):
                found[row] |= np.isnan(cells.values[row * cells.row_step + at])
    return found


@kernel
def _below(descent: Descent, cells: Cells, row: int, node: int) -> int:
    """The child that a row goes down to; the node itself if it ends there or is undecided."""
    at = descent.nodes[node]
    value = cells.values[row * cells.row_step + at["attribute"] * cells.attribute_step]
    start = at["table"]
    if start >= 0:
        branch = -1 if np.isnan(value) else descent.table[start + np.int64(value)]
        return int(at["null"] if branch < 0 else at["first"] + branch)
    child = at["first"] + np.int64(value > at["threshold"])
    return int(at["null"] if np.isnan(value) else child)


@kernel
def descend(descent: Descent, cells: Cells, room: Room, n_lanes: int) -> None:
    """Brings the rows of the lanes as far as each is decided."""
    room.halts[:n_lanes] = 0
    is_moving = True
    while is_moving:
        is_moving = False
        for lane in range(n_lanes):
            node = room.halts[lane]
            child = _below(descent, cells, room.rows[lane], node)
            is_moving |= child != node
            room.halts[lane] = child


@kernel
def end_nodes(descent: Descent, cells: Cells, rows: Ints, room: Room) -> Ints:
    """Per row the node where it ends, all being decided everywhere."""
    ends = np.empty(len(rows), dtype=np.int64)
    for start in range(0, len(rows), LANES):
        n_lanes = min(LANES, len(rows) - start)
        room.rows[:n_lanes] = rows[start : start + n_lanes]
        descend(descent, cells, room, n_lanes)
        ends[start : start + n_lanes] = room.halts[:n_lanes]
    return ends


@kernel
def _is_end(descent: Descent, node: int, known: Ints) -> bool:
    """Whether this is a leaf, or by a mixture nothing is asked below that is known."""
    n_words = descent.asks.shape[1]
    if n_words == 0:
        return bool(descent.nodes[node]["first"] == node)
    known_below = np.int64(0)
    for word in range(n_words):
        known_below |= descent.asks[node, word] & known[word]
    return bool(known_below == 0)


@kernel
def _mark_known(cells: Cells, row: int, known: Ints) -> None:
    known[:] = 0
    for attribute in range(cells.n_attributes):
        value = cells.values[row * cells.row_step + attribute * cells.attribute_step]
        if not np.isnan(value):
            known[attribute >> 6] |= np.int64(1) << np.int64(attribute & 63)


@kernel
def _lead_on(descent: Descent, node: int, weight: float, how: int, room: Room, tail: int) -> int:
    """The tail of the queue with the children that an undecided row goes down to."""
    at = descent.nodes[node]
    if how == LARGEST:
        room.nodes[tail], room.weights[tail] = at["largest"], weight
        return tail + 1
    if how == DIVIDE:
        for child in range(at["first"], at["first"] + at["n_branches"]):
            if descent.share[child] > 0:
                room.nodes[tail], room.weights[tail] = child, weight * descent.share[child]
                tail += 1
    return tail


@kernel
def _divide(descent: Descent, cells: Cells, row: int, node: int, how: int, room: Room) -> int:
    """How many ends an undecided row has; they stand in the room, with what it met."""
    if descent.asks.shape[1] > 0:
        _mark_known(cells, row, room.known)
    room.nodes[0], room.weights[0] = node, 1.0
    head, tail, n_ends = 0, 1, 0
    while head < tail:
        at, weight = room.nodes[head], room.weights[head]
        head += 1
        child = _below(descent, cells, row, at)
        if child != at:
            room.nodes[tail], room.weights[tail] = child, weight
            tail += 1
            continue
        is_end = _is_end(descent, at, room.known)
        if not is_end:
            attribute = descent.nodes[at]["attribute"]
            room.met[attribute >> 6] |= np.int64(1) << np.int64(attribute & 63)
        if is_end or how == STOP:
            room.nodes[n_ends], room.weights[n_ends] = at, weight  # behind the head: it is free
            n_ends += 1
        else:
            tail = _lead_on(descent, at, weight, how, room, tail)
    return n_ends


@kernel
def arrive(
    descent: Descent, cells: Cells, lane: int, how: int, training: Floats, room: Room
) -> int:
    """How many ends the row of a lane has; they stand in the room, with what it met.

    With training weights by node these are pooled, in the place of the shares on the way.
    """
    room.met[:] = 0
    node = room.halts[lane]
    if descent.nodes[node]["first"] == node:
        room.nodes[0], room.weights[0] = node, 1.0
        return 1
    n_ends: int = _divide(descent, cells, room.rows[lane], node, how, room)
    if len(training) > 0 and n_ends > 0:
        for end in range(n_ends):
            room.weights[end] = training[room.nodes[end]]
        pooled = summed(room.weights, n_ends, room.todo, room.sums)
        for end in range(n_ends):
            room.weights[end] = room.weights[end] / pooled if pooled > 0 else 1.0 / n_ends
    return n_ends


@kernel
def _tell_met(room: Room, row: int, met: Ints, n_pairs: int) -> int:
    """How many pairs there are with those of this row."""
    for word in range(len(room.met)):
        bits = room.met[word]
        for bit in range(64 if bits != 0 else 0):
            if bits >> np.int64(bit) & 1:
                met[n_pairs, 0], met[n_pairs, 1] = row, 64 * word + bit
                n_pairs += 1
    return n_pairs


@kernel
def route_rows(
    descent: Descent, cells: Cells, rows: Ints, how: int, training: Floats, room: Room, found: Found
) -> tuple[int, int, int]:
    """How many rows were routed, with how many ends and pairs, while one more had room."""
    n_rows, n_ends, n_pairs = 0, 0, 0
    while n_rows < len(rows):
        n_lanes = min(LANES, len(rows) - n_rows)
        room.rows[:n_lanes] = rows[n_rows : n_rows + n_lanes]
        descend(descent, cells, room, n_lanes)
        for lane in range(n_lanes):
            is_full = n_ends + len(room.terms) > len(found.leaves)
            if is_full or n_pairs + cells.n_attributes > len(found.met):
                return n_rows, n_ends, n_pairs
            more = arrive(descent, cells, lane, how, training, room)
            for end in range(more):
                found.rows[n_ends] = room.rows[lane]
                found.leaves[n_ends] = room.nodes[end]
                found.weights[n_ends] = room.weights[end]
                n_ends += 1
            n_pairs = _tell_met(room, room.rows[lane], found.met, n_pairs)
            n_rows += 1
    return n_rows, n_ends, n_pairs
