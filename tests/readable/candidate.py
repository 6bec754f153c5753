"""A candidate is a split under trial: which way each value would go, and what it would gain."""

from dataclasses import dataclass

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.attribute import Kind
from service.tree.context import Context
from service.tree.criterion import decrease, entropy
from service.tree.nodes import Split
from tests.readable.parts import View

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
