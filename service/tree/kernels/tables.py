"""The best split of each attribute by a table of its lines: the bins of a column, or categories."""

from typing import Any

import numpy as np

from service.tree.kernels.compile import lean
from service.tree.kernels.entries import U
from service.tree.kernels.pairs import Stock, weight_between
from service.tree.kernels.rooms import (
    CUT,
    FILLED,
    FOUND,
    GAIN_HERE,
    IS_CATEGORICAL,
    KNOWN,
    LEFT,
    MULTIWAY,
    N_VALUES,
    NO_COST,
    NULL,
    PLACE,
    RIGHT,
    THRESHOLD,
    TOTAL,
    Columns,
    Rules,
    Work,
)
from service.tree.kernels.score import GAIN, score, weight_of
from service.tree.kernels.search import divide_sets, judge_cut, judge_sets
from service.tree.kernels.sets import ROUNDING, tell_table
from service.tree.kernels.weighed import LANES, NEAR, NOTHING, ONE, SHORT, quick

NEARLY_NONE = 1e-13  # of a class: less is what rounding left of it


@lean
def search_table(
    rules: Rules, columns: Columns, work: Work, stock: Stock, table: Any, quickly: Any,
    weight: float,
) -> None:  # fmt: skip
    """Writes down the best split of each attribute; the bins of a column are added up on the way.

    Where only the best of all counts, an attribute that cannot be it has none.
    """
    is_race = not rules.by_ratio and rules.cost_rule == NO_COST
    to_beat = 0.0 if is_race else -np.inf
    for attribute in range(len(columns.facts)):
        work.found[attribute, FOUND] = 0
        work.found[attribute, FILLED] = np.nan
        span = (stock.starts[attribute], stock.starts[attribute + 1] - 1)
        if columns.facts[attribute, IS_CATEGORICAL]:
            _search_sets(rules, columns, work, attribute, table, span[0], weight)
        else:
            _search_bins(rules, work, attribute, table, span, quickly, weight, to_beat)
        if is_race and work.found[attribute, FOUND] > 0:
            to_beat = max(to_beat, work.found[attribute, GAIN_HERE])


@lean
def _search_sets(
    rules: Rules, columns: Columns, work: Work, attribute: int, table: Any, start: int,
    weight: float,
) -> None:  # fmt: skip
    """Writes down the best division of an attribute's categories."""
    n_values, line = columns.facts[attribute, N_VALUES], columns.facts[attribute, PLACE]
    lines, least = (
        work.table[work.starts[line] : work.starts[line + 1]],
        rules.min_weight - ROUNDING,
    )
    n_used = n_enough = 0
    for category in range(n_values):
        used = 0.0
        for number in range(table.shape[0]):
            lines[category, number] = table[number, start + category]
            used += lines[category, number]
        n_used += 1 if used > 0 else 0
        n_enough += 1 if used >= least else 0
    if n_used < 2 or (n_enough < 2 and rules.categorical == MULTIWAY):
        return  # as below a split by the attribute
    for number in range(table.shape[0]):
        lines[n_values, number] = 0.0
    tell_table(n_values, lines, work.sums)
    tell_null(work.sums)
    split, here = divide_sets(
        rules, n_values, False, work.sides, attribute, lines, work.sums, work.parts
    )
    if split > 0:
        judge_sets(
            rules, split, here, n_values if split == MULTIWAY else 2, False, weight, work.sums,
            work.parts, work.found, attribute,
        )  # fmt: skip


@lean
def tell_null(sums: Any) -> None:
    """Writes down the statistics of the rows that do not know: what is not known."""
    for number in range(sums.shape[1]):
        rest = sums[TOTAL, number] - sums[KNOWN, number]
        sums[NULL, number] = rest if rest > NEARLY_NONE * sums[TOTAL, number] else 0.0


@lean
def _search_bins(
    rules: Rules, work: Work, attribute: int, table: Any, span: tuple[int, int], quickly: Any,
    weight: float, to_beat: float,
) -> None:  # fmt: skip
    """Writes down the best cut between the bins of a column."""
    sums, least = work.sums, rules.min_weight - ROUNDING
    if span[0] == span[1] or weight_between(table, span) < 2.0 * least - ROUNDING:
        return
    _accumulate(table, span)
    for number in range(table.shape[0]):
        sums[KNOWN, number] = table[number, span[1] - 1]
    known = weight_of(rules.criterion, sums, KNOWN)
    low, high = _window(table, span, known, least)
    if low > high:
        return
    tell_null(sums)
    base = score(rules.criterion, sums, KNOWN)
    at, here = _scan(
        rules.criterion, table, low, high, sums, known, quickly, rules.tie * weight,
        base + to_beat * weight,
    )  # fmt: skip
    if at >= 0:
        work.found[attribute, FOUND], work.found[attribute, CUT] = THRESHOLD, at - span[0]
        work.found[attribute, GAIN_HERE] = (here - base) / weight
        if rules.by_ratio:
            left = _size(table, at)
            judge_cut(rules, left, False, sums, work.parts, work.found, attribute)


@lean
def _accumulate(table: Any, span: tuple[int, int]) -> None:
    """Makes each line hold all up to it; of two classes at a time, which do not wait."""
    for number in range(0, table.shape[0], 2):
        other = min(number + 1, table.shape[0] - 1)
        here = there = 0.0
        for line in range(span[0], span[1]):
            here += table[U(number), U(line)]
            there += table[U(other), U(line)]
            table[U(number), U(line)] = here
            if other != number:
                table[U(other), U(line)] = there


@lean
def _size(table: Any, line: int) -> float:
    """The weight up to a line, whose weights have been added up."""
    total = 0.0
    for number in range(table.shape[0]):
        total += table[U(number), U(line)]
    return total


@lean
def _window(table: Any, span: tuple[int, int], known: float, least: float) -> tuple[int, int]:
    """The first and the last line that leave weight, and as much as is asked for, on both sides."""
    low, high = span
    while low < high:
        middle = (low + high) >> 1
        left = _size(table, middle)
        if left > 0 and left >= least:
            high = middle
        else:
            low = middle + 1
    first, low, high = low, low, span[1]
    while low < high:
        middle = (low + high) >> 1
        right = known - _size(table, middle)
        if right > 0 and right >= least:
            low = middle + 1
        else:
            high = middle
    return first, low - 1


@lean
def _scan(
    criterion: int, table: Any, low: int, high: int, sums: Any, known: float, quickly: Any,
    tie: float, best: float,
) -> tuple[int, float]:  # fmt: skip
    """The first line that is better to cut behind by more than a tie, or -1, and the best score.

    A line without weight is as good as the one before it, which is taken.
    """
    at, limit, is_quick = -1, -np.inf, criterion == GAIN
    if is_quick:
        highest, error = (
            known * _measure(table, low, high, sums, 1.0 / known, quickly),
            NEAR * known,
        )
        limit = max(best + tie - error, highest - 2.0 * (tie + error))
        if highest <= limit:
            return at, best
    for line in range(low, high + 1):
        if is_quick and known * quickly[U(line - low)] <= limit:
            continue
        for number in range(sums.shape[1]):
            sums[LEFT, number] = table[number, line]
            sums[RIGHT, number] = max(sums[KNOWN, number] - table[number, line], 0.0)
        here = score(criterion, sums, LEFT) + score(criterion, sums, RIGHT)
        if here > best + tie:
            best, at = here, line
    return at, best


@lean
def _measure(table: Any, low: int, high: int, sums: Any, scale: float, quickly: Any) -> float:
    """The highest quick score of the cuts behind some lines; each is written down."""
    n_lines = (high - low + LANES) & -LANES  # whatever the last ones are: there is room behind
    for number in range(table.shape[0]):
        whole = SHORT(sums[KNOWN, number] * scale)
        for at in range(n_lines):
            left = SHORT(table[U(number), U(low + at)] * scale)
            here = quick(left) + quick(max(whole - left, NOTHING))
            quickly[U(at)] = here if number == 0 else quickly[U(at)] + here
    for at in range(n_lines):
        size = NOTHING
        for number in range(table.shape[0]):
            size += SHORT(table[U(number), U(low + at)] * scale)
        quickly[U(at)] -= quick(size) + quick(max(ONE - size, NOTHING))
    highest = -np.inf
    for at in range(high - low + 1):
        highest = max(highest, np.float64(quickly[U(at)]))
    return highest


@lean
def next_used(table: Any, line: int, end: int) -> int:
    """The first line behind another that holds any weight, or the end."""
    here, at = _size(table, line), line + 1
    while at < end and _size(table, at) <= here:
        at += 1
    return at


@lean
def tell_branch(
    table: Any, span: tuple[int, int], cut: int, ways: Any, branch: int, sums: Any, line: int
) -> float:
    """The weight that knows it goes down a branch; that of each class is written down.

    Of a column that is cut, not below 0, the lines have been added up.
    """
    total = 0.0
    for number in range(table.shape[0]):
        here = 0.0
        if cut >= 0:
            left = table[number, span[0] + cut]
            here = left if branch == 0 else table[number, span[1] - 1] - left
        else:
            for at in range(span[0], span[1]):
                here += table[number, at] if ways[at] == branch else 0.0
        sums[line, number] = here
        total += here
    return total
