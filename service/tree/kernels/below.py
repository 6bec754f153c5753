"""Sending the rows of a node down its branches, in every column."""

from typing import Any

from service.tree.kernels.arrive import is_small
from service.tree.kernels.compile import inlined, lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.few import MANY_SHARED, MOST_SHARED, MOST_SIDES, MOST_WHOLE, part_few
from service.tree.kernels.part import move_down, part_many, part_two, takes_of
from service.tree.kernels.part_rows import part_rows, part_two_rows
from service.tree.kernels.rooms import (
    BEHIND,
    N_SENT,
    OPEN,
    SENT,
    SHARES,
    SIZES,
    STARTS,
    Nodes,
    Room,
    Rules,
    Work,
)
from service.tree.kernels.score import SQUARED_ERROR


@inlined
def divide(
    rules: Rules, layout: Layout, room: Room, work: Work, nodes: Nodes, first: int,
    n_branches: int, place: tuple[int, int], depth: int,
) -> bool:  # fmt: skip
    """Whether there was room to send the rows down their branches."""
    start, end, marks = place[0], place[1], work.marks
    share_out(rules, marks, work.parts, nodes.numbers, first, n_branches, start)
    if n_branches == 2:
        if marks[STARTS, 2] > room.stride:
            return False
        divide_two(
            rules, layout, room.entries, room.stride, start, end, room.side, room.rows,
            room.arrived, marks, work.parts, work.scratch, depth,
        )  # fmt: skip
        return True
    if marks[STARTS, n_branches] + end - start + n_branches >= room.stride:
        return False
    divide_many(
        rules, layout, room.entries, room.stride, start, end, room.side, room.numbers,
        room.arrived, marks, work.parts, n_branches, depth,
    )  # fmt: skip
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
        marks[OPEN, branch] = 1
        place += marks[N_SENT, branch] + (n_everywhere if is_taken else 0)
    marks[STARTS, n_branches] = place


@lean
def divide_two(
    rules: Rules, layout: Layout, entries: Any, stride: int, start: int, end: int, side: Any,
    rows: Any, arrived: Any, marks: Any, parts: Any, scratch: Any, depth: int,
) -> None:  # fmt: skip
    """Two branches, in place."""
    takes = takes_of(marks, parts)
    if rules.is_weighted:
        part_two_rows(
            entries, start, end, side, rows, arrived, layout, takes, scratch, marks, parts
        )
    else:
        part_two(entries, start, end, side, layout, takes, scratch, marks[STARTS, 1])
    if open_branches(rules, layout, entries, marks, parts, 2, depth + 1) > 0:
        takes = takes_of(marks, parts)
        for offset in range(stride, len(entries), stride):
            part_two(
                entries, offset + start, offset + end, side, layout, takes, scratch,
                offset + marks[STARTS, 1],
            )  # fmt: skip


@lean
def open_branches(
    rules: Rules, layout: Layout, entries: Any, marks: Any, parts: Any, n_branches: int, depth: int
) -> int:
    """How many branches may be split again; nobody will look at the columns of the others."""
    n_open = 0
    for branch in range(n_branches):
        start, end = marks[STARTS, branch], marks[STARTS, branch + 1]
        weight = parts[SIZES, branch] if rules.is_weighted else float(end - start)
        is_open = rules.risk_column >= 0 or not is_sure_leaf(
            rules, layout, entries, weight, start, end, depth
        )
        marks[OPEN, branch] = 1 if is_open else 0
        n_open += marks[OPEN, branch]
    return n_open


@lean
def is_sure_leaf(
    rules: Rules, layout: Layout, entries: Any, weight: float, start: int, end: int, depth: int
) -> bool:
    """Whether rows make a leaf, as far as their weight and their classes tell."""
    if is_small(rules, weight, depth, end - start):
        return True
    if rules.criterion == SQUARED_ERROR:
        return False
    number = (entries[U(start)] >> layout.shift) & layout.class_mask
    for at in range(start + 1, end):
        if (entries[U(at)] >> layout.shift) & layout.class_mask != number:
            return False
    return True


@lean
def divide_many(
    rules: Rules, layout: Layout, entries: Any, stride: int, start: int, end: int, side: Any,
    numbers: Any, arrived: Any, marks: Any, parts: Any, n_branches: int, depth: int,
) -> None:  # fmt: skip
    """Any branches, by way of the places behind the node's own, whose entries are not needed."""
    size, behind = marks[STARTS, n_branches] - start, end - start
    part_rows(
        entries, start, end, arrived, entries, arrived, side, layout, n_branches, marks, parts,
        behind,
    )  # fmt: skip
    move_down(entries, start, end, size)
    move_down(arrived, start, end, size)
    n_open = open_branches(rules, layout, entries, marks, parts, n_branches, depth + 1)
    if n_open == 0:
        return
    for branch in range(n_branches):
        marks[BEHIND, branch] = 0  # rows keep their numbers
    is_shared = MANY_SHARED * marks[N_SENT, n_branches] > end - start
    is_few = n_branches < MOST_SIDES and n_open <= (MOST_SHARED if is_shared else MOST_WHOLE)
    for offset in range(stride, len(entries), stride):
        if is_few:
            part_few(entries, offset, start, end, side, layout, n_branches, marks, parts)
            continue
        part_many(
            entries, offset + start, offset + end, entries, offset + behind, side, layout,
            n_branches, numbers, False, marks, parts,
        )  # fmt: skip
        move_down(entries, offset + start, offset + end, size)
