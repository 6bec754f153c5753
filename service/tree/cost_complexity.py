"""Cost-complexity pruning: the sequence of ever smaller trees, and which of them to take.

The loss of a tree is its risk plus alpha for each leaf. As alpha grows, nodes become leaves one
after another; each node keeps the alpha at which it does (`alpha_cut`), so that every tree of the
sequence is a WHERE clause.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import TypeAlias

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
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


Links: TypeAlias = Callable[[Tree, Floats], Floats]


def with_alpha_cut(tree: Tree, links: str, risk: Floats) -> Tree:
    """The tree whose nodes know from which alpha on they are leaves, given the risk of each."""
    return replace(tree, alpha_cut=np.where(tree.is_leaf, np.nan, LINKS[links](tree, risk)))


def merged(tree: Tree, risk: str) -> Tree:
    """The tree in which alphas that only rounding tells apart are made one."""
    cut = tree.alpha_cut
    values = np.unique(cut[~np.isnan(cut)])
    if len(values) == 0:
        return tree
    tolerance = SAME * max(float(risk_of(tree, risk)[0]), 1e-300)
    firsts = np.append(True, np.diff(values) > tolerance)
    representative = values[firsts][np.cumsum(firsts) - 1]
    at = np.minimum(np.searchsorted(values, cut), len(values) - 1)
    joined = np.where(np.isnan(cut), np.nan, np.maximum(representative[at], 0.0))
    return replace(tree, alpha_cut=joined)


def weakest_links(tree: Tree, risk: Floats) -> Floats:
    """Per inner node the alpha at which it is cut if always the weakest link is cut next."""
    links = _Links(tree, risk)
    alpha = 0.0
    while links.alive[0]:
        links.cut_up_to(alpha)
        alpha = max(alpha, links.weakest()) if links.alive[0] else alpha
    return links.alpha_cut


def rpart_links(tree: Tree, risk: Floats) -> Floats:
    """Per inner node its complexity as rpart computes it, from the bottom up.

    A node's children are taken whole or not at all, so that what collapses further down before
    the node does is counted as if it were still there: now and then a little less than the
    weakest link.
    """
    complexity, below = np.zeros(len(tree)), risk.copy()
    splits, is_left = np.zeros(len(tree)), _left_sons(tree)
    for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():
        first = int(tree.first_child[node])
        children = np.arange(first, first + int(tree.n_branches[node]))
        for child in children[np.lexsort((is_left[children], complexity[children]))]:
            link = _link(risk[node], below[children], splits[children])
            if link <= complexity[child]:
                break
            below[child], splits[child] = risk[child], 0
        complexity[node] = _link(risk[node], below[children], splits[children])
        if complexity[node] > 0:
            below[node] = below[children].sum()
            splits[node] = splits[children].sum() + len(children) - 1
    for node in range(1, len(tree)):
        complexity[node] = min(complexity[node], complexity[tree.parent[node]])
    return np.where(tree.is_leaf, np.nan, complexity)


def _left_sons(tree: Tree) -> Bools:
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


def _link(risk: float, below: Floats, splits: Floats) -> float:
    return float((risk - below.sum()) / (splits.sum() + len(below) - 1))


class _Links:
    """The inner nodes that are still there, and how much each would cost as a leaf."""

    def __init__(self, tree: Tree, risk: Floats) -> None:
        self.tree, self.risk = tree, risk
        self.scale = max(float(risk[0]), 1e-300)
        self.below = risk.copy()  # risk of the leaves below each node
        self.leaves = (tree.is_leaf & (tree.weight > 0)).astype(np.int64)
        inner = np.flatnonzero(~tree.is_leaf)
        self.below[inner] = 0.0
        for node in range(len(tree) - 1, 0, -1):
            self.below[tree.parent[node]] += self.below[node]
            self.leaves[tree.parent[node]] += self.leaves[node]
        self.alive = ~tree.is_leaf
        self.alpha_cut = np.full(len(tree), np.nan)
        self.heap = [(self._link(node), node) for node in inner.tolist()]
        heapify(self.heap)

    def _link(self, node: int) -> float:
        fewer = max(int(self.leaves[node]) - 1, 1)
        return float(self.risk[node] - self.below[node]) / fewer

    def weakest(self) -> float:
        """The smallest alpha at which a node that is still there becomes a leaf."""
        while not self._is_current(self.heap[0]):
            heappop(self.heap)
        return self.heap[0][0]

    def _is_current(self, entry: tuple[float, int]) -> bool:
        link, node = entry
        return bool(self.alive[node]) and link == self._link(node)

    def cut_up_to(self, alpha: float) -> None:
        """Makes leaves of all nodes whose link is not stronger."""
        limit = alpha + SAME * self.scale
        while self.heap:
            if not self._is_current(self.heap[0]):
                heappop(self.heap)
            elif self.heap[0][0] <= limit:
                self._cut(heappop(self.heap)[1], alpha)
            else:
                return

    def _cut(self, top: int, alpha: float) -> None:
        stack = [top]
        while stack:
            node = stack.pop()
            if self.alive[node]:
                self.alive[node], self.alpha_cut[node] = False, alpha
                first = int(self.tree.first_child[node])
                stack.extend(range(first, first + int(self.tree.n_branches[node])))
        more = self.risk[top] - self.below[top]
        fewer = self.leaves[top] - 1
        node = top
        while node >= 0:
            self.below[node] += more
            self.leaves[node] -= fewer
            if self.alive[node]:
                heappush(self.heap, (self._link(node), node))
            node = int(self.tree.parent[node])


LINKS: dict[str, Links] = {"weakest_link": weakest_links, "rpart": rpart_links}


def at_alpha(tree: Tree, alpha: float) -> Tree:
    """The tree of the sequence that is best at an alpha.

    Node numbers stay: what is below a leaf of this tree is still there, but nothing leads to it.
    """
    leaf = tree.is_leaf | (tree.alpha_cut <= alpha)
    return replace(
        tree,
        attribute=np.where(leaf, -1, tree.attribute),
        split=np.where(leaf, Split.LEAF, tree.split),
    )
