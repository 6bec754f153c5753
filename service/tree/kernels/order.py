"""The nodes that a root still leads to, in breadth-first order."""

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.kernels.compile import kernel


@kernel
def breadth_first(first_child: Ints, n_branches: Ints, source: Ints) -> tuple[Ints, Ints, Ints]:
    """The nodes, and of each the place of its parent among them and its depth.

    The children of a node are those below its source, -1 at a leaf.
    """
    n_nodes = len(source)
    nodes, parent = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    depth = np.empty(n_nodes, np.int64)
    nodes[0], parent[0], depth[0] = 0, -1, 0
    place, n_found = 0, 1
    while place < n_found:
        at = source[nodes[place]]
        if at >= 0:
            for branch in range(n_branches[at]):
                nodes[n_found] = first_child[at] + branch
                parent[n_found], depth[n_found] = place, depth[place] + 1
                n_found += 1
        place += 1
    return nodes[:n_found], parent[:n_found], depth[:n_found]


@kernel
def errors_below(first_child: Ints, n_branches: Ints, errors: Floats) -> Floats:
    """Per node the errors of the leaves below it, of what each node would err as a leaf."""
    below = errors.copy()
    for node in range(len(errors) - 1, -1, -1):
        if n_branches[node]:
            below[node] = 0.0
            for child in range(first_child[node], first_child[node] + n_branches[node]):
                below[node] += below[child]
    return below
