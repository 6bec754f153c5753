"""Which way rows go from each node of a tree, as the kernels walk it."""

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.attribute import Attribute
from service.tree.kernels.divide import Ways
from service.tree.nodes import Operator, Split, Tree


def ways_of(tree: Tree, attributes: tuple[Attribute, ...], filled: Floats) -> Ways:
    """The ways from each node; `filled` is what stands for null in its split."""
    is_cut = tree.split == Split.THRESHOLD
    threshold = np.full(len(tree), np.nan)
    threshold[is_cut] = tree.value[tree.first_child[is_cut]]
    null_branch = np.full(len(tree), -1, dtype=np.int64)
    own = np.flatnonzero(tree.operator == Operator.NULL)
    null_branch[tree.parent[own]] = tree.branch[own]
    n_branches = np.where(tree.is_leaf, 0, tree.n_branches)
    table_start, table = _tables(tree, attributes)
    return Ways(
        tree.first_child, n_branches, tree.attribute, threshold, table_start, table, null_branch,
        filled,
    )  # fmt: skip


def _tables(tree: Tree, attributes: tuple[Attribute, ...]) -> tuple[Ints, Ints]:
    """For each split into sets of categories the branch of every category, one after another."""
    n_values = np.array([len(attribute.values) for attribute in attributes])
    is_listed = np.isin(tree.split, [Split.SUBSET, Split.ONE_VS_REST])
    sizes = np.where(is_listed, n_values[tree.attribute], 0)
    starts = np.cumsum(sizes) - sizes
    table = np.full(int(sizes.sum()), -1, dtype=np.int64)
    is_below = is_listed[tree.parent] & (tree.parent >= 0)
    single = np.flatnonzero(is_below & (tree.operator == Operator.EQUAL))
    table[starts[tree.parent[single]] + tree.value[single].astype(np.int64)] = tree.branch[single]
    edges = np.repeat(np.arange(len(tree)), np.diff(tree.set_start))
    table[starts[tree.parent[edges]] + tree.set_values] = tree.branch[edges]
    return np.where(is_listed, starts, -1), table
