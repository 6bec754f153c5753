"""A tree that REPTree told as nested nodes, as a tree of ours."""

from collections import deque
from typing import Any

import numpy as np

from service.tree.attribute import Attribute
from service.tree.nodes import Operator, Split, Tree


def tree_of(told: dict[str, Any], attributes: tuple[Attribute, ...]) -> Tree:
    """The same nodes in breadth-first order, with its branch shares."""
    numbers = {attribute.name: number for number, attribute in enumerate(attributes)}
    rows = [_Row(told, -1, 0, Operator.NONE, np.nan, 1.0)]
    queue = deque([0])
    while queue:
        number = queue.popleft()
        node = rows[number].told
        for branch, child in enumerate(node.get("children", ())):
            operator, value = _condition(node, child, branch, attributes[numbers[node["attr"]]])
            share = node["branch_share"][branch]
            queue.append(len(rows))
            rows.append(_Row(child, number, branch, operator, value, share))
    return _frozen(rows, numbers)


class _Row:
    def __init__(
        self, told: dict[str, Any], parent: int, branch: int, operator: Operator, value: float,
        share: float,
    ) -> None:  # fmt: skip
        self.told, self.parent, self.branch = told, parent, branch
        self.operator, self.value, self.share = operator, value, share


def _condition(
    node: dict[str, Any], child: dict[str, Any], branch: int, attribute: Attribute
) -> tuple[Operator, float]:
    if node["split"] == "categorical":
        return Operator.EQUAL, float(attribute.values.index(child["value"]))
    # its test is "below the threshold", ours "at most": the next smaller number
    threshold = float(np.nextafter(node["threshold"], -np.inf))
    return (Operator.AT_MOST, Operator.ABOVE)[branch], threshold


def _frozen(rows: list[_Row], numbers: dict[str, int]) -> Tree:
    n_nodes = len(rows)
    mean = np.array([_mean(rows, row) for row in rows])
    splits = {"categorical": Split.MULTIWAY, "numeric": Split.THRESHOLD, None: Split.LEAF}
    attribute = [numbers[row.told["attr"]] if "children" in row.told else -1 for row in rows]
    nothing = np.full(n_nodes, np.nan)
    return Tree(
        parent=np.array([row.parent for row in rows]),
        depth=_depth(rows),
        branch=np.array([row.branch for row in rows]),
        operator=np.array([row.operator for row in rows], dtype=np.int64),
        value=np.array([row.value for row in rows]),
        set_start=np.zeros(n_nodes + 1, dtype=np.int64),
        set_values=np.empty(0, dtype=np.int64),
        share=np.array([row.share for row in rows]),
        weight=np.ones(n_nodes),
        distribution=np.empty((n_nodes, 0)),
        mean=mean,
        variance=np.zeros(n_nodes),
        impurity=np.zeros(n_nodes),
        attribute=np.array(attribute),
        split=np.array([splits[row.told.get("split")] for row in rows], dtype=np.int64),
        gain=nothing,
        alpha_cut=nothing,
    )


def _mean(rows: list[_Row], row: _Row) -> float:
    """An empty branch answers as its parent."""
    mean = row.told.get("mean")
    if row.share > 0 and mean is not None:
        return float(mean)
    return float(rows[row.parent].told["mean"])


def _depth(rows: list[_Row]) -> np.ndarray:
    depth = np.zeros(len(rows), dtype=np.int64)
    for number, row in enumerate(rows[1:], start=1):
        depth[number] = depth[row.parent] + 1
    return depth
