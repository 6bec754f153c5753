"""Sorting a column by numbers that hold the upper bits of a value, and the row.

One number to move instead of two, and all digits are counted at once. Values that differ only in
the bits that are left out are told apart by a second look at them.
"""

from typing import Any

import numpy as np

from service.tree.kernels.compile import lean
from service.tree.kernels.entries import Layout, U

DIGIT = 11  # bits that are sorted by at a time
SHIFTS = (np.uint64(31), np.uint64(42), np.uint64(53))  # where the digits begin
MASK = np.uint64((1 << DIGIT) - 1)
N_COUNTS = 3 << DIGIT
MOST_STEPS = 64  # that a value may be out of its place once it is sorted by the digits
MOST_ROWS = 1 << 24  # with more, too few bits of the values are left
SIGN = np.uint64(1 << 63)


@lean
def key_of(value: float) -> np.uint64:
    """A whole number in the same order as the values; -0.0 is 0.0."""
    bits = np.float64(value + 0.0).view(np.uint64)
    return ~bits if bits & SIGN else bits | SIGN


@lean
def _pack(values: Any, rows: Any, low: Any, words: Any, out: Any, counts: Any) -> tuple[int, Any]:
    """How many rows know their value, and the bits that were left out; nulls end `out`, turned."""
    n_known, at, dropped = 0, len(rows), U(0)
    for number in range(N_COUNTS):
        counts[number] = 0
    for number in range(len(rows)):
        value = values[rows[U(number)]]
        if np.isnan(value):
            at -= 1
            out[U(at)] = number
            continue
        key = key_of(value)
        dropped |= key & low
        word = (key & ~low) | U(number)
        words[U(n_known)] = word
        n_known += 1
        for digit in range(3):
            counts[(U(digit) << U(DIGIT)) + ((word >> SHIFTS[digit]) & MASK)] += 1
    return n_known, dropped


@lean
def _pass(shift: Any, words: Any, to_words: Any, n_known: int, counts: Any, first: int) -> bool:
    """Whether the words differed in a digit; then they are sorted by it, equals as they were."""
    total = 0
    for number in range(first, first + (1 << DIGIT)):
        if counts[number] == n_known:
            return False
        counts[number], total = total, total + counts[number]
    for place in range(n_known):
        word = words[U(place)]
        number = U(first) + ((word >> shift) & MASK)
        to_words[U(counts[number])] = word
        counts[number] += 1
    return True


@lean
def _is_after(one: Any, other: Any, low: Any, dropped: Any, values: Any, rows: Any) -> bool:
    """Whether a row comes after another, by its value and then by its number."""
    if (one ^ other) & ~low != 0 or dropped == 0:
        return bool(one > other)
    key = key_of(values[rows[one & low]])
    beside = key_of(values[rows[other & low]])
    return bool(key > beside or (key == beside and one > other))


@lean
def _mended(words: Any, n_known: int, low: Any, dropped: Any, values: Any, rows: Any) -> bool:
    """Whether the lower bits could be put in order by a few steps each."""
    for place in range(1, n_known):
        word, at = words[U(place)], place
        while at > 0 and _is_after(words[U(at - 1)], word, low, dropped, values, rows):
            words[U(at)] = words[U(at - 1)]
            at -= 1
            if place - at > MOST_STEPS:
                return False
        words[U(at)] = word
    return True


@lean
def _write(
    words: Any, n_known: int, low: Any, dropped: Any, values: Any, rows: Any, plain: Any,
    layout: Layout, out: Any,
) -> None:  # fmt: skip
    """The entries of a column in order; the numbers of the nulls are there, from the last on."""
    first, last = n_known, len(rows) - 1
    while first < last:
        out[U(first)], out[U(last)] = out[U(last)], out[U(first)]
        first, last = first + 1, last - 1
    for place in range(n_known, len(rows)):
        out[U(place)] = plain[U(out[U(place)])] | layout.null_bit
    before = ~words[U(0)] if n_known > 0 else U(0)
    for place in range(n_known):
        word = words[U(place)]
        entry, row = U(plain[word & low]), rows[word & low]
        if (word ^ before) & ~low == 0 and (
            dropped == 0 or key_of(values[row]) == key_of(values[rows[before & low]])
        ):
            entry |= layout.tie_bit
        out[U(place)] = entry
        before = word


@lean
def sort_packed(
    values: Any, rows: Any, words: Any, spare: Any, counts: Any, plain: Any, layout: Layout,
    out: Any,
) -> bool:  # fmt: skip
    """Whether the entries of a column could be put in the order of its values in this way."""
    low = layout.row_mask
    if len(rows) > MOST_ROWS:
        return False
    n_known, dropped = _pack(values, rows, low, words, out, counts)
    for digit in range(3):
        if _pass(SHIFTS[digit], words, spare, n_known, counts, digit << DIGIT):
            words, spare = spare, words
    if not _mended(words, n_known, low, dropped, values, rows):
        return False
    _write(words, n_known, low, dropped, values, rows, plain, layout, out)
    return True
