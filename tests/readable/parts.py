"""The rows at a node, what they know of an attribute, and where they go: the ways with nulls."""

from dataclasses import dataclass

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.attribute import Kind
from service.tree.dataset import Dataset
from service.tree.parts import Part


@dataclass(frozen=True)
class View:
    """What the rows of a node know of one attribute, and the statistics of those that do not.

    In regression the target is taken about the node's mean, so that squares stay small.
    """

    values: Floats
    target: Ints | Floats
    weights: Floats
    null: Floats  # statistics of the rows that do not know
    n_classes: int
    filled: float = np.nan  # what stands for null here; NaN where nothing does


def totals(target: Ints | Floats, weights: Floats, n_classes: int) -> Floats:
    """The statistics of all rows together."""
    if n_classes == 0:
        moments = [weights, weights * target, weights * target * target]
        return np.array([moment.sum() for moment in moments])
    return np.bincount(target.astype(np.int64), weights, n_classes).astype(np.float64)


def view(data: Dataset, part: Part, target: Ints | Floats, attribute: int, missing: str) -> View:
    """The part as an attribute shows it; `target` is that of its rows."""
    n_classes = len(data.classes)
    values = data.values[part.rows, attribute]
    null = np.isnan(values)
    nothing = np.zeros(n_classes or 3)
    if not null.any():
        return View(values, target, part.weights, nothing, n_classes)
    known = ~null
    if missing == "majority" and known.any():
        common = most_common(data, attribute, values[known], part.weights[known])
        filled = np.where(null, common, values)
        return View(filled, target, part.weights, nothing, n_classes, common)
    unknown = totals(target[null], part.weights[null], n_classes)
    return View(values[known], target[known], part.weights[known], unknown, n_classes)


def most_common(data: Dataset, attribute: int, values: Floats, weights: Floats) -> float:
    """The category with most weight, the first of equals; of numbers the weighted median."""
    if data.attributes[attribute].kind == Kind.CATEGORICAL:
        return float(np.argmax(np.bincount(values.astype(np.int64), weights)))
    order = np.argsort(values, kind="stable")
    passed = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(passed, passed[-1] / 2)])


@dataclass(frozen=True)
class Sent:
    """Which branch each row of a part takes; a row that does not know takes none of them."""

    branches: Ints
    null: Bools


def send_fractional(part: Part, sent: Sent, shares: Floats) -> list[Part]:
    """The rows down each branch; one that does not know goes down all, by their shares."""
    below = send_known(part, sent, shares)
    if not sent.null.any():
        return below
    rows, weights = part.rows[sent.null], part.weights[sent.null]
    return [
        _joined(known, rows, weights * share) if share > 0 else known
        for known, share in zip(below, shares.tolist(), strict=True)
    ]


def send_known(part: Part, sent: Sent, shares: Floats) -> list[Part]:
    """The rows down each branch; one that does not know stays behind."""
    known = np.flatnonzero(~sent.null)
    branches = sent.branches[known]
    order = known[np.argsort(branches, kind="stable")]
    ends = np.cumsum(np.bincount(branches, minlength=len(shares)))
    return [
        Part(part.rows[order[start:end]], part.weights[order[start:end]])
        for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)
    ]


def send_own_branch(part: Part, sent: Sent, shares: Floats) -> list[Part]:
    """The rows down each branch; those that do not know take the last one."""
    branches = np.where(sent.null, len(shares) - 1, sent.branches)
    return send_known(part, Sent(branches, np.zeros(len(branches), dtype=bool)), shares)


def _joined(known: Part, rows: Ints, weights: Floats) -> Part:
    kept = weights > 0  # a weight can be divided until floating point has no smaller one
    joined = np.concatenate([known.rows, rows[kept]])
    order = np.argsort(joined, kind="stable")
    return Part(joined[order], np.concatenate([known.weights, weights[kept]])[order])
