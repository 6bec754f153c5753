"""Candidates and their choice as C4.5 has them: Weka's J48, and Quinlan's Release 8.

Every comparison of J48 has a tolerance of 1e-6; Release 8 has none. The rest of what they differ
in is named below. See docs/algorithms.md for the list.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.attribute import Kind
from service.tree.c45 import NEARLY, R8, WIDE, Rules
from service.tree.context import Context
from service.tree.kernels.sort import NEIGHBOURS
from service.tree.nodes import Split
from tests.readable.candidate import Candidate, cut_value
from tests.readable.parts import View, totals
from tests.readable.tables import along, by_category, in_order


def _spread(rules: Rules, weights: Floats) -> Floats:
    """Over the last axis: the sum times its logarithm, less each part times its own, in bits."""
    spread: Floats = _x_log_x(rules, weights.sum(axis=-1)) - _x_log_x(rules, weights).sum(axis=-1)
    return spread


def _x_log_x(rules: Rules, x: Floats) -> Floats:
    safe = np.where(x > rules.tolerance, x, 1.0)
    return np.where(x > rules.tolerance, x * np.log(safe) / np.log(2.0), 0.0)


def _gains(rules: Rules, branches: Floats, total: float) -> Floats:
    """Per candidate (..., branch, class) its information gain over the weight that is known."""
    known = branches.sum(axis=(-1, -2))
    old = _spread(rules, branches.sum(axis=-2))
    new = _spread(rules, branches).sum(axis=-1)
    numerator = known / total * (old - new)
    gains: Floats = np.where(np.abs(numerator) < rules.tolerance, 0.0, numerator) / known
    return gains


def _split_info(rules: Rules, sizes: Floats, total: float) -> float:
    """Bits of branching, null being one more branch; 0 where there is as good as none."""
    parts = np.append(sizes, total - sizes.sum())
    bits = float(_x_log_x(rules, np.array(total)) - _x_log_x(rules, parts).sum())
    return bits / total if bits > rules.tolerance else 0.0


def search_c45(context: Context, attribute: int, view: View, rules: Rules) -> Candidate | None:
    """The candidate of one attribute, or None where it cannot be used."""
    if context.data.attributes[attribute].kind == Kind.CATEGORICAL:
        found = _categorical(context, attribute, view, rules)
    else:
        found = _numeric(context, attribute, view, rules)
    return None if found is None else replace(found, filled=view.filled)


def _categorical(context: Context, attribute: int, view: View, rules: Rules) -> Candidate | None:
    """The split into all categories, or the best one from the rest."""
    table = by_category(view, len(context.data.attributes[attribute].values))
    if context.params.categorical == "one_vs_rest":
        return _one_vs_rest(context, attribute, view, table, rules)
    sizes = table.sum(axis=1)
    if np.count_nonzero(_at_least(rules, sizes, context.params.min_weight)) < 2:
        return None
    return _made(attribute, Split.MULTIWAY, table, _total(view), rules)


def _total(view: View) -> float:
    return float(view.weights.sum() + view.null.sum())


def _at_least(rules: Rules, sizes: Floats, least: float) -> Bools:
    return (sizes >= least) | (sizes - least > -rules.tolerance)


def _made(
    attribute: int, split: Split, branches: Floats, total: float, rules: Rules,
    gain: float | None = None, threshold: float = np.nan, table: Ints | None = None,
) -> Candidate:  # fmt: skip
    sizes = branches.sum(axis=1)
    if gain is None:
        gain = float(_gains(rules, branches, total))
    info = _split_info(rules, sizes, total)
    return Candidate(attribute, split, sizes, gain, info, threshold, table)


def _one_vs_rest(
    context: Context, attribute: int, view: View, table: Floats, rules: Rules
) -> Candidate | None:
    """The category whose division from the rest has the largest gain ratio."""
    total, best = _total(view), None
    branches = np.stack([table, np.maximum(table.sum(axis=0) - table, 0.0)], axis=-2)
    largest = 0.0
    for category, both in enumerate(branches):
        if not _at_least(rules, both.sum(axis=1), context.params.min_weight).all():
            continue
        side = np.ones(len(table), dtype=np.int64)
        side[category] = 0
        found = _made(attribute, Split.ONE_VS_REST, both, total, rules, table=side)
        ratio = found.gain / found.split_info if found.split_info > 0 else 0.0
        if category == 0 or ratio > largest + rules.tolerance:
            best, largest = found, ratio
        elif best is None:  # it counts as one that gains nothing
            best = replace(found, gain=0.0, split_info=0.0)
    return best


def _numeric(context: Context, attribute: int, view: View, rules: Rules) -> Candidate | None:
    """The cut of the largest gain inside the window, which leaves enough weight on both sides."""
    min_weight, total = context.params.min_weight, _total(view)
    known = float(view.weights.sum())
    least = _least_side(context, known, rules)
    enough = len(view.values) - 2 * least if rules.counts_rows else known - 2 * min_weight
    if enough < -rules.tolerance or known == 0:
        return None
    ordered = in_order(view)
    # as J48 writes it: whether two values are 0.00001 apart is a matter of rounding
    cuts = np.flatnonzero(ordered.values[:-1] + NEIGHBOURS < ordered.values[1:])
    cuts, gains = _in_window(ordered, cuts, known, total, least, rules)
    if len(cuts) == 0:
        return None
    at, gain = _first_larger(gains, rules.tolerance)
    if context.params.numeric_penalty:
        gain -= float(np.log(len(cuts)) / np.log(2.0)) / total
    if gain <= rules.tolerance or at < 0:
        return None
    row = int(cuts[at])
    ends = (slice(None, row + 1), slice(row + 1, None))
    sides = [totals(ordered.target[end], ordered.weights[end], ordered.n_classes) for end in ends]
    low, high = float(ordered.values[row]), float(ordered.values[row + 1])
    threshold = cut_value(context, attribute, low, high)
    return _made(
        attribute, Split.THRESHOLD, np.stack(sides), total, rules, gain, threshold
    )  # fmt: skip


def _least_side(context: Context, known: float, rules: Rules) -> float:
    """What both sides of a cut must hold: a tenth of the weight a class, but at most 25."""
    least = 0.1 * known / len(context.data.classes)
    if least - context.params.min_weight <= rules.tolerance:
        return context.params.min_weight
    return min(least, 25.0)


def _in_window(
    ordered: View, cuts: Ints, known: float, total: float, least: float, rules: Rules
) -> tuple[Ints, Floats]:
    """The cuts that leave enough on both sides, and their gains."""
    if len(cuts) == 0:
        return cuts, np.empty(0)
    gains, inside = np.empty(len(cuts)), np.empty(len(cuts), dtype=bool)
    for here, sides in along(ordered, cuts):
        left = sides[:, 0].sum(axis=-1)
        if rules is R8:
            inside[here] = (left >= least) & (left <= known - least)
        else:
            right = sides[:, 1].sum(axis=-1)
            inside[here] = _at_least(rules, left, least) & _at_least(rules, right, least)
        gains[here] = _gains(rules, sides, total)
    return cuts[inside], gains[inside]


def _first_larger(gains: Floats, tolerance: float) -> tuple[int, float]:
    """Where one ends who goes along and moves on to each gain that is larger than the last."""
    at, best = -1, 0.0
    records = np.flatnonzero(gains >= np.maximum.accumulate(gains))
    for record in records.tolist():
        if gains[record] > best + tolerance:
            at, best = record, float(gains[record])
    return at, best


def choose_c45(context: Context, found: Sequence[Candidate], rules: Rules) -> Candidate | None:
    """The largest gain ratio (or gain) among gains that are nearly average, the first of equals."""
    gains = np.array([candidate.gain for candidate in found])
    by_gain = context.params.criterion == "gain"
    counts = [_counts(context, number, rules) for number in range(len(context.data.attributes))]
    counted = np.array([counts[candidate.attribute] or not any(counts) for candidate in found])
    if not counted.any():
        return None
    average = -np.inf if by_gain else float(gains[counted].mean()) - NEARLY
    best = None
    largest = -NEARLY if rules.zero_gain_splits else 0.0
    for candidate in found:
        if candidate.gain < average:
            continue
        worth = _worth(candidate, rules, by_gain=by_gain)
        if worth is not None and worth > largest + rules.tolerance:
            best, largest = candidate, worth
    return best


def _worth(candidate: Candidate, rules: Rules, *, by_gain: bool) -> float | None:
    if candidate.split_info <= (0.0 if by_gain else rules.least_info):
        return None
    return candidate.gain if by_gain else candidate.gain / candidate.split_info


def _counts(context: Context, attribute: int, rules: Rules) -> bool:
    """Whether the attribute counts for the average: one of very many categories does not."""
    described = context.data.attributes[attribute]
    if described.kind != Kind.CATEGORICAL:
        return True
    return WIDE * context.n_rows - len(described.values) > rules.tolerance
