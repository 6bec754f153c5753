"""What rows make of a node: its weight, its statistics, and whether it is a leaf at first sight."""

from typing import Any

import numpy as np

from service.tree.kernels.compile import inlined, lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.rooms import (
    APART,
    CLASSES,
    DEPTH,
    J48,
    MEAN,
    NODE_WEIGHT,
    R8,
    RISK,
    RPART,
    SECOND,
    TARGET,
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
from service.tree.kernels.sets import ROUNDING

TIE = 1e-12  # of the mean: to rpart, a number that spreads no further is constant


@inlined
def arrive(
    rules: Rules, columns: Columns, room: Room, work: Work, nodes: Nodes, node: int,
    place: tuple[int, int],
) -> bool:  # fmt: skip
    """Whether all rows of a node weigh 1; its weight and its statistics are written down."""
    weight, is_whole, layout = float(place[1] - place[0]), True, columns.layout
    if rules.is_weighted:
        if work.sums.shape[1] == 2:
            weight, is_whole = _weigh_two(
                room.entries, place[0], place[1], layout, room.arrived, room.rows, work.sums
            )
            _note_weights(nodes.numbers, node, weight, work.sums)
            return is_whole
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
    _note_weights(nodes.numbers, node, weight, work.sums)
    return is_whole


@lean
def _note_weights(numbers: Any, node: int, weight: float, sums: Any) -> None:
    numbers[node, NODE_WEIGHT] = weight
    for number in range(sums.shape[1]):
        numbers[node, CLASSES + number] = sums[TOTAL, number]


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
def _weigh_two(
    entries: Any, start: int, end: int, layout: Layout, arrived: Any, rows: Any, sums: Any
) -> tuple[float, bool]:
    """The same, and the statistics of two classes: none of the sums waits for memory."""
    weight = one = other = 0.0
    n_whole = 0
    for at in range(start, end):
        entry, own = entries[U(at)], arrived[U(at)]
        second = own * np.float64((entry >> layout.shift) & layout.class_mask)
        rows[WEIGHT, entry & layout.row_mask] = own
        rows[SECOND, entry & layout.row_mask] = second
        one += own - second
        other += second
        weight += own
        n_whole += own == 1.0
    sums[TOTAL, 0], sums[TOTAL, 1] = one, other
    return weight, n_whole == end - start


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
def is_small(rules: Rules, weight: float, depth: int, n_rows: int) -> bool:
    """Whether there is too little for two branches, or no depth left for them."""
    if weight == 0 or depth == rules.max_depth or n_rows < rules.min_rows:
        return True
    return weight < 2.0 * (rules.min_weight - ROUNDING)


@lean
def is_settled(rules: Rules, sums: Any, nodes: Nodes, node: int, n_rows: int) -> bool:
    """Whether the node is a leaf without a look at its attributes."""
    weight = nodes.numbers[node, NODE_WEIGHT]
    if is_small(rules, weight, nodes.links[node, DEPTH], n_rows):
        return True
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
