"""The best split of a node on each attribute."""

from typing import Any

import numpy as np

from service.tree.kernels.c45 import cut_c45, sets_c45
from service.tree.kernels.compile import inlined, lean
from service.tree.kernels.cut import count_cuts, left_weight, scan, tell_known, window
from service.tree.kernels.entries import Layout, count_known
from service.tree.kernels.fill import fill_null, filled_column
from service.tree.kernels.rooms import (
    CUT,
    FILLED,
    FOUND,
    GAIN_HERE,
    HAS_NULL,
    INFO,
    IS_CATEGORICAL,
    KNOWN,
    MAJORITY,
    MULTIWAY,
    N_VALUES,
    NO_COST,
    NULL,
    OWN_BRANCH,
    PLACE,
    RPART,
    SIZES,
    SUBSET,
    TEXTBOOK,
    THRESHOLD,
    TOTAL,
    Columns,
    Room,
    Rules,
    Work,
)
from service.tree.kernels.rpart import cut_rpart, note_improvement
from service.tree.kernels.rpart_sets import sets_rpart
from service.tree.kernels.score import clear, is_enough, score, split_info, weight_of
from service.tree.kernels.sets import (
    ROUNDING,
    best_category,
    fill_tables,
    measure,
    multiway,
    tell_table,
    two_sides,
)
from service.tree.kernels.subsets import best_subset


@lean
def search(
    rules: Rules, columns: Columns, room: Room, work: Work, place: tuple[int, int],
    attributes: tuple[int, int], weight: float, is_whole: bool,
) -> None:  # fmt: skip
    """Writes down the best split of each of some attributes.

    Where only the best of all counts, an attribute that cannot be it has none.
    """
    is_plain = rules.fine_print == TEXTBOOK and not rules.by_ratio and rules.cost_rule == NO_COST
    is_race = is_plain or rules.fine_print == RPART
    to_beat = 0.0 if is_race else -np.inf
    whole = score(rules.criterion, work.sums, TOTAL)
    _fill_tables(rules, columns, room, work, place, attributes)
    for attribute in range(attributes[0], attributes[1]):
        work.found[attribute, FOUND] = 0
        work.found[attribute, FILLED] = np.nan
        if columns.facts[attribute, IS_CATEGORICAL]:
            _search_sets(rules, columns, room, work, attribute, place, weight)
        else:
            _search_cut(
                rules, columns, room, work, attribute, place, weight, is_whole, to_beat, whole
            )
        if is_race and work.found[attribute, FOUND] > 0:
            to_beat = max(to_beat, work.found[attribute, GAIN_HERE])


@inlined
def _fill_tables(
    rules: Rules, columns: Columns, room: Room, work: Work, place: tuple[int, int],
    attributes: tuple[int, int],
) -> None:  # fmt: skip
    """Writes down the statistics of the categories of some attributes; rpart has its own way."""
    first, last = -1, 0
    for attribute in range(attributes[0], attributes[1]):
        if columns.facts[attribute, IS_CATEGORICAL]:
            last = columns.facts[attribute, PLACE] + 1
            first = last - 1 if first < 0 else first
    if first >= 0 and rules.fine_print != RPART:
        for line in range(work.starts[first], work.starts[last]):
            clear(work.table, line)
        fill_tables(
            rules.criterion, room.entries, place[0], place[1], columns.layout, room.rows,
            room.codes, first, last, work.cells,
        )  # fmt: skip


@inlined
def _search_cut(
    rules: Rules, columns: Columns, room: Room, work: Work, attribute: int,
    place: tuple[int, int], weight: float, is_whole: bool, to_beat: float, whole: float,
) -> None:  # fmt: skip
    """Writes down the best cut of an attribute whose values have an order."""
    layout, entries, rows = columns.layout, room.entries, room.rows
    start = columns.facts[attribute, PLACE] * room.stride + place[0]
    end = start + place[1] - place[0]
    n_known = count_known(entries, start, end, layout.null_bit)
    if rules.missing == MAJORITY and 0 < n_known < end - start:
        at = filled_column(entries, start, n_known, end, layout, rows, work.scratch)
        work.found[attribute, FILLED] = columns.values[attribute, room.origin[at]]
        entries, start, end, n_known = work.scratch, 0, end - start, end - start
    tell_known(rules.criterion, entries, start + n_known, end, layout, rows, is_whole, work.sums)
    if rules.fine_print != TEXTBOOK:
        _cut_by_rules(
            rules, columns, room, work, attribute, entries, start, n_known, weight, is_whole,
            to_beat,
        )  # fmt: skip
        return
    own = rules.missing == OWN_BRANCH and columns.facts[attribute, HAS_NULL] == 1
    if n_known < (1 if own else 2):
        return
    is_all = own or n_known == end - start
    base = whole if is_all else score(rules.criterion, work.sums, KNOWN)
    null_score = score(rules.criterion, work.sums, NULL) if own else 0.0
    least = rules.min_weight - ROUNDING
    span = window(entries, start, n_known, layout, rows, least, is_whole, work.sums)
    at, here = scan(
        rules.criterion, entries, start, span, layout, rows, work.sums, is_whole, work.logs,
        work.before, work.block, rules.tie * weight, base - null_score + to_beat * weight,
    )  # fmt: skip
    if at == 0 and own and not _has_cut(entries, start, span, layout):
        at, here = n_known, score(rules.criterion, work.sums, KNOWN)
    if at > 0:
        work.found[attribute, FOUND], work.found[attribute, CUT] = THRESHOLD, at
        work.found[attribute, GAIN_HERE] = (here + null_score - base) / weight
    if at > 0 and (rules.by_ratio or own):
        left = left_weight(entries, start, at, layout, rows, is_whole)
        judge_cut(rules, left, own, work.sums, work.parts, work.found, attribute)


@lean
def _has_cut(entries: Any, start: int, span: tuple[int, int], layout: Layout) -> bool:
    return count_cuts(entries, start + span[0], start + span[1] + 1, layout.tie_bit) > 0


@inlined
def _cut_by_rules(
    rules: Rules, columns: Columns, room: Room, work: Work, attribute: int, entries: Any,
    start: int, n_known: int, weight: float, is_whole: bool, to_beat: float,
) -> None:  # fmt: skip
    """Writes down the best cut as C4.5 or rpart has it."""
    if rules.fine_print != RPART:
        cut_c45(rules, columns, room, work, attribute, entries, start, n_known, weight, is_whole)
        return
    at, improvement, gain = cut_rpart(
        rules, columns, work, room.rows, entries, start, n_known, weight, is_whole, to_beat
    )
    note_improvement(work.found, attribute, THRESHOLD, improvement, gain)
    work.found[attribute, CUT] = at


@lean
def judge_cut(
    rules: Rules, left: float, own: bool, sums: Any, parts: Any, found: Any, attribute: int
) -> None:
    """Writes down how much branching a cut is, and forgets it where it leaves too little."""
    known, null = weight_of(rules.criterion, sums, KNOWN), weight_of(rules.criterion, sums, NULL)
    parts[SIZES, 0], parts[SIZES, 1], parts[SIZES, 2] = left, max(known - left, 0.0), null
    found[attribute, INFO] = split_info(parts, 2, null)
    if not is_enough(parts, 3 if own else 2, rules.min_weight - ROUNDING):
        found[attribute, FOUND] = 0


@inlined
def _search_sets(
    rules: Rules, columns: Columns, room: Room, work: Work, attribute: int,
    place: tuple[int, int], weight: float,
) -> None:  # fmt: skip
    """Writes down the best division of an attribute's categories."""
    n_values, line = columns.facts[attribute, N_VALUES], columns.facts[attribute, PLACE]
    table = work.table[work.starts[line] : work.starts[line + 1]]
    if rules.fine_print == RPART:
        improvement, gain, filled = sets_rpart(
            rules, columns.layout, columns.scale, room.entries, place[0], place[1], room.rows,
            room.codes, columns.categories, line, n_values, table, work.sums, work.sides,
            attribute, weight,
        )  # fmt: skip
        note_improvement(work.found, attribute, SUBSET, improvement, gain)
        work.found[attribute, FILLED] = filled
        return
    tell_table(n_values, table, work.sums)
    if rules.missing == MAJORITY:
        filled = fill_null(rules.criterion, n_values, table, work.sums)
        work.found[attribute, FILLED] = filled if filled >= 0 else np.nan
    if rules.fine_print != TEXTBOOK:
        sets_c45(rules, work, table, attribute, n_values, weight)
        return
    own = rules.missing == OWN_BRANCH and columns.facts[attribute, HAS_NULL] == 1
    split, here = divide_sets(
        rules, n_values, own, work.sides, attribute, table, work.sums, work.parts
    )
    if split > 0:
        n_branches = n_values if split == MULTIWAY else 2
        judge_sets(
            rules, split, here, n_branches, own, weight, work.sums, work.parts, work.found,
            attribute,
        )  # fmt: skip


@lean
def divide_sets(
    rules: Rules, n_values: int, own: bool, sides: Any, line: int, table: Any, sums: Any,
    parts: Any,
) -> tuple[int, float]:  # fmt: skip
    """The kind of split, 0 for none, and what its branches score."""
    split, is_found = rules.categorical, False
    if split == MULTIWAY:
        measure(rules.criterion, n_values, table, parts)
        # null's own branch may be the second that holds enough; logarithms are slow
        if not own and not is_enough(parts, n_values, rules.min_weight - ROUNDING):
            return 0, 0.0
        return split, multiway(rules.criterion, n_values, table)
    if split == SUBSET:
        is_found = best_subset(rules, n_values, sides, line, table, sums)
    else:
        is_found = best_category(rules, n_values, sides, line, table, sums)
    if is_found:
        return split, two_sides(rules, n_values, sides, line, table, sums, parts)
    if not own or weight_of(rules.criterion, sums, KNOWN) <= 0:
        return 0, 0.0
    # all that is known on one side, null on its own
    _join(sides, line, n_values)
    here = two_sides(rules, n_values, sides, line, table, sums, parts)
    _join(sides, line, n_values)
    return SUBSET, here


@lean
def _join(sides: Any, line: int, n_values: int) -> None:
    for category in range(n_values):
        sides[line, category] = 0


@lean
def judge_sets(
    rules: Rules, split: int, here: float, n_branches: int, own: bool, weight: float, sums: Any,
    parts: Any, found: Any, attribute: int,
) -> None:  # fmt: skip
    """Writes down what a division gains, unless its branches are too light."""
    null, base = weight_of(rules.criterion, sums, NULL), score(rules.criterion, sums, KNOWN)
    found[attribute, INFO] = split_info(parts, n_branches, null)
    if own:
        parts[SIZES, n_branches] = null
        n_branches += 1
        here += score(rules.criterion, sums, NULL)
        base = score(rules.criterion, sums, TOTAL)
    if is_enough(parts, n_branches, rules.min_weight - ROUNDING):
        found[attribute, FOUND] = split
        found[attribute, GAIN_HERE] = (here - base) / weight
