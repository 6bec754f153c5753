"""Writing kernel: what is told of rows as text, between pieces that are the same for all of them.

It is compiled for processes without numba (see `ahead`).
"""

from typing import Any, NamedTuple

import numpy as np
from numba.cpython.unsafe import numbers

from service.tree.kernels.compile import merged
from service.tree.kernels.entries import U
from service.tree.kernels.memory import eight_at, move_eight
from service.tree.kernels.shapes import CLASS, MET, N_LEAVES

COMMA, END_OF_LIST, START_OF_LIST, ZERO = ord(","), ord("]"), ord("["), ord("0")
EIGHT = 8  # letters are copied at once; so there must be room behind them, where they come from too
ONES, TOPS = U(0x0101010101010101), U(0x8080808080808080)
COMMAS, ENDS_OF_LIST = U(COMMA * 0x0101010101010101), U(END_OF_LIST * 0x0101010101010101)
trailing_zeros: Any = numbers.trailing_zeros


class Texts(NamedTuple):
    """Some texts one after the other, and where each begins."""

    letters: Any
    starts: Any


@merged
def copy(texts: Texts, number: int, out: Any, at: int) -> int:
    """Where the text of a number ends that is written there, with some letters too many."""
    start = texts.starts[U(number)]
    length = texts.starts[U(number + 1)] - start
    for done in range(0, length, EIGHT):
        move_eight(texts.letters, start + done, out, at + done)
    return at + length


@merged
def _where(letters: Any, wanted: Any) -> Any:
    """Eight letters with a bit in the first of them that is the wanted one, and maybe above it."""
    others = letters ^ wanted
    return (others - ONES) & ~others & TOPS


@merged
def copy_token(tokens: Any, token: int, out: Any, at: int) -> tuple[int, int]:
    """Where the next token begins, and where this one ends that is written there; likewise."""
    found = U(0)
    while found == U(0):
        letters = eight_at(tokens, token)
        move_eight(tokens, token, out, at)
        found = _where(letters, COMMAS) | _where(letters, ENDS_OF_LIST)
        token, at = token + EIGHT, at + EIGHT
    too_many = EIGHT - (np.int64(trailing_zeros(found)) >> 3)
    return token - too_many + 1, at - too_many


@merged
def write_number(number: int, out: Any, at: int) -> int:
    """Where a number ends that is written there; none is negative."""
    n_digits, rest = 1, number // 10
    while rest > 0:
        n_digits, rest = n_digits + 1, rest // 10
    for place in range(n_digits):
        out[U(at + n_digits - 1 - place)] = np.uint8(ZERO + number % 10)
        number //= 10
    return at + n_digits


@merged
def write_names(marks: Any, mark: int, n_words: int, names: Texts, out: Any, at: int) -> int:
    """Where the names end of those attributes that are marked, with a comma between each two."""
    start = at
    for word in range(n_words):
        bits, first = marks[U(mark + MET + word)], word << 6
        while bits != 0:
            at = copy(names, first + np.int64(trailing_zeros(bits)), out, at)
            out[U(at)] = COMMA
            at, bits = at + 1, bits & (bits - 1)
    return at - 1 if at > start else at


@merged
def write_row(
    n_heads: int, shape: tuple[int, int, int], pieces: Texts, names: Texts,
    marks: Any, mark: int, tokens: Any, token: int, out: Any, at: int,
) -> tuple[int, int]:  # fmt: skip
    """Where the tokens of the next row begin, and where the text of this one ends.

    It has the head of its class, tokens with a piece behind each, how many leaves, a piece, names,
    a piece, and again tokens with a piece behind each.
    """
    n_before, n_after, n_words = shape
    piece = n_heads
    at = copy(pieces, marks[U(mark + CLASS)], out, at)
    while tokens[U(token)] == START_OF_LIST or tokens[U(token)] == COMMA:
        token += 1
    for number in range(n_before + n_after):
        if number == n_before:
            at = write_number(marks[U(mark + N_LEAVES)], out, at)
            at = copy(pieces, piece, out, at)
            at = write_names(marks, mark, n_words, names, out, at)
            at = copy(pieces, piece + 1, out, at)
            piece += 2
        token, at = copy_token(tokens, token, out, at)
        at = copy(pieces, piece, out, at)
        piece += 1
    return token, at
