"""A tree with some of its nodes made leaves: what is below them is gone for good."""

from dataclasses import fields, replace

import numpy as np

from service.tree.arrays import Bools, Floats
from service.tree.criterion import TIE
from service.tree.nodes import Split, Tree

SETS = ("set_start", "set_values")


def cheapest(tree: Tree, as_leaf: Floats, *, prune_ties: bool) -> Tree:
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
    return with_leaves(tree, is_cut)


def with_leaves(tree: Tree, is_cut: Bools) -> Tree:
    """The tree in which these nodes are leaves, numbered anew."""
    leaf = is_cut | tree.is_leaf
    made = replace(
        tree,
        attribute=np.where(leaf, -1, tree.attribute),
        split=np.where(leaf, Split.LEAF, tree.split),
        gain=np.where(leaf, np.nan, tree.gain),
        alpha_cut=np.where(leaf, np.nan, tree.alpha_cut),
    )
    kept = np.flatnonzero(made.is_reached)
    number = np.cumsum(made.is_reached) - 1
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
