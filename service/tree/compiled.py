"""A compiled tree is the tree as the router walks it, with what turns raw values into numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.attribute import Attribute, Kind
from service.tree.encode import codes_of
from service.tree.nodes import Split, Tree


@dataclass(frozen=True)
class CompiledTree:
    """Arrays by node, and per attribute the numbers of its categories."""

    attributes: tuple[Attribute, ...]
    classes: tuple[str, ...]
    codes: tuple[Mapping[str, float], ...]
    tree: Tree
    threshold: Floats  # per node; NaN where its split has none
    probabilities: Floats  # (node, class)
    first_child: Ints
    n_branches: Ints
    n_leaves: int

    @property
    def n_bytes(self) -> int:
        """About how much memory this takes."""
        own = [getattr(self, field.name) for field in fields(self)]
        columns = [getattr(self.tree, field.name) for field in fields(self.tree)]
        arrays = sum(array.nbytes for array in own + columns if isinstance(array, np.ndarray))
        return arrays + 200 * sum(len(codes) for codes in self.codes) + 10_000


def compile_tree(
    tree: Tree, attributes: tuple[Attribute, ...], classes: tuple[str, ...]
) -> CompiledTree:
    """The tree made ready to route rows."""
    threshold = np.full(len(tree), np.nan)
    cut = tree.split == Split.THRESHOLD
    threshold[cut] = tree.value[tree.first_child[cut]]
    codes = tuple(
        codes_of(attribute.values) if attribute.kind == Kind.CATEGORICAL else {}
        for attribute in attributes
    )
    return CompiledTree(
        attributes=attributes,
        classes=classes,
        codes=codes,
        tree=tree,
        threshold=threshold,
        probabilities=tree.probabilities,
        first_child=tree.first_child,
        n_branches=tree.n_branches,
        n_leaves=int(tree.is_leaf.sum()),
    )
