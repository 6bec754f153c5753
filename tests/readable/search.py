"""The best split of a node on each attribute, in textbook form."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.attribute import Kind
from service.tree.context import Context
from service.tree.criterion import decrease, first_best
from service.tree.nodes import Split
from tests.readable.candidate import ROUNDING, Candidate, cut_value, scored
from tests.readable.parts import View, totals
from tests.readable.subsets import best_subset
from tests.readable.tables import along, by_category, in_order

Search: TypeAlias = Callable[[Context, int, View], Candidate | None]


def search_multiway(context: Context, attribute: int, view: View) -> Candidate | None:
    """One branch for each category."""
    branches = by_category(view, len(context.data.attributes[attribute].values))
    return scored(context, attribute, view, Split.MULTIWAY, branches)


def search_subset(context: Context, attribute: int, view: View) -> Candidate | None:
    """Two sets of categories; those with no row here go with the larger."""
    table = by_category(view, len(context.data.attributes[attribute].values))
    side = best_subset(context, table, view.n_classes)
    if side is None:
        return None
    return _two_sides(context, attribute, view, table, Split.SUBSET, side)


def search_one_vs_rest(context: Context, attribute: int, view: View) -> Candidate | None:
    """One category, and all the others."""
    table = by_category(view, len(context.data.attributes[attribute].values))
    if len(table) < 2:
        return None
    whole = table.sum(axis=0)
    branches = np.stack([table, whole - table], axis=-2)
    sizes = context.criterion.weight(branches)
    allowed = (sizes > 0).all(axis=1) & (sizes >= context.params.min_weight - ROUNDING).all(axis=1)
    if not allowed.any():
        return None
    gains = np.where(allowed, decrease(context.criterion, branches), -np.inf)
    side = np.ones(len(table), dtype=np.int64)
    side[first_best(gains, context.tie)] = 0
    return _two_sides(context, attribute, view, table, Split.ONE_VS_REST, side)


def _two_sides(
    context: Context,
    attribute: int,
    view: View,
    table: Floats,
    split: Split,
    side: Ints,
) -> Candidate | None:
    branches = np.stack([table[side == 0].sum(axis=0), table[side == 1].sum(axis=0)])
    if split == Split.SUBSET:
        larger = int(np.argmax(context.criterion.weight(branches)))
        side = np.where(context.criterion.weight(table) > 0, side, larger)
    return scored(context, attribute, view, split, branches, table=side)


def search_threshold(context: Context, attribute: int, view: View) -> Candidate | None:
    """The cut between two neighbouring values that gains most; the lowest of equals."""
    ordered = in_order(view)
    cuts = np.flatnonzero(ordered.values[1:] > ordered.values[:-1])
    if len(cuts) == 0:
        return None
    gains, allowed = np.empty(len(cuts)), np.empty(len(cuts), dtype=bool)
    for here, sides in along(ordered, cuts):
        sizes = context.criterion.weight(sides)
        allowed[here] = (sizes >= context.params.min_weight - ROUNDING).all(axis=1)
        gains[here] = decrease(context.criterion, sides)
    if not allowed.any():
        return None
    best = int(cuts[first_best(np.where(allowed, gains, -np.inf), context.tie)])
    return at_cut(context, attribute, ordered, best)


def at_cut(context: Context, attribute: int, ordered: View, row: int) -> Candidate | None:
    """The candidate that cuts behind an ordered row."""
    ends = (slice(None, row + 1), slice(row + 1, None))
    sides = [totals(ordered.target[end], ordered.weights[end], ordered.n_classes) for end in ends]
    low, high = float(ordered.values[row]), float(ordered.values[row + 1])
    threshold = cut_value(context, attribute, low, high)
    return scored(context, attribute, ordered, Split.THRESHOLD, np.stack(sides), threshold)


CATEGORICAL: dict[str, Search] = {
    "multiway": search_multiway,
    "subset": search_subset,
    "one_vs_rest": search_one_vs_rest,
}


def search(context: Context, attribute: int, view: View) -> Candidate | None:
    """The best split on one attribute, or None where it offers none."""
    is_categorical = context.data.attributes[attribute].kind == Kind.CATEGORICAL
    if is_categorical and context.params.categorical == "multiway":
        return search_multiway(context, attribute, view)
    by_kind = CATEGORICAL[context.params.categorical] if is_categorical else search_threshold
    found = by_kind(context, attribute, view)
    if found is None and context.has_null_branch(attribute) and len(view.values):
        return _known_or_null(context, attribute, view, is_categorical=is_categorical)
    return found


def _known_or_null(
    context: Context, attribute: int, view: View, *, is_categorical: bool
) -> Candidate | None:
    """All that is known on one side, null on its own branch: where the known cannot be divided."""
    known = totals(view.target, view.weights, view.n_classes)
    branches = np.stack([known, np.zeros_like(known)])
    if is_categorical:
        side = np.zeros(len(context.data.attributes[attribute].values), dtype=np.int64)
        return scored(context, attribute, view, Split.SUBSET, branches, table=side)
    highest = float(view.values.max())
    return scored(context, attribute, view, Split.THRESHOLD, branches, highest)
