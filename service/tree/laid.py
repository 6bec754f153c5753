"""The nodes of a tree as kernels walk them, each in half a line of the processor's cache."""

from typing import Any

import numpy as np

from service.tree.arrays import Ints
from service.tree.compiled import CompiledTree
from service.tree.kernels.shapes import NODE
from service.tree.mixture import Mixture
from service.tree.nodes import Split


def laid_nodes(compiled: CompiledTree) -> Any:
    """The nodes, one after the other."""
    tree, here = compiled.tree, np.arange(len(compiled.tree))
    is_leaf, by_code = tree.is_leaf, tree.split == Split.MULTIWAY
    nodes = np.empty(len(tree), dtype=NODE)
    nodes["threshold"] = np.where(is_leaf, np.inf, compiled.threshold)
    nodes["attribute"] = np.where(is_leaf, 0, tree.attribute)
    nodes["first"] = np.where(is_leaf, here, compiled.first_child)
    has_own = ~is_leaf & (compiled.null_branch >= 0)
    nodes["null"] = np.where(has_own, compiled.first_child + compiled.null_branch, here)
    nodes["largest"] = compiled.first_child + compiled.largest_branch
    nodes["n_branches"] = compiled.n_branches
    # a category's number is its branch where each has its own: one table for all of these
    nodes["table"] = np.where(by_code, len(compiled.table), compiled.table_start)
    return nodes


def laid_asks(compiled: CompiledTree, mixture: Mixture | None) -> Ints:
    """Per node words of the attributes that are asked for from there on.

    Without a mixture there are none: nobody ends above a leaf, whatever is known.
    """
    if mixture is None:
        return np.empty((len(compiled.tree), 0), dtype=np.int64)
    return np.column_stack(mixture.words)


def laid_table(compiled: CompiledTree) -> Ints:
    """The branches of categories, to which the nodes refer."""
    # never empty: kernels look into it before they know whether they need to
    same = np.arange(max((1, *(len(attribute.values) for attribute in compiled.attributes))))
    return np.concatenate([compiled.table, same])
