"""What each node would answer to a row that knows nothing of what is asked below it.

Made once for a tree, from the bottom up, so that a row with many nulls need not visit every leaf.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from service.tree.arrays import Bools, Floats, Ints
from service.tree.nodes import Operator, Tree

MANY = 100  # from so many rows on numpy is faster column by column
MOST_MARKS = 1 << 26  # nodes x attributes that are kept in mind; beyond it rows go to the leaves


@dataclass(frozen=True)
class Mixture:
    """Per node the weighted mean over the leaves below it, and how far they differ."""

    asks: Bools  # (node, attribute): what a row of nulls is asked on the way down from here
    answers: Floats  # (node, class), or (node, 1) in regression
    lowest: Floats
    highest: Floats
    variance: Floats  # in regression: within the leaves, and between them
    n_leaves: Ints
    pooled: Floats  # the answers of the leaves, times their training weights
    pooled_weight: Floats  # those weights
    pooled_spread: Floats  # in regression: the variance of the pooled leaves, times their weight

    @cached_property
    def words(self) -> tuple[Ints, ...]:
        """What is asked below each node, as the bits of words."""
        return words_of(self.asks)


def words_of(marks: Bools) -> tuple[Ints, ...]:
    """Marks (thing, attribute) as the bits of words, 64 attributes to each."""
    n_things, n_attributes = marks.shape
    padded = np.zeros((n_things, -(-n_attributes // 64) * 8), dtype=np.uint8)
    packed = np.packbits(marks, axis=1, bitorder="little")
    padded[:, : packed.shape[1]] = packed
    return tuple(np.ascontiguousarray(padded.view(np.int64).T))


def marks_of(words: Sequence[Ints], n_attributes: int) -> Bools:
    """The marks that these words stand for."""
    packed = np.column_stack(words).view(np.uint8)
    return np.unpackbits(packed, axis=1, count=n_attributes, bitorder="little").view(np.bool_)


def make_mixture(tree: Tree, answers: Floats, n_attributes: int) -> Mixture | None:
    """The mixture of a tree whose nodes answer so; None where null has branches of its own."""
    if (tree.operator == Operator.NULL).any() or len(tree) * n_attributes > MOST_MARKS:
        return None
    made = Mixture(
        asks=_own_marks(tree, n_attributes),
        answers=np.where(tree.is_leaf[:, None], answers, 0.0),
        lowest=np.where(tree.is_leaf[:, None], answers, np.inf),
        highest=np.where(tree.is_leaf[:, None], answers, -np.inf),
        variance=np.where(tree.is_leaf, tree.variance, 0.0),
        n_leaves=tree.is_leaf.astype(np.int64),
        pooled=np.where(tree.is_leaf, tree.weight, 0.0)[:, None] * answers,
        pooled_weight=np.where(tree.is_leaf, tree.weight, 0.0),
        pooled_spread=np.where(tree.is_leaf, tree.weight * tree.variance, 0.0),
    )
    for children in _upwards(tree):
        _add_up(tree, made, children)
    return made


def _own_marks(tree: Tree, n_attributes: int) -> Bools:
    marks = np.zeros((len(tree), n_attributes), dtype=bool)
    inner = np.flatnonzero(~tree.is_leaf)
    marks[inner, tree.attribute[inner]] = True
    return marks


def _upwards(tree: Tree) -> Iterator[Ints]:
    """Level by level from the deepest, the nodes that a null comes to from their parents."""
    counted = (tree.share > 0) & ~tree.is_leaf[tree.parent]
    for level in reversed(tree.levels[1:]):
        yield level.start + np.flatnonzero(counted[level])


def _add_up(tree: Tree, made: Mixture, children: Ints) -> None:
    parents, shares = tree.parent[children], tree.share[children]
    asks = made.asks.view(np.uint8)
    _at(np.add, made.answers, parents, shares[:, None] * made.answers[children])
    _at(np.minimum, made.lowest, parents, made.lowest[children])
    _at(np.maximum, made.highest, parents, made.highest[children])
    _at(np.maximum, asks, parents, asks[children])
    _at(np.add, made.pooled, parents, made.pooled[children])
    np.add.at(made.n_leaves, parents, made.n_leaves[children])
    np.add.at(made.pooled_weight, parents, made.pooled_weight[children])
    if tree.is_regression:
        apart = made.answers[children, 0] - made.answers[parents, 0]
        np.add.at(made.variance, parents, shares * (made.variance[children] + apart * apart))
        pooled = [_pooled(made, nodes) for nodes in (children, parents)]
        apart = pooled[0] - pooled[1]
        more = made.pooled_spread[children] + made.pooled_weight[children] * apart * apart
        np.add.at(made.pooled_spread, parents, more)


def _at(ufunc: np.ufunc, into: npt.NDArray[Any], parents: Ints, more: npt.NDArray[Any]) -> None:
    """Brings more into the rows of the parents."""
    if len(parents) < MANY:
        ufunc.at(into, parents, more)
        return
    for column in range(into.shape[1]):
        ufunc.at(into[:, column], parents, more[:, column])


def _pooled(made: Mixture, nodes: Ints) -> Floats:
    weight = made.pooled_weight[nodes]
    return np.where(weight > 0, made.pooled[nodes, 0] / np.where(weight > 0, weight, 1.0), 0.0)


def pooled_answers(made: Mixture) -> Floats:
    """Per node the answer of the leaves below it, pooled by their training weights."""
    weight = made.pooled_weight[:, None]
    return np.where(weight > 0, made.pooled / np.where(weight > 0, weight, 1.0), made.answers)
