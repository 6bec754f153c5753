"""Growing by tables where nulls are divided: the trunk first, then its boughs by two threads.

Each node has one list of its rows and their weights, not one for every column; and what is null
at a split is put into a table once for all branches. See kernels/pairs.py.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.beds import Top, grow_all, joined
from service.tree.boughs import Ground, tested_above
from service.tree.context import Context
from service.tree.dataset import null_share
from service.tree.engine import (
    BUDGET,
    FIRST_NODES,
    Report,
    Yield,
    check_parts,
    longer,
    make_nodes,
    more_nodes,
    work_of,
)
from service.tree.kernels.bins import N_CODES, NULL_CODE
from service.tree.kernels.divided import FEW_LEFT, LEVEL, NEEDS_LEVELS, Desk, grow_divided
from service.tree.kernels.grow import DONE, N_NODES, N_SIDES, NEEDS_NODES, NEEDS_ROOM
from service.tree.kernels.pairs import (
    AT_ONCE,
    FIRST_LINE,
    N_GROUPS,
    NEXT,
    Pairs,
    Path,
    Stock,
    write_categories,
    write_known,
    write_lines,
)
from service.tree.kernels.rooms import (
    CLASSES,
    DEPTH,
    IS_CATEGORICAL,
    N_VALUES,
    NODE_WEIGHT,
    PLACE,
    TESTED,
    Columns,
    Nodes,
)
from service.tree.kernels.weighed import LANES
from service.tree.presort import in_threads

MOST_CELLS = 1 << 16  # of a table: there is one for every level
# the part of all values that must be null: else few rows are sorted sooner than tables are looked
# through; and the more, the larger the tables
MANY_NULLS, LARGE = 0.08, 400_000
FIRST_LEVELS = 16
SHARE = 2  # a bough holds at most one in so many of all rows
BLOCK = 1 << 13  # rows that are written down at a time
LINE = 32  # short numbers that memory hands out at once


def is_divided(context: Context, columns: Columns, n_bins: Ints) -> bool:
    """Whether this way of growing is the one for such data: nulls are divided, and many."""
    params, data = context.params, context.data
    is_fractional = params.missing in ("fractional", "drop") and params.rules == "textbook"
    if not is_fractional or not context.has_null.any() or data.is_regression:
        return False
    n_lines = int(n_bins.sum()) + int(columns.facts[:, N_VALUES].sum()) + len(columns.facts)
    n_cells = n_lines * len(data.classes)
    return n_cells <= MOST_CELLS and null_share(data) >= MANY_NULLS + n_cells / LARGE


@dataclass(frozen=True)
class Cutting:
    """A node of the trunk that is left to grow, with its pairs."""

    slot: int
    rows: Any
    weights: Floats


def grow_in_tables(
    ground: Ground, weights: Floats, few: int, pool: ThreadPoolExecutor, tell: Report
) -> Yield:
    """The nodes of the full tree; those with no more than a few rows grow by two threads."""
    order = by_knowledge(ground)
    stock = stock_of(ground, order)
    trunk = _trunk(ground, stock, weights[order])
    cuttings = trunk.cuttings(max(few, len(weights) // SHARE), tell)
    told = float(trunk.settled[0])
    desks: list[Desk] = []  # nobody is at

    def grow_one(number: int, note: Report) -> Yield:
        cutting = cuttings[number]
        grower = _bough(ground, stock, trunk.nodes, cutting, desks.pop() if desks else None)
        made = grower.grown(note)
        desks.append(grower.desk)
        return made

    def tell_more(settled: float, n_nodes: int) -> None:
        tell(told + settled, int(trunk.state[N_NODES]) + n_nodes)

    grown = grow_all([len(each.rows) for each in cuttings], grow_one, pool, tell_more)
    top = Top(trunk.nodes)
    top.state = trunk.state
    return joined(top, [each.slot for each in cuttings], grown)


class Grower:
    """What grows from the rows of one node."""

    def __init__(
        self, ground: Ground, columns: Columns, stock: Stock, nodes: Nodes, desk: Desk
    ) -> None:
        self.ground, self.columns, self.stock = ground, columns, stock
        self.nodes, self.desk = nodes, desk
        self.state, self.settled = np.array([1, 0, 0]), np.zeros(1)

    def begin(self, rows: Any, weights: Floats) -> None:
        """Puts the pairs of the first node on the desk."""
        n_pairs, path = len(rows), self.desk.path
        self.desk = with_room(self.desk, n_pairs)
        self.desk.pairs.rows[:n_pairs], self.desk.pairs.weights[:n_pairs] = rows, weights
        path.steps[0] = 0, 0, 1, 0
        path.marks[0, :3] = 0, n_pairs, n_pairs
        path.shares[0, 0] = 0.0

    def grown(self, note: Report) -> Yield:
        """All nodes."""
        while self._grow(0) != DONE:
            note(float(self.settled[0]), int(self.state[N_NODES]))
        note(float(self.settled[0]), int(self.state[N_NODES]))
        return Yield(self.nodes, int(self.state[N_NODES]), int(self.state[N_SIDES]))

    def cuttings(self, few: int, tell: Report) -> list[Cutting]:
        """The nodes with no more than a few rows, which have not grown; but the first has."""
        found: list[Cutting] = []
        n_rows, n_left = self.stock.lines.shape[1], 0
        while True:
            ended = self._grow(few)
            tell(float(self.settled[0]), int(self.state[N_NODES]))
            if ended == DONE:
                return found
            if ended == FEW_LEFT:
                found.append(self._cutting())
                n_left += len(found[-1].rows)
                check_parts(n_left, n_rows)

    def _grow(self, few: int) -> int:
        """How it ended; what was needed is there."""
        ended = int(
            grow_divided(
                self.ground.rules, self.columns, self.ground.binned.bins, self.stock, self.desk,
                self.nodes, self.state, self.settled, few, BUDGET,
            )
        )  # fmt: skip
        if ended == NEEDS_NODES:
            self.nodes = more_nodes(self.nodes)
        elif ended == NEEDS_ROOM:
            check_parts(len(self.desk.pairs.rows), self.stock.lines.shape[1])
            self.desk = with_room(self.desk, 2 * len(self.desk.pairs.rows))
        elif ended == NEEDS_LEVELS:
            path = Path(*(longer(each, 2 * len(each)) for each in self.desk.path))
            self.desk = self.desk._replace(path=path)
        return ended

    def _cutting(self) -> Cutting:
        """The node in hand, which is left to grow."""
        path, pairs, level = self.desk.path, self.desk.pairs, int(self.state[LEVEL])
        first, branch, n_branches = path.steps[level, : N_GROUPS + 1].tolist()
        own, null = (
            slice(*path.marks[level, group : group + 2].tolist()) for group in (branch, n_branches)
        )
        share = float(path.shares[level, branch])
        path.steps[level, NEXT] += 1
        rows, weights = pairs.rows[own], pairs.weights[own]
        if share > 0:
            rows = np.concatenate([rows, pairs.rows[null]])
            weights = np.concatenate([weights, share * pairs.weights[null]])
        return Cutting(first + branch, rows.copy(), weights.copy())


def _trunk(ground: Ground, stock: Stock, weights: Floats) -> Grower:
    n_rows, n_classes = len(weights), len(ground.context.data.classes)
    nodes = make_nodes(FIRST_NODES + int(ground.columns.facts[:, N_VALUES].max()), n_classes)
    classes = np.bincount(stock.lines[-1], weights, n_classes)
    nodes.numbers[0, CLASSES:], nodes.numbers[0, NODE_WEIGHT] = classes, classes.sum()
    grower = Grower(ground, ground.columns, stock, nodes, make_desk(ground, stock, n_rows))
    grower.begin(np.arange(n_rows, dtype=np.uint32), weights)
    return grower


def _bough(
    ground: Ground, stock: Stock, trunk: Nodes, cutting: Cutting, desk: Desk | None
) -> Grower:
    n_pairs, facts = len(cutting.rows), ground.columns.facts.copy()
    facts[list(tested_above(trunk.links, cutting.slot)), TESTED] = 1
    most = FIRST_NODES + int(facts[:, N_VALUES].max())
    nodes = make_nodes(most, len(ground.context.data.classes))
    nodes.numbers[0] = trunk.numbers[cutting.slot]
    nodes.links[0, DEPTH] = trunk.links[cutting.slot, DEPTH]
    columns = ground.columns._replace(facts=facts)
    desk = desk or make_desk(ground, stock, n_pairs)
    grower = Grower(ground, columns, stock, nodes, desk)
    grower.begin(cutting.rows, cutting.weights)
    return grower


def make_desk(ground: Ground, stock: Stock, n_rows: int) -> Desk:
    """A desk for nodes of so many rows."""
    context, columns = ground.context, ground.binned.columns
    shape = (len(context.data.classes), int(stock.starts[-1]) + 1 + LANES)
    most = max([len(each.values) for each in context.data.attributes], default=0) + 5
    pairs = Pairs(
        np.empty(4 * n_rows, np.uint32), np.empty(4 * n_rows), np.empty(n_rows, np.uint16)
    )
    path = Path(
        np.zeros((FIRST_LEVELS, 4), np.int64), np.zeros((FIRST_LEVELS, most), np.int64),
        np.zeros((FIRST_LEVELS, most)), np.zeros((FIRST_LEVELS, *shape)),
        np.zeros((FIRST_LEVELS, len(stock.starts) - 1)),
    )  # fmt: skip
    return Desk(
        work_of(context, columns, np.zeros(1), 1), pairs, path, np.zeros(shape),
        np.zeros(N_CODES + LANES, np.float32), np.zeros(shape[1], np.uint16),
    )  # fmt: skip


def with_room(desk: Desk, n_pairs: int) -> Desk:
    """The desk with room for at least so many pairs."""
    rows, weights, groups = desk.pairs
    if len(rows) < n_pairs:
        n_had, rows, weights = len(rows), np.empty(n_pairs, np.uint32), np.empty(n_pairs)
        rows[:n_had], weights[:n_had] = desk.pairs.rows, desk.pairs.weights
    if len(groups) < n_pairs:
        groups = np.empty(n_pairs, np.uint16)
    return desk._replace(pairs=Pairs(rows, weights, groups))


def stock_of(ground: Ground, order: Ints) -> Stock:
    """The rows in an order, and what lines of a table they add to."""
    facts, n_rows = ground.columns.facts, len(order)
    n_lines = facts[:, N_VALUES].copy()
    n_lines[facts[:, IS_CATEGORICAL] == 0] = ground.binned.bins.n_bins
    starts = np.cumsum([0, *(n_lines + 1)])
    stock = Stock(
        np.empty((len(facts) + 1, n_rows), np.uint16),
        _in_lines_of_memory(n_rows, FIRST_LINE + len(facts) + AT_ONCE - 1),
        starts,
    )
    stock.lines[-1] = ground.context.data.target[ground.binned.columns.rows[order]]
    in_threads(partial(_write_lines, ground, order, stock), len(facts), n_rows)
    blocks = range(0, n_rows, BLOCK)

    def write(places: range) -> None:
        for place in places:
            write_known(stock, blocks[place], min(blocks[place] + BLOCK, n_rows))

    in_threads(write, len(blocks), n_rows)
    return stock


def _write_lines(ground: Ground, order: Ints, stock: Stock, attributes: range) -> None:
    facts, codes = ground.columns.facts, ground.binned.bins.codes
    for attribute in attributes:
        place, lines = int(facts[attribute, PLACE]), stock.lines[attribute]
        span = int(stock.starts[attribute]), int(stock.starts[attribute + 1]) - 1
        if facts[attribute, IS_CATEGORICAL]:
            categories = ground.columns.categories
            write_categories(ground.binned.columns.codes, order, place, categories, span, lines)
        else:
            write_lines(codes, order, place - 1, NULL_CODE, span, lines)


def by_knowledge(ground: Ground) -> Ints:
    """The rows in the order of how much they know: of neighbours as much is added up."""
    rows, values = ground.binned.columns.rows, ground.context.data.values
    n_known = np.zeros(len(values), np.uint16)
    for column in values.T:
        n_known += ~np.isnan(column)
    return np.argsort((n_known[rows] + AT_ONCE - 1) // AT_ONCE, kind="stable")


def _in_lines_of_memory(n_rows: int, width: int) -> Any:
    """Room for so many numbers a row, of which none lies across more lines than it must."""
    width = min(1 << (width - 1).bit_length(), -(-width // LINE) * LINE)
    room = np.empty((n_rows + 1) * width + LINE, np.uint16)
    skipped = (-room.ctypes.data // room.itemsize) % LINE
    return room[skipped : skipped + n_rows * width].reshape(n_rows, width)
