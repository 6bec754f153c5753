"""The conditions on the edges that lead to nodes."""

from typing import Any

import numpy as np

from service.tree.kernels.compile import lean
from service.tree.kernels.rooms import ATTRIBUTE, BRANCH, MULTIWAY, SIDES_START, SPLIT, THRESHOLD

NONE, EQUAL, AT_MOST, ABOVE, AMONG, NULL = range(6)  # Operator


@lean
def write_edges(
    links: Any, parent: Any, cuts: Any, is_own: Any, sides: Any, n_values: Any, operator: Any,
    value: Any, set_start: Any, set_values: Any,
) -> int:  # fmt: skip
    """How many categories stand in sets; operator, value and set of each node are written down.

    `cuts` are the thresholds of nodes that have one, `is_own` tells the nodes of null's own.
    """
    total = 0
    operator[0], value[0], set_start[0] = NONE, np.nan, 0
    for node in range(1, len(parent)):
        above, branch = parent[node], links[node, BRANCH]
        set_start[node] = total
        if is_own[node]:
            operator[node], value[node] = NULL, np.nan
        elif links[above, SPLIT] == MULTIWAY:
            operator[node], value[node] = EQUAL, branch
        elif links[above, SPLIT] == THRESHOLD:
            operator[node], value[node] = AT_MOST + branch, cuts[above]
        else:
            start = links[above, SIDES_START]
            end = start + n_values[links[above, ATTRIBUTE]]
            n_found = _write_set(sides, start, end, branch, set_values, total)
            operator[node], value[node] = AMONG, np.nan
            if n_found == 1:  # is no set
                operator[node], value[node] = EQUAL, set_values[total]
            else:
                total += n_found
    set_start[len(parent)] = total
    return total


@lean
def _write_set(sides: Any, start: int, end: int, branch: int, set_values: Any, total: int) -> int:
    """How many categories go down a branch; they are written down from a place on."""
    n_found = 0
    for at in range(start, end):
        if sides[at] == branch:
            set_values[total + n_found] = at - start
            n_found += 1
    return n_found
