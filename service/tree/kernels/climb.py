"""What held-out rows lose at every tree of a sequence.

As alpha rises, the nodes at which a row ended climb to the ancestors that have become leaves. A
row is looked at only where one of its nodes climbs; in between it loses the same.
"""

from typing import NamedTuple

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.criterion import TIE
from service.tree.kernels.compile import kernel
from service.tree.kernels.sums import LEVELS, summed


class Climb(NamedTuple):
    """Per node the way up. Limits of alpha are told by their numbers."""

    parent: Ints
    leaf_from: Ints  # the limit from which on it is a leaf
    goes_on: Ints  # the limit from which on its parent is one; at the root the number of limits
    answers: Floats  # (node, class), or (node, 1) in regression
    told: Floats  # the likeliest class, or the mean
    is_regression: bool


class Held(NamedTuple):
    """The held-out rows, and the nodes at which they ended."""

    starts: Ints  # per row, and one more: where its nodes begin ...
    nodes: Ints  # ... in here
    shares: Floats  # of the row at these nodes
    target: Floats
    weights: Floats


class Tally(NamedTuple):
    """Per limit what is lost."""

    last: Floats  # by the last row that was counted
    sums: Floats  # by all rows, times their weights
    squares: Floats  # likewise of the squared losses
    skips_stopped: bool  # whether a row that stops above a leaf counts with what the last one lost


class Room(NamedTuple):
    """Where the answers to one row are mixed."""

    nodes: Ints  # at which the row now ends
    goes_on: Ints  # of these
    terms: Floats  # (class, place): what each of these adds to the answer
    answer: Floats
    todo: Ints
    sums: Floats


@kernel
def add_losses(climb: Climb, held: Held, tally: Tally) -> None:
    """Adds what each row loses at each limit, in the order of the rows."""
    room = _room(climb, held)
    for row in range(len(held.target)):
        start = held.starts[row]
        if held.starts[row + 1] - start == 1 and held.shares[start] == 1.0:
            _count_whole(climb, held, row, tally)
        else:
            _count_divided(climb, held, row, tally, room)
        weight = held.weights[row]
        for at in range(len(tally.last)):
            lost = tally.last[at]
            tally.sums[at] += weight * lost
            tally.squares[at] += weight * (lost * lost)


@kernel
def _room(climb: Climb, held: Held) -> Room:
    most, n_answers = 1, climb.answers.shape[1]
    for row in range(len(held.target)):
        most = max(most, held.starts[row + 1] - held.starts[row])
    nodes, goes_on = np.empty(most, np.int64), np.empty(most, np.int64)
    terms, answer = np.empty((n_answers, most)), np.empty(n_answers)
    return Room(nodes, goes_on, terms, answer, np.empty(2 * LEVELS, np.int64), np.empty(LEVELS))


@kernel
def _count_whole(climb: Climb, held: Held, row: int, tally: Tally) -> None:
    """Fills in what a row loses that ended at one node; only such a row may have stopped."""
    node, at = held.nodes[held.starts[row]], 0
    while at < len(tally.last):
        while climb.goes_on[node] <= at:
            node = climb.parent[node]
        if tally.skips_stopped:
            at = max(at, min(climb.leaf_from[node], climb.goes_on[node]))
        lost = _loss(climb, climb.told[node], held.target[row])
        while at < climb.goes_on[node]:
            tally.last[at] = lost
            at += 1


@kernel
def _count_divided(climb: Climb, held: Held, row: int, tally: Tally, room: Room) -> None:
    """Fills in what a row loses whose answer is mixed, anew wherever one of its nodes climbs."""
    start, n_ends = held.starts[row], held.starts[row + 1] - held.starts[row]
    total = 1.0  # one end is exact as it is
    if n_ends > 1:
        total = summed(held.shares[start : start + n_ends], n_ends, room.todo, room.sums)
    for place in range(n_ends):
        room.nodes[place], room.goes_on[place] = held.nodes[start + place], -1
    at = 0
    while at < len(tally.last):
        until = len(tally.last)
        for place in range(n_ends):
            if room.goes_on[place] <= at:
                _rise(climb, room, place, held.shares[start + place], at)
            until = min(until, room.goes_on[place])
        lost = _loss(climb, _mixed(climb, room, n_ends, total), held.target[row])
        while at < until:
            tally.last[at] = lost
            at += 1


@kernel
def _rise(climb: Climb, room: Room, place: int, share: float, at: int) -> None:
    """Brings a node up to its topmost ancestor that is a leaf at a limit."""
    node = room.nodes[place]
    while climb.goes_on[node] <= at:
        node = climb.parent[node]
    room.nodes[place], room.goes_on[place] = node, climb.goes_on[node]
    for each in range(len(room.answer)):
        room.terms[each, place] = share * climb.answers[node, each]


@kernel
def _mixed(climb: Climb, room: Room, n_ends: int, total: float) -> float:
    """What is told to a row: the likeliest class, or the mean."""
    best: float = -np.inf
    for each in range(len(room.answer)):
        room.answer[each] = summed(room.terms[each], n_ends, room.todo, room.sums) / total
        best = max(best, room.answer[each])
    if climb.is_regression:
        return best
    said = 0
    while room.answer[said] < best - TIE:
        said += 1
    return float(said)


@kernel
def _loss(climb: Climb, told: float, target: float) -> float:
    if climb.is_regression:
        return (target - told) * (target - told)
    return 1.0 if told != target else 0.0
