"""Candidates and their choice as rpart has them.

There is no tolerance: one candidate is better than another if it is so in its last bit, and the
first of equals wins. See docs/algorithms.md for the list of what that decides.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.attribute import Kind
from service.tree.context import Context
from service.tree.nodes import Split
from service.tree.parts import Part
from tests.readable.candidate import Candidate, cut_value, scored
from tests.readable.parts import View, totals, view
from tests.readable.rpart_sides import Known, Sides, best, enough, known, summed
from tests.readable.subsets import best_subset
from tests.readable.tables import BLOCK, by_category, in_order

NEGLIGIBLE = 1e-10  # beside the largest improvement seen: what rounding makes of none
MOST_MOVED = 16  # categories of which all sets are tried where there are more than two classes


def candidates_rpart(context: Context, part: Part, *, is_root: bool) -> list[Candidate]:
    """The best split of each attribute that offers one, in the order of the attributes."""
    data = context.data
    # in regression an improvement is a part of the node's risk
    risk = squared_error(context, part, is_root=is_root) if data.is_regression else 1.0
    found = []
    for number, attribute in enumerate(data.attributes):
        order = _order(context, part, number)
        ordered = Part(part.rows[order], part.weights[order])
        seen = view(data, ordered, data.target[ordered.rows], number, context.params.missing)
        if len(seen.values) == 0:
            continue
        is_categorical = attribute.kind == Kind.CATEGORICAL
        search = _search_subset if is_categorical else _search_threshold
        candidate = search(context, number, seen)
        if candidate is not None:
            found.append(replace(candidate, improvement=candidate.improvement / risk))
    return found


def _order(context: Context, part: Part, attribute: int) -> Ints:
    """The rows in the order of an attribute; what fills in for null comes last among equals."""
    assert context.origin is not None
    rank, values = context.origin.ranks[attribute], context.data.values[part.rows, attribute]
    is_ordered = context.data.attributes[attribute].kind != Kind.CATEGORICAL
    last = np.isnan(values) & (is_ordered and context.params.missing == "majority")
    order: Ints = np.lexsort((rank[part.rows], last))
    return order


def choose_rpart(found: Sequence[Candidate], largest: float) -> Candidate | None:
    """The first candidate that improves most; None where rounding is all that improves."""
    chosen = None
    for candidate in found:
        largest = max(largest, candidate.improvement)
        if candidate.improvement <= largest * NEGLIGIBLE:
            continue
        if chosen is None or candidate.improvement > chosen.improvement:
            chosen = candidate
    return chosen


def squared_error(context: Context, part: Part, *, is_root: bool) -> float:
    """The risk of a node in regression; below the root the first attribute orders its rows."""
    assert context.origin is not None
    if len(part.rows) == 0:
        return 0.0
    places = part.rows if is_root else context.origin.ranks[0][part.rows]
    order = np.argsort(places, kind="stable")
    target, weights = context.data.target[part.rows[order]], part.weights[order]
    apart = target - summed(target * weights) / summed(weights)
    return summed(apart * apart * weights)


def _search_threshold(context: Context, attribute: int, seen: View) -> Candidate | None:
    """The lowest of the cuts between neighbouring values that improve most."""
    ordered = in_order(seen)
    is_cut = ordered.values[1:] > ordered.values[:-1]
    if not is_cut.any():
        return None
    row, improvement = _best_cut(context, ordered, is_cut, known(context, ordered))
    if row < 0:
        return None
    low, high = float(ordered.values[row]), float(ordered.values[row + 1])
    threshold = cut_value(context, attribute, low, high)
    side = (ordered.values > threshold).astype(np.int64)
    return _made(context, attribute, ordered, Split.THRESHOLD, side, improvement, threshold)


def _best_cut(context: Context, ordered: View, is_cut: Bools, rows: Known) -> tuple[int, float]:
    """The row behind which to cut and what that improves, found block by block; -1 for none."""
    reached = np.cumsum(ordered.weights)
    at, most, passed = -1, 0.0, rows.start
    step = max(1, BLOCK // rows.statistics.shape[1])
    for start in range(0, len(is_cut), step):
        block = slice(start, min(start + step, len(is_cut)))
        sides = passed.after(rows.statistics[block], rows.scaled[block])
        passed = sides.only(slice(-1, None))
        cuts = np.flatnonzero(is_cut[block])
        if len(cuts) == 0:
            continue
        left = reached[start + cuts]
        allowed = enough(context, np.stack([left, reached[-1] - left], axis=-1))
        row, improvement = best(context, sides.only(cuts), allowed, rows.impurity)
        if row >= 0 and improvement > most:
            at, most = start + int(cuts[row]), improvement
    return at, most


def _search_subset(context: Context, attribute: int, seen: View) -> Candidate | None:
    """Two sets of categories, the one with the smaller mean of classes or targets first."""
    n_values = len(context.data.attributes[attribute].values)
    rows, codes = known(context, seen), seen.values.astype(np.int64)
    sums = np.stack([np.bincount(codes, each, n_values) for each in rows.statistics.T], axis=-1)
    scaled = np.bincount(codes, rows.scaled, n_values).astype(np.float64)
    present = np.flatnonzero(np.bincount(codes, minlength=n_values))
    if len(present) < 2:
        return None
    moves = _moves(context, attribute, seen, present, sums[present, 0] / scaled[present])
    category, sign = present[np.abs(moves) - 1], np.sign(moves)
    sides = rows.start.after(sign[:, None] * sums[category], sign * scaled[category])
    allowed = _divides(context, seen, category, sign)
    at, improvement = best(context, sides, allowed, rows.impurity)
    if at < 0:
        return None
    table = np.full(n_values, -1, dtype=np.int64)
    table[present] = 1
    for move in moves[: at + 1].tolist():
        table[present[abs(move) - 1]] = 0 if move > 0 else 1
    if not _is_lower(context, sides.only(slice(at, at + 1))):
        table[present] = 1 - table[present]
    return _made_subset(context, attribute, seen, table, improvement)


def _divides(context: Context, seen: View, category: Ints, sign: Ints) -> Bools:
    """After each move whether there are rows on both sides, and weight enough."""
    codes = seen.values.astype(np.int64)
    counts, sizes = np.bincount(codes), np.bincount(codes, seen.weights)
    n_left, left = np.cumsum(sign * counts[category]), np.cumsum(sign * sizes[category])
    held = enough(context, np.stack([left, sizes.sum() - left], axis=-1))
    return held & (n_left > 0) & (n_left < len(codes))


def _moves(context: Context, attribute: int, seen: View, present: Ints, key: Floats) -> Ints:
    """Which category (from 1 on) goes left, or with a minus right again, one after another."""
    if seen.n_classes <= 2:
        order: Ints = np.argsort(key, kind="stable")
        return order + 1
    n_values = len(context.data.attributes[attribute].values)
    # the last category stays where it is; where no row has it, each division comes twice
    n_moved = len(present) - int(present[-1] == n_values - 1)
    if n_moved <= MOST_MOVED and seen.n_classes << n_moved <= BLOCK:
        return _gray(n_moved)
    table = by_category(seen, n_values)
    side = best_subset(context, table, seen.n_classes)
    left: Ints = np.flatnonzero(side[present] == 0) if side is not None else np.arange(1)
    return left + 1


def _gray(n_categories: int) -> Ints:
    """The moves that come by every set of categories, changing one of them at a time."""
    step = np.arange(1, 1 << n_categories)
    lowest = step & -step
    comes = (step ^ (step >> 1)) & lowest > 0
    moved: Ints = np.log2(lowest).astype(np.int64) + 1
    return np.where(comes, moved, -moved)


def _is_lower(context: Context, sides: Sides) -> bool:
    """Whether the mean of the left side is the smaller one."""
    assert context.origin is not None
    scale = 1.0 if context.data.is_regression else context.origin.scale
    left = scale * sides.left[0] / sides.left_weight
    right = scale * sides.right[0] / sides.right_weight
    if context.data.is_regression:
        return bool(left[0] <= right[0])
    classes = np.arange(len(left))
    return summed(left * classes) < summed(right * classes)


def _made_subset(
    context: Context, attribute: int, seen: View, table: Ints, improvement: float
) -> Candidate | None:
    side = table[seen.values.astype(np.int64)]
    if context.params.missing != "stop":
        # a category that no row has here goes with the larger side
        larger = int(np.argmax(np.bincount(side, seen.weights, 2)))
        table = np.where(table < 0, larger, table)
    return _made(context, attribute, seen, Split.SUBSET, side, improvement, table=table)


def _made(
    context: Context, attribute: int, seen: View, split: Split, side: Ints, improvement: float,
    threshold: float = np.nan, table: Ints | None = None,
) -> Candidate | None:  # fmt: skip
    """The candidate that sends each row to its side."""
    target = seen.target
    if context.data.is_regression:
        target = target - np.average(target, weights=seen.weights)
    branches = [
        totals(target[side == branch], seen.weights[side == branch], seen.n_classes)
        for branch in (0, 1)
    ]
    made = scored(context, attribute, seen, split, np.stack(branches), threshold, table)
    return None if made is None else replace(made, improvement=improvement)
