"""Bins: the values of a column in so few pieces that a byte says which one a row is in."""

from typing import Any, NamedTuple

import numpy as np

from service.tree.kernels.compile import lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.rooms import APART, TARGET, WEIGHT, Room
from service.tree.kernels.score import SQUARED_ERROR

N_CODES = 256
NULL_CODE = 255  # behind all bins


class Bins(NamedTuple):
    """The bins of the columns."""

    codes: Any  # (row, column)
    lowest: Any  # (column, bin): of its values
    highest: Any
    n_bins: Any  # per column


@lean
def place_bounds(values: Any, n_known: int, most: int, uppers: Any) -> int:
    """How many bins there are; the highest value of each but the last is written down.

    The values are in order. Each has a bin of its own where there are no more than so many; else
    the bins hold about as many rows each, and one that many rows have leaves more to the others.
    """
    n_bins, n_in, n_left = 0, 0, n_known
    is_each = count_distinct(values, n_known, most) <= most
    start = 0
    while start < n_known:
        end = start + 1
        while end < n_known and values[end] == values[start]:
            end += 1
        size, wanted = end - start, n_left / (most - n_bins)
        is_full = is_each or n_in + 0.5 * size > wanted
        if n_in > 0 and is_full and n_bins < most - 1:
            uppers[n_bins] = values[start - 1]
            n_bins, n_left, n_in = n_bins + 1, n_left - n_in, 0
        n_in += size
        start = end
    return n_bins + (1 if n_in > 0 else 0)


@lean
def count_distinct(values: Any, n_known: int, most: int) -> int:
    """How many values there are, or one more than asked for; they are in order."""
    found = 1 if n_known > 0 else 0
    for place in range(1, n_known):
        found += 1 if values[place] != values[place - 1] else 0
        if found > most:
            break
    return found


@lean
def write_codes(
    values: Any, rows: Any, start: int, end: int, uppers: Any, codes: Any, column: int, ends: Any
) -> None:
    """Writes down the bins of some rows, and the lowest value of each bin and the highest of all.

    Behind the highest values of the bins there is infinity.
    """
    most = ends[NULL_CODE]
    for number in range(start, end):
        value = values[U(rows[U(number)])]
        if np.isnan(value):
            codes[U(number), U(column)] = NULL_CODE
            continue
        code, step = U(0), U(128)
        while step > U(0):
            beyond = value > uppers[code + step - U(1)]
            code += step if beyond else U(0)
            step >>= U(1)
        codes[U(number), U(column)] = code
        if value < ends[code]:
            ends[code] = value
        most = max(most, value)
    ends[NULL_CODE] = most


@lean
def fill_counts(
    entries: Any, start: int, end: int, layout: Layout, codes: Any, first: int, last: int,
    table: Any,
) -> None:  # fmt: skip
    """Counts the rows of each class in each bin of some columns."""
    for place in range(start, end):
        entry = U(entries[U(place)])
        row, number = entry & layout.row_mask, (entry >> layout.shift) & layout.class_mask
        for column in range(first, last):
            line = (U(column) << U(8)) + U(codes[row, U(column)])
            table[line, number] += 1


@lean
def fill_sums(
    entries: Any, start: int, end: int, layout: Layout, rows: Any, codes: Any, first: int,
    last: int, criterion: int, table: Any,
) -> None:  # fmt: skip
    """Adds up weights by class, or weights and weight x target, in each bin of some columns."""
    for place in range(start, end):
        entry = U(entries[U(place)])
        row = entry & layout.row_mask
        weight = rows[WEIGHT, row]
        if criterion == SQUARED_ERROR:
            moment = weight * rows[APART, row]
            for column in range(first, last):
                line = (U(column) << U(8)) + U(codes[row, U(column)])
                table[line, 0] += weight
                table[line, 1] += moment
        else:
            number = (entry >> layout.shift) & layout.class_mask
            for column in range(first, last):
                line = (U(column) << U(8)) + U(codes[row, U(column)])
                table[line, number] += weight


@lean
def lay_out(
    entries: Any, arrived: Any, whole: Room, codes: Any, layout: Layout, near: Any, room: Room,
    places: Any,
) -> None:  # fmt: skip
    """Lays some rows of a room out in another one, in the order of their bins in every column."""
    for number in range(len(entries)):
        row = U(entries[U(number)]) & layout.row_mask
        above = U(entries[U(number)]) & ~layout.row_mask
        room.entries[U(number)] = above | U(number)
        room.arrived[U(number)] = arrived[U(number)]
        room.origin[U(number)] = whole.origin[row]
        room.rows[TARGET, U(number)] = whole.rows[TARGET, row]
        for column in range(codes.shape[1]):
            near[U(number), U(column)] = codes[row, U(column)]
        for line in range(whole.codes.shape[1]):
            room.codes[U(number), U(line)] = whole.codes[row, U(line)]
    for column in range(codes.shape[1]):
        start = (column + 1) * room.stride
        _sort_codes(near, column, len(entries), layout, places, room.entries, start)


@lean
def _sort_codes(
    near: Any, column: int, n_rows: int, layout: Layout, places: Any, entries: Any, start: int
) -> None:
    """The entries of a column in the order of their codes, which are ties; nulls come last."""
    for code in range(N_CODES):
        places[1, code] = 0
    for number in range(n_rows):
        places[1, U(near[U(number), U(column)])] += 1
    total = start
    for code in range(N_CODES):
        places[0, code] = total
        total += places[1, code]
        places[1, code] = places[0, code]
    for number in range(n_rows):
        own = U(near[U(number), U(column)])
        entry, place = U(entries[U(number)]), places[1, own]
        if own == U(NULL_CODE):
            entry |= layout.null_bit
        elif place > places[0, own]:
            entry |= layout.tie_bit
        entries[U(place)] = entry
        places[1, own] = place + 1
