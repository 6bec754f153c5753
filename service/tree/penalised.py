"""Pruning to the smallest loss, impurity of the leaves plus alpha for each, from the bottom up."""

import numpy as np

from service.tree.arrays import Floats
from service.tree.cost_complexity import weighted_impurity
from service.tree.cut import cheapest
from service.tree.nodes import Tree


def default_alpha(tree: Tree) -> float:
    """What a leaf costs if it is told in bits: half a logarithm of the weight for each chance."""
    chances = max(tree.distribution.shape[1] - 1, 1)
    return float(0.5 * chances * np.log2(max(tree.weight[0], 2.0)))


def penalised(tree: Tree, alpha: float, risk: Floats | None = None) -> Tree:
    """The smallest tree of the smallest loss; on a tie the leaf is taken."""
    own = weighted_impurity(tree) if risk is None else risk
    as_leaf = own + np.where(tree.weight > 0, alpha, 0.0)
    return cheapest(tree, as_leaf, prune_ties=True)
