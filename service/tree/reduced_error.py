"""Reduced-error pruning: bottom-up, by rows that were not trained on.

A validation row with nulls counts at every node it reaches with the weight it has there; its
mixed prediction may err less or more than that sum.
"""

import numpy as np

from service.tree.arrays import Floats
from service.tree.compiled import compile_tree
from service.tree.criterion import likeliest
from service.tree.cut import cheapest
from service.tree.dataset import Dataset
from service.tree.nodes import Tree
from service.tree.parts import statistics
from service.tree.walk import walk


def reduced_error(tree: Tree, validation: Dataset, *, prune_ties: bool) -> Tree:
    """The tree whose subtrees each lose less on the validation rows than a leaf would."""
    as_leaf = _losses(tree, _arrived(tree, validation))
    return cheapest(tree, as_leaf, prune_ties=prune_ties)


def _arrived(tree: Tree, validation: Dataset) -> Floats:
    """Per node the statistics of the validation rows that come by."""
    compiled = compile_tree(tree, validation.attributes, validation.classes)
    # about the root's mean, so that the squares stay small
    target = validation.target - tree.mean[0] if tree.is_regression else validation.target
    rows = statistics(target, validation.weights, len(validation.classes))
    arrived = np.zeros((len(tree), rows.shape[1]))
    for routed in walk(compiled, validation.values):
        np.add.at(arrived, routed.leaves, routed.weights[:, None] * rows[routed.rows])
    for level in reversed(tree.levels[1:]):
        np.add.at(arrived, tree.parent[level][::-1], arrived[level][::-1])
    return arrived


def _losses(tree: Tree, arrived: Floats) -> Floats:
    """Per node what it would lose as a leaf: the weight it gets wrong, or the squared error."""
    if tree.is_regression:
        weight, total, squares = arrived.T
        mean = tree.mean - tree.mean[0]
        squared: Floats = squares - 2 * mean * total + mean**2 * weight
        return np.maximum(squared, 0.0)
    said = likeliest(tree.distribution)
    wrong: Floats = arrived.sum(axis=1) - arrived[np.arange(len(tree)), said]
    return wrong
