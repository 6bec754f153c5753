"""The columns of a dataset in bins, made once; trees are grown from histograms of them.

An attribute whose values have an order gets a bin for each value where there are few of them, else
bins of about as many rows each. Categorical attributes stay as they are.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.crew import crew
from service.tree.dataset import Dataset
from service.tree.kernels.bins import N_CODES, NULL_CODE, Bins, place_bounds, write_codes
from service.tree.kernels.rooms import ATTRIBUTE, HIGH, LOW, NODE_FILLED, Nodes
from service.tree.presort import Presorted, Tell, in_silence, in_threads, is_ordered, unsorted

SAMPLE = 50_000  # rows by which the bins of large data are made
BLOCK = 1 << 15  # rows whose codes are written at a time, so that they stay at hand
SEED = 0  # of the sample: the same rows have the same bins


@dataclass(frozen=True)
class Binned:
    """Rows, and the bin of each in every column."""

    columns: Presorted  # without the columns in order
    bins: Bins


def bin_columns(data: Dataset, rows: Ints, most: int, tell: Tell = in_silence) -> Binned:
    """The rows of a dataset, each ordered attribute in at most so many bins."""
    ordered = np.flatnonzero(is_ordered(data)).tolist()
    columns = [np.ascontiguousarray(data.values[:, attribute]) for attribute in ordered]
    uppers, n_bins = np.full((len(columns), N_CODES), np.inf), np.ones(len(columns), np.int64)
    sample = rows
    if len(rows) > SAMPLE:
        sample = rows[np.sort(np.random.default_rng(SEED).integers(len(rows), size=SAMPLE))]

    def place(numbers: Iterable[int], chosen: Ints = sample) -> None:
        for number in numbers:
            known = np.sort(columns[number][chosen])
            n_known = len(known) - int(np.isnan(known).sum())
            uppers[number] = np.inf
            n_bins[number] = place_bounds(known, n_known, most, uppers[number])

    came = crew().submit(unsorted, data, rows)  # which takes as long as the bins of some columns
    in_threads(place, len(columns), len(rows), tell)
    codes = np.empty((len(rows), len(columns)), np.uint8)
    ends = _written(columns, rows, uppers, codes, range(len(columns)), tell)
    missed = _missed(uppers, n_bins, ends, most) if len(sample) < len(rows) else []
    if missed:
        place(missed, rows)
        ends[missed] = _written(columns, rows, uppers, codes, missed, tell)[missed]
    lowest, highest = ends[:, :NULL_CODE].copy(), uppers
    highest[np.arange(len(columns)), np.maximum(n_bins, 1) - 1] = ends[:, NULL_CODE]
    return Binned(came.result(), Bins(codes, lowest, highest, n_bins))


def _missed(uppers: Floats, n_bins: Ints, ends: Floats, most: int) -> list[int]:
    """The columns of which a sample showed few values, or none, and there are others."""
    found = []
    for number, n in enumerate(n_bins.tolist()):
        is_each = np.array_equal(ends[number, : n - 1], uppers[number, : n - 1])
        is_last = n > 0 and ends[number, n - 1] == ends[number, NULL_CODE]
        if n < most and not (is_each and is_last):
            found.append(number)
    return found


def _written(
    columns: list[Floats], rows: Ints, uppers: Floats, codes: Any, chosen: Iterable[int],
    tell: Tell,
) -> Floats:  # fmt: skip
    """Per column the lowest value of each bin, and last the highest of all; codes are written."""
    blocks = range(0, len(rows), BLOCK)
    made = []

    def write(places: Iterable[int]) -> None:
        ends = np.full((len(columns), N_CODES), np.inf)
        ends[:, NULL_CODE] = -np.inf
        made.append(ends)
        for place in places:
            end = min(blocks[place] + BLOCK, len(rows))
            for number in chosen:
                write_codes(
                    columns[number], rows, blocks[place], end, uppers[number], codes, number,
                    ends[number],
                )  # fmt: skip

    in_threads(write, len(blocks), len(rows), tell)
    ends: Floats = np.min(made, axis=0)
    ends[:, NULL_CODE] = np.max(made, axis=0)[:, NULL_CODE]
    return ends


def some_rows(whole: Binned, chosen: Bools) -> Binned:
    """Some of the rows, in the same bins."""
    columns, bins = whole.columns, whole.bins
    entries = columns.entries[chosen]
    row_mask = entries.dtype.type(columns.layout.row_mask)
    entries = (entries & ~row_mask) | np.arange(len(entries), dtype=entries.dtype)
    few = Presorted(columns.layout, entries, columns.codes[chosen], columns.rows[chosen])
    return Binned(few, bins._replace(codes=bins.codes[chosen]))


def widen(data: Dataset, bins: Bins, nodes: Nodes) -> None:
    """Makes the values on both sides of each cut the ends of their bins."""
    for column, attribute in enumerate(np.flatnonzero(is_ordered(data)).tolist()):
        here = np.flatnonzero(nodes.links[:, ATTRIBUTE] == attribute)
        highest = bins.highest[column, : bins.n_bins[column]]
        for which, ends in ((LOW, highest), (HIGH, bins.lowest[column]), (NODE_FILLED, highest)):
            known = here[~np.isnan(nodes.numbers[here, which])]
            places = np.searchsorted(highest, nodes.numbers[known, which])
            nodes.numbers[known, which] = ends[places]
