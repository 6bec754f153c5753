"""Candidates as C4.5 has them: Weka's J48, and Quinlan's Release 8."""

from typing import Any

import numpy as np

from service.tree.kernels.compile import inlined, lean
from service.tree.kernels.cut import count_cuts, left_weight, scan, window
from service.tree.kernels.entries import Layout, U, count_known
from service.tree.kernels.rooms import (
    CUT,
    FOUND,
    GAIN_HERE,
    INFO,
    IS_CLOSE,
    J48,
    KNOWN,
    MULTIWAY,
    ONE_VS_REST,
    SIZES,
    THRESHOLD,
    Columns,
    Room,
    Rules,
    Work,
)
from service.tree.kernels.score import GAIN, score, weight_of
from service.tree.kernels.sets import measure, multiway, two_sides
from service.tree.kernels.sort import is_close

LARGEST_LEAST = 25.0
BLOCK = 64  # entries that are looked at together for marks, which are few
ONE = U(1)


@lean
def _least_side(rules: Rules, known: float, n_classes: int) -> float:
    """What both sides of a cut must hold: a tenth of the weight a class, but at most 25."""
    least = 0.1 * known / n_classes
    if least - rules.min_weight <= rules.tolerance:
        return rules.min_weight
    return min(least, LARGEST_LEAST)


@lean
def info_of(rules: Rules, n_branches: int, weight: float, parts: Any) -> float:
    """Bits of branching, null being one more branch; 0 where there is as good as none."""
    bits, rest = _x_log_x(rules, weight), weight
    for branch in range(n_branches):
        bits -= _x_log_x(rules, parts[SIZES, branch])
        rest -= parts[SIZES, branch]
    bits -= _x_log_x(rules, rest)
    return bits / weight if bits > rules.tolerance else 0.0


@lean
def _x_log_x(rules: Rules, x: float) -> float:
    return x * np.log(x) / np.log(2.0) if x > rules.tolerance else 0.0


@inlined
def cut_c45(
    rules: Rules, columns: Columns, room: Room, work: Work, attribute: int, entries: Any,
    first: int, n_known: int, weight: float, is_whole: bool,
) -> None:  # fmt: skip
    """Writes down the cut of the largest gain that leaves enough weight on both sides."""
    layout, known = columns.layout, weight_of(GAIN, work.sums, KNOWN)
    least = _least_side(rules, known, work.sums.shape[1])
    held = n_known - 2.0 * least if rules.fine_print == J48 else known - 2.0 * rules.min_weight
    if held < -rules.tolerance or known <= 0:
        return
    if columns.facts[attribute, IS_CLOSE] and _is_close_still(
        entries, first, n_known, layout, columns.values, attribute, room.origin
    ):
        _tie_close(entries, first, n_known, layout, work.scratch)
        entries, first = work.scratch, 0
    slack = rules.tolerance if rules.fine_print == J48 else 1e-12 * known
    low, high = window(
        entries, first, n_known, layout, room.rows, least - slack, is_whole, work.sums
    )
    n_cuts = count_cuts(entries, first + low, first + high + 1, layout.tie_bit)
    if n_cuts == 0:
        return
    base, tie = score(GAIN, work.sums, KNOWN), max(rules.tolerance, rules.tie) * weight
    at, here = scan(
        rules.criterion, entries, first, (low, high), layout, room.rows, work.sums, is_whole,
        work.logs, work.before, work.block, tie, base,
    )  # fmt: skip
    gain = (here - base) / weight
    if rules.numeric_penalty:
        gain -= np.log(n_cuts) / np.log(2.0) / weight
    if gain <= rules.tolerance or at == 0:
        return
    left = left_weight(entries, first, at, layout, room.rows, is_whole)
    work.parts[SIZES, 0], work.parts[SIZES, 1] = left, known - left
    work.found[attribute, FOUND], work.found[attribute, CUT] = THRESHOLD, at
    work.found[attribute, GAIN_HERE] = gain
    work.found[attribute, INFO] = info_of(rules, 2, weight, work.parts)


@lean
def mark_close(
    entries: Any, start: int, n_rows: int, layout: Layout, values: Any, attribute: int, origin: Any
) -> bool:
    """Whether some neighbours in a column differ, but are as good as equal; they are marked.

    Where rows between two are missing, the one behind has had a closer neighbour.
    """
    found, before = False, -np.inf
    for place in range(start, start + count_known(entries, start, start + n_rows, layout.null_bit)):
        entry = entries[U(place)]
        here = values[attribute, origin[entry & layout.row_mask]]
        if is_close(before, here):
            entries[U(place)] = entry | layout.close_bit
            found = found or here > before
        before = here
    return found


@lean
def _is_close_still(
    entries: Any, first: int, n_known: int, layout: Layout, values: Any, attribute: int, origin: Any
) -> bool:
    """Whether some neighbours differ, but are as good as equal; who has none loses its mark.

    Rows get fewer on the way down, so that it will have none there either.
    """
    found, both = False, layout.close_bit | layout.tie_bit
    for start in range(0, n_known, BLOCK):
        end = min(start + BLOCK, n_known)
        if not _has_close(entries, first + start, first + end, layout):
            continue
        for place in range(start, end):
            entry = entries[U(first + place)]
            if entry & both != layout.close_bit:
                continue
            here = values[attribute, origin[entry & layout.row_mask]]
            before = _known_before(entries, first, place, layout, values, attribute, origin)
            if is_close(before, here):
                found = True
            else:
                entries[U(first + place)] = entry ^ layout.close_bit
    return found


@lean
def _has_close(entries: Any, start: int, end: int, layout: Layout) -> bool:
    """Whether some entry is marked as close to another value before it."""
    seen = U(0)
    for place in range(start, end):  # all of them, many at once; the bit of a tie is the next one
        entry = entries[U(place)]
        seen |= entry & ~(entry >> ONE)
    return bool(seen & layout.close_bit != 0)


@lean
def _tie_close(entries: Any, first: int, n_known: int, layout: Layout, out: Any) -> None:
    """Writes down the column with a tie wherever two neighbours are as good as equal."""
    for place in range(n_known):
        entry = entries[U(first + place)]
        out[U(place)] = entry | layout.tie_bit if entry & layout.close_bit != 0 else entry


@lean
def _known_before(
    entries: Any, first: int, place: int, layout: Layout, values: Any, attribute: int, origin: Any
) -> float:
    """The number that stands before a place; where null is filled in, there is none."""
    before = np.nan
    while place > 0 and np.isnan(before):
        place -= 1
        before = values[attribute, origin[entries[U(first + place)] & layout.row_mask]]
    return before


@inlined
def sets_c45(
    rules: Rules, work: Work, table: Any, attribute: int, n_values: int, weight: float
) -> None:
    """Writes down the split into categories, or of the best category from the rest."""
    if rules.categorical == ONE_VS_REST:
        _best_category(
            rules,
            n_values,
            work.sides,
            attribute,
            table,
            work.sums,
            work.parts,
            work.found,
            weight,
        )
        return
    n_held = 0
    measure(GAIN, n_values, table, work.parts)
    for category in range(n_values):
        n_held += work.parts[SIZES, category] - rules.min_weight >= -rules.tolerance
    if n_held >= 2:
        here = multiway(GAIN, n_values, table)
        work.found[attribute, FOUND] = MULTIWAY
        work.found[attribute, GAIN_HERE] = _gain_of(rules, here, weight, work.sums)
        work.found[attribute, INFO] = info_of(rules, n_values, weight, work.parts)


@lean
def _gain_of(rules: Rules, here: float, weight: float, sums: Any) -> float:
    """What branches that score so much gain; hardly anything is nothing."""
    known = weight_of(GAIN, sums, KNOWN)
    numerator = known / weight * (here - score(GAIN, sums, KNOWN))
    return numerator / known if abs(numerator) >= rules.tolerance and known > 0 else 0.0


@lean
def _single_out(sides: Any, attribute: int, n_values: int, chosen: int) -> None:
    """One category on side 0, all others on side 1."""
    for category in range(n_values):
        sides[attribute, category] = 0 if category == chosen else 1


@lean
def _best_category(
    rules: Rules, n_values: int, sides: Any, attribute: int, table: Any, sums: Any, parts: Any,
    found: Any, weight: float,
) -> None:  # fmt: skip
    """The category whose division from the rest has the largest gain ratio.

    Where there are some, but none with a ratio, the attribute still counts as one that gains 0.
    """
    best, most = -1, 0.0
    for category in range(n_values):
        _single_out(sides, attribute, n_values, category)
        here = two_sides(rules, n_values, sides, attribute, table, sums, parts)
        least = min(parts[SIZES, 0], parts[SIZES, 1])
        if least - rules.min_weight < -rules.tolerance:
            continue
        gain, info = _gain_of(rules, here, weight, sums), info_of(rules, 2, weight, parts)
        ratio = gain / info if info > 0 else 0.0
        if category == 0 or ratio > most + rules.tolerance:
            best, most = category, ratio
            found[attribute, GAIN_HERE], found[attribute, INFO] = gain, info
        elif best < 0:
            best = category
            found[attribute, GAIN_HERE] = found[attribute, INFO] = 0.0
    if best >= 0:
        found[attribute, FOUND] = ONE_VS_REST
        _single_out(sides, attribute, n_values, best)
