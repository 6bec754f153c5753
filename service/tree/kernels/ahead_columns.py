"""Writing answers by column, as processes without numba call it."""

from typing import Any

import numpy as np

from service.tree.kernels.ahead_write import texts_at
from service.tree.kernels.compile import merged
from service.tree.kernels.entries import U
from service.tree.kernels.memory import array_at, move_eight, put_eight
from service.tree.kernels.shapes import (
    CERTAIN,
    CLASS,
    CLASSES,
    END,
    LEAVES,
    MEMO_BITS,
    N_LEAVES,
    N_TENS,
    NOTHING,
)
from service.tree.kernels.signed import FLOATS, INTS, LETTERS, WHOLE, WIDE, signed
from service.tree.kernels.write import COMMA, Texts, copy, write_number
from service.tree.kernels.write_float import write_float

TRUE, FALSE = (U(int.from_bytes(text, "little")) for text in (b"true,   ", b"false,  "))
SPREAD = U(0x9E3779B97F4A7C15)


@merged
def _write_floats(
    numbers: Any, column: int, width: int, n_rows: int, wide: Any, memo: Any, out: Any, at: int
) -> int:
    """Where a column ends; what was written not long ago is copied from there.

    Leaves say the same again and again, and so do the bounds of what is mixed of them.
    """
    for row in range(n_rows):
        bits = np.float64(numbers[U(row * width + column)]).view(np.uint64)
        slot = (bits * SPREAD) >> U(64 - MEMO_BITS) << U(1)
        place = memo[slot + U(1)]
        if memo[slot] == bits and place != U(0):
            start = np.int64(place >> U(8))
            move_eight(out, start, out, at)
            move_eight(out, start + 8, out, at + 8)
            move_eight(out, start + 16, out, at + 16)
            at += np.int64(place & U(255))
        else:
            end = write_float(bits, wide, out, at)
            memo[slot], memo[slot + U(1)] = bits, U(at) << U(8) | U(end - at)
            at = end
        out[U(at)] = COMMA
        at += 1
    return at


@merged
def _write_classes(classes: Texts, marks: Any, n_marks: int, n_rows: int, out: Any, at: int) -> int:
    """Likewise; the last text is for rows without an answer."""
    nobody = len(classes.starts) - 2
    for row in range(n_rows):
        mark = row * n_marks
        is_told = marks[U(mark + N_LEAVES)] > 0
        at = copy(classes, marks[U(mark + CLASS)] if is_told else nobody, out, at)
    return at


@merged
def _write_leaves(marks: Any, n_marks: int, n_rows: int, out: Any, at: int) -> int:
    """Likewise how many leaves there are."""
    for row in range(n_rows):
        at = write_number(marks[U(row * n_marks + N_LEAVES)], out, at)
        out[U(at)] = COMMA
        at += 1
    return at


@merged
def _write_certain(weight: Any, marks: Any, n_marks: int, n_rows: int, out: Any, at: int) -> int:
    """Likewise whether they knew the way to a leaf that training rows had reached."""
    for row in range(n_rows):
        leaf = marks[U(row * n_marks + END)]
        is_certain = leaf >= 0 and weight[U(max(leaf, 0))] > 0.0
        put_eight(TRUE if is_certain else FALSE, out, at)
        at += 5 if is_certain else 6
    return at


@signed(
    *(LETTERS, INTS, WHOLE, INTS, WHOLE, WHOLE, LETTERS, INTS, WHOLE, WIDE),
    *(FLOATS, WHOLE, FLOATS, WHOLE, INTS, WHOLE, WHOLE),
    *(WIDE, LETTERS, WHOLE, INTS),
)
def write_columns(
    letters: Any, starts: Any, n_pieces: int, kinds: Any, first: int, last: int,
    class_letters: Any, class_starts: Any, n_texts: int, tens: Any,
    weight: Any, n_nodes: int, numbers: Any, width: int, marks: Any, n_marks: int, n_rows: int,
    memo: Any, out: Any, n_out: int, ends: Any,
) -> None:  # fmt: skip
    """Writes columns from the first to before the last, each behind its piece.

    It begins where the ends say, and tells them where it ended.
    """
    pieces = texts_at(letters, starts, n_pieces)
    classes, wide = texts_at(class_letters, class_starts, n_texts), array_at(tens, 2 * N_TENS)
    all_weights, known = array_at(weight, n_nodes), array_at(memo, 2 << MEMO_BITS)
    all_numbers, all_marks = array_at(numbers, n_rows * width), array_at(marks, n_rows * n_marks)
    text, all_kinds, end = array_at(out, n_out), array_at(kinds, n_pieces), array_at(ends, 1)
    at = end[0]
    for column in range(first, last):
        at, kind = copy(pieces, column, text, at), all_kinds[column]
        if kind == CLASSES:
            at = _write_classes(classes, all_marks, n_marks, n_rows, text, at)
        elif kind == LEAVES:
            at = _write_leaves(all_marks, n_marks, n_rows, text, at)
        elif kind == CERTAIN:
            at = _write_certain(all_weights, all_marks, n_marks, n_rows, text, at)
        elif kind != NOTHING:
            at = _write_floats(all_numbers, kind, width, n_rows, wide, known, text, at)
        at -= np.int64(kind != NOTHING)  # behind the last there is no comma
    end[0] = at
