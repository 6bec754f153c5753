"""Growing: node after node from a stack, each made the best split that its rows offer."""

from typing import Any

from service.tree.kernels.arrive import arrive, is_settled
from service.tree.kernels.below import divide
from service.tree.kernels.choose import choose
from service.tree.kernels.compile import lean
from service.tree.kernels.rooms import (
    ATTRIBUTE,
    BRANCH,
    DEPTH,
    FILLED,
    FIRST_CHILD,
    FOUND,
    GAIN_HERE,
    GAIN_OF_NODE,
    HAS_NULL,
    IMPROVEMENT,
    LARGEST,
    MULTIWAY,
    N_BRANCHES,
    N_VALUES,
    NODE_FILLED,
    NODE_WEIGHT,
    OWN_BRANCH,
    PARENT,
    SIDES_START,
    SPLIT,
    STARTS,
    THRESHOLD,
    Columns,
    Nodes,
    Room,
    Rules,
    Work,
)
from service.tree.kernels.search import search
from service.tree.kernels.send import send

DONE, PAUSED, NEEDS_ROOM, NEEDS_NODES = range(4)  # how a kernel comes back
N_NODES, N_WAITING, N_SIDES = range(3)  # what the state counts


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
def link_children(links: Any, state: Any, node: int, n_branches: int) -> None:
    """Gives a node its children, which are leaves at first."""
    first = state[N_NODES]
    links[node, FIRST_CHILD], links[node, N_BRANCHES] = first, n_branches
    for branch in range(n_branches):
        child = first + branch
        links[child, PARENT], links[child, BRANCH] = node, branch
        links[child, DEPTH] = links[node, DEPTH] + 1
        links[child, ATTRIBUTE], links[child, SPLIT] = -1, 0
    state[N_NODES] += n_branches


@lean
def add_children(
    marks: Any, links: Any, waiting: Any, state: Any, node: int, n_branches: int
) -> None:
    """Lets the children of a node wait in its place."""
    first, top = state[N_NODES], state[N_WAITING] - 1
    link_children(links, state, node, n_branches)
    for branch in range(n_branches):
        waiting[top + branch, 0] = first + branch
        waiting[top + branch, 1] = marks[STARTS, branch]
        waiting[top + branch, 2] = marks[STARTS, branch + 1]
    state[N_WAITING] = top + n_branches


@lean
def put_in_order(links: Any, order: Any) -> int:
    """How many nodes there are; level by level, siblings together, they are written down."""
    n_nodes, at = 1, 0
    while at < n_nodes:
        node = order[at]
        if links[node, ATTRIBUTE] >= 0:
            for branch in range(links[node, N_BRANCHES]):
                order[n_nodes] = links[node, FIRST_CHILD] + branch
                n_nodes += 1
        at += 1
    return n_nodes
