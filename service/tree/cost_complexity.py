"""Cost-complexity pruning: the sequence of ever smaller trees, and which of them to take.

The loss of a tree is its risk plus alpha for each leaf. As alpha grows, nodes become leaves one
after another; each node keeps the alpha at which it does (`alpha_cut`), so that every tree of the
sequence is a WHERE clause.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.cut import at_alpha as at_alpha
from service.tree.kernels.sequence import (
    Complexity,
    Links,
    cut_weakest,
    leaves_below,
    rpart_complexity,
)
from service.tree.kernels.sums import LEVELS
from service.tree.nodes import Split, Tree

SAME = 1e-10  # relative: links as weak as this are cut together

Risk: TypeAlias = Callable[[Tree], Floats]


def misclassified(tree: Tree) -> Floats:
    """Per node the training weight that it would get wrong as a leaf."""
    wrong: Floats = tree.weight - tree.distribution.max(axis=1)
    return np.where(tree.weight > 0, wrong, 0.0)


def weighted_impurity(tree: Tree) -> Floats:
    """Per node its impurity times its weight; in regression the squared error."""
    return tree.weight * tree.impurity


RISKS: dict[str, Risk] = {"misclassification": misclassified, "impurity": weighted_impurity}


def risk_of(tree: Tree, risk: str) -> Floats:
    """Per node its risk as a leaf; in regression that is the squared error, whatever is asked."""
    return weighted_impurity(tree) if tree.is_regression else RISKS[risk](tree)


@dataclass(frozen=True)
class Sequence:
    """The trees of the sequence, from the largest to the root alone."""

    alphas: Floats  # from which alpha on each is best; ascending, the first is 0
    n_leaves: Ints
    risks: Floats


def sequence(tree: Tree, risk: str) -> Sequence:
    """The trees that the nodes' `alpha_cut` tells apart."""
    own = risk_of(tree, risk)
    inner = np.flatnonzero(~tree.is_leaf)
    below, leaves = np.zeros(len(tree)), np.zeros(len(tree))
    np.add.at(below, tree.parent[1:], own[1:])
    np.add.at(leaves, tree.parent[1:], tree.weight[1:] > 0)
    alphas = np.unique(np.append(tree.alpha_cut[inner], 0.0))
    order = inner[np.argsort(-tree.alpha_cut[inner], kind="stable")]
    saved = np.append(0.0, np.cumsum((own - below)[order]))
    more = np.append(0, np.cumsum(leaves[order] - 1))
    there = np.searchsorted(-tree.alpha_cut[order], -alphas, side="left")
    return Sequence(alphas, 1 + more[there].astype(np.int64), own[0] - saved[there])


Way: TypeAlias = Callable[[Tree, Floats], Floats]


def with_alpha_cut(tree: Tree, links: str, risk: Floats) -> Tree:
    """The tree whose nodes know from which alpha on they are leaves, given the risk of each.

    An alpha that only rounding has made more than nothing is 0: what saves no risk is cut there.
    """
    alphas = LINKS[links](tree, risk)
    alphas = np.where(alphas > _rounding(risk), alphas, 0.0)
    return replace(tree, alpha_cut=np.where(tree.is_leaf, np.nan, alphas))


def _rounding(risk: Floats) -> float:
    """How far apart alphas are that rounding may tell apart, given the risk of each node."""
    return SAME * max(float(risk[0]), 1e-300)


def merged(tree: Tree, risk: str) -> Tree:
    """The tree in which alphas that only rounding tells apart are made one."""
    cut = tree.alpha_cut
    values = np.unique(cut[~np.isnan(cut)])
    if len(values) == 0:
        return tree
    firsts = np.append(True, np.diff(values) > _rounding(risk_of(tree, risk)))
    representative = values[firsts][np.cumsum(firsts) - 1]
    at = np.minimum(np.searchsorted(values, cut), len(values) - 1)
    joined = np.where(np.isnan(cut), np.nan, np.maximum(representative[at], 0.0))
    return replace(tree, alpha_cut=joined)


def weakest_links(tree: Tree, risk: Floats) -> Floats:
    """Per inner node the alpha at which it is cut if always the weakest link is cut next."""
    alpha_cut = np.full(len(tree), np.nan)
    inner, link = np.flatnonzero(~tree.is_leaf), np.full(len(tree), np.inf)
    below = np.where(tree.is_leaf, risk, 0.0)
    leaves = (tree.is_leaf & (tree.weight > 0)).astype(np.int64)
    leaves_below(tree.parent, below, leaves)
    link[inner] = (risk - below)[inner] / np.maximum(leaves - 1, 1)[inner]
    heap = inner[np.argsort(link[inner], kind="stable")]
    place = np.zeros(len(tree), dtype=np.int64)
    place[heap] = np.arange(len(heap))
    links = Links(
        tree.parent, tree.first_child, tree.n_branches, risk, below, leaves, link, heap, place,
        np.empty(len(tree), dtype=np.int64), alpha_cut,
    )  # fmt: skip
    cut_weakest(links, _rounding(risk))
    return alpha_cut


def rpart_links(tree: Tree, risk: Floats) -> Floats:
    """Per inner node its complexity as rpart computes it, from the bottom up.

    A node's children are taken whole or not at all, so that what collapses further down before
    the node does is counted as if it were still there: now and then a little less than the
    weakest link.
    """
    complexity, splits = np.zeros(len(tree)), np.zeros(len(tree))
    room = np.empty(1 + int(tree.n_branches.max()))
    nodes = Complexity(
        tree.first_child, tree.n_branches, tree.is_leaf, left_sons(tree), risk, risk.copy(),
        splits, complexity, room, np.empty(2 * LEVELS, dtype=np.int64), np.empty(LEVELS),
    )  # fmt: skip
    rpart_complexity(nodes, tree.parent)
    return np.where(tree.is_leaf, np.nan, complexity)


def left_sons(tree: Tree) -> Bools:
    """Per node whether it is the side with the smaller mean, which rpart collapses last."""
    means = tree.mean
    if not tree.is_regression:
        means = tree.distribution @ np.arange(tree.distribution.shape[1])
        means = means / tree.distribution.sum(axis=1)
    is_left: Bools = np.equal(tree.branch, 0)
    first = tree.first_child
    cut = np.flatnonzero(tree.split == Split.THRESHOLD)
    below, above = first[cut], first[cut] + 1
    is_left[below] = means[below] < means[above]
    is_left[above] = ~is_left[below]
    return is_left


LINKS: dict[str, Way] = {"weakest_link": weakest_links, "rpart": rpart_links}
