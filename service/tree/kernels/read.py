"""Reading kernel: rows of JSON straight into numbers, where they are as they mostly are.

It knows the names of the attributes, numbers, categories as they are written, and null. At whatever
else there may be it gives up: somebody will read it who knows all of JSON, and takes longer. What
is read must end with some letters that are 0.
"""

from typing import Any, NamedTuple

import numpy as np

from service.tree.kernels.compile import merged
from service.tree.kernels.entries import U
from service.tree.kernels.memory import eight_at
from service.tree.kernels.read_number import ALL, FOUR, GAVE_UP, Powers, read_number
from service.tree.kernels.shapes import BOOK, FIRST_TEXT, MASK, SLOTS, SPREAD

QUOTE, COMMA, COLON, ESCAPE = ord('"'), ord(","), ord(":"), ord("\\")
START_OF_LIST, END_OF_LIST = ord("["), ord("]")
START_OF_OBJECT, END_OF_OBJECT = ord("{"), ord("}")
SPACE, TAB, LINE, RETURN = 32, 9, 10, 13
NULL = U(int.from_bytes(b"null", "little"))
SPREAD_0, SPREAD_1, SPREAD_2 = map(U, SPREAD)


class Lexicon(NamedTuple):
    """All texts that are known, in books: of names, in quotes, and of categories by attribute."""

    letters: Any
    starts: Any  # by text where it begins, and one more
    slots: Any  # by hash the number of a text, -1 for none
    books: Any  # BOOK by book
    book_of: Any  # by attribute; 0 where it has numbers


@merged
def behind_blanks(sent: Any, at: int) -> int:
    """The next place where there is no blank."""
    while sent[U(at)] <= SPACE and (
        sent[U(at)] == SPACE or sent[U(at)] == LINE or sent[U(at)] == RETURN or sent[U(at)] == TAB
    ):
        at += 1
    return at


@merged
def _some(word: Any, n_letters: int) -> Any:
    """The first letters of eight."""
    return word & (ALL >> U(64 - 8 * n_letters)) if n_letters > 0 else U(0)


@merged
def _is_at(lexicon: Lexicon, text: int, sent: Any, at: int) -> bool:
    """Whether a text stands at a place."""
    start, end = lexicon.starts[U(text)], lexicon.starts[U(text + 1)]
    while end - start >= 8:
        if eight_at(lexicon.letters, start) != eight_at(sent, at):
            return False
        start, at = start + 8, at + 8
    apart = eight_at(lexicon.letters, start) ^ eight_at(sent, at)
    return bool(_some(apart, end - start) == 0)


@merged
def _length(sent: Any, at: int) -> int:
    """How many letters there are up to the end of a text that is written as it is."""
    end = at
    while sent[U(end)] != QUOTE:
        if sent[U(end)] == ESCAPE or sent[U(end)] < SPACE:
            return GAVE_UP
        end += 1
    return end - at


@merged
def _hash(first: Any, last: Any, length: int) -> int:
    """What `shapes.hash_of` tells."""
    mixed = (first * SPREAD_0) ^ (last * SPREAD_1) ^ (U(length) * SPREAD_2)
    return np.int64(((mixed ^ (mixed >> U(32))) * SPREAD_0) >> U(33))


@merged
def looked_up(lexicon: Lexicon, book: int, sent: Any, at: int, length: int) -> int:
    """The number within its book of a text that stands at a place."""
    first = _some(eight_at(sent, at), min(length, 8))
    last = eight_at(sent, at + length - 8) if length > 8 else U(0)
    start, mask = lexicon.books[U(BOOK * book + SLOTS)], lexicon.books[U(BOOK * book + MASK)]
    slot = _hash(first, last, length) & mask
    while True:
        text = lexicon.slots[U(start + slot)]
        if text < 0:
            return GAVE_UP
        size = lexicon.starts[U(text + 1)] - lexicon.starts[U(text)]
        if size == length and _is_at(lexicon, text, sent, at):
            return text - lexicon.books[U(BOOK * book + FIRST_TEXT)]
        slot = (slot + 1) & mask


@merged
def read_name(lexicon: Lexicon, guess: int, sent: Any, at: int) -> tuple[int, int]:
    """The attribute whose name stands at a place, and where it ends; the guess is tried first."""
    if _is_at(lexicon, guess, sent, at):
        return guess, at + lexicon.starts[U(guess + 1)] - lexicon.starts[U(guess)]
    length = _length(sent, at + 1) if sent[U(at)] == QUOTE else GAVE_UP
    if length < 0:
        return GAVE_UP, at
    return looked_up(lexicon, 0, sent, at, length + 2), at + length + 2


@merged
def read_value(
    lexicon: Lexicon, book: int, powers: Powers, sent: Any, at: int
) -> tuple[float, int]:
    """What stands at a place as a number, NaN for null, and where it ends; -1 if it is neither."""
    if eight_at(sent, at) & FOUR == NULL:
        return np.nan, at + 4
    if book == 0:
        return read_number(powers, sent, at)
    length = _length(sent, at + 1) if sent[U(at)] == QUOTE else GAVE_UP
    if length < 0:
        return 0.0, GAVE_UP
    code = looked_up(lexicon, book, sent, at + 1, length)
    return np.float64(code), at + length + 2 if code >= 0 else GAVE_UP


@merged
def read_key(lexicon: Lexicon, guess: int, sent: Any, at: int) -> tuple[int, int]:
    """The attribute whose name stands at a place, -1 if none, and where its value begins."""
    attribute, at = read_name(lexicon, guess, sent, at)
    at = behind_blanks(sent, at)
    if sent[U(at)] != COLON:
        return GAVE_UP, at
    return attribute, behind_blanks(sent, at + 1)


@merged
def _read_pairs(
    lexicon: Lexicon, powers: Powers, sent: Any, at: int, cells: Any, row: int, seen: Any
) -> int:
    """Where an object ends whose inside begins at a place, and is not empty; likewise."""
    n_attributes, place = len(lexicon.book_of), 0
    while place < n_attributes:
        attribute, at = read_key(lexicon, seen[U(n_attributes + place)], sent, at)
        if attribute < 0 or seen[U(attribute)] == row:
            return GAVE_UP
        seen[U(attribute)], seen[U(n_attributes + place)] = row, attribute
        value, at = read_value(lexicon, lexicon.book_of[U(attribute)], powers, sent, at)
        if at < 0:
            return GAVE_UP
        cells[U(row * n_attributes + attribute)] = value
        at, place = behind_blanks(sent, at), place + 1
        if sent[U(at)] != COMMA:
            return at + 1 if sent[U(at)] == END_OF_OBJECT else GAVE_UP
        at = behind_blanks(sent, at + 1)
    return GAVE_UP


@merged
def read_row(
    lexicon: Lexicon, powers: Powers, sent: Any, at: int, cells: Any, row: int, seen: Any
) -> int:
    """Where the object at a place ends, whose values are written down; -1 if it is not known.

    `seen` holds by attribute the last row that had it, then by place the attribute last seen there.
    """
    n_attributes = len(lexicon.book_of)
    for attribute in range(n_attributes):
        cells[U(row * n_attributes + attribute)] = np.nan
    if sent[U(at)] != START_OF_OBJECT:
        return GAVE_UP
    at = behind_blanks(sent, at + 1)
    if sent[U(at)] == END_OF_OBJECT:
        return at + 1
    return _read_pairs(lexicon, powers, sent, at, cells, row, seen)


@merged
def read_list(
    lexicon: Lexicon, book: int, powers: Powers, sent: Any, at: int, cells: Any, first: int,
    n_rows: int,
) -> int:  # fmt: skip
    """Where the list of so many values at a place ends, which are written down; likewise."""
    if sent[U(at)] != START_OF_LIST:
        return GAVE_UP
    at, row = behind_blanks(sent, at + 1), 0
    if n_rows == 0:
        return at + 1 if sent[U(at)] == END_OF_LIST else GAVE_UP
    while row < n_rows:
        value, at = read_value(lexicon, book, powers, sent, at)
        if at < 0:
            return GAVE_UP
        cells[U(first + row)] = value
        at, row = behind_blanks(sent, at), row + 1
        if sent[U(at)] != COMMA:
            return at + 1 if sent[U(at)] == END_OF_LIST and row == n_rows else GAVE_UP
        at = behind_blanks(sent, at + 1)
    return GAVE_UP
