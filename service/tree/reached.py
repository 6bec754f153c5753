"""Reached: what is told of rows with nulls, by looking up the leaves that they come to."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from math import nan, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from service.tree.arrays import Floats, Ints
from service.tree.compiled import CompiledTree
from service.tree.mixture import Mixture
from service.tree.predict import Predictions, predict
from service.tree.reach import GROUP, PATTERNS, Reach
from service.tree.route import Routed

MOST_ROWS = 1000  # looked up together


def predict_by(reach: Reach, values: Floats) -> Predictions:
    """The predictions for rows of numbers (row, attribute), divided by weight where one is NaN."""

    def look_up(
        _compiled: CompiledTree, values: Floats, _missing: str, _mixture: Mixture | None
    ) -> Iterator[Routed]:
        for start in range(0, len(values), MOST_ROWS):
            yield _routed(reach, values[start : start + MOST_ROWS], start)

    return predict(reach.compiled, values, router=look_up)


def _routed(reach: Reach, values: Floats, first_row: int) -> Routed:
    words = np.full((len(values), reach.n_line // 8), -1).view(np.uint64)
    patterns = np.zeros(len(values), dtype=np.int64)
    for at, column in enumerate(reach.columns):
        given = values[:, column.attribute]
        is_null = np.isnan(given)
        lines = column.cut.searchsorted(given) if column.cuts else given
        lines = np.where(is_null, len(column.table) - 1, lines).astype(np.int64)
        words &= column.table.take(lines, axis=0)
        patterns |= is_null.astype(np.int64) << at
    rows, places = _pairs(words)
    weights = np.ones(len(rows))
    for group, shares in enumerate(reach.shares):
        starts = (patterns >> GROUP * group & PATTERNS - 1) * len(reach.leaves)
        weights *= shares.take(starts.take(rows) + places)
    met = _met(reach, rows, places, patterns)
    met[:, 0] += first_row
    return Routed(rows + first_row, reach.leaves.take(places), weights, met)


def _pairs(words: npt.NDArray[np.uint64]) -> tuple[Ints, Ints]:
    """The rows whose bits are set in words (row, word), and which bits these are."""
    (held,) = words.ravel().nonzero()  # most words hold no leaf
    marks = np.unpackbits(words.ravel().take(held).view(np.uint8), bitorder="little")
    (bits,) = marks.view(np.bool_).nonzero()
    held = held.take(bits >> 6)
    rows = held // words.shape[1]
    return rows, (held - rows * words.shape[1] << 6) + (bits & 63)


def _met(reach: Reach, rows: Ints, places: Ints, patterns: Ints) -> Ints:
    """The pairs (row, attribute) of what is unknown and asked for on the way to a leaf."""
    starts = rows.searchsorted(np.arange(len(patterns)))  # every row reaches a leaf
    asked = np.bitwise_or.reduceat(reach.asked.take(places), starts) & patterns
    met = np.argwhere(asked[:, None] >> np.arange(len(reach.columns)) & 1)
    met[:, 1] = np.array([column.attribute for column in reach.columns]).take(met[:, 1])
    return met


class Mixed(NamedTuple):
    """What is told of one row for which a null mattered."""

    probabilities: list[float]  # in regression the mean alone
    lowest: list[float]
    highest: list[float]
    deviation: float
    n_leaves: int
    unknown: list[int]  # the attributes that mattered


def mix(reach: Reach, row: Sequence[float | None]) -> Mixed:
    """What is told of one row of numbers, None being null: as among others, in fewer steps.

    Of numpy it takes what lets no other thread go first where there is little to do.
    """
    bits, pattern = _look_up(reach, row)
    places = _places(bits, reach.n_line)
    answers = [each[places] for each in reach.answers]
    weights = _weights(reach, places, pattern)
    # shares sum to one only up to rounding; a single leaf is exact as it is
    total = _summed(weights) if len(places) > 1 else 1.0
    means = [_summed(weights * each) / total for each in answers]
    spread = nan
    if reach.compiled.tree.is_regression:
        apart = answers[0] - means[0]
        spread = _summed(weights * (reach.variance[places] + apart * apart)) / total
    met = int(np.bitwise_or.reduce(reach.asked[places])) & pattern
    unknown = [each.attribute for at, each in enumerate(reach.columns) if met >> at & 1]
    lowest = [float(np.minimum.reduce(each)) for each in answers]
    highest = [float(np.maximum.reduce(each)) for each in answers]
    return Mixed(means, lowest, highest, sqrt(spread), len(places), unknown)


def _summed(terms: Floats) -> float:
    """The sum in the order of `reduceat`, so that not a bit differs."""
    return float(np.add.reduce(terms[1:], initial=terms[0]))


def _look_up(reach: Reach, row: Sequence[float | None]) -> tuple[int, int]:
    """The leaves that a row reaches, and the columns that it does not know, both as bits."""
    bits, pattern, n_line = -1, 0, reach.n_line
    for at, (attribute, cuts, _, lines, table) in enumerate(reach.columns):
        value = row[attribute]
        if value is None:
            pattern |= 1 << at
            start = (len(table) - 1) * n_line
        else:
            start = (bisect_left(cuts, value) if cuts else int(value)) * n_line
        bits &= int.from_bytes(lines[start : start + n_line], "little")
    return bits, pattern


def _places(bits: int, n_line: int) -> Ints:
    """Where bits are set; most bytes hold none."""
    octets = np.frombuffer(bits.to_bytes(n_line, "little"), dtype=np.uint8)
    (held,) = octets.nonzero()
    marks = np.unpackbits(octets[held], bitorder="little").view(np.bool_)
    (places,) = marks.nonzero()
    found: Ints = (held << 3)[places >> 3] + (places & 7)
    return found


def _weights(reach: Reach, places: Ints, pattern: int) -> Floats:
    """How much of a row with such a pattern of nulls comes to each of these leaves."""
    n_leaves, weights = len(reach.leaves), None
    for shares in reach.shares:
        start = (pattern & PATTERNS - 1) * n_leaves
        if start:  # else all of it, whatever the leaf
            more = shares[start : start + n_leaves][places]
            weights = more if weights is None else weights * more
        pattern >>= GROUP
    return np.ones(len(places)) if weights is None else weights
