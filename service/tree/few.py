"""Few rows are walked in plain Python: one call of numpy takes as long as a whole way down."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from service.tree.compiled import CompiledTree
from service.tree.descend import branches_at

Row: TypeAlias = Sequence[Any]  # raw values by attribute, None is null
Codes: TypeAlias = Mapping[int, Mapping[Any, int | None]]  # by attribute: raw values to categories
# A leaf is its number. Any other node is a tuple: its attribute, the cut, the children below and
# above it, and the child that is null's own. Where categories are asked for there is no cut; below
# is then the child of each category, and above it are the numbers of the categories.
Node: TypeAlias = Any
WEIGHTED = "weighted"  # the usual strategy, by which those who do not know are divided
LOST = -1  # in the place of a leaf: who does not know the way there
NODE_BYTES = 200  # that a node takes which is no leaf


@dataclass(frozen=True)
class Few:
    """A tree for few rows."""

    root: Node
    n_bytes: int  # about how much memory it takes


def make_few(compiled: CompiledTree, codes: Codes) -> Few:
    """The tree as few rows walk it."""
    tree = compiled.tree
    made: list[Node] = list(range(len(tree)))
    inner = np.flatnonzero(~tree.is_leaf)
    for number in inner[::-1].tolist():  # from the last one up, so that nothing recurses
        first, own = int(compiled.first_child[number]), int(compiled.null_branch[number])
        children = made[first : first + int(compiled.n_branches[number])]
        null = children[own] if own >= 0 else None
        made[number] = _inner(compiled, number, children, null, codes)
    n_values = np.array([len(attribute.values) for attribute in compiled.attributes])
    n_ways = int(n_values[tree.attribute[inner]].sum())
    return Few(made[0], NODE_BYTES * len(inner) + 8 * n_ways)


def _inner(
    compiled: CompiledTree, number: int, children: Sequence[Node], null: Node, codes: Codes
) -> Node:
    attribute = int(compiled.tree.attribute[number])
    n_values = len(compiled.attributes[attribute].values)
    if n_values == 0:
        return (attribute, float(compiled.threshold[number]), children[0], children[1], null)
    numbers = np.arange(float(n_values))
    branches = branches_at(compiled, np.full(n_values, number), numbers).tolist()
    ways = tuple(children[branch] if branch >= 0 else None for branch in branches)
    return (attribute, None, ways, codes[attribute], null)


def leaf_of(few: Few, row: Row) -> int:
    """The leaf to which a row knows the way, or LOST."""
    node = few.root
    while node.__class__ is tuple:
        attribute, cut, below, above, null = node
        value = row[attribute]
        if value is None:
            node = null
        elif cut is None:
            node = below[above[value]]
        else:
            node = above if value > cut else below
    return LOST if node is None else node
