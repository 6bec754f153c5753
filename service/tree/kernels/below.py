"""Sending the rows of a node down its branches, in every column."""

from typing import Any

from service.tree.kernels.compile import inlined, lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.part import move_down, part_many, part_rows, part_two
from service.tree.kernels.rooms import (
    BEHIND,
    N_SENT,
    SENT,
    SHARES,
    STARTS,
    WEIGHT,
    Nodes,
    Room,
    Rules,
    Work,
)
from service.tree.kernels.score import SQUARED_ERROR
from service.tree.kernels.sets import ROUNDING


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
