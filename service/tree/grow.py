"""Growing: node after node from a queue, so that nodes are numbered breadth-first as they come."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from service.errors import LimitReached
from service.tree.arrays import Floats, Ints
from service.tree.criterion import CRITERIA
from service.tree.dataset import Dataset
from service.tree.nodes import Operator, Split, Tree
from service.tree.params import GrowParams
from service.tree.search import Candidate, Part, best_split

Report: TypeAlias = Callable[[float, int], None]  # (part of the weight that is settled, nodes)


def ignore(_fraction: float, _nodes: int) -> None:
    """The report of one who does not listen."""


def grow(
    data: Dataset, params: GrowParams, max_nodes: int = 1_000_000, report: Report = ignore
) -> Tree:
    """The full tree of a dataset."""
    rows = np.flatnonzero(data.weights > 0)
    whole = Part(rows, data.weights[rows])
    total = float(whole.weights.sum())
    table = _Table(data, params)
    queue = deque([(table.add_root(whole), whole)])
    settled = 0.0
    while queue:
        node, part = queue.popleft()
        best = None if table.is_settled(node) else best_split(data, part, params)
        if best is None:
            settled += table.weight[node]
        else:
            queue.extend(table.add_children(node, part, best))
        if len(table.parent) > max_nodes:
            raise LimitReached(
                f"the tree grew beyond {max_nodes} nodes; set max_depth, min_weight or min_gain"
            )
        report(min(settled / total, 1.0), len(table.parent))
    return table.finished()


class _Table:
    """The columns of the nodes while they are being grown."""

    def __init__(self, data: Dataset, params: GrowParams) -> None:
        self.data, self.params = data, params
        self.parent: list[int] = []
        self.depth: list[int] = []
        self.branch: list[int] = []
        self.operator: list[int] = []
        self.value: list[float] = []
        self.share: list[float] = []
        self.weight: list[float] = []
        self.distribution: list[Floats] = []
        self.attribute: list[int] = []
        self.split: list[int] = []
        self.gain: list[float] = []

    def add_root(self, part: Part) -> int:
        return self._add(-1, 0, 0, Operator.NONE, np.nan, 1.0, self._distribution(part), part)

    def is_settled(self, node: int) -> bool:
        """Whether the node is a leaf without a look at its attributes."""
        distribution = self.distribution[node]
        return (
            self.weight[node] == 0
            or int(np.count_nonzero(distribution)) <= 1
            or self.depth[node] == self.params.max_depth
        )

    def add_children(self, node: int, part: Part, best: Candidate) -> Iterator[tuple[int, Part]]:
        """Makes the node an inner one; its children with their rows."""
        self.attribute[node], self.split[node] = best.attribute, best.split
        self.gain[node] = best.score.gain
        shares = best.sizes / best.sizes.sum()
        for branch, below in enumerate(send_down(self.data, part, best, shares)):
            operator, value = _condition(best, branch)
            empty = len(below.rows) == 0
            distribution = self.distribution[node] if empty else self._distribution(below)
            child = self._add(
                node, self.depth[node] + 1, branch, operator, value, shares[branch],
                distribution, below,
            )  # fmt: skip
            yield child, below

    def _distribution(self, part: Part) -> Floats:
        classes = self.data.target[part.rows]
        return np.bincount(classes, part.weights, len(self.data.classes)).astype(np.float64)

    def _add(
        self, parent: int, depth: int, branch: int, operator: Operator, value: float,
        share: float, distribution: Floats, part: Part,
    ) -> int:  # fmt: skip
        self.parent.append(parent)
        self.depth.append(depth)
        self.branch.append(branch)
        self.operator.append(operator)
        self.value.append(value)
        self.share.append(share)
        self.weight.append(float(part.weights.sum()))
        self.distribution.append(distribution)
        self.attribute.append(-1)
        self.split.append(Split.LEAF)
        self.gain.append(np.nan)
        return len(self.parent) - 1

    def finished(self) -> Tree:
        """The tree of all that was added."""
        distribution = np.array(self.distribution)
        ints = (self.parent, self.depth, self.branch, self.operator, self.attribute, self.split)
        parent, depth, branch, operator, attribute, split = (
            np.array(column, dtype=np.int64) for column in ints
        )
        return Tree(
            parent=parent, depth=depth, branch=branch, operator=operator,
            value=np.array(self.value), share=np.array(self.share),
            weight=np.array(self.weight), distribution=distribution,
            impurity=CRITERIA[self.params.criterion].impurity(distribution),
            attribute=attribute, split=split, gain=np.array(self.gain),
        )  # fmt: skip


def send_down(data: Dataset, part: Part, best: Candidate, shares: Floats) -> list[Part]:
    """The rows down each branch; a row that does not know goes down every branch with a share."""
    values = data.values[part.rows, best.attribute]
    null = np.isnan(values)
    unknown = Part(part.rows[null], part.weights[null])
    known = Part(part.rows[~null], part.weights[~null])
    if best.split == Split.THRESHOLD:
        branches = (values[~null] > best.threshold).astype(np.int64)
    else:
        branches = values[~null].astype(np.int64)
    order = np.argsort(branches, kind="stable")
    ends = np.cumsum(np.bincount(branches, minlength=len(shares)))
    starts = np.append(0, ends[:-1])
    return [
        _with_unknown(known, order[start:end], unknown, float(share))
        for start, end, share in zip(starts.tolist(), ends.tolist(), shares, strict=True)
    ]


def _with_unknown(known: Part, positions: Ints, unknown: Part, share: float) -> Part:
    rows, weights = known.rows[positions], known.weights[positions]
    if share == 0 or len(unknown.rows) == 0:
        return Part(rows, weights)
    passed = unknown.weights * share
    kept = passed > 0  # a weight can be divided until floating point has no smaller one
    return Part(np.concatenate([rows, unknown.rows[kept]]), np.concatenate([weights, passed[kept]]))


def _condition(best: Candidate, branch: int) -> tuple[Operator, float]:
    if best.split == Split.MULTIWAY:
        return Operator.EQUAL, float(branch)
    return (Operator.AT_MOST, Operator.ABOVE)[branch], best.threshold
