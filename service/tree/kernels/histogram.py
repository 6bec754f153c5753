"""Splitting by histograms: per bin of each column the statistics of a node's rows, in one pass."""

from typing import Any

import numpy as np

from service.tree.kernels.arrive import arrive, is_settled
from service.tree.kernels.below import divide
from service.tree.kernels.bins import N_CODES, NULL_CODE, Bins
from service.tree.kernels.choose import choose
from service.tree.kernels.compile import inlined, lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.grow import (
    DONE,
    N_NODES,
    NEEDS_NODES,
    NEEDS_ROOM,
    add_children,
    branches_of,
    has_nodes,
    note_split,
)
from service.tree.kernels.rooms import (
    CUT,
    DEPTH,
    FILLED,
    FOUND,
    GAIN_HERE,
    HAS_NULL,
    HIGH,
    IS_CATEGORICAL,
    KNOWN,
    LEFT,
    LOW,
    MAJORITY,
    N_SENT,
    NO_COST,
    NODE_WEIGHT,
    NULL,
    OWN_BRANCH,
    PLACE,
    RIGHT,
    STOP,
    THRESHOLD,
    TOTAL,
    Columns,
    Nodes,
    Room,
    Rules,
    Work,
)
from service.tree.kernels.score import GAIN, GINI, SQUARED_ERROR, score, weight_of
from service.tree.kernels.search import judge_cut, search
from service.tree.kernels.send import send, weigh_sides
from service.tree.kernels.sets import ROUNDING

LEAF, WHOLE, DIVIDED = range(3)  # what a node is; its rows all weigh 1, or do not


@lean
def meet(
    rules: Rules, columns: Columns, room: Room, work: Work, nodes: Nodes, node: int,
    place: tuple[int, int],
) -> int:  # fmt: skip
    """What a node is: a leaf, or one to be split, whose rows all weigh 1 or do not."""
    is_whole = arrive(rules, columns, room, work, nodes, node, place)
    if is_settled(rules, work.sums, nodes, node, place[1] - place[0]):
        return LEAF
    return WHOLE if is_whole and rules.criterion != SQUARED_ERROR else DIVIDED


@lean
def part_ways(
    rules: Rules, columns: Columns, room: Room, work: Work, nodes: Nodes, bins: Bins, table: Any,
    waiting: Any, state: Any, node: int, place: tuple[int, int], is_whole: bool,
) -> tuple[int, int]:  # fmt: skip
    """How it ended, and how many branches the best split of a node that was met has, or 0."""
    _search(rules, columns, room, work, bins, table, place, nodes.numbers[node, NODE_WEIGHT],
            is_whole)  # fmt: skip
    best = choose(rules, work.found, columns.facts, columns.costs, nodes, node)
    if best < 0:
        return DONE, 0
    n_branches = branches_of(rules, columns.facts, work.found, best)
    if not has_nodes(columns.facts, work.found, nodes, state, best, n_branches):
        return NEEDS_NODES, n_branches
    if work.found[best, FOUND] == THRESHOLD:
        _send(rules, columns, room, work, nodes, bins, node, state[N_NODES], best, place)
    else:
        send(rules, columns, room, work, nodes, node, state[N_NODES], best, place)
    depth, first = nodes.links[node, DEPTH], state[N_NODES]
    if not divide(rules, columns.layout, room, work, nodes, first, n_branches, place, depth):
        return NEEDS_ROOM, n_branches
    note_split(columns.facts, work, nodes, state, node, best, n_branches)
    add_children(work.marks, nodes.links, waiting, state, node, n_branches)
    return DONE, n_branches


@inlined
def _search(
    rules: Rules, columns: Columns, room: Room, work: Work, bins: Bins, table: Any,
    place: tuple[int, int], weight: float, is_whole: bool,
) -> None:  # fmt: skip
    """Writes down the best split of each attribute."""
    is_race = not rules.by_ratio and rules.cost_rule == NO_COST
    to_beat = 0.0 if is_race else -np.inf
    whole = score(rules.criterion, work.sums, TOTAL)
    for attribute in range(len(columns.facts)):
        work.found[attribute, FOUND] = 0
        work.found[attribute, FILLED] = np.nan
        if columns.facts[attribute, IS_CATEGORICAL]:
            search(rules, columns, room, work, place, (attribute, attribute + 1), weight, is_whole)
        else:
            column = columns.facts[attribute, PLACE] - 1
            own = rules.missing == OWN_BRANCH and columns.facts[attribute, HAS_NULL] == 1
            _search_bins(
                rules, work.sums, work.parts, work.found, work.logs, bins, table, column,
                attribute, own, weight, is_whole, to_beat, whole,
            )  # fmt: skip
        if is_race and work.found[attribute, FOUND] > 0:
            to_beat = max(to_beat, work.found[attribute, GAIN_HERE])


@lean
def _search_bins(
    rules: Rules, sums: Any, parts: Any, found: Any, logs: Any, bins: Bins, table: Any,
    column: int, attribute: int, own: bool, weight: float, is_whole: bool, to_beat: float,
    whole: float,
) -> None:  # fmt: skip
    """Writes down the best cut between the bins of a column."""
    n_bins = bins.n_bins[column]
    lines = table[column * N_CODES : (column + 1) * N_CODES]
    _tell(lines, n_bins, sums)
    null = weight_of(rules.criterion, sums, NULL)
    if weight_of(rules.criterion, sums, KNOWN) <= 0:
        return
    if rules.missing == MAJORITY and null > 0:
        middle = _fill_null(rules.criterion, lines, n_bins, sums)
        found[attribute, FILLED] = bins.highest[column, middle]
        null = 0.0
    base = whole
    if not own and null > 0:
        base = score(rules.criterion, sums, KNOWN)
    null_score = score(rules.criterion, sums, NULL) if own else 0.0
    at, n_cuts, here = _scan(
        rules, lines, n_bins, sums, is_whole, logs, rules.tie * weight,
        base - null_score + to_beat * weight,
    )  # fmt: skip
    if at < 0 and own and n_cuts == 0:
        at, here = _last(rules.criterion, lines, n_bins), score(rules.criterion, sums, KNOWN)
    if at >= 0:
        found[attribute, FOUND], found[attribute, CUT] = THRESHOLD, at
        found[attribute, GAIN_HERE] = (here + null_score - base) / weight
        if rules.by_ratio or own:
            left = 0.0
            for code in range(at + 1):
                left += weight_of(rules.criterion, lines, code)
            judge_cut(rules, left, own, sums, parts, found, attribute)


@lean
def _tell(lines: Any, n_bins: int, sums: Any) -> None:
    """Writes down the statistics of all rows that know, and of the others."""
    for number in range(sums.shape[1]):
        sums[KNOWN, number] = sums[NULL, number] = 0.0
    for number in range(lines.shape[1]):
        sums[NULL, number] = lines[NULL_CODE, number]
        for code in range(n_bins):
            sums[KNOWN, number] += lines[code, number]


@lean
def _fill_null(criterion: int, lines: Any, n_bins: int, sums: Any) -> int:
    """The bin of the weighted median, which gets the rows of null."""
    total, passed, middle = weight_of(criterion, sums, KNOWN), 0.0, 0
    for code in range(n_bins):
        here = weight_of(criterion, lines, code)
        if here > 0:
            passed, middle = passed + here, code
            if passed >= total / 2:
                break
    for number in range(lines.shape[1]):
        lines[middle, number] += sums[NULL, number]
        sums[KNOWN, number] += sums[NULL, number]
        sums[NULL, number] = 0.0
    return middle


@lean
def _last(criterion: int, lines: Any, n_bins: int) -> int:
    """The last bin that holds anything."""
    at = n_bins - 1
    while at > 0 and weight_of(criterion, lines, at) <= 0:
        at -= 1
    return at


@lean
def _scan(
    rules: Rules, lines: Any, n_bins: int, sums: Any, is_whole: bool, logs: Any, tie: float,
    best: float,
) -> tuple[int, int, float]:  # fmt: skip
    """The bin before the first cut that is better by more than a tie, or -1; of how many cuts."""
    known, left, last = weight_of(rules.criterion, sums, KNOWN), 0.0, -1
    at, n_cuts, least = -1, 0, rules.min_weight - ROUNDING
    for number in range(sums.shape[1]):
        sums[LEFT, number], sums[RIGHT, number] = 0.0, sums[KNOWN, number]
    for code in range(n_bins):
        weight = weight_of(rules.criterion, lines, code)
        if weight <= 0:
            continue
        if last >= 0 and left >= least and known - left >= least:
            n_cuts += 1
            here = _both(rules.criterion, sums, left, known - left, is_whole, logs)
            if here > best + tie:
                best, at = here, last
        for number in range(lines.shape[1]):
            sums[LEFT, number] += lines[code, number]
            sums[RIGHT, number] -= lines[code, number]
        left, last = left + weight, code
    return at, n_cuts, best


@lean
def _both(criterion: int, sums: Any, left: float, right: float, is_whole: bool, logs: Any) -> float:
    """What both sides score."""
    if not is_whole:
        return float(score(criterion, sums, LEFT) + score(criterion, sums, RIGHT))
    one = other = 0.0
    for number in range(sums.shape[1]):
        here, there = sums[LEFT, number], sums[RIGHT, number]
        if criterion == GAIN:
            one += logs[U(here)]
            other += logs[U(there)]
        elif criterion == GINI:
            one += here * here
            other += there * there
        else:
            one, other = max(one, here), max(other, there)
    if criterion == GAIN:
        return float((one - logs[U(left)]) + (other - logs[U(right)]))
    return one / left + other / right if criterion == GINI else one + other


@inlined
def _send(
    rules: Rules, columns: Columns, room: Room, work: Work, nodes: Nodes, bins: Bins, node: int,
    first: int, best: int, place: tuple[int, int],
) -> None:  # fmt: skip
    """Writes down each row's side of a cut, and what each branch gets."""
    n_branches = branches_of(rules, columns.facts, work.found, best)
    column, cut = columns.facts[best, PLACE] - 1, int(work.found[best, CUT])
    away, filled = 3 if rules.missing == STOP else 2, work.found[best, FILLED]
    if not np.isnan(filled):
        away = 0 if filled <= bins.highest[column, cut] else 1
    for branch in range(n_branches + 2):
        work.marks[N_SENT, branch] = 0
    above = _send_bins(
        room.entries, place[0], place[1], columns.layout, bins.codes, column, cut, away,
        room.side, work.marks,
    )  # fmt: skip
    nodes.numbers[node, LOW] = bins.highest[column, cut]
    is_cut = above < NULL_CODE  # else all that is known is on one side
    nodes.numbers[node, HIGH] = bins.lowest[column, above] if is_cut else nodes.numbers[node, LOW]
    weigh_sides(
        rules.is_weighted, room.entries, place[0], place[1], columns.layout, room.rows, room.side,
        work.marks, nodes.numbers, first, n_branches,
    )  # fmt: skip


@lean
def _send_bins(
    entries: Any, start: int, end: int, layout: Layout, codes: Any, column: int, cut: int,
    away: int, side: Any, marks: Any,
) -> int:  # fmt: skip
    """The first bin above the cut that holds anything; all rows are sent to their side."""
    above, n_left, n_away, into = np.int64(NULL_CODE), 0, 0, np.uint16(away)
    for place in range(start, end):
        row = U(entries[U(place)]) & layout.row_mask
        code = np.int64(codes[row, U(column)])
        is_left, is_null = code <= cut, code == NULL_CODE
        side[row] = into if is_null else np.uint16(0 if is_left else 1)
        n_left += 1 if is_left else 0
        n_away += 1 if is_null else 0
        if not is_left and code < above:
            above = code
    marks[N_SENT, 0] += n_left
    marks[N_SENT, 1] += end - start - n_left - n_away
    marks[N_SENT, away] += n_away
    return above
