"""A tree made of the nodes of another: some are leaves now, some make the split of one below."""

from dataclasses import replace

import numpy as np

from service.tree.arrays import Ints
from service.tree.kernels.order import breadth_first
from service.tree.nodes import Split, Tree

KEPT = (
    "branch", "operator", "value", "share",
    "weight", "distribution", "mean", "variance", "impurity",
)  # fmt: skip


def rebuilt(tree: Tree, source: Ints) -> tuple[Tree, Ints]:
    """The tree of the nodes that the root still leads to, and which those are.

    `source` is per node the one whose split it makes, -1 for a leaf. What is known of the rows
    at each node is left as it is.
    """
    nodes, parent, depth = breadth_first(tree.first_child, tree.n_branches, source)
    at = source[nodes]
    lengths = np.diff(tree.set_start)[nodes]
    set_start = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(tree.set_start[nodes] - set_start[:-1], lengths) + np.arange(set_start[-1])
    made = replace(
        tree,
        parent=parent,
        depth=depth,
        set_start=set_start,
        set_values=tree.set_values[places],
        attribute=np.where(at < 0, -1, tree.attribute[at]),
        split=np.where(at < 0, Split.LEAF, tree.split[at]),
        gain=np.where(at < 0, np.nan, tree.gain[at]),
        alpha_cut=np.where(at < 0, np.nan, tree.alpha_cut[at]),
        **{name: getattr(tree, name)[nodes] for name in KEPT},
    )
    return made, nodes
