"""Which branch each row of a node takes."""

from typing import Any

import numpy as np

from service.tree.kernels.compile import inlined, lean
from service.tree.kernels.entries import Layout, U, count_known
from service.tree.kernels.fill import filled_column
from service.tree.kernels.rooms import (
    CUT,
    FILLED,
    FOUND,
    HAS_NULL,
    LOW,
    MULTIWAY,
    N_SENT,
    N_VALUES,
    OWN_BRANCH,
    PLACE,
    SENT,
    STOP,
    THRESHOLD,
    WEIGHT,
    Columns,
    Nodes,
    Room,
    Rules,
    Work,
)


@inlined
def send(
    rules: Rules, columns: Columns, room: Room, work: Work, nodes: Nodes, node: int, first: int,
    best: int, place: tuple[int, int],
) -> None:  # fmt: skip
    """Writes down each row's side, and what each branch gets; `first` is the first child."""
    split, filled = work.found[best, FOUND], work.found[best, FILLED]
    n_branches = columns.facts[best, N_VALUES] if split == MULTIWAY else 2
    away = n_branches + 1 if rules.missing == STOP else n_branches
    if rules.missing == OWN_BRANCH and columns.facts[best, HAS_NULL] == 1:
        n_branches += 1  # null's own, which is where they go
    for branch in range(n_branches + 2):
        work.marks[N_SENT, branch] = 0
    if split == THRESHOLD:
        start = columns.facts[best, PLACE] * room.stride + place[0]
        end, entries, cut = start + place[1] - place[0], room.entries, int(work.found[best, CUT])
        n_known = count_known(entries, start, end, columns.layout.null_bit)
        if not np.isnan(filled):
            filled_column(entries, start, n_known, end, columns.layout, room.rows, work.scratch)
            entries, start, end, n_known = work.scratch, 0, end - start, end - start
        _note_cut(
            columns, room.origin, nodes.numbers, node, best, entries, start + cut, start + n_known,
            filled,
        )  # fmt: skip
        _send_cut(entries, start, end, columns.layout, cut, n_known, away, room.side, work.marks)
    else:
        line = columns.facts[best, PLACE]
        if not np.isnan(filled):
            away = int(filled) if split == MULTIWAY else work.sides[best, int(filled)]
        _send_sets(
            room.entries, place[0], place[1], columns.layout, room.codes, columns.categories, line,
            work.sides, best, split == MULTIWAY, away, room.side, work.marks,
        )  # fmt: skip
    weigh_sides(
        rules.is_weighted, room.entries, place[0], place[1], columns.layout, room.rows, room.side,
        work.marks, nodes.numbers, first, n_branches,
    )  # fmt: skip


@lean
def _note_cut(
    columns: Columns, origin: Any, numbers: Any, node: int, best: int, entries: Any, cut: int,
    end: int, filled: float,
) -> None:  # fmt: skip
    """Writes down the values on both sides of the cut; with known rows on one only: the same."""
    for side in range(2):
        place = min(cut - 1 + side, end - 1)
        row = origin[entries[U(place)] & columns.layout.row_mask]
        value = columns.values[best, row]
        numbers[node, LOW + side] = filled if np.isnan(value) else value


@lean
def _send_cut(
    entries: Any, start: int, end: int, layout: Layout, cut: int, n_known: int, away: int,
    side: Any, marks: Any,
) -> None:  # fmt: skip
    for place in range(start, start + cut):
        side[entries[U(place)] & layout.row_mask] = 0
    for place in range(start + cut, start + n_known):
        side[entries[U(place)] & layout.row_mask] = 1
    for place in range(start + n_known, end):
        side[entries[U(place)] & layout.row_mask] = away
    marks[N_SENT, 0] += cut
    marks[N_SENT, 1] += n_known - cut
    marks[N_SENT, away] += end - start - n_known


@lean
def _send_sets(
    entries: Any, start: int, end: int, layout: Layout, codes: Any, categories: Any,
    line: int, sides: Any, best: int, is_multiway: bool, away: int, side: Any, marks: Any,
) -> None:  # fmt: skip
    for place in range(start, end):
        row = entries[U(place)] & layout.row_mask
        code = np.int64(categories[codes[row, U(line)]])
        branch = away
        if code >= 0:
            branch = code if is_multiway else sides[best, U(code)]
        side[row] = branch
        marks[N_SENT, U(branch)] += 1


@lean
def weigh_sides(
    is_weighted: bool, entries: Any, start: int, end: int, layout: Layout, rows: Any, side: Any,
    marks: Any, numbers: Any, first: int, n_branches: int,
) -> None:  # fmt: skip
    """Adds up the weight that goes down each branch."""
    for branch in range(n_branches):
        numbers[first + branch, SENT] = 0.0 if is_weighted else marks[N_SENT, branch]
    if is_weighted and n_branches == 2:
        one, other = _weigh_two(entries, start, end, layout, rows, side)
        numbers[first, SENT], numbers[first + 1, SENT] = one, other
    elif is_weighted:
        for place in range(start, end):
            row = entries[U(place)] & layout.row_mask
            branch = np.int64(side[row])
            if branch < n_branches:
                numbers[first + branch, SENT] += rows[WEIGHT, row]


@lean
def _weigh_two(
    entries: Any, start: int, end: int, layout: Layout, rows: Any, side: Any
) -> tuple[float, float]:
    """The weight that goes down either of two branches; no sum waits for memory."""
    one = other = 0.0
    for place in range(start, end):
        row = entries[U(place)] & layout.row_mask
        weight, branch = rows[WEIGHT, row], side[row]
        one += weight if branch == 0 else 0.0
        other += weight if branch == 1 else 0.0
    return one, other
