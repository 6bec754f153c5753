"""Reading, as processes without numba call it."""

from typing import Any, NamedTuple

from service.tree.kernels.compile import merged
from service.tree.kernels.memory import array_at
from service.tree.kernels.read import (
    COMMA,
    END_OF_LIST,
    END_OF_OBJECT,
    Lexicon,
    behind_blanks,
    read_key,
    read_list,
    read_row,
)
from service.tree.kernels.read_number import EXACT_POWER, GAVE_UP, Powers
from service.tree.kernels.shapes import BOOK, LARGEST_POWER
from service.tree.kernels.signed import FLOATS, INTS, LETTERS, WHOLE, WIDE, signed

KNOWN = (LETTERS, INTS, INTS, INTS, INTS, FLOATS, WIDE, WHOLE, WHOLE, WHOLE, WHOLE)


class Desk(NamedTuple):
    """What is read by, what is read, and where it is written down."""

    lexicon: Lexicon
    powers: Powers
    sent: Any
    cells: Any
    seen: Any  # two numbers for each attribute
    told: Any  # how many rows there are, or -1, and where they end


@merged
def lexicon_at(
    letters: Any, starts: Any, slots: Any, books: Any, book_of: Any,
    n_texts: int, n_slots: int, n_books: int, n_attributes: int,
) -> Lexicon:  # fmt: skip
    """The lexicon at these addresses."""
    of_texts = array_at(starts, n_texts + 1)
    return Lexicon(
        array_at(letters, of_texts[n_texts]), of_texts, array_at(slots, n_slots),
        array_at(books, BOOK * n_books), array_at(book_of, n_attributes),
    )  # fmt: skip


@merged
def _desk(
    letters: Any, starts: Any, slots: Any, books: Any, book_of: Any, floats: Any, wide: Any,
    n_texts: int, n_slots: int, n_books: int, n_attributes: int,
    text: Any, n_letters: int, values: Any, most_rows: int, scratch: Any, found: Any,
) -> Desk:  # fmt: skip
    lexicon = lexicon_at(
        letters, starts, slots, books, book_of, n_texts, n_slots, n_books, n_attributes
    )
    powers = Powers(array_at(floats, EXACT_POWER + 1), array_at(wide, 4 * LARGEST_POWER + 2))
    cells, seen = array_at(values, most_rows * n_attributes), array_at(scratch, 2 * n_attributes)
    return Desk(lexicon, powers, array_at(text, n_letters), cells, seen, array_at(found, 2))


@merged
def _next(sent: Any, at: int, end_letter: int) -> tuple[bool, int]:
    """Whether a list or object is over, and where it goes on: -1 if it does neither."""
    at = behind_blanks(sent, at)
    if sent[at] == end_letter:
        return True, at + 1
    return False, behind_blanks(sent, at + 1) if sent[at] == COMMA else GAVE_UP


@signed(*KNOWN, LETTERS, WHOLE, WHOLE, FLOATS, WHOLE, INTS, INTS)
def read_rows(
    letters: Any, starts: Any, slots: Any, books: Any, book_of: Any, floats: Any, wide: Any,
    n_texts: int, n_slots: int, n_books: int, n_attributes: int,
    text: Any, n_letters: int, at: int, values: Any, most_rows: int, scratch: Any, found: Any,
) -> None:  # fmt: skip
    """Writes the values of the rows of a list whose inside begins at a place.

    Found are how many rows there are, or -1, and where the list ends.
    """
    desk = _desk(
        letters, starts, slots, books, book_of, floats, wide, n_texts, n_slots, n_books,
        n_attributes, text, n_letters, values, most_rows, scratch, found,
    )  # fmt: skip
    sent, row, desk.told[0] = desk.sent, 0, GAVE_UP
    at = behind_blanks(sent, at)
    is_over = sent[at] == END_OF_LIST
    at += 1 if is_over else 0
    while not is_over:
        if row == most_rows:
            return
        at = read_row(desk.lexicon, desk.powers, sent, at, desk.cells, row, desk.seen)
        if at < 0:
            return
        is_over, at = _next(sent, at, END_OF_LIST)
        if at < 0:
            return
        row += 1
    desk.told[0], desk.told[1] = row, at


@signed(*KNOWN, LETTERS, WHOLE, WHOLE, FLOATS, WHOLE, INTS, INTS)
def read_columns(
    letters: Any, starts: Any, slots: Any, books: Any, book_of: Any, floats: Any, wide: Any,
    n_texts: int, n_slots: int, n_books: int, n_attributes: int,
    text: Any, n_letters: int, at: int, values: Any, n_rows: int, scratch: Any, found: Any,
) -> None:  # fmt: skip
    """The same of an object of lists of so many values; what it has not is left as it was."""
    desk = _desk(
        letters, starts, slots, books, book_of, floats, wide, n_texts, n_slots, n_books,
        n_attributes, text, n_letters, values, n_rows, scratch, found,
    )  # fmt: skip
    sent, place, desk.told[0] = desk.sent, 0, GAVE_UP
    at = behind_blanks(sent, at)
    is_over = sent[at] == END_OF_OBJECT
    at += 1 if is_over else 0
    while not is_over:
        guess = desk.seen[n_attributes + min(place, n_attributes - 1)]
        attribute, at = read_key(desk.lexicon, guess, sent, at)
        if attribute < 0 or desk.seen[attribute] == 0:
            return
        desk.seen[attribute], book = 0, desk.lexicon.book_of[attribute]
        first = attribute * n_rows
        at = read_list(desk.lexicon, book, desk.powers, sent, at, desk.cells, first, n_rows)
        if at < 0:
            return
        is_over, at = _next(sent, at, END_OF_OBJECT)
        if at < 0:
            return
        place += 1
    desk.told[0], desk.told[1] = n_rows, at
