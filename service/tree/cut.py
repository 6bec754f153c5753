"""A tree with some of its nodes made leaves: what is below them is gone, or out of reach."""

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
    tie, inner = TIE * float(as_leaf[0]), ~tree.is_leaf
    below = np.zeros(len(tree))
    is_cut = np.zeros(len(tree), dtype=bool)
    for level in reversed(tree.levels):
        gained = below[level] - as_leaf[level]
        is_cut[level] = inner[level] & (gained >= -tie if prune_ties else gained > tie)
        best = np.where(inner[level] & ~is_cut[level], below[level], as_leaf[level])
        if level.start:
            np.add.at(below, tree.parent[level][::-1], best[::-1])
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
    sizes = np.diff(tree.set_start)
    columns = {
        field.name: getattr(made, field.name)[kept]
        for field in fields(made)
        if field.name not in SETS
    }
    parent = np.where(columns["parent"] < 0, -1, number[columns["parent"]])
    starts = np.append(0, np.cumsum(sizes[kept]))
    values = tree.set_values[np.repeat(made.is_reached, sizes)]
    return Tree(**columns | {"parent": parent, "set_start": starts, "set_values": values})


def at_alpha(tree: Tree, alpha: float) -> Tree:
    """The tree of its cost-complexity sequence that is best at an alpha.

    Node numbers stay: what is below a leaf of this tree is still there, but nothing leads to it.
    """
    leaf = tree.is_leaf | (tree.alpha_cut <= alpha)
    return replace(
        tree,
        attribute=np.where(leaf, -1, tree.attribute),
        split=np.where(leaf, Split.LEAF, tree.split),
    )
