"""The steps of a large node one by one, so that its columns can be shared out to threads."""

from typing import Any

from service.tree.kernels.arrive import arrive, is_settled
from service.tree.kernels.below import share_out
from service.tree.kernels.choose import choose
from service.tree.kernels.compile import lean
from service.tree.kernels.grow import branches_of, note_split
from service.tree.kernels.part import give_numbers, tell_sides
from service.tree.kernels.rooms import Columns, Nodes, Room, Rules, Work
from service.tree.kernels.send import send


@lean
def look(
    rules: Rules, columns: Columns, room: Room, work: Work, nodes: Nodes, node: int, n_rows: int
) -> tuple[bool, bool]:
    """Whether a node is a leaf without a look at its attributes, and whether all rows weigh 1."""
    is_whole = arrive(rules, columns, room, work, nodes, node, (0, n_rows))
    return is_settled(rules, work.sums, nodes, node, n_rows), is_whole


@lean
def decide(
    rules: Rules, columns: Columns, room: Room, work: Work, nodes: Nodes, state: Any, node: int,
    n_rows: int,
) -> int:  # fmt: skip
    """How many branches the best split has, 0 for none; each row knows its own, and its number.

    Where there are two branches, the number of a row tells its side as well.
    """
    best = choose(rules, work.found, columns.facts, columns.costs, nodes, node)
    if best < 0:
        return 0
    n_branches, first = branches_of(rules, columns.facts, work.found, best), state[0]
    send(rules, columns, room, work, nodes, node, first, best, (0, n_rows))
    share_out(rules, work.marks, work.parts, nodes.numbers, first, n_branches, 0)
    give_numbers(
        room.entries, 0, n_rows, room.side, columns.layout, n_branches, room.numbers, work.marks
    )
    if n_branches == 2:
        tell_sides(n_rows, room.side, room.numbers)
    note_split(columns.facts, work, nodes, state, node, best, n_branches)
    return n_branches
