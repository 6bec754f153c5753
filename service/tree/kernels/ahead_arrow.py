"""Columns of Arrow, read and written, as processes without numba call it."""

from typing import Any

import numpy as np

from service.tree.kernels.ahead_read import KNOWN, lexicon_at
from service.tree.kernels.ahead_write import texts_at
from service.tree.kernels.compile import merged
from service.tree.kernels.entries import U
from service.tree.kernels.memory import array_at, eight_at
from service.tree.kernels.read import Lexicon, looked_up
from service.tree.kernels.read_number import FOUR, GAVE_UP
from service.tree.kernels.shapes import (
    A_COLUMN,
    CLASS,
    END,
    FACTOR,
    LONGEST_KEY,
    MET,
    N_LEAVES,
    OF_ATTRIBUTE,
    OF_LETTERS,
    OF_LETTERS_END,
    OF_NULLS,
    OF_VALUES,
    PLACES,
    POCKET,
    SHIFT,
)
from service.tree.kernels.signed import FLOATS, HALVES, INTS, LETTERS, WHOLE, WIDE, signed
from service.tree.kernels.write import Texts, copy, trailing_zeros

NAN = U(0x7FF8000000000000)


@merged
def _bit(sent: Any, nulls: int, row: int) -> Any:
    """1 if a row of a column has a value, by its bits, if it has any."""
    return U(1) if nulls < 0 else U(sent[U(nulls + (row >> 3))]) >> U(row & 7) & U(1)


@merged
def _or_null(bits: Any, known: Any) -> float:
    """The value of these bits, or NaN where no bit of `known` is set.

    All bits of it are set, or none: a jump by chance would take longer than all the rest.
    """
    return np.uint64((bits & known) | (NAN & ~known)).view(np.float64)


@merged
def _take_number(sent: Any, at: int, bit: Any, cells: Any, place: int) -> bool:
    """Writes the number at a place, or that there is none, by its bit; whether it is infinite."""
    value = _or_null(eight_at(sent, at), U(0) - bit)
    cells[U(place)] = value
    return (value == np.inf) | (value == -np.inf)


@merged
def _take_numbers(sent: Any, nulls: int, start: int, n_rows: int, cells: Any, first: int) -> int:
    """How many rows of a column of numbers have none; -1 if one is infinite."""
    n_known, is_infinite, n_whole = U(0), False, n_rows & ~7
    for row in range(0, n_whole, 8):
        bits = U(sent[U(nulls + (row >> 3))])
        for number in range(8):  # so many that the compiler writes them out
            bit, at = bits >> U(number) & U(1), start + 8 * (row + number)
            is_infinite |= _take_number(sent, at, bit, cells, first + row + number)
            n_known += bit
    for row in range(n_whole, n_rows):
        bit = _bit(sent, nulls, row)
        is_infinite |= _take_number(sent, start + 8 * row, bit, cells, first + row)
        n_known += bit
    return GAVE_UP if is_infinite else n_rows - np.int64(n_known)


@merged
def _take_all(sent: Any, start: int, n_rows: int, cells: Any, first: int) -> int:
    """The same where none is null."""
    is_infinite = False
    for row in range(n_rows):
        value = np.uint64(eight_at(sent, start + 8 * row)).view(np.float64)
        is_infinite |= (value == np.inf) | (value == -np.inf)
        # LLVM would call somebody outside to copy them all, if each were copied as it is
        cells[U(first + row)] = value if value == value else np.nan
    return GAVE_UP if is_infinite else 0


@merged
def _pocketed(pocket: Any, sent: Any, at: int, length: int) -> Any:
    """The code of a text in a pocket, and how its key is apart from the one found there: 0 if not.

    A length that is no short one is a key of nothing.
    """
    pairs, start, shift, factor = pocket
    size = U(min(length, LONGEST_KEY + 1))
    letters = eight_at(sent, at) & ((U(1) << (U(8) * (size & U(LONGEST_KEY)))) - U(1))
    key = letters | size << U(8 * LONGEST_KEY)
    place = (start + ((key * factor) >> shift)) << U(1)
    return pairs[place + U(1)], pairs[place] ^ key


@merged
def _take_texts(
    lexicon: Lexicon, book: int, pocket: Any, sent: Any, column: Any, n_rows: int, cells: Any,
    first: int,
) -> int:  # fmt: skip
    """How many rows of a column of texts have none; -1 if one is no category, or not in there."""
    nulls, start, letters, letters_end = column
    n_known, end = U(0), letters + np.int64(eight_at(sent, start) & FOUR)
    for row in range(n_rows):
        at, end = end, letters + np.int64(eight_at(sent, start + 4 * row + 4) & FOUR)
        if at > end or end > letters_end:
            return GAVE_UP
        bit, (code, apart) = _bit(sent, nulls, row), _pocketed(pocket, sent, at, end - at)
        known = U(0) - bit
        # what is null may have letters, whatever they are; one jump, which is hardly ever taken
        if apart & known != U(0):
            found = looked_up(lexicon, book, sent, at, end - at)
            if found < 0:
                return GAVE_UP
            code = np.float64(found).view(np.uint64)
        cells[U(first + row)] = _or_null(code, known)
        n_known += bit
    return n_rows - np.int64(n_known)


@signed(*KNOWN, WIDE, WIDE, WHOLE, LETTERS, WHOLE, INTS, WHOLE, FLOATS, WHOLE, INTS)
def read_arrow(
    letters: Any, starts: Any, slots: Any, books: Any, book_of: Any, _floats: Any, _wide: Any,
    n_texts: int, n_slots: int, n_books: int, n_attributes: int,
    pairs: Any, pockets: Any, n_pairs: int,
    text: Any, n_letters: int, columns: Any, n_columns: int, values: Any, n_rows: int, found: Any,
) -> None:  # fmt: skip
    """Writes the values of columns that lie where they say; found is how many are null in each.

    That is -1 where a column has something that is not known here.
    """
    lexicon = lexicon_at(
        letters, starts, slots, books, book_of, n_texts, n_slots, n_books, n_attributes
    )
    sent, places = array_at(text, n_letters), array_at(columns, A_COLUMN * n_columns)
    cells, n_nulls = array_at(values, n_attributes * n_rows), array_at(found, n_columns)
    all_pairs, lines = array_at(pairs, n_pairs), array_at(pockets, POCKET * n_books)
    for number in range(n_columns):
        at = number * A_COLUMN
        attribute, nulls = places[at + OF_ATTRIBUTE], places[at + OF_NULLS]
        book, start, first = lexicon.book_of[attribute], places[at + OF_VALUES], attribute * n_rows
        if book == 0 and nulls < 0:
            n_nulls[number] = _take_all(sent, start, n_rows, cells, first)
        elif book == 0:
            n_nulls[number] = _take_numbers(sent, nulls, start, n_rows, cells, first)
        else:
            column = (nulls, start, places[at + OF_LETTERS], places[at + OF_LETTERS_END])
            line = U(POCKET * book)
            shift, factor = lines[line + U(SHIFT)], lines[line + U(FACTOR)]
            pocket = (all_pairs, lines[line + U(PLACES)], shift, factor)
            n_nulls[number] = _take_texts(lexicon, book, pocket, sent, column, n_rows, cells, first)


@merged
def set_bit(bits: Any, row: int, bit: int) -> None:
    """Writes the bit of a row, which come in their order."""
    one = np.uint8(bit << np.int64(row & 7))
    bits[U(row >> 3)] = one if row & 7 == 0 else bits[U(row >> 3)] | one


@merged
def _lay_floats(numbers: Any, width: int, n_rows: int, places: Any, out: Any) -> None:
    """Writes numbers by row into columns, each of which has its place."""
    for column in range(width):
        first = places[U(column)]
        for row in range(n_rows):
            out[U(first + row)] = numbers[U(row * width + column)]


@merged
def _lay_marks(
    marks: Any, n_marks: int, n_rows: int, weight: Any, classes: Any, leaves: Any, certain: Any
) -> None:
    """Writes per row its class, how many leaves it has, and a bit if it is certain."""
    for row in range(n_rows):
        mark = row * n_marks
        leaf = marks[U(mark + END)]
        classes[U(row)] = np.uint8(marks[U(mark + CLASS)])
        leaves[U(row)] = marks[U(mark + N_LEAVES)]
        set_bit(certain, row, np.int64(leaf >= 0 and weight[U(max(leaf, 0))] > 0.0))


@merged
def _lay_unknown(
    names: Texts, marks: Any, n_marks: int, n_rows: int, lists: Any, ends: Any, letters: Any
) -> None:
    """Writes the names of what each row met: which are its, where each ends, and their letters."""
    at = n_names = 0
    lists[0] = ends[0] = 0
    for row in range(n_rows):
        word = 0
        while True:  # there is one word at least; or LLVM would call somebody to write zeros
            bits = marks[U(row * n_marks + MET + word)]
            while bits != 0:
                at = copy(names, 64 * word + np.int64(trailing_zeros(bits)), letters, at)
                n_names, bits = n_names + 1, bits & (bits - 1)
                ends[U(n_names)] = at
            word += 1
            if word >= n_marks - MET:
                break
        lists[U(row + 1)] = n_names


@signed(
    *(LETTERS, INTS, WHOLE, FLOATS, WHOLE, FLOATS, WHOLE, INTS, WHOLE, WHOLE),
    *(FLOATS, WHOLE, INTS, LETTERS, INTS, LETTERS, HALVES, HALVES, WHOLE, LETTERS, WHOLE),
)
def write_arrow(
    name_letters: Any, name_starts: Any, n_names: int, weight: Any, n_nodes: int, numbers: Any,
    width: int, marks: Any, n_marks: int, n_rows: int,
    floats: Any, n_floats: int, places: Any, classes: Any, leaves: Any, certain: Any, lists: Any,
    ends: Any, n_ends: int, letters: Any, n_letters: int,
) -> None:  # fmt: skip
    """Writes what is told of rows as Arrow has it, which all have an answer and met so much."""
    all_marks, all_numbers = array_at(marks, n_rows * n_marks), array_at(numbers, n_rows * width)
    room, columns = array_at(floats, n_floats), array_at(places, width)
    _lay_floats(all_numbers, width, n_rows, columns, room)
    _lay_marks(
        all_marks, n_marks, n_rows, array_at(weight, n_nodes), array_at(classes, n_rows),
        array_at(leaves, n_rows), array_at(certain, (n_rows + 7) >> 3),
    )  # fmt: skip
    _lay_unknown(
        texts_at(name_letters, name_starts, n_names), all_marks, n_marks, n_rows,
        array_at(lists, n_rows + 1), array_at(ends, n_ends), array_at(letters, n_letters),
    )  # fmt: skip
