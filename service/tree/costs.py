"""What a prediction costs: the values that were asked for on the way and given."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.attribute import Attribute
from service.tree.compiled import CompiledTree
from service.tree.route import DIVIDING, Router, route

MOST_AT_ONCE = 1 << 22  # pairs of a path and an attribute looked at together


def has_costs(attributes: Sequence[Attribute]) -> bool:
    """Whether any attribute has a cost other than 1, or a group."""
    return any(each.cost != 1.0 or each.group is not None for each in attributes)


def expected_costs(
    compiled: CompiledTree,
    values: Floats,
    missing: str,
    group_costs: Mapping[str, float],
    router: Router = route,
) -> Floats:
    """Per row the cost of its paths, meaned by their weights; NaN without an answer."""
    total, weight = np.zeros(len(values)), np.zeros(len(values))
    # where nothing is known below there is nothing to pay for
    mixture = compiled.mixture if missing in DIVIDING else None
    for routed in router(compiled, values, missing, mixture):
        costs = path_costs(compiled, values, routed.rows, routed.leaves, group_costs)
        total += np.bincount(routed.rows, routed.weights * costs, len(values))
        weight += np.bincount(routed.rows, routed.weights, len(values))
    return np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)


def path_costs(
    compiled: CompiledTree,
    values: Floats,
    rows: Ints,
    leaves: Ints,
    group_costs: Mapping[str, float],
) -> Floats:
    """Per pair of a row and a leaf what the known values cost that are asked for on the way.

    Each attribute is paid once, however often it is asked for; and so is each group.
    """
    ends, places = np.unique(leaves, return_inverse=True)
    asked = _asked(compiled, ends)
    own = np.array([each.cost for each in compiled.attributes])
    groups = list(_groups(compiled.attributes, group_costs))
    costs = np.empty(len(rows))
    step = max(1, MOST_AT_ONCE // len(own))
    for start in range(0, len(rows), step):
        some = slice(start, start + step)
        paid = asked[places[some]] & ~np.isnan(values[rows[some]])
        costs[some] = paid @ own
        for members, cost in groups:
            costs[some] += cost * paid[:, members].any(axis=1)
    return costs


def _asked(compiled: CompiledTree, ends: Ints) -> Bools:
    """Per node whether each attribute is asked for on the way to it."""
    tree = compiled.tree
    asked = np.zeros((len(ends), len(compiled.attributes)), dtype=bool)
    places, nodes = np.arange(len(ends)), ends
    while len(nodes):
        has_parent = tree.parent[nodes] >= 0
        places, nodes = places[has_parent], tree.parent[nodes[has_parent]]
        asked[places, tree.attribute[nodes]] = True
    return asked


def _groups(
    attributes: Sequence[Attribute], group_costs: Mapping[str, float]
) -> Iterator[tuple[Ints, float]]:
    for group, cost in group_costs.items():
        members = [number for number, each in enumerate(attributes) if each.group == group]
        yield np.array(members, dtype=np.int64), cost
