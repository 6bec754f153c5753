"""From sprouts to the frozen table of nodes."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.context import Context
from service.tree.criterion import CRITERIA
from service.tree.nodes import Operator, Split, Tree
from tests.readable.candidate import Candidate
from tests.readable.sprout import Sprout, breadth_first, shares_of

NO_SET: Ints = np.empty(0, dtype=np.int64)


def freeze(context: Context, root: Sprout) -> Tree:
    """The tree of a sprout and all that is below it."""
    order = breadth_first(root)
    edges = [_Edge(-1, 0, Operator.NONE, np.nan, NO_SET, 1.0), *_edges(order)]
    answers = _answers(context, order, [edge.parent for edge in edges])
    sets = [edge.categories for edge in edges]
    candidates = [sprout.candidate for sprout in order]
    return Tree(
        parent=_ints(edge.parent for edge in edges),
        depth=_ints(sprout.depth - root.depth for sprout in order),
        branch=_ints(edge.branch for edge in edges),
        operator=_ints(edge.operator for edge in edges),
        value=np.array([edge.value for edge in edges]),
        set_start=_ints(accumulate(map(len, sets), initial=0)),
        set_values=np.concatenate(sets),
        share=np.array([edge.share for edge in edges]),
        weight=np.array([sprout.weight for sprout in order]),
        distribution=np.array([each.distribution for each in answers]),
        mean=np.array([each.mean for each in answers]),
        variance=np.array([each.variance for each in answers]),
        impurity=_impurity(context, answers),
        attribute=_ints(-1 if found is None else found.attribute for found in candidates),
        split=_ints(Split.LEAF if found is None else found.split for found in candidates),
        gain=np.array([np.nan if found is None else found.gain for found in candidates]),
        alpha_cut=np.full(len(order), np.nan),
    )


@dataclass(frozen=True)
class _Edge:
    """How a node is reached from its parent."""

    parent: int
    branch: int
    operator: Operator
    value: float
    categories: Ints
    share: float


def _edges(order: list[Sprout]) -> list[_Edge]:
    found = []
    for number, sprout in enumerate(order):
        if sprout.candidate is None:
            continue
        shares = shares_of(sprout.sizes)
        for branch in range(len(sprout.children)):
            operator, value, categories = _condition(sprout.candidate, branch)
            edge = _Edge(number, branch, operator, value, categories, float(shares[branch]))
            found.append(edge)
    return found


def _condition(candidate: Candidate, branch: int) -> tuple[Operator, float, Ints]:
    if candidate.has_null_branch and branch == len(candidate.sizes) - 1:
        return Operator.NULL, np.nan, NO_SET
    if candidate.split == Split.THRESHOLD:
        return (Operator.AT_MOST, Operator.ABOVE)[branch], candidate.threshold, NO_SET
    if candidate.table is None:
        return Operator.EQUAL, float(branch), NO_SET
    categories = np.flatnonzero(candidate.table == branch)
    if len(categories) == 1:
        return Operator.EQUAL, float(categories[0]), NO_SET
    return Operator.AMONG, np.nan, categories


def _answers(context: Context, order: list[Sprout], parents: list[int]) -> list[Sprout]:
    """Per node whose distribution it answers with: its own, or its parent's where it is empty."""
    # to J48 a branch that hardly weighs anything is empty
    lightest = 1e-6 if context.params.rules == "j48" else 5e-324
    return [
        _as_parent(context, order[parent]) if sprout.weight < lightest and parent >= 0 else sprout
        for sprout, parent in zip(order, parents, strict=True)
    ]


def _as_parent(context: Context, parent: Sprout) -> Sprout:
    if context.params.rules != "r8":
        return parent
    # Release 8 is sure of the parent's class there
    sure = np.zeros_like(parent.distribution)
    sure[np.argmax(parent.distribution)] = parent.weight
    return replace(parent, distribution=sure)


def _impurity(context: Context, answers: list[Sprout]) -> Floats:
    if context.data.is_regression:
        return np.array([each.variance for each in answers])
    distribution = np.array([each.distribution for each in answers])
    return CRITERIA[context.params.criterion].impurity(distribution)


def _ints(numbers: Iterable[int]) -> Ints:
    return np.fromiter(numbers, dtype=np.int64)
