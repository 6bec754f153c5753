"""Pruning to the smallest loss, impurity of the leaves plus alpha for each, from the bottom up."""

import numpy as np

from service.tree.arrays import Floats
from service.tree.cost_complexity import weighted_impurity
from service.tree.criterion import TIE
from service.tree.cut import with_leaves
from service.tree.nodes import Tree


def default_alpha(tree: Tree) -> float:
    """What a leaf costs if it is told in bits: half a logarithm of the weight for each chance."""
    chances = max(tree.distribution.shape[1] - 1, 1)
    return float(0.5 * chances * np.log2(max(tree.weight[0], 2.0)))


def penalised(tree: Tree, alpha: float, risk: Floats | None = None) -> Tree:
    """The smallest tree of the smallest loss; on a tie the leaf is taken."""
    own = weighted_impurity(tree) if risk is None else risk
    as_leaf = own + np.where(tree.weight > 0, alpha, 0.0)
    best = as_leaf.copy()
    below = np.zeros(len(tree))
    is_cut = np.ones(len(tree), dtype=bool)
    for node in range(len(tree) - 1, -1, -1):
        if not tree.is_leaf[node]:
            is_cut[node] = as_leaf[node] <= below[node] + TIE * max(abs(as_leaf[node]), 1.0)
            best[node] = as_leaf[node] if is_cut[node] else below[node]
        if node:
            below[tree.parent[node]] += best[node]
    return with_leaves(tree, is_cut)
