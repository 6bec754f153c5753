"""A compiled tree is the tree as the router walks it, with what turns raw values into numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np

from service.tree.arrays import Floats, Ints
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
    tables = [np.empty(0, dtype=np.int64)]
    at = 0
    for node in np.flatnonzero(np.isin(tree.split, [Split.SUBSET, Split.ONE_VS_REST])).tolist():
        n_values = len(attributes[int(tree.attribute[node])].values)
        table = np.full(n_values, -1, dtype=np.int64)
        first = int(tree.first_child[node])
        for child in range(first, first + int(tree.n_branches[node])):
            if tree.operator[child] == Operator.EQUAL:
                table[int(tree.value[child])] = tree.branch[child]
            table[tree.categories(child)] = tree.branch[child]
        starts[node], at = at, at + len(table)
        tables.append(table)
    return starts, np.concatenate(tables)


def _special_branches(tree: Tree) -> tuple[Ints, Ints]:
    null_branch = np.full(len(tree), -1, dtype=np.int64)
    own = np.flatnonzero(tree.operator == Operator.NULL)
    null_branch[tree.parent[own]] = tree.branch[own]
    largest = np.zeros(len(tree), dtype=np.int64)
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        first = tree.first_child[node]
        largest[node] = np.argmax(tree.share[first : first + tree.n_branches[node]])
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
