"""Growing by two threads: large nodes column by column, then whole subtrees in beds of their own.

A bed holds the rows of one subtree, numbered anew, so that no two beds share anything. What grows
in a bed depends on nothing but its rows: the tree is the same whoever grew which bed, and when.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from threading import Event

import numpy as np

from service.tree.arrays import Ints
from service.tree.bed import MANY, Bed, divided
from service.tree.crew import N_THREADS, SECONDS, crew
from service.tree.engine import Report, Yield, check_parts, grow_in, longer, make_nodes
from service.tree.kernels.join import join_bed
from service.tree.kernels.rooms import (
    ATTRIBUTE,
    BRANCH,
    DEPTH,
    FIRST_CHILD,
    IS_CATEGORICAL,
    LARGEST,
    N_BRANCHES,
    N_VALUES,
    NODE_WEIGHT,
    PARENT,
    SPLIT,
    TESTED,
    Columns,
    Nodes,
    Room,
    Rules,
    Work,
)
from service.tree.kernels.search import search
from service.tree.kernels.top import decide, look

FEWEST = 4_000  # rows from which on two threads are faster than one
SHARE = 6  # a bed holds at most one in so many of all rows ...
SMALL = 6_000  # ... but half of few rows, up to so many
OF_NUMBERS = 4  # times the work that categories are


class Top:
    """The nodes above the beds, as they are made."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes, self.state = nodes, np.array([1, 1, 0])

    def make_room(self, n_nodes: int) -> None:
        """Takes care that so many more nodes, and their sides, fit."""
        wanted = 2 * (int(self.state[0]) + int(self.state[2]) + n_nodes)
        if wanted > len(self.nodes.links):
            self.nodes = Nodes(*(longer(each, 2 * wanted) for each in self.nodes))


@dataclass(frozen=True)
class Grower:
    """What all beds have in common."""

    rules: Rules
    make_work: Callable[[int], Work]  # for so many rows
    has_room: bool  # whether there is to be room behind the rows
    n_classes: int


def grow_in_beds(grower: Grower, waiting: list[Bed], tell: Report) -> Yield:
    """The nodes of the tree of the one bed that waits, which is used up; two threads grow it."""
    n_rows, facts = waiting[0].n_rows, waiting[0].columns.facts
    most = int(facts[:, N_VALUES].max(initial=0)) + 4
    top = Top(make_nodes(64 + 2 * most, grower.n_classes))
    beds, limit = [], max(n_rows // SHARE, min(n_rows // 2, SMALL))
    pool = crew()
    while waiting:
        bed = waiting.pop()
        if bed.n_rows <= limit:
            beds.append(bed)
            continue
        top.make_room(most)
        waiting += split_bed(grower, top, bed, pool)
        check_parts(sum(each.n_rows for each in waiting + beds), n_rows)
        tell(0.0, int(top.state[0]))

    sizes, slots = [bed.n_rows for bed in beds], [bed.slot for bed in beds]
    left: dict[int, Bed] = dict(enumerate(beds))
    beds.clear()
    works: list[Work] = []  # that nobody uses

    def grow_bed(number: int, note: Report) -> Yield:
        work = works.pop() if works else grower.make_work(max(sizes))
        # whose room is gone once it is grown
        made = _grow_bed(grower, left.pop(number), work, note)
        works.append(work)
        return made

    return joined(top, slots, grow_all(sizes, grow_bed, pool, tell))


def split_bed(grower: Grower, top: Top, bed: Bed, pool: ThreadPoolExecutor) -> list[Bed]:
    """The beds of a node's branches; none where it is a leaf."""
    rules, columns, room, nodes = grower.rules, bed.columns, bed.room, top.nodes
    work = grower.make_work(bed.n_rows)
    is_settled, is_whole = look(rules, columns, room, work, nodes, bed.slot, bed.n_rows)
    n_branches = 0
    if not is_settled:
        weight = float(nodes.numbers[bed.slot, NODE_WEIGHT])
        _search(grower, bed, work, weight, pool, is_whole=is_whole)
        n_branches = int(decide(rules, columns, room, work, nodes, top.state, bed.slot, bed.n_rows))
    if n_branches == 0:
        return []
    _link(top, bed, n_branches)
    rooms = divided(bed, work, n_branches, pool, is_wide=grower.has_room)
    if room.entries.base is None:
        room.entries.resize(0, refcheck=False)  # whoever still holds them: they are used up
    return list(_beds(bed, top, rooms))


def _search(
    grower: Grower, bed: Bed, work: Work, weight: float, pool: ThreadPoolExecutor, *, is_whole: bool
) -> None:
    """Searches the columns of a node, by both threads where it is large."""
    n_attributes, place = len(bed.columns.facts), (0, bed.n_rows)
    if bed.n_rows < MANY or n_attributes < N_THREADS:
        whole = (0, n_attributes)
        search(grower.rules, bed.columns, bed.room, work, place, whole, weight, is_whole)
        return
    other = grower.make_work(bed.n_rows)._replace(found=work.found, sides=work.sides)
    other.sums[:] = work.sums
    half = _halfway(bed.columns.facts)

    def search_some(here: Work, some: tuple[int, int]) -> None:
        search(grower.rules, bed.columns, bed.room, here, place, some, weight, is_whole)

    way = pool.submit(search_some, other, (half, n_attributes))
    try:
        search_some(work, (0, half))
    finally:
        way.result()


def _halfway(facts: Ints) -> int:
    """How many of the attributes are half of the work: numbers take longer than categories."""
    work = np.cumsum(np.where(facts[:, IS_CATEGORICAL], 1, OF_NUMBERS))
    return min(int(np.searchsorted(work, work[-1] / 2)) + 1, len(facts) - 1)


def _link(top: Top, bed: Bed, n_branches: int) -> None:
    """Gives a node its children."""
    links, first = top.nodes.links, int(top.state[0])
    links[bed.slot, FIRST_CHILD], links[bed.slot, N_BRANCHES] = first, n_branches
    children = slice(first, first + n_branches)
    links[children, PARENT], links[children, BRANCH] = bed.slot, np.arange(n_branches)
    links[children, DEPTH] = links[bed.slot, DEPTH] + 1
    links[children, ATTRIBUTE], links[children, SPLIT] = -1, 0
    top.state[0] += n_branches


def _beds(bed: Bed, top: Top, rooms: list[Room]) -> Iterator[Bed]:
    first = int(top.state[0]) - len(rooms)
    columns = _tested(bed.columns, int(top.nodes.links[bed.slot, ATTRIBUTE]))
    for branch, room in enumerate(rooms):
        largest = float(top.nodes.numbers[first + branch, LARGEST])
        yield Bed(room, columns, len(room.origin), first + branch, bed.depth + 1, largest)


def _tested(columns: Columns, attribute: int) -> Columns:
    """The attributes where one more is split on above."""
    facts = columns.facts.copy()
    facts[attribute, TESTED] = 1
    return columns._replace(facts=facts)


def grow_all(
    sizes: list[int],
    grow_one: Callable[[int, Report], Yield],
    pool: ThreadPoolExecutor,
    tell: Report,
) -> list[Yield]:
    """What grows in each bed of so many rows; the largest are begun first.

    Whoever would wait grows beds too: to wake two threads at once takes long where they fall to
    one processor.
    """
    told, made = np.zeros((len(sizes), 2)), dict[int, Yield]()
    left = iter(sorted(range(len(sizes)), key=lambda number: -sizes[number]))

    def grow_some(heard: Callable[[], None]) -> None:
        for number in left:  # each is given to one thread only
            made[number] = grow_one(number, partial(note, heard, number))

    def note(heard: Callable[[], None], number: int, settled: float, n_nodes: int) -> None:
        told[number] = settled, n_nodes
        heard()

    def pass_on() -> None:
        tell(float(told[:, 0].sum()), int(told[:, 1].sum()))

    over = Event()
    other = pool.submit(grow_some, partial(_go_on, over))
    try:
        grow_some(pass_on)
        while wait([other], SECONDS).not_done:
            pass_on()
    except BaseException:
        over.set()
        wait([other])
        raise
    other.result()
    return [made[number] for number in range(len(sizes))]


def _go_on(over: Event) -> None:
    if over.is_set():
        raise InterruptedError


def _grow_bed(grower: Grower, bed: Bed, work: Work, note: Report) -> Yield:
    most = int(bed.columns.facts[:, N_VALUES].max(initial=0))
    nodes = make_nodes(64 + most + bed.n_rows // 4, grower.n_classes)
    nodes.links[0, DEPTH] = bed.depth
    nodes.numbers[0, LARGEST] = bed.largest
    made = grow_in(bed.room, grower.rules, bed.columns, work, nodes, bed.n_rows, note)
    # what they might have needed is given back
    links, numbers = made.nodes.links[: made.n_nodes], made.nodes.numbers[: made.n_nodes]
    return replace(made, nodes=Nodes(links.copy(), numbers.copy(), made.nodes.sides))


def joined(top: Top, slots: list[int], grown: list[Yield]) -> Yield:
    """The nodes at the top and those of all beds; the root of a bed stands in its slot."""
    n_nodes, n_sides = int(top.state[0]), int(top.state[2])
    most_nodes = n_nodes + sum(made.n_nodes - 1 for made in grown)
    most_sides = n_sides + sum(made.n_sides for made in grown)
    links = np.empty((most_nodes, top.nodes.links.shape[1]), np.int64)
    numbers, sides = np.empty((most_nodes, top.nodes.numbers.shape[1])), np.empty(most_sides, int)
    whole = Nodes(links, numbers, sides)
    for to, some, size in zip(whole, top.nodes, (n_nodes, n_nodes, n_sides), strict=True):
        to[:size] = some[:size]
    for slot, made in zip(slots, grown, strict=True):
        join_bed(made.nodes, made.n_nodes, made.n_sides, slot, n_nodes, n_sides, whole)
        n_nodes, n_sides = n_nodes + made.n_nodes - 1, n_sides + made.n_sides
    return Yield(whole, n_nodes, n_sides)
