"""Mixing kernel: from values straight to answers, without a list of the leaves on the way."""

import numpy as np

from service.tree.arrays import Floats
from service.tree.kernels.compile import kernel
from service.tree.kernels.route import LANES, Cells, Descent, Room, arrive, descend
from service.tree.kernels.sums import summed


@kernel
def mix_rows(
    descent: Descent,
    cells: Cells,
    answers: Floats,
    how: int,
    training: Floats,
    room: Room,
    mixed: Floats,
) -> None:
    """Writes per row the mean of the answers at its ends by weight, or NaN where it has none."""
    for start in range(0, cells.n_rows, LANES):
        n_lanes = min(LANES, cells.n_rows - start)
        for lane in range(n_lanes):
            room.rows[lane] = start + lane
        descend(descent, cells, room, n_lanes)
        for lane in range(n_lanes):
            node = room.halts[lane]
            if descent.nodes[node]["first"] == node:  # a leaf: most rows know enough
                for answer in range(answers.shape[1]):
                    mixed[start + lane, answer] = answers[node, answer]
            else:
                n_ends = arrive(descent, cells, lane, how, training, room)
                _mix(answers, n_ends, room, mixed, start + lane)


@kernel
def _mix(answers: Floats, n_ends: int, room: Room, mixed: Floats, row: int) -> None:
    """Writes the answer of one row, in the order of numpy's sums."""
    # the shares of a deep tree sum to one only up to rounding; one end is exact as it is
    total = summed(room.weights, n_ends, room.todo, room.sums) if n_ends > 1 else 1.0
    for answer in range(answers.shape[1]):
        if n_ends == 0:
            mixed[row, answer] = np.nan
            continue
        for end in range(n_ends):
            room.terms[end] = room.weights[end] * answers[room.nodes[end], answer]
        mixed[row, answer] = summed(room.terms, n_ends, room.todo, room.sums) / total
