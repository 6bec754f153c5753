"""A sprout is a node while the tree is being grown and pruned; frozen at the end into a Tree."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from service.tree.arrays import Floats
from service.tree.dataset import Dataset
from service.tree.parts import Part
from tests.readable.candidate import Candidate, branches_of
from tests.readable.parts import Sent, send_fractional, send_known, send_own_branch, totals


@dataclass(eq=False)
class Sprout:
    """A node with its rows. `sizes` is the known weight that went down each branch."""

    part: Part
    distribution: Floats  # no entries in regression
    weight: float
    mean: float
    variance: float
    depth: int
    candidate: Candidate | None = None
    sizes: Floats = field(default_factory=lambda: np.empty(0))
    children: list["Sprout"] = field(default_factory=list)
    validation: Part | None = None
    largest: float = 0.0  # the largest improvement on the way here, which rpart looks at

    @property
    def errors(self) -> float:
        """The training weight that a leaf here would get wrong."""
        return float(self.weight - self.distribution.max(initial=0.0))

    def make_leaf(self) -> None:
        """Cuts off all that is below."""
        self.candidate, self.children, self.sizes = None, [], np.empty(0)


def make_sprout(data: Dataset, part: Part, depth: int) -> Sprout:
    """A leaf that holds these rows."""
    target = data.target[part.rows]
    weight = float(part.weights.sum())
    if not data.is_regression:
        distribution = totals(target, part.weights, len(data.classes))
        return Sprout(part, distribution, weight, np.nan, np.nan, depth)
    mean = float(part.weights @ target) / weight if weight > 0 else np.nan
    spread = float(part.weights @ (target - mean) ** 2) / weight if weight > 0 else np.nan
    return Sprout(part, np.empty(0), weight, mean, spread, depth)


def breadth_first(root: Sprout) -> list[Sprout]:
    """All sprouts, parents before children, siblings together."""
    order = [root]
    for sprout in order:
        order.extend(sprout.children)
    return order


def bottom_up(root: Sprout) -> Iterator[Sprout]:
    """All sprouts, children before parents."""
    return reversed(breadth_first(root))


def divide(
    data: Dataset, part: Part, candidate: Candidate, missing: str, least_share: float
) -> tuple[list[Part], Floats]:
    """The rows down each branch, and the known weight that went there.

    The shares are those of these rows, not of the rows the candidate was found on.
    """
    values = data.values[part.rows, candidate.attribute]
    null = np.isnan(values)
    if null.any() and not np.isnan(candidate.filled):
        values, null = (
            np.where(null, candidate.filled, values),
            np.zeros(len(null), dtype=bool),
        )
    n_branches = len(candidate.sizes)
    branches = np.full(len(values), -1, dtype=np.int64)
    branches[~null] = branches_of(
        candidate.split, candidate.threshold, candidate.table, values[~null]
    )
    null |= branches < 0
    sent = Sent(branches, null)
    sizes = np.bincount(branches[~null], part.weights[~null], n_branches).astype(np.float64)
    if candidate.has_null_branch:
        sizes[-1] += part.weights[null].sum()
        return send_own_branch(part, sent, sizes), sizes
    if missing == "stop":
        return send_known(part, sent, sizes), sizes
    shares = shares_of(sizes)
    return send_fractional(part, sent, np.where(shares > least_share, shares, 0.0)), sizes


def shares_of(sizes: Floats) -> Floats:
    """Per branch its part of the known weight; equal parts where nothing is known."""
    total = sizes.sum()
    return sizes / total if total > 0 else np.full(len(sizes), 1.0 / max(len(sizes), 1))


def copied(root: Sprout) -> Sprout:
    """The same sprouts once more, so that one of the two can be pruned."""
    top = replace(root)
    stack = [top]
    while stack:
        sprout = stack.pop()
        sprout.children = [replace(child) for child in sprout.children]
        stack.extend(sprout.children)
    return top
