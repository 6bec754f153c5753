"""The nodes of the tree of presorted rows."""

from functools import partial

from service.tree.arrays import Floats
from service.tree.bed import Bed
from service.tree.beds import FEWEST, Grower, grow_in_beds
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
    rules_of,
    teller,
    work_of,
)
from service.tree.facts import columns_of
from service.tree.kernels.rooms import N_VALUES
from service.tree.presort import Presorted


def ignore(_fraction: float, _nodes: int) -> None:
    """The report of one who does not listen."""


def grow_nodes(
    context: Context, columns: Presorted, weights: Floats, max_nodes: int, report: Report
) -> Yield:
    """The nodes of the full tree of presorted rows; their entries are used up."""
    tell = teller(weights, max_nodes, report)
    made = _grown(context, columns, weights, tell)
    tell(float(weights.sum()), made.n_nodes)
    return made


def _grown(context: Context, columns: Presorted, weights: Floats, tell: Report) -> Yield:
    rules, facts = rules_of(context, columns, weights), columns_of(context, columns)
    n_rows, n_classes = columns.n_rows, len(context.data.classes)
    make_work = partial(work_of, context, columns, logs_of(n_rows))
    is_wide, is_small = needs_room(context), n_rows < FEWEST
    if is_small:
        room = room_of(context, columns, weights, is_wide=is_wide)
        most = int(facts.facts[:, N_VALUES].max(initial=0))
        nodes = make_nodes(FIRST_NODES + n_rows // 4 + most, n_classes)
        return grow_in(room, rules, facts, make_work(n_rows), nodes, n_rows, tell)
    grower = Grower(rules, make_work, is_wide, n_classes)
    # nobody but the bed holds its room, which is large, and gone as soon as it is divided
    beds = [Bed(room_of(context, columns, weights, is_wide=False), facts, n_rows, 0, 0)]
    return grow_in_beds(grower, beds, tell)
