"""A tree with some of its nodes made leaves: what is below them is gone for good."""

from dataclasses import fields, replace

import numpy as np

from service.tree.arrays import Bools
from service.tree.nodes import Split, Tree

SETS = ("set_start", "set_values")


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
