"""Reach: the leaves that a row with nulls comes to, looked up by its values instead of walked to.

Each known value leaves some leaves over, whatever the others are; what all of them leave over is
reached (QuickScorer's bit vectors, Lucchese et al. 2015). A leaf's weight is the product of those
shares on the way to it whose attributes are unknown. What is told is what `route` leads to, but for
the rounding of sums and products in another order.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from service.tree.arrays import Bools, Floats, Ints
from service.tree.attribute import Kind
from service.tree.compiled import CompiledTree
from service.tree.descend import branches_at

GROUP = 3  # attributes whose shares are multiplied ahead, for every pattern of unknown ones
PATTERNS = 1 << GROUP
MOST_ATTRIBUTES = 62  # are the bits of a word


class Column(NamedTuple):
    """What each value of an attribute leaves over, as a line of bits; the last is that of null."""

    attribute: int
    cuts: list[float]  # of numbers, which have a line below each cut and one more
    cut: Floats  # the same
    lines: bytes  # of categories there is one each
    table: npt.NDArray[np.uint64]  # the same lines, in words


@dataclass(frozen=True)
class Reach:
    """The columns of a tree, and its leaves from left to right."""

    compiled: CompiledTree  # without its mixture: all rows go to the leaves
    leaves: Ints
    columns: tuple[Column, ...]
    n_line: int  # bytes of a line
    shares: tuple[Floats, ...]  # per group of columns, pattern by pattern for each leaf
    asked: Ints  # per leaf the columns that are asked for on the way, as bits
    answers: tuple[Floats, ...]  # per class, in regression once, those of all leaves
    variance: Floats  # per leaf

    @property
    def n_bytes(self) -> int:
        """About how much memory this takes."""
        lines = sum(len(column.lines) + 40 * len(column.cuts) for column in self.columns)
        arrays = (self.leaves, self.asked, self.variance, *self.answers, *self.shares)
        return lines + sum(each.nbytes for each in arrays)


def make_reach(compiled: CompiledTree) -> Reach | None:
    """The reach of a tree; None where that would take more memory than the tree itself.

    Nor is there one where null has branches of its own, or where a split leaves categories out.
    """
    tree = compiled.tree
    used = np.unique(tree.attribute[tree.is_reached & ~tree.is_leaf])
    if compiled.mixture is None or compiled.is_forgetful or not 0 < len(used) <= MOST_ATTRIBUTES:
        return None
    if _expected_bytes(compiled, len(used)) > compiled.n_bytes or not _leads_on(compiled):
        return None
    starts, ends, leaves = _spans(compiled)
    shares, asked = _on_the_way(compiled, used, leaves)
    columns = [
        _column(compiled, attribute, starts, ends, shares[:, at] > 0)
        for at, attribute in enumerate(used.tolist())
    ]
    groups = [_patterns(shares[:, at : at + GROUP]) for at in range(0, len(used), GROUP)]
    return Reach(
        compiled=replace(compiled, mixture=None),
        leaves=leaves,
        columns=tuple(columns),
        n_line=_n_line(len(leaves)),
        shares=tuple(groups),
        asked=asked @ (1 << np.arange(len(used))),
        answers=tuple(np.ascontiguousarray(compiled.probabilities[leaves].T)),
        variance=compiled.tree.variance[leaves],
    )


def _leads_on(compiled: CompiledTree) -> bool:
    """Whether at every node there is a branch for those who do not know."""
    tree = compiled.tree
    inner = np.flatnonzero(tree.is_reached & ~tree.is_leaf)
    largest = tree.share[compiled.first_child[inner] + compiled.largest_branch[inner]]
    return bool((largest > 0).all())


def _n_line(n_leaves: int) -> int:
    """The bytes of a line, which are whole words."""
    return -(-n_leaves // 64) * 8


def _expected_bytes(compiled: CompiledTree, n_columns: int) -> int:
    n_leaves = compiled.n_leaves
    n_values = sum(len(attribute.values) for attribute in compiled.attributes)
    n_lines = len(compiled.tree) - n_leaves + n_values + 2 * n_columns
    return n_lines * (n_leaves // 8 + 40) + 8 * n_leaves * PATTERNS * -(-n_columns // GROUP)


def _spans(compiled: CompiledTree) -> tuple[Ints, Ints, Ints]:
    """Per node where the leaves below it begin and end, and the leaves from left to right."""
    tree = compiled.tree
    is_leaf = tree.is_leaf & tree.is_reached
    counts = is_leaf.astype(np.int64)
    for level in reversed(tree.levels[1:]):
        np.add.at(counts, tree.parent[level], counts[level] * tree.is_reached[level])
    starts = np.zeros(len(tree), dtype=np.int64)
    for level in tree.levels[1:]:
        parents = tree.parent[level]
        before = counts[level].cumsum() - counts[level]
        siblings = compiled.first_child[parents] - level.start
        starts[level] = starts[parents] + before - before[siblings]
    leaves = np.flatnonzero(is_leaf)
    return starts, starts + counts, leaves[starts[leaves].argsort()]


def _on_the_way(compiled: CompiledTree, used: Ints, leaves: Ints) -> tuple[Floats, Bools]:
    """Per leaf and column the product of its shares on the way, and whether it is asked for."""
    tree = compiled.tree
    shares = np.ones((len(tree), len(used)))
    asked = np.zeros((len(tree), len(used)), dtype=bool)
    for level in tree.levels[1:]:
        nodes = level.start + np.flatnonzero(tree.is_reached[level])
        parents = tree.parent[nodes]
        at = used.searchsorted(tree.attribute[parents])
        shares[nodes], asked[nodes] = shares[parents], asked[parents]
        shares[nodes, at] *= tree.share[nodes]
        asked[nodes, at] = True
    return shares[leaves], asked[leaves]


def _column(
    compiled: CompiledTree, attribute: int, starts: Ints, ends: Ints, alive: Bools
) -> Column:
    nodes = np.flatnonzero((compiled.tree.attribute == attribute) & compiled.tree.is_reached)
    of = compiled.attributes[attribute]
    cuts = np.empty(0)
    values = np.arange(float(len(of.values)))
    if of.kind == Kind.NUMERIC:
        cuts = np.unique(compiled.threshold[nodes])
        values = np.append(cuts, np.inf)  # each stands for those down to the cut before it
    kept = np.ones((len(values) + 1, len(alive)), dtype=bool)
    for node in nodes.tolist():
        branches = branches_at(compiled, np.full(len(values), node), values)
        first = int(compiled.first_child[node])
        for branch in range(int(compiled.n_branches[node])):
            below = slice(starts[first + branch], ends[first + branch])
            kept[:-1][branches != branch, below] = False
    kept[-1] = alive
    packed = np.zeros((len(kept), _n_line(len(alive))), dtype=np.uint8)
    packed[:, : -(-len(alive) // 8)] = np.packbits(kept, axis=1, bitorder="little")
    lines = packed.tobytes()
    table = np.frombuffer(lines, dtype=np.uint64).reshape(len(kept), -1)
    return Column(attribute, cuts.tolist(), cuts, lines, table)


def _patterns(shares: Floats) -> Floats:
    """The products of these shares (leaf, column), for every pattern of unknown columns."""
    made = np.ones((PATTERNS, len(shares)))
    for pattern in range(PATTERNS):
        for at in range(shares.shape[1]):
            if pattern >> at & 1:
                made[pattern] *= shares[:, at]
    return made.ravel()
