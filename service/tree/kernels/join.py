"""Joining what grew in the beds with the nodes above them."""

from service.tree.kernels.compile import lean
from service.tree.kernels.rooms import (
    ATTRIBUTE,
    BRANCH,
    DEPTH,
    FIRST_CHILD,
    PARENT,
    SENT,
    SIDES_START,
    Nodes,
)


@lean
def join_bed(
    bed: Nodes, n_nodes: int, n_sides: int, slot: int, first: int, first_side: int, whole: Nodes
) -> None:
    """Writes down the nodes of a bed from a first place on; its root has a slot already.

    The slot knows what stands above it: its parent, its branch, and what was sent down to it.
    """
    place = (whole.links[slot, PARENT], whole.links[slot, BRANCH], whole.links[slot, DEPTH])
    sent = whole.numbers[slot, SENT]
    for node in range(n_nodes):
        to = slot if node == 0 else first + node - 1
        for line in range(bed.links.shape[1]):
            whole.links[to, line] = bed.links[node, line]
        for line in range(bed.numbers.shape[1]):
            whole.numbers[to, line] = bed.numbers[node, line]
        above = bed.links[node, PARENT]
        whole.links[to, PARENT] = slot if above == 0 else first + above - 1
        whole.links[to, SIDES_START] += first_side
        if bed.links[node, ATTRIBUTE] >= 0:
            whole.links[to, FIRST_CHILD] += first - 1
    whole.links[slot, PARENT], whole.links[slot, BRANCH], whole.links[slot, DEPTH] = place
    whole.numbers[slot, SENT] = sent
    for at in range(n_sides):
        whole.sides[first_side + at] = bed.sides[at]
