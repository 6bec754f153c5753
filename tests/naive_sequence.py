"""The alphas of a sequence and the cutting of trees, written for reading: one node at a time.

What service/tree/cost_complexity.py, cut.py and nodes.py do must give what these give, bit by bit.
"""

from dataclasses import fields, replace
from heapq import heapify, heappop, heappush

import numpy as np

from service.tree.arrays import Bools, Floats
from service.tree.cost_complexity import SAME, left_sons
from service.tree.criterion import TIE
from service.tree.cut import SETS
from service.tree.nodes import Split, Tree


def naive_weakest_links(tree: Tree, risk: Floats) -> Floats:
    """Per inner node the alpha at which it is cut if always the weakest link is cut next."""
    links = _Links(tree, risk)
    alpha = 0.0
    while links.alive[0]:
        links.cut_up_to(alpha)
        alpha = max(alpha, links.weakest()) if links.alive[0] else alpha
    return links.alpha_cut


def naive_rpart_links(tree: Tree, risk: Floats) -> Floats:
    """Per inner node its complexity as rpart computes it, from the bottom up.

    A node's children are taken whole or not at all, so that what collapses further down before
    the node does is counted as if it were still there: now and then a little less than the
    weakest link.
    """
    complexity, below = np.zeros(len(tree)), risk.copy()
    splits, is_left = np.zeros(len(tree)), left_sons(tree)
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


def naive_is_reached(tree: Tree) -> Bools:
    reached = np.ones(len(tree), dtype=bool)
    for node in range(1, len(tree)):
        above = tree.parent[node]
        reached[node] = reached[above] and not tree.is_leaf[above]
    return reached


def naive_cheapest(tree: Tree, as_leaf: Floats, *, prune_ties: bool) -> Tree:
    """The tree cut where a leaf loses no more than the subtree, or less; bottom-up, once.

    `as_leaf` is per node what it would lose as a leaf; losses of leaves add up.
    """
    tie = TIE * float(as_leaf[0])
    best, below = as_leaf.copy(), np.zeros(len(tree))
    is_cut = np.zeros(len(tree), dtype=bool)
    for node in range(len(tree) - 1, -1, -1):
        if not tree.is_leaf[node]:
            gained = below[node] - as_leaf[node]
            is_cut[node] = gained >= -tie if prune_ties else gained > tie
            best[node] = as_leaf[node] if is_cut[node] else below[node]
        if node:
            below[tree.parent[node]] += best[node]
    return naive_with_leaves(tree, is_cut)


def naive_with_leaves(tree: Tree, is_cut: Bools) -> Tree:
    """The tree in which these nodes are leaves, numbered anew."""
    leaf = is_cut | tree.is_leaf
    made = replace(
        tree,
        attribute=np.where(leaf, -1, tree.attribute),
        split=np.where(leaf, Split.LEAF, tree.split),
        gain=np.where(leaf, np.nan, tree.gain),
        alpha_cut=np.where(leaf, np.nan, tree.alpha_cut),
    )
    reached = naive_is_reached(made)
    kept, number = np.flatnonzero(reached), np.cumsum(reached) - 1
    sets = [tree.categories(node) for node in kept.tolist()]
    columns = {
        field.name: getattr(made, field.name)[kept]
        for field in fields(made)
        if field.name not in SETS
    }
    parent = np.where(columns["parent"] < 0, -1, number[columns["parent"]])
    starts = np.cumsum([0, *map(len, sets)])
    return Tree(
        **columns | {"parent": parent, "set_start": starts, "set_values": np.concatenate(sets)}
    )
