"""Kernels that processes without numba call: functions of whole numbers and bare addresses."""

from collections.abc import Callable
from typing import Any, NamedTuple

from numba import from_dtype, types

from service.tree.kernels.compile import merged
from service.tree.kernels.memory import array_at
from service.tree.kernels.read import (
    END_OF_OBJECT,
    Lexicon,
    behind_blanks,
    read_key,
    read_list,
    read_row,
)
from service.tree.kernels.read_number import EXACT_POWER, GAVE_UP, Powers
from service.tree.kernels.shapes import BOOK, END, ITEM, LARGEST_POWER, MET, N_TOTALS, NODE
from service.tree.kernels.tell import tell_block
from service.tree.kernels.tell_grove import Grove, Shape, Slate, Space, Values, width_of
from service.tree.kernels.write import (
    COMMA,
    END_OF_LIST,
    START_OF_LIST,
    Texts,
    copy,
    write_names,
    write_row,
)

WHOLE = types.int64
INTS, FLOATS = types.CPointer(WHOLE), types.CPointer(types.float64)
NODES, LETTERS = types.CPointer(from_dtype(NODE)), types.CPointer(types.uint8)
WIDE = types.CPointer(types.uint64)
KNOWN = (LETTERS, INTS, INTS, INTS, INTS, FLOATS, WIDE, WHOLE, WHOLE, WHOLE, WHOLE)


AHEAD: dict[str, tuple[Callable[..., None], Any]] = {}  # by name, with the types of arguments


def ahead(signature: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """What marks a function that is compiled ahead."""

    def mark(function: Callable[..., None]) -> Callable[..., None]:
        AHEAD[function.__name__] = (function, signature)
        return function

    return mark


@merged
def _space(
    floats: Any, ints: Any, n_lists: int, most_rows: int, n_cells: int, n_known: int
) -> Space:
    """The room of a block, part by part."""
    n_entries, n_stack = n_lists * most_rows, ITEM * n_lists
    return Space(
        ints[:n_entries], floats[:n_entries], ints[n_entries : n_entries + n_stack],
        floats[n_entries : n_entries + n_cells],
        ints[n_entries + n_stack : n_entries + n_stack + n_known],
        ints[n_entries + n_stack + n_known :], floats[n_entries + n_cells :], most_rows,
    )  # fmt: skip


@ahead(
    types.void(
        *(NODES, INTS, FLOATS, INTS, INTS, FLOATS, FLOATS, FLOATS, FLOATS, INTS),
        *(WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE),
        *(FLOATS, WHOLE, WHOLE, WHOLE),
        *(WHOLE, FLOATS, INTS),
    )
)
def tell_rows(
    nodes: Any, table: Any, share: Any, asks: Any, touched: Any, answers: Any, lowest: Any,
    highest: Any, variance: Any, n_leaves: Any,
    n_nodes: int, n_table: int, n_answers: int, n_words: int, is_regression: int,
    n_attributes: int, n_lists: int,
    cells: Any, n_rows: int, row_step: int, attribute_step: int,
    most_rows: int, floats: Any, ints: Any,
) -> None:  # fmt: skip
    """Writes what is told of all rows, a block of the most rows after the other.

    The numbers that are told, then room for those of a block; and so the marks.
    """
    shape = Shape(n_answers, n_words, (n_attributes + 63) >> 6, is_regression)
    n_all, n_entries = n_nodes * n_answers, n_lists * most_rows
    grove = Grove(
        array_at(nodes, n_nodes), array_at(table, n_table), array_at(share, n_nodes),
        array_at(asks, (n_nodes + 1) * n_words), array_at(touched, n_nodes * shape.n_met),
        array_at(answers, n_all), array_at(lowest, n_all), array_at(highest, n_all),
        array_at(variance, n_nodes), array_at(n_leaves, n_nodes),
    )  # fmt: skip
    n_told, n_noted = n_rows * width_of(shape), n_rows * (MET + shape.n_met)
    n_cells, n_known = n_attributes * most_rows, shape.n_met * most_rows
    all_floats = array_at(floats, n_told + n_entries + n_cells + N_TOTALS * most_rows)
    all_ints = array_at(ints, n_noted + n_entries + ITEM * n_lists + 2 * n_known)
    space = _space(all_floats[n_told:], all_ints[n_noted:], n_lists, most_rows, n_cells, n_known)
    values = Values(array_at(cells, n_rows * n_attributes), row_step, attribute_step, n_attributes)
    first_row = 0
    while first_row < n_rows:  # a range might raise, which nobody would hear here
        n_block = min(most_rows, n_rows - first_row)
        slate = Slate(all_floats, all_ints, first_row)
        if n_answers == 2 and n_words == 1 and shape.n_met == 1 and is_regression == 0:
            # the same, but the compiler knows how often each loop is passed, which are very short
            tell_block(grove, Shape(2, 1, 1, 0), values, n_block, space, slate)
        else:
            tell_block(grove, shape, values, n_block, space, slate)
        first_row += most_rows


@ahead(
    types.void(
        *(LETTERS, INTS, LETTERS, INTS, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE),
        *(LETTERS, INTS, WHOLE, INTS, WHOLE),
        *(WHOLE, INTS, LETTERS, WHOLE, LETTERS, WHOLE, INTS),
    )
)
def write_rows(
    letters: Any, starts: Any, name_letters: Any, name_starts: Any, n_pieces: int, n_names: int,
    n_heads: int, n_before: int, n_after: int,
    text_letters: Any, text_starts: Any, n_texts: int, text_of: Any, n_known: int,
    n_rows: int, marks: Any, tokens: Any, n_tokens: int, out: Any, n_out: int, ends: Any,
) -> None:  # fmt: skip
    """Writes the text of each row, and where it ends; a comma stands behind each.

    Who knew the way to a leaf has that leaf's text, whose number is next, and no tokens.
    """
    pieces = _texts(letters, starts, n_pieces)
    names = _texts(name_letters, name_starts, n_names)
    leaves, number_of = _texts(text_letters, text_starts, n_texts), array_at(text_of, n_known)
    n_words, all_ends = (n_names + 63) >> 6, array_at(ends, n_rows)
    all_marks, all_tokens = array_at(marks, n_rows * (MET + n_words)), array_at(tokens, n_tokens)
    text, shape = array_at(out, n_out), (n_before, n_after, n_words)
    token = end = known = 0
    for row in range(n_rows):
        if all_marks[row * (MET + n_words) + END] >= 0:
            end = copy(leaves, number_of[known], text, end)
            known += 1
        else:
            token, end = write_row(
                n_heads, shape, pieces, names, all_marks, row * (MET + n_words), all_tokens, token,
                text, end,
            )  # fmt: skip
        text[end] = COMMA
        end += 1
        all_ends[row] = end


@ahead(types.void(LETTERS, INTS, WHOLE, WHOLE, INTS, LETTERS, WHOLE, INTS))
def write_unknown(
    letters: Any, starts: Any, n_names: int, n_rows: int, marks: Any, out: Any, n_out: int,
    ends: Any,
) -> None:  # fmt: skip
    """Writes a list of names for each row, of what it met, and where the last ends; likewise."""
    names, n_words, end = _texts(letters, starts, n_names), (n_names + 63) >> 6, 0
    text, all_marks = array_at(out, n_out), array_at(marks, n_rows * (MET + n_words))
    for row in range(n_rows):
        text[end] = START_OF_LIST
        end = write_names(all_marks, row * (MET + n_words), n_words, names, text, end + 1)
        text[end], text[end + 1] = END_OF_LIST, COMMA
        end += 2
    array_at(ends, 1)[0] = end


@merged
def _texts(letters: Any, starts: Any, n_texts: int) -> Texts:
    of_texts = array_at(starts, n_texts + 1)
    return Texts(array_at(letters, of_texts[n_texts]), of_texts)


class Desk(NamedTuple):
    """What is read by, what is read, and where it is written down."""

    lexicon: Lexicon
    powers: Powers
    sent: Any
    cells: Any
    seen: Any  # two numbers for each attribute
    told: Any  # how many rows there are, or -1, and where they end


@merged
def _desk(
    letters: Any, starts: Any, slots: Any, books: Any, book_of: Any, floats: Any, wide: Any,
    n_texts: int, n_slots: int, n_books: int, n_attributes: int,
    text: Any, n_letters: int, values: Any, most_rows: int, scratch: Any, found: Any,
) -> Desk:  # fmt: skip
    of_texts = array_at(starts, n_texts + 1)
    lexicon = Lexicon(
        array_at(letters, of_texts[n_texts]), of_texts, array_at(slots, n_slots),
        array_at(books, BOOK * n_books), array_at(book_of, n_attributes),
    )  # fmt: skip
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


@ahead(types.void(*KNOWN, LETTERS, WHOLE, WHOLE, FLOATS, WHOLE, INTS, INTS))
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


@ahead(types.void(*KNOWN, LETTERS, WHOLE, WHOLE, FLOATS, WHOLE, INTS, INTS))
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
