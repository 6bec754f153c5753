"""The engine: the kernels are given the rules and a room, and grow a tree in it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from service.errors import LimitReached
from service.tree.arrays import Floats
from service.tree.attribute import Kind
from service.tree.c45 import tolerance_of
from service.tree.context import Context
from service.tree.kernels.grow import DONE, N_NODES, N_SIDES, NEEDS_NODES, NEEDS_ROOM, grow
from service.tree.kernels.rooms import (
    ATTRIBUTE,
    CLASSES,
    FRACTIONAL,
    GAIN_PER_COST,
    GAIN_SQUARED_PER_COST,
    J48,
    LARGEST,
    MAJORITY,
    NO_COST,
    OWN_BRANCH,
    POWER_PER_COST,
    R8,
    RPART,
    STOP,
    TARGET,
    TEXTBOOK,
    WEIGHT,
    Columns,
    Nodes,
    Room,
    Rules,
    Work,
)
from service.tree.kernels.score import GAIN, GINI, MISCLASSIFICATION, SQUARED_ERROR
from service.tree.kernels.weighed import BLOCK
from service.tree.nodes import Split
from service.tree.presort import Presorted, first_lines, is_ordered
from service.tree.rpart_order import is_rpart

Report: TypeAlias = Callable[[float, int], None]  # (part of the weight that is settled, nodes)

FINE_PRINT = {"textbook": TEXTBOOK, "rpart": TEXTBOOK, "j48": J48, "r8": R8}
CRITERIA = {
    "gain": GAIN, "gain_ratio": GAIN, "gini": GINI, "misclassification": MISCLASSIFICATION,
    "squared_error": SQUARED_ERROR,
}  # fmt: skip
CATEGORICAL = {"multiway": Split.MULTIWAY, "subset": Split.SUBSET, "one_vs_rest": Split.ONE_VS_REST}
MISSING = {
    "fractional": FRACTIONAL, "drop": FRACTIONAL, "majority": MAJORITY, "own_branch": OWN_BRANCH,
    "stop": STOP,
}  # fmt: skip
COST_RULES = {
    "none": NO_COST, "gain_per_cost": GAIN_PER_COST, "power_per_cost": POWER_PER_COST,
    "gain_squared_per_cost": GAIN_SQUARED_PER_COST,
}  # fmt: skip
LIGHTEST = 1e-3  # of an average row: a node with less holds crumbs, and there is no end to dividing
BUDGET = 4_000_000  # entries between two reports: some hundredths of a second
FIRST_NODES = 256
MOST_PARTS = 200  # of a row, divided by nulls, that wait to be split further


@dataclass(frozen=True)
class Yield:
    """The nodes that were grown, not yet in breadth-first order."""

    nodes: Nodes
    n_nodes: int
    n_sides: int  # that are filled in
    known: Floats | None = None  # per ordered attribute the values of all rows, where in order


def teller(weights: Floats, max_nodes: int, report: Report) -> Report:
    """What passes on how much weight is settled, as a part of all; too large a tree is an error."""
    total = float(weights.sum())

    def tell(settled: float, n_nodes: int) -> None:
        if n_nodes > max_nodes:
            raise LimitReached(
                f"the tree grew beyond {max_nodes} nodes; set max_depth, min_weight or min_gain"
            )
        report(min(settled / total, 1.0), n_nodes)

    return tell


def grow_in(
    room: Room, rules: Rules, facts: Columns, work: Work, nodes: Nodes, n_rows: int, tell: Report
) -> Yield:
    """What grows from the first rows of a room; now and then the weight that is settled is told."""
    waiting, settled = np.zeros((len(nodes.links), 3), np.int64), np.zeros(1)
    waiting[0, 2] = n_rows
    state = np.array([1, 1, 0])
    while True:
        ended = grow(rules, facts, room, work, nodes, waiting, state, settled, BUDGET)
        tell(float(settled[0]), int(state[N_NODES]))
        if ended == DONE:
            return Yield(nodes, int(state[N_NODES]), int(state[N_SIDES]))
        if ended == NEEDS_ROOM:
            room = more_room(room)
        elif ended == NEEDS_NODES:
            nodes = more_nodes(nodes)
            waiting = longer(waiting, len(nodes.links))


def rules_of(context: Context, columns: Presorted, weights: Floats) -> Rules:
    """How the params say to grow."""
    params = context.params
    is_divided = MISSING[params.missing] == FRACTIONAL and bool(context.has_null.any())
    return Rules(
        fine_print=RPART if is_rpart(params) else FINE_PRINT[params.rules],
        criterion=CRITERIA[params.criterion],
        by_ratio=params.criterion == "gain_ratio",
        categorical=int(CATEGORICAL[params.categorical]),
        missing=MISSING[params.missing],
        max_depth=-1 if params.max_depth is None else params.max_depth,
        min_rows=params.min_rows,
        min_weight=float(params.min_weight),
        min_gain=float(params.min_gain),
        tie=context.tie,
        lightest=LIGHTEST * context.row_weight,
        tolerance=tolerance_of(params),
        numeric_penalty=params.numeric_penalty,
        cost_rule=COST_RULES[params.cost_rule],
        cost_exponent=float(params.cost_exponent),
        is_weighted=is_divided or not bool((weights == 1.0).all()),
        largest=0.0 if context.origin is None else context.origin.largest,
        risk_column=_risk_column(context, columns),
    )


def _risk_column(context: Context, columns: Presorted) -> int:
    """The column with the rows in the order of the first attribute, null being 0; -1 for none."""
    ordered = is_ordered(context.data)
    if not (is_rpart(context.params) and context.data.is_regression):
        return -1
    n_columns = len(columns.entries) // columns.n_rows
    return n_columns - 1 if n_columns > 1 + ordered.sum() else int(ordered[0])


def needs_room(context: Context) -> bool:
    """Whether rows may go down many branches, for which there is to be room behind them."""
    is_multiway = context.params.categorical == "multiway"
    has_values = any(each.kind == Kind.CATEGORICAL for each in context.data.attributes)
    return bool(context.has_null.any()) or (is_multiway and has_values)


def wide(n_rows: Any) -> Any:
    """How many places there are for so many rows where some may be copied.

    What nobody writes to takes no memory; to come back for more takes a node's work once again.
    """
    return 6 * n_rows + 64


def room_of(context: Context, columns: Presorted, weights: Floats, *, is_wide: bool) -> Room:
    """The room of presorted rows; a wide one has places behind them."""
    n_rows = columns.n_rows
    stride = wide(n_rows) if is_wide else n_rows
    entries = columns.entries
    if stride > n_rows:
        entries = wider(entries, n_rows, stride)
    rows = np.ones((3, n_rows))
    if context.data.is_regression:
        rows[TARGET] = context.data.target[columns.rows]
    rows[WEIGHT] = weights
    arrived = np.empty(stride)
    arrived[:n_rows] = weights
    return Room(
        entries, stride, arrived, rows, columns.rows, columns.codes,
        np.zeros(n_rows, np.uint16), np.zeros(n_rows, np.uint32),
    )  # fmt: skip


def wider(entries: Any, stride: int, wanted: int) -> Any:
    """The columns with more room behind each."""
    made = np.empty((len(entries) // stride, wanted), entries.dtype)
    made[:, :stride] = entries.reshape(-1, stride)
    return made.reshape(-1)


def check_parts(n_parts: int, n_rows: int) -> None:
    """Refuses to go on where nulls were divided into very many parts of rows, all at once."""
    if n_parts > MOST_PARTS * n_rows + 64:
        raise LimitReached(
            f"dividing the nulls made more than {MOST_PARTS} parts of each row at once; set "
            "max_depth or min_weight, or choose another way with missing values"
        )


def more_room(room: Room) -> Room:
    """The room with twice as many places."""
    stride = 2 * room.stride + 64
    check_parts(room.stride, room.rows.shape[1])
    return room._replace(
        entries=wider(room.entries, room.stride, stride),
        stride=stride,
        arrived=longer(room.arrived, stride),
    )


def logs_of(n_rows: int) -> Floats:
    """x log x of all whole numbers that may be asked for."""
    count = np.arange(n_rows + 2, dtype=np.float64)
    return count * np.log2(np.maximum(count, 1.0))


def work_of(context: Context, columns: Presorted, logs: Floats, n_rows: int) -> Work:
    """Small arrays for one thread that works on at most so many rows."""
    data = context.data
    n_attributes = len(data.attributes)
    most = max([len(each.values) for each in data.attributes], default=0) + 4
    starts = first_lines(data)
    table = np.zeros((starts[-1], data.n_statistics))
    return Work(
        logs,
        np.empty(n_rows + 1, columns.entries.dtype),
        np.zeros((7, data.n_statistics)),
        table,
        starts,
        table.reshape(-1),
        np.zeros((3, BLOCK)),
        np.zeros((3, BLOCK), np.float32),
        np.zeros((2, most)),
        np.zeros((7, most), np.int64),
        np.zeros((n_attributes, most), np.int64),
        np.zeros((n_attributes, 6)),
    )


def make_nodes(size: int, n_classes: int) -> Nodes:
    """Room for so many nodes; the first one is the root."""
    links = np.zeros((size, 8), np.int64)
    links[0, ATTRIBUTE] = -1
    numbers = np.full((size, CLASSES + n_classes), np.nan)
    numbers[0, LARGEST] = 0.0
    return Nodes(links, numbers, np.zeros(size, np.int64))


def more_nodes(nodes: Nodes) -> Nodes:
    """Room for twice as many."""
    return Nodes(*(longer(each, 2 * len(each)) for each in nodes))


def longer(array: Any, size: int) -> Any:
    """The array with room behind it."""
    made = np.full((size, *array.shape[1:]), 0 if array.dtype.kind == "i" else np.nan, array.dtype)
    made[: len(array)] = array
    return made
