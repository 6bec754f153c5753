"""A compiled tree is the tree as the router walks it, with what turns raw values into numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TypeAlias

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.attribute import Attribute, Kind
from service.tree.encode import codes_of
from service.tree.mixture import Mixture, make_mixture
from service.tree.nodes import Operator, Split, Tree
from service.tree.params import Params


@dataclass(frozen=True)
class CompiledTree:
    """Arrays by node, and per attribute the numbers of its categories."""

    attributes: tuple[Attribute, ...]
    classes: tuple[str, ...]
    codes: tuple[Mapping[str, float], ...]
    tree: Tree
    threshold: Floats  # per node; NaN where its split has none
    table_start: Ints  # per node: where the branches of its categories begin; -1: no table ...
    table: Ints  # ... in here, by number of the category; -1 as if it were null
    null_branch: Ints  # per node the branch that is null's own, -1 where there is none
    largest_branch: Ints  # per node the branch with the largest share, the first of equals
    probabilities: Floats  # (node, class); in regression (node, 1): the mean
    first_child: Ints
    n_branches: Ints
    n_leaves: int
    mixture: Mixture | None  # what nodes answer to rows that know nothing of what is below

    @cached_property
    def has_null_branches(self) -> bool:
        """Whether null has a branch of its own anywhere."""
        return bool((self.null_branch >= 0).any())

    @cached_property
    def is_coded(self) -> Bools:
        """Per node whether it asks for a category."""
        marks: Bools = ~self.tree.is_leaf & (self.tree.split != Split.THRESHOLD)
        return marks

    @cached_property
    def is_plain(self) -> bool:
        """Whether all splits are thresholds and null has no branch of its own."""
        return not (self.is_coded.any() or self.has_null_branches)

    @cached_property
    def used(self) -> Ints:
        """The attributes that the tree asks for."""
        return np.unique(self.tree.attribute[~self.tree.is_leaf])

    @cached_property
    def is_forgetful(self) -> bool:
        """Whether a split leaves a category out, which is then undecided like null."""
        return bool((self.table < 0).any())

    @property
    def n_bytes(self) -> int:
        """About how much memory this takes."""
        own = [getattr(self, field.name) for field in fields(self)]
        if self.mixture is not None:
            own += [getattr(self.mixture, field.name) for field in fields(self.mixture)]
        columns = [getattr(self.tree, field.name) for field in fields(self.tree)]
        arrays = sum(array.nbytes for array in own + columns if isinstance(array, np.ndarray))
        return arrays + 200 * sum(len(codes) for codes in self.codes) + 10_000


def compile_tree(
    tree: Tree,
    attributes: tuple[Attribute, ...],
    classes: tuple[str, ...],
    params: Params | None = None,
) -> CompiledTree:
    """The tree made ready to route rows; leaves are estimated as the params ask."""
    params = params or Params()
    threshold = np.full(len(tree), np.nan)
    cut = tree.split == Split.THRESHOLD
    threshold[cut] = tree.value[tree.first_child[cut]]
    codes = tuple(
        {} if attribute.kind == Kind.NUMERIC else codes_of(attribute.values)
        for attribute in attributes
    )
    table_start, table = _branch_tables(tree, attributes)
    null_branch, largest_branch = _special_branches(tree)
    answers = ESTIMATES[params.leaf_estimate](tree, params)
    return CompiledTree(
        attributes=attributes,
        classes=classes,
        codes=codes,
        tree=tree,
        threshold=threshold,
        table_start=table_start,
        table=table,
        null_branch=null_branch,
        largest_branch=largest_branch,
        probabilities=answers,
        first_child=tree.first_child,
        n_branches=tree.n_branches,
        n_leaves=int((tree.is_leaf & tree.is_reached).sum()),
        mixture=make_mixture(tree, answers, len(attributes)),
    )


def _branch_tables(tree: Tree, attributes: tuple[Attribute, ...]) -> tuple[Ints, Ints]:
    """For each split into sets the branch of every category."""
    starts = np.full(len(tree), -1, dtype=np.int64)
    nodes = np.flatnonzero(np.isin(tree.split, [Split.SUBSET, Split.ONE_VS_REST]))
    n_values = np.array([len(attribute.values) for attribute in attributes], dtype=np.int64)
    sizes = n_values[tree.attribute[nodes]]
    starts[nodes] = np.cumsum(sizes) - sizes
    table = np.full(int(sizes.sum()), -1, dtype=np.int64)
    equal = np.flatnonzero(tree.operator == Operator.EQUAL)
    among = np.repeat(np.arange(len(tree)), np.diff(tree.set_start))
    codes = np.concatenate([tree.value[equal].astype(np.int64), tree.set_values])
    children = np.concatenate([equal, among])
    at = starts[tree.parent[children]]
    table[(at + codes)[at >= 0]] = tree.branch[children[at >= 0]]
    return starts, table


def _special_branches(tree: Tree) -> tuple[Ints, Ints]:
    null_branch = np.full(len(tree), -1, dtype=np.int64)
    own = np.flatnonzero(tree.operator == Operator.NULL)
    null_branch[tree.parent[own]] = tree.branch[own]
    null_branch[tree.is_leaf] = -1  # also of what was cut back to a leaf
    largest = np.zeros(len(tree), dtype=np.int64)
    most = np.zeros(len(tree))
    np.maximum.at(most, tree.parent[1:], tree.share[1:])
    # from the last to the first, which is then the one that stays
    children = np.flatnonzero(tree.share[1:] == most[tree.parent[1:]])[::-1] + 1
    largest[tree.parent[children]] = tree.branch[children]
    largest[tree.is_leaf] = 0
    return null_branch, largest


Estimate: TypeAlias = Callable[[Tree, Params], Floats]


def frequency(tree: Tree, _params: Params) -> Floats:
    """What a node answers: its distribution made to sum to one, or its mean."""
    return tree.mean[:, None] if tree.is_regression else tree.probabilities


def laplace(tree: Tree, _params: Params) -> Floats:
    """What a node answers if each class had one more row."""
    more = tree.distribution + 1.0
    answered: Floats = more / more.sum(axis=1, keepdims=True)
    return answered


def m_estimate(tree: Tree, params: Params) -> Floats:
    """What a node answers if so much more weight of the root's distribution had arrived there."""
    prior = tree.distribution[0] / tree.distribution[0].sum()
    more = tree.distribution + params.estimate_weight * prior
    answered: Floats = more / more.sum(axis=1, keepdims=True)
    return answered


ESTIMATES: dict[str, Estimate] = {
    "frequency": frequency,
    "laplace": laplace,
    "m_estimate": m_estimate,
}
