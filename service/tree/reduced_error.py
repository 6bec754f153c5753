"""Reduced-error pruning: bottom-up, by rows that were not trained on.

A validation row with nulls counts at every node it reaches with the weight it has there; its
mixed prediction may err less or more than that sum.
"""

import numpy as np

from service.tree.arrays import Floats
from service.tree.compiled import compile_tree
from service.tree.criterion import TIE, first_best
from service.tree.cut import with_leaves
from service.tree.dataset import Dataset
from service.tree.nodes import Tree
from service.tree.parts import statistics
from service.tree.route import route


def reduced_error(tree: Tree, validation: Dataset, *, prune_ties: bool) -> Tree:
    """The tree whose subtrees each lose less on the validation rows than a leaf would."""
    as_leaf = _losses(tree, _arrived(tree, validation))
    best = as_leaf.copy()
    below = np.zeros(len(tree))
    is_cut = np.zeros(len(tree), dtype=bool)
    for node in range(len(tree) - 1, -1, -1):
        if not tree.is_leaf[node]:
            gained = below[node] - as_leaf[node]
            is_cut[node] = gained >= -TIE if prune_ties else gained > TIE
            best[node] = as_leaf[node] if is_cut[node] else below[node]
        if node:
            below[tree.parent[node]] += best[node]
    return with_leaves(tree, is_cut)


def _arrived(tree: Tree, validation: Dataset) -> Floats:
    """Per node the statistics of the validation rows that come by."""
    compiled = compile_tree(tree, validation.attributes, validation.classes)
    rows = statistics(validation.target, validation.weights, len(validation.classes))
    arrived = np.zeros((len(tree), rows.shape[1]))
    for routed in route(compiled, validation.values):
        np.add.at(arrived, routed.leaves, routed.weights[:, None] * rows[routed.rows])
    for node in range(len(tree) - 1, 0, -1):
        arrived[tree.parent[node]] += arrived[node]
    return arrived


def _losses(tree: Tree, arrived: Floats) -> Floats:
    """Per node what it would lose as a leaf: the weight it gets wrong, or the squared error."""
    if tree.is_regression:
        weight, total, squares = arrived.T
        squared: Floats = squares - 2 * tree.mean * total + tree.mean**2 * weight
        return np.maximum(squared, 0.0)
    said = np.array([first_best(distribution) for distribution in tree.distribution])
    wrong: Floats = arrived.sum(axis=1) - arrived[np.arange(len(tree)), said]
    return wrong
