"""What is made of a tree before rows are routed, written for reading: one node at a time.

What service/tree/compiled.py and mixture.py make must be what these make, bit by bit.
"""

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.attribute import Attribute
from service.tree.mixture import Mixture
from service.tree.nodes import Operator, Split, Tree


def naive_branch_tables(tree: Tree, attributes: tuple[Attribute, ...]) -> tuple[Ints, Ints]:
    """For each split into sets the branch of every category."""
    starts = np.full(len(tree), -1, dtype=np.int64)
    tables = [np.empty(0, dtype=np.int64)]
    at = 0
    for node in np.flatnonzero(np.isin(tree.split, [Split.SUBSET, Split.ONE_VS_REST])).tolist():
        n_values = len(attributes[int(tree.attribute[node])].values)
        table = np.full(n_values, -1, dtype=np.int64)
        first = int(tree.first_child[node])
        for child in range(first, first + int(tree.n_branches[node])):
            if tree.operator[child] == Operator.EQUAL:
                table[int(tree.value[child])] = tree.branch[child]
            table[tree.categories(child)] = tree.branch[child]
        starts[node], at = at, at + len(table)
        tables.append(table)
    return starts, np.concatenate(tables)


def naive_largest_branch(tree: Tree) -> Ints:
    largest = np.zeros(len(tree), dtype=np.int64)
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        first = tree.first_child[node]
        largest[node] = np.argmax(tree.share[first : first + tree.n_branches[node]])
    return largest


def naive_mixture(tree: Tree, answers: Floats, n_attributes: int) -> Mixture:
    """The mixture of a tree in which null has no branches of its own."""
    n_nodes, n_answers = answers.shape
    made = Mixture(
        asks=np.zeros((n_nodes, n_attributes), dtype=bool),
        answers=np.zeros((n_nodes, n_answers)),
        lowest=np.full((n_nodes, n_answers), np.inf),
        highest=np.full((n_nodes, n_answers), -np.inf),
        variance=np.zeros(n_nodes),
        n_leaves=np.zeros(n_nodes, dtype=np.int64),
        pooled=np.zeros((n_nodes, n_answers)),
        pooled_weight=np.zeros(n_nodes),
        pooled_spread=np.zeros(n_nodes),
    )
    for node in range(n_nodes - 1, -1, -1):
        if tree.is_leaf[node]:
            _fill_leaf(tree, answers, made, node)
        else:
            _fill_inner(tree, made, node)
    return made


def _fill_leaf(tree: Tree, answers: Floats, made: Mixture, node: int) -> None:
    made.answers[node] = made.lowest[node] = made.highest[node] = answers[node]
    made.variance[node], made.n_leaves[node] = tree.variance[node], 1
    made.pooled[node] = tree.weight[node] * answers[node]
    made.pooled_weight[node] = tree.weight[node]
    made.pooled_spread[node] = tree.weight[node] * tree.variance[node]


def _fill_inner(tree: Tree, made: Mixture, node: int) -> None:
    made.asks[node, tree.attribute[node]] = True
    first = int(tree.first_child[node])
    children = [c for c in range(first, first + int(tree.n_branches[node])) if tree.share[c] > 0]
    for child in children:
        made.asks[node] |= made.asks[child]
        made.answers[node] += tree.share[child] * made.answers[child]
        made.lowest[node] = np.minimum(made.lowest[node], made.lowest[child])
        made.highest[node] = np.maximum(made.highest[node], made.highest[child])
        made.n_leaves[node] += made.n_leaves[child]
        made.pooled[node] += made.pooled[child]
        made.pooled_weight[node] += made.pooled_weight[child]
    for child in children if tree.is_regression else []:
        apart = made.answers[child, 0] - made.answers[node, 0]
        made.variance[node] += tree.share[child] * (made.variance[child] + apart * apart)
        apart = _pooled(made, child) - _pooled(made, node)
        more = made.pooled_spread[child] + made.pooled_weight[child] * apart * apart
        made.pooled_spread[node] += more


def _pooled(made: Mixture, node: int) -> float:
    weight = made.pooled_weight[node]
    return float(made.pooled[node, 0] / weight) if weight > 0 else 0.0
