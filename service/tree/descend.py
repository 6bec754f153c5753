"""Descending: rows go down together for as long as each knows the way."""

from dataclasses import dataclass

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.compiled import CompiledTree


@dataclass(frozen=True)
class Cells:
    """Values as they are read on the way down: one attribute after the other, then only nulls."""

    flat: Floats
    n_rows: int

    def starts(self, compiled: CompiledTree) -> Ints:
        """Per node where the values begin that it asks for; a leaf (attribute -1) reads nulls."""
        return compiled.tree.attribute * self.n_rows

    def at(self, places: Ints) -> Floats:
        """The values at places: those of a node begin where they do, one for each row."""
        return self.flat.take(places)


def cells_of(values: Floats) -> Cells:
    """The values (row, attribute) as a tree reads them."""
    n_rows, n_attributes = values.shape
    flat = np.empty((n_attributes + 1, n_rows))
    flat[:-1], flat[-1] = values.T, np.nan
    return Cells(flat.ravel(), n_rows)


def descend(compiled: CompiledTree, cells: Cells) -> Ints:
    """Per row the node down to which it knows the way: a leaf, or one it cannot decide."""
    starts = cells.starts(compiled)
    halts = np.zeros(cells.n_rows, dtype=np.int64)
    rows, nodes = np.arange(cells.n_rows), halts
    while len(rows):
        given = cells.at(starts.take(nodes) + rows)
        children, is_lost = children_at(compiled, nodes, given)
        (decided,) = (~is_lost).nonzero()
        if len(decided) < len(rows):
            halts[rows] = nodes
            rows, children = rows.take(decided), children.take(decided)
        nodes = children
    return halts


def children_at(compiled: CompiledTree, nodes: Ints, given: Floats) -> tuple[Ints, Bools]:
    """Per value the child it leads to from its node, and where the node does not say."""
    children = compiled.first_child.take(nodes)
    if compiled.has_null_branches:
        branches = branches_at(compiled, nodes, given)
        return children + branches, branches < 0
    is_lost = np.isnan(given)
    children += given > compiled.threshold.take(nodes)  # which is false where there is none
    if not compiled.is_plain:
        (coded,) = (compiled.is_coded.take(nodes) & ~is_lost).nonzero()
        codes = given.take(coded).astype(np.int64)
        branches = _branches_of(compiled, nodes.take(coded), codes)
        children[coded] += branches
        is_lost[coded] = branches < 0
    return children, is_lost


def _branches_of(compiled: CompiledTree, nodes: Ints, codes: Ints) -> Ints:
    """Per category the branch it takes at its node, -1 where that leaves it out."""
    starts = compiled.table_start.take(nodes)
    (own,) = (starts < 0).nonzero()  # each category has its own branch
    branches = compiled.table.take(starts + codes, mode="clip") if len(own) < len(nodes) else codes
    branches[own] = codes[own]
    return branches


def branches_at(compiled: CompiledTree, nodes: Ints, given: Floats) -> Ints:
    """Per value the branch it takes at its node, -1 where the node does not say."""
    null = np.isnan(given)
    branch = (given > compiled.threshold.take(nodes)).astype(np.int64)
    (coded,) = (compiled.is_coded.take(nodes) & ~null).nonzero()
    branch[coded] = _branches_of(compiled, nodes.take(coded), given.take(coded).astype(np.int64))
    return np.where(null | (branch < 0), compiled.null_branch.take(nodes), branch)
