"""Boughs: the nodes of a histogram's trunk whose rows are few, and what grows from them.

Their rows are sorted by the bins, which is done soon; the engine then cuts between bins.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from service.tree.arrays import Ints
from service.tree.beds import grow_all
from service.tree.binned import Binned
from service.tree.context import Context
from service.tree.engine import (
    FIRST_NODES,
    Report,
    Yield,
    grow_in,
    logs_of,
    make_nodes,
    needs_room,
    room_of,
    work_of,
)
from service.tree.kernels.bins import N_CODES, lay_out
from service.tree.kernels.rooms import (
    ATTRIBUTE,
    DEPTH,
    N_VALUES,
    PARENT,
    TESTED,
    Columns,
    Nodes,
    Room,
    Rules,
    Work,
)
from service.tree.presort import Presorted


@dataclass(frozen=True)
class Ground:
    """What the trunk and all boughs grow from."""

    context: Context
    binned: Binned
    rules: Rules
    columns: Columns


@dataclass(frozen=True)
class Bough:
    """A node of the trunk that is left to grow."""

    slot: int
    entries: Any
    arrived: Any  # per entry its weight


@dataclass(frozen=True)
class Desk:
    """Where one thread lets boughs grow, one after the other."""

    room: Room
    work: Work
    near: Any  # (row, column): its bin
    places: Ints


def grow_boughs(
    ground: Ground, room: Room, trunk: Nodes, boughs: list[Bough], pool: ThreadPoolExecutor,
    tell: Report,
) -> list[Yield]:  # fmt: skip
    """What grows from each of the boughs, whose rows are those of the trunk's room."""
    sizes = [len(bough.entries) for bough in boughs]
    desks: list[Desk] = []  # nobody is at

    def grow_one(number: int, note: Report) -> Yield:
        desk = desks.pop() if desks else make_desk(ground, max(sizes))
        made = _grow_bough(ground, room, trunk, boughs[number], desk, note)
        desks.append(desk)
        return made

    return grow_all(sizes, grow_one, pool, tell)


def make_desk(ground: Ground, size: int) -> Desk:
    """A desk for boughs of so many rows."""
    size = max(size, 1)  # a branch that no row took is a bough too
    context, whole, codes = ground.context, ground.binned.columns, ground.binned.bins.codes
    entries = np.empty((codes.shape[1] + 1) * size, whole.entries.dtype)
    columns = Presorted(whole.layout, entries, whole.codes[:size].copy(), whole.rows[:size].copy())
    room = room_of(context, columns, np.ones(size), is_wide=needs_room(context))
    work = work_of(context, columns, logs_of(size), size)
    near = np.empty((size, codes.shape[1]), np.uint8)
    return Desk(room, work, near, np.empty((2, N_CODES), dtype=np.int64))


def _grow_bough(
    ground: Ground, room: Room, trunk: Nodes, bough: Bough, desk: Desk, note: Report
) -> Yield:
    """The nodes of a bough, its own first."""
    lay_out(
        bough.entries, bough.arrived, room, ground.binned.bins.codes, ground.columns.layout,
        desk.near, desk.room, desk.places,
    )  # fmt: skip
    facts = ground.columns.facts.copy()
    facts[list(tested_above(trunk.links, bough.slot)), TESTED] = 1
    n_classes = len(ground.context.data.classes)
    nodes = make_nodes(FIRST_NODES + int(facts[:, N_VALUES].max()), n_classes)
    nodes.links[0, DEPTH] = trunk.links[bough.slot, DEPTH]
    columns = ground.columns._replace(facts=facts)
    return grow_in(desk.room, ground.rules, columns, desk.work, nodes, len(bough.entries), note)


def tested_above(links: Ints, node: int) -> Iterator[int]:
    """The attributes that are tested above a node."""
    while node > 0:
        node = int(links[node, PARENT])
        yield int(links[node, ATTRIBUTE])
