"""Pairs of a row and its weight: where nulls are divided, a row is part of many nodes.

A node that is split has its pairs in groups: one for each branch, and last those that do not know.
A branch holds its own group, and the last one in its share. So that one is put into a table once
for all branches, and nothing is copied for a branch that turns out to be a leaf.
"""

from typing import Any, NamedTuple

import numpy as np

from service.tree.kernels.compile import lean
from service.tree.kernels.entries import U

CLASS, LAST, FIRST_LINE = range(3)  # of a row, in Stock.known
AT_ONCE = 4  # lines of a row that are added to
AHEAD = 6  # pairs between a look at a row and its turn
FEW_NULLS = 128  # pairs that are put into the table of each branch sooner than a table is added

FIRST, NEXT, N_GROUPS, HAS_TABLE = range(4)  # of a level, columns of Path.steps


class Stock(NamedTuple):
    """The rows, and what lines of a table they add to. The last line of an attribute is null's."""

    lines: Any  # (attribute, row): the line of its value; last its class
    known: Any  # (row, ...): its class, where its lines end, and those of what it knows
    starts: Any  # per attribute its first line, and last the end


class Pairs(NamedTuple):
    """The pairs of all nodes on the way to the one in hand, node after node."""

    rows: Any
    weights: Any
    groups: Any  # of the pairs of the node in hand


class Path(NamedTuple):
    """The nodes that are split on the way to the one in hand, level by level."""

    steps: Any  # (level, FIRST ... HAS_TABLE): the first branch, the next in turn, how many, ...
    marks: Any  # (level, group): where its pairs begin, and last the end
    shares: Any  # (level, branch)
    tables: Any  # (level, class, line): of the pairs that do not know
    known: Any  # (level, attribute): the weight of these that knows it


@lean
def write_lines(
    codes: Any, order: Any, column: int, null: int, span: tuple[int, int], lines: Any
) -> None:
    """Writes down the lines of an attribute by its bins."""
    for row in range(len(lines)):
        code = np.int64(codes[U(order[U(row)]), U(column)])
        lines[U(row)] = span[1] if code == null else span[0] + code


@lean
def write_categories(
    codes: Any, order: Any, column: int, categories: Any, span: tuple[int, int], lines: Any
) -> None:
    """Writes down the lines of an attribute by its categories."""
    for row in range(len(lines)):
        code = categories[U(codes[U(order[U(row)]), U(column)])]
        lines[U(row)] = span[1] if code < 0 else span[0] + code


@lean
def write_known(stock: Stock, start: int, end: int) -> None:
    """Writes down the lines that some rows know, and the end as often as makes whole steps."""
    lines, known, starts = stock.lines, stock.known, stock.starts
    n_attributes = len(starts) - 1
    for row in range(start, end):
        at = U(FIRST_LINE)
        for attribute in range(n_attributes):
            line = lines[U(attribute), U(row)]
            known[U(row), at] = line
            at += U(1) if line != starts[attribute + 1] - 1 else U(0)
        while (at - U(FIRST_LINE)) & U(AT_ONCE - 1):
            known[U(row), at] = starts[n_attributes]
            at += U(1)
        known[U(row), U(CLASS)], known[U(row), U(LAST)] = lines[U(n_attributes), U(row)], at


@lean
def count(pairs: Pairs, start: int, end: int, share: float, known: Any, table: Any) -> int:
    """Adds the weights of some pairs to the lines that their rows know.

    What comes back means nothing. A row is looked at some time before its turn, so that it is at
    hand then; and what is looked at for nothing would not be looked at.
    """
    seen = 0
    for place in range(start, end):
        coming = U(pairs.rows[U(min(place + AHEAD, end - 1))])
        seen |= known[coming, U(CLASS)]
        row, weight = U(pairs.rows[U(place)]), pairs.weights[U(place)] * share
        number, last = U(known[row, U(CLASS)]), U(known[row, U(LAST)])
        at = U(FIRST_LINE)
        while at < last:  # four at a time: there are fewer steps to foresee the end of
            table[number, U(known[row, at])] += weight
            table[number, U(known[row, at + U(1)])] += weight
            table[number, U(known[row, at + U(2)])] += weight
            table[number, U(known[row, at + U(3)])] += weight
            at += U(AT_ONCE)
    return seen


@lean
def size_of(path: Path, level: int, branch: int) -> int:
    """How many pairs a branch has."""
    n_branches = path.steps[level, N_GROUPS]
    size = path.marks[level, branch + 1] - path.marks[level, branch]
    if path.shares[level, branch] > 0:
        size += path.marks[level, n_branches + 1] - path.marks[level, n_branches]
    return int(size)


@lean
def count_nulls(pairs: Pairs, path: Path, level: int, stock: Stock) -> None:
    """Makes the table of the pairs that do not know, if they are many and it is not there yet."""
    n_branches = path.steps[level, N_GROUPS]
    start, end = path.marks[level, n_branches], path.marks[level, n_branches + 1]
    if path.steps[level, HAS_TABLE] == 1 or end - start <= FEW_NULLS:
        return
    table = path.tables[level]
    _empty(table)
    count(pairs, start, end, 1.0, stock.known, table)
    for attribute in range(len(stock.starts) - 1):
        span = (stock.starts[attribute], stock.starts[attribute + 1])
        path.known[level, attribute] = weight_between(table, span)
    path.steps[level, HAS_TABLE] = 1


@lean
def is_unknown(path: Path, level: int, branch: int, sent: float, least: float) -> bool:
    """Whether no attribute is known by as much weight of a branch, as can be told before it is met.

    Those who know they belong there may know all the rest.
    """
    if path.steps[level, HAS_TABLE] == 0:
        return False
    most = 0.0
    for attribute in range(path.known.shape[1]):
        most = max(most, path.known[level, attribute])
    return bool(sent + path.shares[level, branch] * most < least)


@lean
def fill(pairs: Pairs, path: Path, level: int, branch: int, stock: Stock, table: Any) -> None:
    """Makes the table that of a branch."""
    n_branches, share = path.steps[level, N_GROUPS], path.shares[level, branch]
    start, end = path.marks[level, n_branches], path.marks[level, n_branches + 1]
    if path.steps[level, HAS_TABLE] == 1:
        for number in range(table.shape[0]):
            for line in range(table.shape[1]):
                table[U(number), U(line)] = share * path.tables[level, U(number), U(line)]
    else:
        _empty(table)
        if share > 0:
            count(pairs, start, end, share, stock.known, table)
    count(pairs, path.marks[level, branch], path.marks[level, branch + 1], 1.0, stock.known, table)


@lean
def weight_between(table: Any, span: tuple[int, int]) -> float:
    """The weight of some lines, by sums side by side, which do not wait for each other."""
    total = 0.0
    for number in range(table.shape[0]):
        one = two = three = four = 0.0
        line = span[0]
        while line + 4 <= span[1]:
            one += table[U(number), U(line)]
            two += table[U(number), U(line + 1)]
            three += table[U(number), U(line + 2)]
            four += table[U(number), U(line + 3)]
            line += 4
        while line < span[1]:
            one += table[U(number), U(line)]
            line += 1
        total += (one + two) + (three + four)
    return total


@lean
def _empty(table: Any) -> None:
    for number in range(table.shape[0]):
        for line in range(table.shape[1]):
            table[U(number), U(line)] = 0.0


@lean
def part(
    pairs: Pairs, path: Path, level: int, branch: int, lines: Any, ways: Any, n_groups: int
) -> None:
    """Puts the pairs of a branch behind all others, in groups, as the next level.

    `ways` has the group of each line; the last group is that of null.
    """
    n_branches, marks = path.steps[level, N_GROUPS], path.marks
    spans = (
        (marks[level, branch], marks[level, branch + 1]),
        (marks[level, n_branches], marks[level, n_branches + 1]),
    )
    share, end = path.shares[level, branch], marks[level, n_branches + 1]
    for group in range(n_groups + 1):
        marks[level + 1, group] = 0
    n_own = spans[0][1] - spans[0][0]
    _choose_groups(pairs, spans[0], 0, lines, ways, marks[level + 1])
    if share > 0:
        _choose_groups(pairs, spans[1], n_own, lines, ways, marks[level + 1])
    for group in range(n_groups):
        size = marks[level + 1, group]
        marks[level + 1, group] = end
        end += size
    _move(pairs, spans[0], 0, 1.0, marks[level + 1])
    if share > 0:
        _move(pairs, spans[1], n_own, share, marks[level + 1])
    for group in range(n_groups, 0, -1):  # each has moved on to where the next one began
        marks[level + 1, group] = marks[level + 1, group - 1]
    marks[level + 1, 0] = marks[level, n_branches + 1]


@lean
def _choose_groups(
    pairs: Pairs, span: tuple[int, int], first: int, lines: Any, ways: Any, sizes: Any
) -> None:
    for place in range(span[0], span[1]):
        group = ways[U(lines[U(pairs.rows[U(place)])])]
        pairs.groups[U(first + place - span[0])] = group
        sizes[U(group)] += 1


@lean
def _move(pairs: Pairs, span: tuple[int, int], first: int, share: float, places: Any) -> None:
    for place in range(span[0], span[1]):
        group = U(pairs.groups[U(first + place - span[0])])
        to = U(places[group])
        pairs.rows[to] = pairs.rows[U(place)]
        pairs.weights[to] = pairs.weights[U(place)] * share
        places[group] += 1
