"""Writing kernel: what is told of rows as text, between pieces that are the same for all of them.

It is compiled for processes without numba (see `ahead`).
"""

from typing import Any, NamedTuple

import numpy as np

from service.tree.kernels.compile import inlined
from service.tree.kernels.entries import U
from service.tree.kernels.memory import move_eight
from service.tree.kernels.shapes import CLASS, MET, N_LEAVES

COMMA, END_OF_LIST, START_OF_LIST, ZERO = ord(","), ord("]"), ord("["), ord("0")
EIGHT = 8  # letters are copied at once; so there must be room behind them, where they come from too
LONGEST = 24  # letters of a number


class Texts(NamedTuple):
    """Some texts one after the other, and where each begins."""

    letters: Any
    starts: Any


@inlined
def copy(texts: Texts, number: int, out: Any, at: int) -> int:
    """Where the text of a number ends that is written there, with some letters too many."""
    start = texts.starts[U(number)]
    length = texts.starts[U(number + 1)] - start
    for done in range(0, length, EIGHT):
        move_eight(texts.letters, start + done, out, at + done)
    return at + length


@inlined
def copy_token(tokens: Any, token: int, out: Any, at: int) -> tuple[int, int]:
    """Where the next token begins, and where this one ends that is written there; likewise."""
    for done in range(0, LONGEST, EIGHT):
        move_eight(tokens, token + done, out, at + done)
    length = 0
    while tokens[U(token + length)] != COMMA and tokens[U(token + length)] != END_OF_LIST:
        length += 1
    return token + length + 1, at + length


@inlined
def write_number(number: int, out: Any, at: int) -> int:
    """Where a number ends that is written there; none is negative."""
    n_digits, rest = 1, number // 10
    while rest > 0:
        n_digits, rest = n_digits + 1, rest // 10
    for place in range(n_digits):
        out[U(at + n_digits - 1 - place)] = np.uint8(ZERO + number % 10)
        number //= 10
    return at + n_digits


@inlined
def write_names(marks: Any, mark: int, n_words: int, names: Texts, out: Any, at: int) -> int:
    """Where the names end of those attributes that are marked, with a comma between each two."""
    start = at
    for word in range(n_words):
        bits, attribute = marks[U(mark + MET + word)], word << 6
        while bits != 0:
            if bits & 1:
                if at > start:
                    out[U(at)] = COMMA
                    at += 1
                at = copy(names, attribute, out, at)
            bits, attribute = (bits >> 1) & 0x7FFFFFFFFFFFFFFF, attribute + 1
    return at


@inlined
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
