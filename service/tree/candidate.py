"""A candidate is a split under trial: which way each value would go, and what it would gain."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.attribute import Kind
from service.tree.criterion import CRITERIA, TIE, Criterion, decrease, entropy
from service.tree.dataset import Dataset
from service.tree.nodes import Split
from service.tree.params import Params
from service.tree.parts import Part, View
from service.tree.rpart_order import Origin, is_rpart, origin_of

ROUNDING = 1e-9  # weights that ought to be equal differ by less


@dataclass(frozen=True)
class Candidate:
    """A split of one attribute and its score."""

    attribute: int
    split: Split
    sizes: Floats  # known weight down each branch; the null branch, where there is one, is last
    gain: float  # decrease of impurity, times the part of the weight that knows the attribute
    split_info: float  # entropy of the branch sizes, null being one more branch
    threshold: float = np.nan
    table: Ints | None = None  # per category its branch, -1 as if it were null; None: its number
    has_null_branch: bool = False
    filled: float = np.nan  # what stands for null in the rows of this node
    improvement: float = np.nan  # what rpart chooses by


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
    columns = data.values.T if is_whole else (column[rows] for column in data.values.T)
    has_null = [bool(np.isnan(column).any()) for column in columns]
    return Context(data, params, rows, np.array(has_null), _tie(data), origin)


def _tie(data: Dataset) -> float:
    if not data.is_regression or data.weights.sum() <= 0:
        return TIE
    apart = data.target - np.average(data.target, weights=data.weights)
    return TIE * float(np.average(apart * apart, weights=data.weights))


def branches_of(split: Split, threshold: float, table: Ints | None, values: Floats) -> Ints:
    """Per known value the branch it takes."""
    if split == Split.THRESHOLD:
        return (values > threshold).astype(np.int64)
    codes = values.astype(np.int64)
    return codes if table is None else table[codes]


def scored(
    context: Context, attribute: int, view: View, split: Split, branches: Floats,
    threshold: float = np.nan, table: Ints | None = None,
) -> Candidate | None:  # fmt: skip
    """The candidate with its score, or None where fewer than two branches hold enough weight."""
    criterion = context.criterion
    null_weight = float(criterion.weight(view.null))
    own_branch = context.has_null_branch(attribute)
    if own_branch:
        branches = np.vstack([branches, view.null])
    sizes = criterion.weight(branches)
    if not enough(sizes, context.params.min_weight):
        return None
    gain = float(decrease(criterion, branches))
    if not own_branch:
        known = float(sizes.sum())
        gain *= known / (known + null_weight)
    info = float(entropy(sizes if own_branch else np.append(sizes, null_weight)))
    return Candidate(
        attribute, split, sizes, gain, info, threshold, table, own_branch, view.filled
    )  # fmt: skip


def enough(sizes: Floats, min_weight: float) -> bool:
    """Whether at least two branches hold weight, and as much as is asked for."""
    return int(np.count_nonzero((sizes > 0) & (sizes >= min_weight - ROUNDING))) >= 2


def cut_value(context: Context, attribute: int, low: float, high: float) -> float:
    """Where to cut between two neighbouring values: midway, or at a value that rows have."""
    if context.data.attributes[attribute].kind == Kind.ORDINAL:
        return low  # between two ranks there is nothing
    middle = midpoint(low, high)
    if context.params.cut == "midpoint":
        return middle
    if context.params.cut == "below_midpoint":
        # a value that is the midpoint itself goes up; a number between the two is below it
        return float(np.nextafter(middle, -np.inf)) if middle > low else low
    numbers = context.numbers[attribute]
    return float(numbers[np.searchsorted(numbers, middle, side="right") - 1])


def midpoint(low: float, high: float) -> float:
    """A number m with low <= m < high, halfway where floating point has one there."""
    middle = (low + high) / 2
    if not np.isfinite(middle):
        middle = low / 2 + high / 2
    return middle if low <= middle < high else low
