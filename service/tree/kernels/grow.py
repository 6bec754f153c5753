"""Growing: node after node from a stack, each made the best split that its rows offer."""

from typing import Any

import numpy as np

from service.tree.kernels.choose import choose
from service.tree.kernels.compile import inlined, lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.part import move_down, part_many, part_rows, part_two
from service.tree.kernels.rooms import (
    APART,
    ATTRIBUTE,
    BEHIND,
    BRANCH,
    CLASSES,
    DEPTH,
    FILLED,
    FIRST_CHILD,
    FOUND,
    GAIN_HERE,
    GAIN_OF_NODE,
    HAS_NULL,
    IMPROVEMENT,
    J48,
    LARGEST,
    MEAN,
    MULTIWAY,
    N_BRANCHES,
    N_SENT,
    N_VALUES,
    NODE_FILLED,
    NODE_WEIGHT,
    OWN_BRANCH,
    PARENT,
    R8,
    RISK,
    RPART,
    SENT,
    SHARES,
    SIDES_START,
    SPLIT,
    STARTS,
    TARGET,
    THRESHOLD,
    TOTAL,
    VARIANCE,
    WEIGHT,
    Columns,
    Nodes,
    Room,
    Rules,
    Work,
)
from service.tree.kernels.rpart import squared_error
from service.tree.kernels.score import SQUARED_ERROR
from service.tree.kernels.search import search
from service.tree.kernels.send import send
from service.tree.kernels.sets import ROUNDING

DONE, PAUSED, NEEDS_ROOM, NEEDS_NODES = range(4)  # how a kernel comes back
N_NODES, N_WAITING, N_SIDES, N_PAIRS = range(4)  # what the state counts
TIE = 1e-12  # of the mean: to rpart, a number that spreads no further is constant


@lean
def grow(
    rules: Rules, columns: Columns, room: Room, work: Work, nodes: Nodes, waiting: Any,
    state: Any, settled: Any, budget: int,
) -> int:  # fmt: skip
    """Grows until nothing waits, the budget of entries is spent, or room is needed.

    `waiting` holds nodes and their places, those with the highest places last; so everything
    behind the places of the node in hand is free.
    """
    spent, n_attributes = 0, len(columns.facts)
    while state[N_WAITING] > 0:
        if spent > budget:
            return PAUSED
        top = state[N_WAITING] - 1
        node, place = waiting[top, 0], (waiting[top, 1], waiting[top, 2])
        n_rows = place[1] - place[0]
        is_whole = arrive(rules, columns, room, work, nodes, node, place)
        weight, best = nodes.numbers[node, NODE_WEIGHT], -1
        spent += n_rows
        if not is_settled(rules, work.sums, nodes, node, n_rows):
            search(rules, columns, room, work, place, (0, n_attributes), weight, is_whole)
            best = choose(rules, work.found, columns.facts, columns.costs, nodes, node)
            spent += n_rows * n_attributes
        if best < 0:
            state[N_WAITING] = top
            state[N_PAIRS] += n_rows
            settled[0] += weight
            continue
        n_branches = branches_of(rules, columns.facts, work.found, best)
        if not has_nodes(columns.facts, work.found, nodes, state, best, n_branches):
            return NEEDS_NODES
        send(rules, columns, room, work, nodes, node, state[N_NODES], best, place)
        depth, first = nodes.links[node, DEPTH], state[N_NODES]
        if not divide(rules, columns.layout, room, work, nodes, first, n_branches, place, depth):
            return NEEDS_ROOM
        note_split(columns.facts, work, nodes, state, node, best, n_branches)
        add_children(work.marks, nodes.links, waiting, state, node, n_branches)
    return DONE


@inlined
def arrive(
    rules: Rules, columns: Columns, room: Room, work: Work, nodes: Nodes, node: int,
    place: tuple[int, int],
) -> bool:  # fmt: skip
    """Whether all rows of a node weigh 1; its weight and its statistics are written down."""
    weight, is_whole, layout = float(place[1] - place[0]), True, columns.layout
    if rules.is_weighted:
        weight, is_whole = _weigh(room.entries, place[0], place[1], layout, room.arrived, room.rows)
    nodes.numbers[node, NODE_WEIGHT] = weight
    if rules.criterion == SQUARED_ERROR:
        _about_mean(
            room.entries, place[0], place[1], layout, room.rows, work.sums, nodes.numbers, node
        )
        if rules.risk_column >= 0:
            at_root = nodes.links[node, DEPTH] == 0  # where the rows stand as they came
            start = place[0] + (0 if at_root else rules.risk_column * room.stride)
            nodes.numbers[node, RISK] = squared_error(
                room.entries, start, start + place[1] - place[0], layout, room.rows
            )
        return is_whole
    for number in range(work.sums.shape[1]):
        work.sums[TOTAL, number] = 0.0
    for at in range(place[0], place[1]):
        entry = room.entries[U(at)]
        number = (entry >> layout.shift) & layout.class_mask
        own = room.rows[WEIGHT, entry & layout.row_mask] if rules.is_weighted else 1.0
        work.sums[TOTAL, number] += own
    for number in range(work.sums.shape[1]):
        nodes.numbers[node, CLASSES + number] = work.sums[TOTAL, number]
    return is_whole


@lean
def _weigh(
    entries: Any, start: int, end: int, layout: Layout, arrived: Any, rows: Any
) -> tuple[float, bool]:
    """The weight of a node, and whether all of its rows weigh 1; each row gets its own."""
    weight, is_whole = 0.0, True
    for at in range(start, end):
        own = arrived[U(at)]
        rows[WEIGHT, entries[U(at)] & layout.row_mask] = own
        is_whole = is_whole and own == 1.0
        weight += own
    return weight, is_whole


@lean
def _about_mean(
    entries: Any, start: int, end: int, layout: Layout, rows: Any, sums: Any, numbers: Any,
    node: int,
) -> None:  # fmt: skip
    weight, total = numbers[node, NODE_WEIGHT], 0.0
    for at in range(start, end):
        row = entries[U(at)] & layout.row_mask
        total += rows[WEIGHT, row] * rows[TARGET, row]
    mean = total / weight if weight > 0 else np.nan
    first = second = 0.0
    for at in range(start, end):
        row = entries[U(at)] & layout.row_mask
        apart = rows[TARGET, row] - mean
        rows[APART, row] = apart
        first += rows[WEIGHT, row] * apart
        second += rows[WEIGHT, row] * apart * apart
    sums[TOTAL, 0], sums[TOTAL, 1], sums[TOTAL, 2] = weight, first, second
    numbers[node, MEAN] = mean
    numbers[node, VARIANCE] = second / weight if weight > 0 else np.nan


@lean
def is_settled(rules: Rules, sums: Any, nodes: Nodes, node: int, n_rows: int) -> bool:
    """Whether the node is a leaf without a look at its attributes."""
    weight = nodes.numbers[node, NODE_WEIGHT]
    if weight == 0 or nodes.links[node, DEPTH] == rules.max_depth or n_rows < rules.min_rows:
        return True
    if weight < 2.0 * (rules.min_weight - ROUNDING):
        return True  # too little for two branches
    if rules.criterion == SQUARED_ERROR:
        nothing = rules.tie
        if rules.fine_print == RPART:
            nothing = (TIE * nodes.numbers[node, MEAN]) ** 2
        return bool(weight < rules.lightest or nodes.numbers[node, VARIANCE] <= nothing)
    n_classes, most = 0, 0.0
    for number in range(sums.shape[1]):
        n_classes += sums[TOTAL, number] != 0
        most = max(most, sums[TOTAL, number])
    if rules.fine_print == J48 or rules.fine_print == R8:
        too_light = 2.0 * rules.min_weight - weight > rules.tolerance
        return bool(too_light or weight - most <= rules.tolerance)
    return bool(weight < rules.lightest or n_classes <= 1)


@lean
def branches_of(rules: Rules, facts: Any, found: Any, best: int) -> int:
    """How many branches the best split has."""
    n_branches = facts[best, N_VALUES] if found[best, FOUND] == MULTIWAY else 2
    return n_branches + (1 if rules.missing == OWN_BRANCH and facts[best, HAS_NULL] == 1 else 0)


@lean
def has_nodes(facts: Any, found: Any, nodes: Nodes, state: Any, best: int, n_branches: int) -> bool:
    """Whether there is room for the children, and for the sides of the categories."""
    n_sides = facts[best, N_VALUES] if found[best, FOUND] > THRESHOLD else 0
    is_enough = state[N_NODES] + n_branches <= len(nodes.links)
    return bool(is_enough and state[N_SIDES] + n_sides <= len(nodes.sides))


@inlined
def divide(
    rules: Rules, layout: Layout, room: Room, work: Work, nodes: Nodes, first: int,
    n_branches: int, place: tuple[int, int], depth: int,
) -> bool:  # fmt: skip
    """Whether there was room to send the rows down their branches."""
    start, end, marks = place[0], place[1], work.marks
    if n_branches == 2 and marks[N_SENT, 2] == 0 and marks[N_SENT, 3] == 0:
        marks[STARTS, 0], marks[STARTS, 1] = start, start + marks[N_SENT, 0]
        marks[STARTS, 2] = end
        part_two(room.entries, start, end, room.side, layout, work.scratch)
        if not are_settled(rules, layout, room.entries, marks, depth + 1):
            for offset in range(room.stride, len(room.entries), room.stride):
                here = (offset + start, offset + end)
                part_two(room.entries, here[0], here[1], room.side, layout, work.scratch)
        if rules.is_weighted:
            for at in range(start, end):
                room.arrived[U(at)] = room.rows[WEIGHT, room.entries[U(at)] & layout.row_mask]
        return True
    share_out(rules, marks, work.parts, nodes.numbers, first, n_branches, end)
    if marks[STARTS, n_branches] > room.stride:
        return False
    divide_behind(room, marks, work.parts, layout, start, end, n_branches)
    return True


@lean
def are_settled(rules: Rules, layout: Layout, entries: Any, marks: Any, depth: int) -> bool:
    """Whether both branches are sure to be leaves: nobody will look at their other columns."""
    if rules.is_weighted or rules.risk_column >= 0:
        return False
    for branch in range(2 if depth != rules.max_depth else 0):
        start, end = marks[STARTS, branch], marks[STARTS, branch + 1]
        if end - start < 2.0 * (rules.min_weight - ROUNDING):
            continue
        if rules.criterion == SQUARED_ERROR:
            return False
        number = (entries[U(start)] >> layout.shift) & layout.class_mask
        for at in range(start + 1, end):
            if (entries[U(at)] >> layout.shift) & layout.class_mask != number:
                return False
    return True


@lean
def share_out(
    rules: Rules, marks: Any, parts: Any, numbers: Any, first: int, n_branches: int, place: int
) -> None:
    """Writes down the share of each branch, and where its entries begin from this place on."""
    known, n_everywhere = 0.0, marks[N_SENT, n_branches]
    for branch in range(n_branches):
        known += numbers[first + branch, SENT]
    for branch in range(n_branches):
        share = numbers[first + branch, SENT] / known if known > 0 else 1.0 / n_branches
        is_taken = n_everywhere > 0 and share > rules.tolerance
        parts[SHARES, branch] = share if is_taken else 0.0
        marks[STARTS, branch] = place
        place += marks[N_SENT, branch] + (n_everywhere if is_taken else 0)
    marks[STARTS, n_branches] = place


@lean
def divide_behind(
    room: Room, marks: Any, parts: Any, layout: Layout, start: int, end: int, n_branches: int
) -> None:
    """Any branches, by way of the places behind the node's own, whose entries are not needed."""
    size = marks[STARTS, n_branches] - end
    for branch in range(n_branches):
        marks[BEHIND, branch] = 0  # rows keep their numbers
    for offset in range(room.stride, len(room.entries), room.stride):
        part_many(
            room.entries, offset + start, offset + end, room.entries, offset, room.side, layout,
            n_branches, room.numbers, marks, parts,
        )  # fmt: skip
        move_down(room.entries, offset, start, end, size)
    part_rows(
        room.entries, start, end, room.arrived, room.entries, room.arrived, room.side, layout,
        n_branches, marks, parts,
    )  # fmt: skip
    move_down(room.entries, 0, start, end, size)
    move_down(room.arrived, 0, start, end, size)
    for branch in range(n_branches + 1):
        marks[STARTS, branch] -= end - start


@lean
def note_split(
    facts: Any, work: Work, nodes: Nodes, state: Any, node: int, best: int, n_branches: int
) -> None:
    """Makes a node an inner one."""
    split = int(work.found[best, FOUND])
    nodes.links[node, ATTRIBUTE], nodes.links[node, SPLIT] = best, split
    nodes.numbers[node, GAIN_OF_NODE] = work.found[best, GAIN_HERE]
    nodes.numbers[node, NODE_FILLED] = work.found[best, FILLED]
    largest = max(nodes.numbers[node, LARGEST], work.found[best, IMPROVEMENT])
    for branch in range(n_branches):
        nodes.numbers[state[N_NODES] + branch, LARGEST] = largest
    if split > THRESHOLD:
        nodes.links[node, SIDES_START] = state[N_SIDES]
        for category in range(facts[best, N_VALUES]):
            nodes.sides[state[N_SIDES] + category] = work.sides[best, category]
        state[N_SIDES] += facts[best, N_VALUES]


@lean
def add_children(
    marks: Any, links: Any, waiting: Any, state: Any, node: int, n_branches: int
) -> None:
    """Lets the children of a node wait in its place."""
    first, top = state[N_NODES], state[N_WAITING] - 1
    links[node, FIRST_CHILD], links[node, N_BRANCHES] = first, n_branches
    for branch in range(n_branches):
        child = first + branch
        links[child, PARENT], links[child, BRANCH] = node, branch
        links[child, DEPTH] = links[node, DEPTH] + 1
        links[child, ATTRIBUTE], links[child, SPLIT] = -1, 0
        waiting[top + branch, 0] = child
        waiting[top + branch, 1] = marks[STARTS, branch]
        waiting[top + branch, 2] = marks[STARTS, branch + 1]
    state[N_NODES] += n_branches
    state[N_WAITING] = top + n_branches
