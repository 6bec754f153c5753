"""Growing by histograms: the trunk node by node, and then its boughs.

A node of many rows is split by a table of its bins. Once a node has few rows, these are sorted by
their bins, and what grows from them is left to the engine: it is then faster, and cuts the same.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from service.tree.arrays import Floats
from service.tree.bed import MANY
from service.tree.beds import Top, joined
from service.tree.binned import Binned, widen
from service.tree.boughs import Bough, Ground, grow_boughs
from service.tree.context import Context
from service.tree.crew import N_THREADS, crew
from service.tree.divided import grow_in_tables, is_divided
from service.tree.engine import (
    FIRST_NODES,
    Report,
    Yield,
    logs_of,
    make_nodes,
    more_nodes,
    more_room,
    needs_room,
    room_of,
    rules_of,
    teller,
    work_of,
)
from service.tree.facts import columns_of
from service.tree.kernels.bins import N_CODES, fill_counts, fill_sums
from service.tree.kernels.grow import N_NODES, N_WAITING, NEEDS_NODES, NEEDS_ROOM
from service.tree.kernels.histogram import LEAF, WHOLE, meet, part_ways
from service.tree.kernels.rooms import DEPTH, N_SENT, N_VALUES, NODE_WEIGHT

FEW = 16_384  # rows of a bough at the most
AT_A_TIME = 1 << 18  # rows that are put into a table between two reports


@dataclass(frozen=True)
class Shoot:
    """A node of the trunk that waits, and the places of its rows."""

    node: int
    start: int
    end: int
    table: Any = None  # of its bins, where that is known already

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        return self.end - self.start


def grow_binned(
    context: Context,
    binned: Binned,
    weights: Floats,
    max_nodes: int,
    report: Report,
    few: int = FEW,
) -> Yield:
    """The nodes of the full tree of binned rows; their entries are used up."""
    columns, tell = binned.columns, teller(weights, max_nodes, report)
    ground = Ground(
        context, binned, rules_of(context, columns, weights), columns_of(context, columns)
    )
    pool = crew(N_THREADS)
    if is_divided(context, ground.columns, binned.bins.n_bins):
        made = grow_in_tables(ground, weights, few, pool, tell)
        tell(float(weights.sum()), made.n_nodes)
        return made
    trunk = Trunk(ground, weights, pool, tell)
    boughs, top = trunk.grow(few), trunk.top
    grown = grow_boughs(ground, trunk.room, top.nodes, boughs, pool, trunk.tell_more)
    made = joined(top, [bough.slot for bough in boughs], grown)
    widen(context.data, binned.bins, made.nodes)
    tell(float(weights.sum()), made.n_nodes)
    return made


class Trunk:
    """The nodes with many rows."""

    def __init__(
        self, ground: Ground, weights: Floats, pool: ThreadPoolExecutor, tell: Report
    ) -> None:
        self.ground, self.pool, self.tell, self.settled = ground, pool, tell, 0.0
        context, columns = ground.context, ground.binned.columns
        self.room = room_of(context, columns, weights, is_wide=needs_room(context))
        self.work = work_of(context, columns, logs_of(columns.n_rows), columns.n_rows)
        most = FIRST_NODES + int(ground.columns.facts[:, N_VALUES].max())
        self.top = Top(make_nodes(most, len(context.data.classes)))
        self.waiting = np.zeros((most, 3), np.int64)

    def tell_more(self, settled: float, n_nodes: int) -> None:
        """Tells of so much beside the trunk."""
        self.tell(self.settled + settled, int(self.top.state[N_NODES]) + n_nodes)

    def grow(self, few: int) -> list[Bough]:
        """The nodes with no more than a few rows, which have not grown; but the root has."""
        boughs, waiting = [], [Shoot(0, 0, self.ground.binned.columns.n_rows)]
        while waiting:
            shoot = waiting.pop()  # the one with the highest places: all behind them is free
            if shoot.node > 0 and shoot.n_rows <= few:
                boughs.append(self._bough(shoot))
                continue
            children = self._children(shoot, few)
            if not children:
                self.settled += float(self.top.nodes.numbers[shoot.node, NODE_WEIGHT])
            waiting += children
            self.tell_more(0.0, 0)
        return boughs

    def _bough(self, shoot: Shoot) -> Bough:
        entries = self.room.entries[shoot.start : shoot.end].copy()
        return Bough(shoot.node, entries, self.room.arrived[shoot.start : shoot.end].copy())

    def _children(self, shoot: Shoot, few: int) -> list[Shoot]:
        """The children of a node; none if it is a leaf."""
        ground, place = self.ground, (shoot.start, shoot.end)
        kind = meet(
            ground.rules, ground.columns, self.room, self.work, self.top.nodes, shoot.node, place
        )
        if kind == LEAF:
            return []
        table = shoot.table
        if table is None:
            table = self._table(shoot, is_whole=kind == WHOLE)
        n_branches = self._part_ways(shoot, table, is_whole=kind == WHOLE)
        children = [Shoot(*place) for place in self.waiting[:n_branches].tolist()]
        if kind == WHOLE and n_branches == 2 and self.work.marks[N_SENT, 2:4].sum() == 0:
            return self._with_tables(children, table, few)
        return children

    def _part_ways(self, shoot: Shoot, table: Any, *, is_whole: bool) -> int:
        """How many branches the node has, 0 for a leaf; its rows are parted."""
        ground, place = self.ground, (shoot.start, shoot.end)
        while True:
            self.top.state[N_WAITING] = 1
            ended, n_branches = part_ways(
                ground.rules, ground.columns, self.room, self.work, self.top.nodes,
                ground.binned.bins, table.astype(np.float64), self.waiting, self.top.state,
                shoot.node, place, is_whole,
            )  # fmt: skip
            if ended == NEEDS_NODES:
                self.top.nodes = more_nodes(self.top.nodes)
            elif ended == NEEDS_ROOM:
                self.room = more_room(self.room)
            else:
                return int(n_branches)

    def _with_tables(self, children: list[Shoot], table: Any, few: int) -> list[Shoot]:
        """The children of a node of whole rows; the larger has what the smaller has not."""
        small, large = sorted(children, key=lambda child: child.n_rows)
        is_last = self.top.nodes.links[small.node, DEPTH] == self.ground.rules.max_depth
        if large.n_rows <= few or is_last:
            return children
        counts = self._table(small, is_whole=True)
        tables = {small.node: counts, large.node: table - counts}
        return [Shoot(child.node, child.start, child.end, tables[child.node]) for child in children]

    def _table(self, shoot: Shoot, *, is_whole: bool) -> Any:
        """What is in each bin of each column: whole rows counted by class, others summed."""
        ground, room = self.ground, self.room
        codes, layout = ground.binned.bins.codes, ground.columns.layout
        n_columns, n_classes = codes.shape[1], len(ground.context.data.classes)
        kind = np.int32 if is_whole else np.float64
        table = np.zeros((n_columns * N_CODES, n_classes or 2), kind)
        for start in range(shoot.start, shoot.end, AT_A_TIME):
            end = min(start + AT_A_TIME, shoot.end)

            def fill(first: int, last: int, start: int = start, end: int = end) -> None:
                if is_whole:
                    fill_counts(room.entries, start, end, layout, codes, first, last, table)
                else:
                    fill_sums(
                        room.entries, start, end, layout, room.rows, codes, first, last,
                        ground.rules.criterion, table,
                    )  # fmt: skip

            self._by_halves(fill, n_columns, end - start)
            self.tell_more(0.0, 0)
        return table

    def _by_halves(self, fill: Any, n_columns: int, n_rows: int) -> None:
        """Fills the table of many rows by two threads: each has columns of its own."""
        half = n_columns // 2
        if n_rows < MANY or half == 0:
            fill(0, n_columns)
            return
        other = self.pool.submit(fill, 0, half)
        fill(half, n_columns)
        other.result()
