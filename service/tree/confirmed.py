"""Pre-pruning by rows held out: a split stands if they are predicted better with it."""

import numpy as np

from service.tree.arrays import Ints
from service.tree.context import Context
from service.tree.criterion import TIE
from service.tree.dataset import Dataset
from service.tree.grown import Grown
from service.tree.kernels.divide import Entries, Rows, Ways, divide, make_desk
from service.tree.nodes import Tree
from service.tree.parts import Part
from service.tree.pessimism import rows_for
from service.tree.rebuild import rebuilt
from service.tree.ways import ways_of


def confirmed(context: Context, grown: Grown, validation: Part) -> Tree:
    """The tree cut, from the root down, where the validation rows lose no less by a split."""
    tree, data = grown.tree, context.data
    ways, rows = ways_of(tree, data.attributes, grown.filled), rows_for(context)
    source: Ints = np.full(len(tree), -1, dtype=np.int64)
    stack = [(0, validation)]
    while stack:
        node, part = stack.pop()
        if tree.is_leaf[node]:
            continue
        below = _divided(ways, node, rows, part)
        if _improves(data, tree, node, part, below):
            source[node] = node
            stack.extend(enumerate(below, int(tree.first_child[node])))
    return rebuilt(tree, source)[0]


def _divided(ways: Ways, node: int, rows: Rows, part: Part) -> list[Part]:
    """The rows down each branch of a node."""
    n_branches = int(ways.n_branches[node])
    desk = make_desk(len(part.rows), n_branches, 1)
    entries = Entries(part.rows, part.weights)
    entries = divide(ways, node, rows, entries, 0, len(part.rows), desk)
    return [
        Part(entries.rows[start:end], entries.weights[start:end])
        for start, end in zip(desk.starts.tolist(), desk.ends.tolist(), strict=True)
    ]


def _improves(data: Dataset, tree: Tree, node: int, part: Part, below: list[Part]) -> bool:
    """Whether the rows lose less with the children as leaves than without them."""
    first = int(tree.first_child[node])
    within = sum(_loss(data, tree, child, held) for child, held in enumerate(below, first))
    return within < _loss(data, tree, node, part) - TIE


def _loss(data: Dataset, tree: Tree, node: int, part: Part) -> float:
    """What a leaf here loses on rows: the weight it gets wrong, or their squared error."""
    target = data.target[part.rows]
    if tree.is_regression:
        return float(part.weights @ (target - tree.mean[node]) ** 2)
    return float(part.weights[target != np.argmax(tree.distribution[node])].sum())
