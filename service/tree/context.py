"""What all nodes of one tree have in common while it is grown."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.criterion import CRITERIA, TIE, Criterion
from service.tree.dataset import Dataset
from service.tree.params import Params
from service.tree.parts import Part
from service.tree.rpart_order import Origin, is_rpart, origin_of


@dataclass(frozen=True)
class Context:
    """What all nodes of one tree have in common while it is grown."""

    data: Dataset
    params: Params
    rows: Ints  # those the tree is grown from
    has_null: Bools  # per attribute
    tie: float = TIE  # gains closer than this are equal; in regression they have a unit
    origin: Origin | None = None  # where the rules are rpart's

    @property
    def n_rows(self) -> int:
        """How many rows the tree is grown from."""
        return len(self.rows)

    @property
    def row_weight(self) -> float:
        """The weight of an average row."""
        return float(self.data.weights[self.rows].sum()) / max(self.n_rows, 1)

    @cached_property
    def numbers(self) -> tuple[Floats, ...]:
        """Per attribute the values that the rows have, in order."""
        columns = (column[self.rows] for column in self.data.values.T)
        return tuple(np.unique(column[~np.isnan(column)]) for column in columns)

    @property
    def criterion(self) -> Criterion:
        """The one the params name."""
        return CRITERIA[self.params.criterion]

    def has_null_branch(self, attribute: int) -> bool:
        """Whether null is a branch of its own in splits on this attribute."""
        return self.params.missing == "own_branch" and bool(self.has_null[attribute])


def make_context(data: Dataset, params: Params, part: Part | None = None) -> Context:
    """The context of growing a tree from these data, or from a part of them: a fold's rows."""
    rows = np.flatnonzero(data.weights > 0) if part is None else part.rows
    origin = origin_of(data, is_fold=part is not None) if is_rpart(params) else None
    is_whole = len(rows) == len(data.weights)
    if is_whole:
        least = np.min(data.values, axis=0, initial=0.0)  # null where one of them is
    else:  # column by column: all at once would be as large as the data
        least = np.array([np.min(column[rows], initial=0.0) for column in data.values.T])
    return Context(data, params, rows, np.isnan(least), _tie(data), origin)


def _tie(data: Dataset) -> float:
    if not data.is_regression or data.weights.sum() <= 0:
        return TIE
    apart = data.target - np.average(data.target, weights=data.weights)
    return TIE * float(np.average(apart * apart, weights=data.weights))
