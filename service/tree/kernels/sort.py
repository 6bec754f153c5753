"""The columns, sorted once: the entries of each in the order of its values, nulls last."""

from typing import Any

import numpy as np

from service.tree.kernels.compile import lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.packed import DIGIT, SIGN, sort_packed

N_DIGITS = 6
UPPER = 3  # digits from which on values hardly ever are the same without being equal
NEIGHBOURS = 1e-5  # to C4.5, values closer than this are not cut apart


@lean
def make_keys(values: Any, rows: Any, keys: Any, order: Any) -> int:
    """How many rows know their value; their keys, whole numbers in the same order, come first."""
    n_known, at = 0, len(rows)
    for number in range(len(rows)):
        value = values[rows[number]]
        if np.isnan(value):
            at -= 1
            order[at] = number
        else:
            bits = np.float64(value + 0.0).view(np.uint64)  # -0.0 is 0.0
            keys[n_known] = ~bits if bits & SIGN else bits | SIGN
            order[n_known] = number
            n_known += 1
    # the nulls were put down from the end
    low, high = n_known, len(rows) - 1
    while low < high:
        order[low], order[high] = order[high], order[low]
        low, high = low + 1, high - 1
    return n_known


@lean
def _pass(
    digit: int, keys: Any, order: Any, to_keys: Any, to_order: Any, n_known: int, counts: Any
) -> bool:
    """Whether the keys differed in a digit; then they are sorted by it, equals as they were."""
    shift, mask = np.uint64(DIGIT * digit), np.uint64((1 << DIGIT) - 1)
    for number in range(1 << DIGIT):
        counts[number] = 0
    for place in range(n_known):
        counts[(keys[place] >> shift) & mask] += 1
    if counts[(keys[0] >> shift) & mask] == n_known:
        return False
    total = 0
    for number in range(1 << DIGIT):
        counts[number], total = total, total + counts[number]
    for place in range(n_known):
        number = (keys[place] >> shift) & mask
        to = counts[number]
        counts[number] = to + 1
        to_keys[to], to_order[to] = keys[place], order[place]
    return True


@lean
def _sorted_from(
    first: int, keys: Any, order: Any, spare_keys: Any, spare_order: Any, n_known: int, counts: Any
) -> None:
    """Sorts keys and order by all digits from the first on."""
    is_swapped = False
    for digit in range(first, N_DIGITS):
        if is_swapped:
            is_moved = _pass(digit, spare_keys, spare_order, keys, order, n_known, counts)
        else:
            is_moved = _pass(digit, keys, order, spare_keys, spare_order, n_known, counts)
        is_swapped = is_swapped != is_moved
    if is_swapped:
        for place in range(n_known):
            keys[place], order[place] = spare_keys[place], spare_order[place]


@lean
def _mended(keys: Any, order: Any, n_known: int) -> bool:
    """Whether the lower digits could be put in order by a few steps each."""
    for place in range(1, n_known):
        key, row, at = keys[place], order[place], place
        while at > 0 and keys[at - 1] > key:
            keys[at], order[at] = keys[at - 1], order[at - 1]
            at -= 1
            if place - at > 64:
                keys[at], order[at] = key, row
                return False
        keys[at], order[at] = key, row
    return True


@lean
def sort_column(
    keys: Any, order: Any, spare_keys: Any, spare_order: Any, n_known: int, counts: Any
) -> None:
    """Sorts the keys and the order with them; equal keys stay as they are."""
    if n_known < 2:
        return
    _sorted_from(N_DIGITS - UPPER, keys, order, spare_keys, spare_order, n_known, counts)
    if not _mended(keys, order, n_known):
        _sorted_from(0, keys, order, spare_keys, spare_order, n_known, counts)


@lean
def write_entries(
    keys: Any, order: Any, n_known: int, plain: Any, layout: Layout, out: Any
) -> None:
    """The entries of a column in order."""
    for place in range(len(order)):
        entry = np.uint64(plain[order[place]])
        if place >= n_known:
            entry |= layout.null_bit
        elif place > 0 and keys[place] == keys[place - 1]:
            entry |= layout.tie_bit
        out[place] = entry


@lean
def is_close(before: float, here: float) -> bool:
    """Whether C4.5 does not cut two values apart; as J48 writes it, for it is a matter of rounding.

    Null before it is close to nothing.
    """
    return here <= before + NEIGHBOURS


@lean
def _mark_close(values: Any, rows: Any, layout: Layout, out: Any, known: Any) -> None:
    """Marks the entries whose values are as good as equal to the one before, to C4.5.

    The values, in order, are written down where there is room for them.
    """
    before = -np.inf
    for place in range(len(out)):
        entry = U(out[U(place)])
        if entry & layout.null_bit:
            return
        here = values[rows[entry & layout.row_mask]] + 0.0  # -0.0 is 0.0
        if is_close(before, here):
            out[U(place)] = entry | layout.close_bit
        if place < len(known):
            known[U(place)] = here
        before = here


@lean
def sort_entries(
    values: Any, rows: Any, keys: Any, order: Any, spare_keys: Any, spare_order: Any,
    counts: Any, plain: Any, layout: Layout, out: Any, is_cautious: bool, known: Any,
) -> None:  # fmt: skip
    """The entries of a column in the order of its values; to the cautious, some are close."""
    if not sort_packed(values, rows, keys, spare_keys, counts, plain, layout, out):
        n_known = make_keys(values, rows, keys, order)
        sort_column(keys, order, spare_keys, spare_order, n_known, counts)
        write_entries(keys, order, n_known, plain, layout, out)
    if is_cautious:
        _mark_close(values, rows, layout, out, known)


@lean
def move_down(known: Any, place: Any, attribute: Any, is_moved: Any, middle: Any) -> None:
    """Moves middles to the largest value of their attribute that is not above them.

    Values are known in order, at the place of their attribute. Those at 0.0 are still to be moved,
    as -0.0 may stand for it.
    """
    for node in range(len(middle)):
        if not is_moved[node]:
            continue
        here, low, high = place[attribute[node]], 0, known.shape[1]
        while low < high:
            half = (low + high) >> 1
            if known[here, half] <= middle[node]:
                low = half + 1
            else:
                high = half
        if known[here, low - 1] != 0:
            middle[node], is_moved[node] = known[here, low - 1], False


@lean
def find_largest(values: Any, rows: Any, marks: Any, firsts: Any, found: Any) -> None:
    """Writes down for each mark, which are in order, the largest value between it and the last.

    What is between the first mark and the last is cut into equal pieces; `firsts` is room for
    the number of the first mark in each, and behind.
    """
    n_pieces, lowest, highest = len(firsts) - 2, marks[0], marks[len(marks) - 1]
    width = highest / n_pieces - lowest / n_pieces
    scale = 1.0 / width if width > 0 and 1.0 / width < np.inf else 0.0
    _place_marks(marks, firsts, lowest, scale)
    for number in range(len(rows)):
        value = values[rows[number]]
        if not value <= highest:  # null is not
            continue
        piece = _piece(value, lowest, scale, n_pieces)
        low, high = firsts[U(piece)], firsts[U(piece + 1)]
        while high > low + 1:
            middle = (low + high) >> 1
            if marks[U(middle)] < value:
                low = middle + 1
            else:
                high = middle
        low += (high > low) & (marks[U(low)] < value)  # no branch to predict
        found[U(low)] = max(found[U(low)], value)


@lean
def _piece(value: float, lowest: float, scale: float, n_pieces: int) -> int:
    place = (value - lowest) * scale
    return int(min(place, float(n_pieces))) if place > 0 else 0  # of infinite ones there is none


@lean
def _place_marks(marks: Any, firsts: Any, lowest: float, scale: float) -> None:
    """Writes down the first mark of each piece; where a piece has none, that of the next."""
    at, n_pieces = 0, len(firsts) - 2
    for piece in range(n_pieces + 2):
        while at < len(marks) and _piece(marks[at], lowest, scale, n_pieces) < piece:
            at += 1
        firsts[piece] = at
