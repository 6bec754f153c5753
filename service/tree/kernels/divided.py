"""Growing where nulls are divided, by tables: node after node, each before its siblings."""

from typing import Any, NamedTuple

from service.tree.kernels.arrive import is_settled
from service.tree.kernels.bins import Bins
from service.tree.kernels.choose import choose
from service.tree.kernels.compile import inlined, lean
from service.tree.kernels.grow import (
    DONE,
    N_NODES,
    NEEDS_NODES,
    NEEDS_ROOM,
    PAUSED,
    branches_of,
    has_nodes,
    link_children,
    note_split,
)
from service.tree.kernels.pairs import (
    FIRST,
    HAS_TABLE,
    N_GROUPS,
    NEXT,
    Pairs,
    Path,
    Stock,
    count_nulls,
    fill,
    is_unknown,
    part,
    size_of,
)
from service.tree.kernels.rooms import (
    CLASSES,
    CUT,
    FOUND,
    HIGH,
    IS_CATEGORICAL,
    KNOWN,
    LEFT,
    LOW,
    MULTIWAY,
    NODE_WEIGHT,
    NULL,
    PLACE,
    SENT,
    TOTAL,
    Columns,
    Nodes,
    Rules,
    Work,
)
from service.tree.kernels.score import clear
from service.tree.kernels.sets import ROUNDING
from service.tree.kernels.tables import next_used, search_table, tell_branch, tell_null

NEEDS_LEVELS, FEW_LEFT = 4, 5  # further ways for a kernel to come back
LEFT_ALONE = -2  # in place of an attribute: whoever called has the node
LEVEL = 1  # what the state counts beside nodes and sides


class Desk(NamedTuple):
    """What one thread works with."""

    work: Work
    pairs: Pairs
    path: Path
    table: Any  # (class, line): of the node in hand
    quickly: Any  # per bin of a column the score of the cut behind it, about
    ways: Any  # per line the group of its rows


@lean
def grow_divided(
    rules: Rules, columns: Columns, bins: Bins, stock: Stock, desk: Desk, nodes: Nodes, state: Any,
    settled: Any, few: int, budget: int,
) -> int:  # fmt: skip
    """Grows until nothing waits, the budget of pairs is spent, or something is needed.

    A node of no more than a few pairs is left to whoever called, but not the first one.
    """
    path, spent = desk.path, 0
    while state[LEVEL] >= 0:
        level = state[LEVEL]
        branch = path.steps[level, NEXT]
        if branch == path.steps[level, N_GROUPS]:
            state[LEVEL] -= 1
            continue
        if spent > budget:
            return PAUSED
        node, n_pairs = path.steps[level, FIRST] + branch, size_of(path, level, branch)
        best = _best(rules, columns, stock, desk, nodes, node, level, n_pairs, few)
        if best == LEFT_ALONE:
            return FEW_LEFT
        ended = DONE
        if best >= 0:
            spent += n_pairs
            ended = _part(
                rules, columns, bins, stock, desk, nodes, state, settled, node, best, n_pairs
            )
        else:
            settled[0] += nodes.numbers[node, NODE_WEIGHT]
        if ended != DONE:
            return ended
        path.steps[level, NEXT] += 1
    return DONE


@inlined
def _best(
    rules: Rules, columns: Columns, stock: Stock, desk: Desk, nodes: Nodes, node: int, level: int,
    n_pairs: int, few: int,
) -> int:  # fmt: skip
    """The attribute that a node is best split by, -1 for none; or that it is left alone."""
    work = desk.work
    for number in range(work.sums.shape[1]):
        work.sums[TOTAL, number] = nodes.numbers[node, CLASSES + number]
    if is_settled(rules, work.sums, nodes, node, n_pairs):
        return -1
    if n_pairs <= few and level > 0:
        return LEFT_ALONE
    weight, branch = nodes.numbers[node, NODE_WEIGHT], desk.path.steps[level, NEXT]
    count_nulls(desk.pairs, desk.path, level, stock)
    least = 2.0 * (rules.min_weight - ROUNDING) - ROUNDING
    if is_unknown(desk.path, level, branch, nodes.numbers[node, SENT], least):
        return -1
    fill(desk.pairs, desk.path, level, branch, stock, desk.table)
    search_table(rules, columns, work, stock, desk.table, desk.quickly, weight)
    return int(choose(rules, work.found, columns.facts, columns.costs, nodes, node))


@inlined
def _part(
    rules: Rules, columns: Columns, bins: Bins, stock: Stock, desk: Desk, nodes: Nodes, state: Any,
    settled: Any, node: int, best: int, n_pairs: int,
) -> int:  # fmt: skip
    """How it ended that a node was split; unless all are leaves, its branches come next."""
    level, work, path = state[LEVEL], desk.work, desk.path
    n_branches = branches_of(rules, columns.facts, work.found, best)
    if not has_nodes(columns.facts, work.found, nodes, state, best, n_branches):
        return NEEDS_NODES
    if level + 1 == len(path.steps):
        return NEEDS_LEVELS
    if path.marks[level, path.steps[level, N_GROUPS] + 1] + n_pairs > len(desk.pairs.rows):
        return NEEDS_ROOM
    first, span = state[N_NODES], (stock.starts[best], stock.starts[best + 1] - 1)
    cut = -1 if columns.facts[best, IS_CATEGORICAL] else int(work.found[best, CUT])
    _choose_ways(columns, work, bins, desk, nodes.numbers, node, best, span, cut, n_branches)
    note_split(columns.facts, work, nodes, state, node, best, n_branches)
    link_children(nodes.links, state, node, n_branches)
    if not _weigh(rules, work.sums, desk, nodes, first, n_branches, span, cut):
        settled[0] += nodes.numbers[node, NODE_WEIGHT]
        return DONE
    part(
        desk.pairs, path, level, path.steps[level, NEXT], stock.lines[best], desk.ways,
        n_branches + 1,
    )  # fmt: skip
    _step(path, level + 1, nodes.numbers, first, n_branches)
    state[LEVEL] = level + 1
    return DONE


@lean
def _weigh(
    rules: Rules, sums: Any, desk: Desk, nodes: Nodes, first: int, n_branches: int,
    span: tuple[int, int], cut: int,
) -> bool:  # fmt: skip
    """Whether a child may be split again; what the children weigh is written down."""
    numbers, known, is_open = nodes.numbers, 0.0, False
    clear(sums, KNOWN)
    for child in range(first, first + n_branches):
        sent = tell_branch(desk.table, span, cut, desk.ways, child - first, sums, LEFT)
        known, numbers[child, SENT] = known + sent, sent
        for number in range(sums.shape[1]):
            numbers[child, CLASSES + number] = sums[LEFT, number]
            sums[KNOWN, number] += sums[LEFT, number]
    tell_null(sums)
    for child in range(first, first + n_branches):
        share, weight = numbers[child, SENT] / known, 0.0
        for number in range(sums.shape[1]):
            sums[TOTAL, number] = numbers[child, CLASSES + number] + share * sums[NULL, number]
            numbers[child, CLASSES + number] = sums[TOTAL, number]
            weight += sums[TOTAL, number]
        numbers[child, NODE_WEIGHT] = weight
        is_open = is_open or not is_settled(rules, sums, nodes, child, rules.min_rows)
    return is_open


@lean
def _step(path: Path, level: int, numbers: Any, first: int, n_branches: int) -> None:
    """Makes the branches of a node the next ones in turn."""
    steps, known = path.steps, 0.0
    steps[level, FIRST], steps[level, NEXT] = first, 0
    steps[level, N_GROUPS], steps[level, HAS_TABLE] = n_branches, 0
    for branch in range(n_branches):
        known += numbers[first + branch, SENT]
    for branch in range(n_branches):
        path.shares[level, branch] = numbers[first + branch, SENT] / known


@lean
def _choose_ways(
    columns: Columns, work: Work, bins: Bins, desk: Desk, numbers: Any, node: int, best: int,
    span: tuple[int, int], cut: int, n_branches: int,
) -> None:  # fmt: skip
    """Writes down the group of each line; and of a cut the values on both sides."""
    start, last = span
    for line in range(start, last):
        branch = line - start
        if cut >= 0:
            branch = 0 if branch <= cut else 1
        elif work.found[best, FOUND] != MULTIWAY:
            branch = work.sides[best, branch]
        desk.ways[line] = branch
    desk.ways[last] = n_branches
    if cut >= 0:
        column = columns.facts[best, PLACE] - 1
        above = next_used(desk.table, start + cut, last) - start
        numbers[node, LOW] = bins.highest[column, cut]
        numbers[node, HIGH] = bins.lowest[column, above]
