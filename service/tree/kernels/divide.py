"""Dividing the rows of a node over its branches, as a split in the table of nodes says."""

from typing import NamedTuple

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.kernels.compile import kernel


class Ways(NamedTuple):
    """Per node which way a row goes from there."""

    first_child: Ints
    n_branches: Ints
    attribute: Ints
    threshold: Floats  # NaN where the split has none
    table_start: Ints  # where the branches of its categories begin; -1: each has its own ...
    table: Ints  # ... in here; -1 as if it were null
    null_branch: Ints  # the branch that is null's own, -1 where there is none
    filled: Floats  # what stands for null; NaN where nothing does


class Rows(NamedTuple):
    """The rows of a dataset, and how those that are null are divided."""

    columns: Floats  # (attribute, row)
    target: Ints  # per row its class
    least_share: float  # a branch whose share is not above this gets nothing of a null row


class Entries(NamedTuple):
    """Rows with the weights in which they arrived, those of many nodes behind one another."""

    rows: Ints
    weights: Floats


class Desk(NamedTuple):
    """What is known of the node in hand, per branch but for the first two."""

    taken: Ints  # per entry its branch, -1 for null
    nulls: Ints  # the entries that are null
    is_wanted: Bools  # whether its entries are to be put down
    starts: Ints  # where they begin ...
    ends: Ints  # ... and where they end
    counts: Ints  # of the entries that are not null
    sizes: Floats  # their weight
    shares: Floats  # its part of that weight
    weights: Floats  # what goes there of all entries ...
    tallies: Floats  # ... by class (branch, class)


def make_desk(n_entries: int, n_branches: int, n_classes: int) -> Desk:
    """A desk for nodes with at most so many entries and branches."""
    return Desk(
        taken=np.empty(n_entries, dtype=np.int64),
        nulls=np.empty(n_entries, dtype=np.int64),
        is_wanted=np.ones(n_branches, dtype=bool),
        starts=np.empty(n_branches, dtype=np.int64),
        ends=np.empty(n_branches, dtype=np.int64),
        counts=np.empty(n_branches, dtype=np.int64),
        sizes=np.empty(n_branches),
        shares=np.empty(n_branches),
        weights=np.empty(n_branches),
        tallies=np.empty((n_branches, n_classes)),
    )


@kernel
def divide(
    ways: Ways, at: int, rows: Rows, entries: Entries, start: int, end: int, desk: Desk,
) -> Entries:  # fmt: skip
    """The entries, with those of the branches that are wanted put down behind these."""
    n_null = _look(ways, at, rows, entries, start, end, desk)
    n_branches = ways.n_branches[at]
    _set_shares(desk, n_branches)
    top = end
    for branch in range(n_branches):
        desk.starts[branch] = desk.ends[branch] = top
        if desk.is_wanted[branch]:
            goes = desk.shares[branch] > rows.least_share
            top += desk.counts[branch] + (n_null if goes else 0)
    if top > end:
        entries = with_room(entries, top)
        _put_known(entries, start, end, desk)
        _put_nulls(entries, n_null, n_branches, rows.least_share, desk)
    return entries


@kernel
def _look(
    ways: Ways, at: int, rows: Rows, entries: Entries, start: int, end: int, desk: Desk
) -> int:
    """How many entries are null; the desk has the branches of the others, and their weights."""
    column, threshold = rows.columns[ways.attribute[at]], ways.threshold[at]
    first = ways.table_start[at]
    table = ways.table[first:] if first >= 0 else ways.table[:0]
    own = at_null = ways.null_branch[at]
    if not np.isnan(ways.filled[at]):
        at_null = _branch_of(ways.filled[at], threshold, table)
    desk.sizes[: ways.n_branches[at]] = 0.0
    desk.counts[: ways.n_branches[at]] = 0
    n_null = 0
    for place in range(start, end):
        value = column[entries.rows[place]]
        branch = at_null if np.isnan(value) else _branch_of(value, threshold, table)
        if branch < 0:
            branch = own
        desk.taken[place - start] = branch
        if branch < 0:
            desk.nulls[n_null] = place
            n_null += 1
        else:
            desk.sizes[branch] += entries.weights[place]
            desk.counts[branch] += 1
    return n_null


@kernel
def _branch_of(value: float, threshold: float, table: Ints) -> int:
    """The branch that a known value takes, -1 where the split says nothing of it."""
    if not np.isnan(threshold):
        return int(value > threshold)
    return int(table[int(value)]) if len(table) > 0 else int(value)


@kernel
def _set_shares(desk: Desk, n_branches: int) -> None:
    total = 0.0
    for branch in range(n_branches):
        total += desk.sizes[branch]
    for branch in range(n_branches):
        desk.shares[branch] = desk.sizes[branch] / total if total > 0 else 1.0 / n_branches


@kernel
def with_room(entries: Entries, n_entries: int) -> Entries:
    """The entries, with room for at least so many."""
    n_old = len(entries.rows)
    if n_old >= n_entries:
        return entries
    n_new = n_entries + n_entries // 2
    rows, weights = np.empty(n_new, np.int64), np.empty(n_new)
    for place in range(n_old):  # one by one: slices take numba seconds to compile
        rows[place], weights[place] = entries.rows[place], entries.weights[place]
    return Entries(rows, weights)


@kernel
def _put_known(entries: Entries, start: int, end: int, desk: Desk) -> None:
    for place in range(start, end):
        branch = desk.taken[place - start]
        if branch >= 0 and desk.is_wanted[branch]:
            to = desk.ends[branch]
            entries.rows[to], entries.weights[to] = entries.rows[place], entries.weights[place]
            desk.ends[branch] = to + 1


@kernel
def _put_nulls(
    entries: Entries, n_null: int, n_branches: int, least_share: float, desk: Desk
) -> None:
    for branch in range(n_branches):
        share = desk.shares[branch]
        if not desk.is_wanted[branch] or share <= least_share:
            continue
        to = desk.ends[branch]
        for null in range(n_null):
            weight = entries.weights[desk.nulls[null]] * share
            # a weight can be divided until floating point has no smaller one
            if weight > 0:
                entries.rows[to], entries.weights[to] = entries.rows[desk.nulls[null]], weight
                to += 1
        desk.ends[branch] = to


@kernel
def tally(
    ways: Ways, at: int, rows: Rows, entries: Entries, start: int, end: int, desk: Desk
) -> None:
    """Sums up what goes down each branch, and by class; the entries were divided before.

    Weights are sums in the order of the rows, as the tree has them: C4.5's bound leaps where a
    weight is half a row more than its errors, so that the last bit can matter.
    """
    n_branches, n_null = ways.n_branches[at], end - start
    desk.tallies[:n_branches] = 0.0
    for branch in range(n_branches):
        desk.weights[branch] = desk.sizes[branch]
        n_null -= desk.counts[branch]
    for place in range(start, end):
        branch = desk.taken[place - start]
        if branch >= 0:
            desk.tallies[branch, rows.target[entries.rows[place]]] += entries.weights[place]
    for branch in range(n_branches):
        share = desk.shares[branch]
        if share > rows.least_share:
            for null in range(n_null):
                place = desk.nulls[null]
                part = entries.weights[place] * share
                desk.tallies[branch, rows.target[entries.rows[place]]] += part
                desk.weights[branch] += part
