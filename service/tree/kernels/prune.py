"""Pessimistic pruning: from the bottom up, once without rows and then with those it takes.

A branch that is a leaf errs, given all rows of a node, as the node would: whether to put it in
the place of the node need not be asked. So rows are sent down only to nodes whose largest branch
is no leaf, which are few once all below them is pruned.
"""

from typing import NamedTuple

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.kernels.bounds import Judge, expected_errors
from service.tree.kernels.compile import kernel
from service.tree.kernels.divide import Desk, Entries, Rows, Ways, divide, make_desk, tally

ROUNDING = 1e-9  # shares that ought to be equal differ by less


class Standing(NamedTuple):
    """The nodes as they stand while they are pruned."""

    source: Ints  # the node whose split it makes: its own, or one that was raised; -1 at a leaf
    weight: Floats
    distribution: Floats  # (node, class); nothing where no row arrived
    share: Floats
    sent: Floats  # the known weight that came down the edge to it, where that was looked at
    below: Floats  # the errors to expect of the leaves below
    is_settled: Bools  # whether all is decided from here down


class Room(NamedTuple):
    """What pruning works with, and on."""

    nodes: Standing
    ways: Ways
    rows: Rows
    judge: Judge
    desk: Desk
    waiting: Ints  # (place, 4): nodes to go through, start and end of entries, if done below
    passing: Ints  # (place, 4): likewise nodes that rows are sent through
    renewed: Ints  # nodes that got other rows, parents before children


def make_room(nodes: Standing, ways: Ways, rows: Rows, judge: Judge, n_entries: int) -> Room:
    """The room for a tree of which so many entries stand at the root."""
    n_nodes, n_classes = nodes.distribution.shape
    return Room(
        nodes, ways, rows, judge,
        desk=make_desk(n_entries, int(ways.n_branches.max()), n_classes),
        waiting=np.empty((n_nodes, 4), dtype=np.int64),
        passing=np.empty((n_nodes, 4), dtype=np.int64),
        renewed=np.empty(n_nodes, dtype=np.int64),
    )  # fmt: skip


@kernel
def prune_standing(room: Room, entries: Entries) -> None:
    """Replaces, bottom-up, what is believed to err more than a leaf or its largest branch."""
    for node in range(len(room.nodes.source) - 1, -1, -1):
        _settle(room, node)
    depth = 0
    if not room.nodes.is_settled[0]:
        depth = _push(room.waiting, 0, 0, 0, len(entries.rows))
    while depth > 0:
        top = room.waiting[depth - 1]
        node, start, end = top[0], top[1], top[2]
        if top[3] == 0:
            top[3] = 1
            entries, depth = _go_below(room, entries, depth, node, start, end)
            continue
        depth -= 1
        entries = _replace(room, entries, node, start, end)
        if not room.nodes.is_settled[node]:  # it has other rows below: once more from there
            depth = _push(room.waiting, depth, node, start, end)


@kernel
def _push(stack: Ints, depth: int, node: int, start: int, end: int) -> int:
    stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = node, start, end, 0
    return depth + 1


@kernel
def _settle(room: Room, node: int) -> None:
    """Decides on a node without its rows, where that can be; its children were gone through."""
    nodes, ways, judge = room.nodes, room.ways, room.judge
    at = nodes.source[node]
    nodes.is_settled[node] = True
    if at < 0:
        return
    for child in range(ways.first_child[at], ways.first_child[at] + ways.n_branches[at]):
        if nodes.source[child] < 0:
            nodes.below[child] = expected_errors(
                judge, nodes.weight[child], nodes.distribution[child]
            )
        elif not nodes.is_settled[child]:
            nodes.is_settled[node] = False
    if not nodes.is_settled[node] or (judge.raises and _may_rise(room, node)):
        nodes.is_settled[node] = False
        return
    leaf, below = _believed(room, node)
    if leaf <= below + judge.slack:
        nodes.source[node], nodes.below[node] = -1, leaf


@kernel
def _believed(room: Room, node: int) -> tuple[float, float]:
    """The errors to expect of a node as a leaf, and as it stands."""
    nodes, at = room.nodes, room.nodes.source[node]
    first, below = room.ways.first_child[at], 0.0
    for child in range(first, first + room.ways.n_branches[at]):
        below += nodes.below[child]
    nodes.below[node] = below
    leaf = expected_errors(room.judge, nodes.weight[node], nodes.distribution[node])
    return leaf, below


@kernel
def _may_rise(room: Room, node: int) -> bool:
    """Whether the largest branch is no leaf, or one that is no leaf is as good as that large."""
    nodes, at = room.nodes, room.nodes.source[node]
    first, weight = room.ways.first_child[at], room.nodes.weight[node]
    children = range(first, first + room.ways.n_branches[at])
    most = 0.0
    for child in children:
        most = max(most, nodes.share[child])
    near = most * weight - len(children) * room.judge.tolerance - ROUNDING * weight
    for child in children:
        if nodes.source[child] >= 0 and nodes.share[child] * weight >= near:
            return True
    return False


@kernel
def _go_below(
    room: Room, entries: Entries, depth: int, node: int, start: int, end: int
) -> tuple[Entries, int]:
    """Sends the rows of a node down to its children that are not settled, which wait their turn."""
    nodes, ways, desk = room.nodes, room.ways, room.desk
    at = nodes.source[node]
    first, n_branches = ways.first_child[at], ways.n_branches[at]
    for branch in range(n_branches):
        desk.is_wanted[branch] = not nodes.is_settled[first + branch]
    entries = divide(ways, at, room.rows, entries, start, end, desk)
    for branch in range(n_branches):
        nodes.sent[first + branch] = desk.sizes[branch]
        if desk.is_wanted[branch]:
            child, below, above = first + branch, desk.starts[branch], desk.ends[branch]
            depth = _push(room.waiting, depth, child, below, above)
    return entries, depth


@kernel
def _replace(room: Room, entries: Entries, node: int, start: int, end: int) -> Entries:
    """Makes a node a leaf, or its largest branch, or leaves it as it is."""
    nodes, slack = room.nodes, room.judge.slack
    largest = _largest(room, node)
    leaf, below = _believed(room, node)
    branch = leaf
    if nodes.source[largest] >= 0:
        enough = min(leaf, below + slack)  # beyond it no branch is raised
        entries, branch = _estimate(room, entries, largest, start, end, enough)
    nodes.is_settled[node] = True
    if leaf <= below + slack and leaf <= branch + slack:
        nodes.source[node], nodes.below[node] = -1, leaf
    elif branch <= below + slack:
        nodes.source[node] = nodes.source[largest]
        entries = _renew(room, entries, node, start, end)
    return entries


@kernel
def _largest(room: Room, node: int) -> int:
    """The child with the most weight, the last of equals."""
    at, sent = room.nodes.source[node], room.nodes.sent
    first = room.ways.first_child[at]
    best, most = first, 0.0
    for child in range(first, first + room.ways.n_branches[at]):
        if sent[child] >= most - room.judge.tolerance:
            best, most = child, sent[child]
    return int(best)


@kernel
def _estimate(
    room: Room, entries: Entries, top: int, start: int, end: int, enough: float
) -> tuple[Entries, float]:
    """The errors to expect if all these rows went into a subtree as it stands.

    Where they are more than enough, some of them.
    """
    nodes, ways, desk, expected = room.nodes, room.ways, room.desk, 0.0
    depth = _push(room.passing, 0, top, start, end)
    while depth > 0 and expected <= enough:
        depth -= 1
        node, start, end = room.passing[depth, 0], room.passing[depth, 1], room.passing[depth, 2]
        at = nodes.source[node]
        n_leaves = _want_inner(room, at)
        entries = divide(ways, at, room.rows, entries, start, end, desk)
        if n_leaves:
            tally(ways, at, room.rows, entries, start, end, desk)
        for branch in range(ways.n_branches[at]):
            if not desk.is_wanted[branch]:
                weight, tallied = desk.weights[branch], desk.tallies[branch]
                expected += expected_errors(room.judge, weight, tallied)
            elif desk.starts[branch] < desk.ends[branch]:
                child, below = ways.first_child[at] + branch, desk.starts[branch]
                depth = _push(room.passing, depth, child, below, desk.ends[branch])
    return entries, expected


@kernel
def _want_inner(room: Room, at: int) -> int:
    """How many of the children below a split are leaves, whose entries are not wanted."""
    first, n_leaves = room.ways.first_child[at], 0
    for branch in range(room.ways.n_branches[at]):
        is_leaf = room.nodes.source[first + branch] < 0
        room.desk.is_wanted[branch] = not is_leaf
        n_leaves += is_leaf
    return n_leaves


@kernel
def _renew(room: Room, entries: Entries, top: int, start: int, end: int) -> Entries:
    """Sends the rows of a node down anew, and settles what can be settled below it."""
    n_renewed, depth = 0, _push(room.passing, 0, top, start, end)
    while depth > 0:
        depth -= 1
        node, start, end = room.passing[depth, 0], room.passing[depth, 1], room.passing[depth, 2]
        room.renewed[n_renewed] = node
        n_renewed += 1
        at = room.nodes.source[node]
        _want_inner(room, at)
        entries = divide(room.ways, at, room.rows, entries, start, end, room.desk)
        tally(room.ways, at, room.rows, entries, start, end, room.desk)
        depth = _renew_children(room, depth, at)
    for place in range(n_renewed - 1, -1, -1):
        _settle(room, room.renewed[place])
    return entries


@kernel
def _renew_children(room: Room, depth: int, at: int) -> int:
    nodes, desk = room.nodes, room.desk
    for branch in range(room.ways.n_branches[at]):
        child = room.ways.first_child[at] + branch
        nodes.weight[child] = desk.weights[branch]
        for number, weight in enumerate(desk.tallies[branch]):
            nodes.distribution[child, number] = weight
        nodes.share[child] = desk.shares[branch]
        if desk.is_wanted[branch]:
            depth = _push(room.passing, depth, child, desk.starts[branch], desk.ends[branch])
    return depth
