"""Writing rows, as processes without numba call it."""

from typing import Any

from service.tree.kernels.compile import merged
from service.tree.kernels.memory import array_at
from service.tree.kernels.shapes import END, MET
from service.tree.kernels.signed import INTS, LETTERS, WHOLE, signed
from service.tree.kernels.write import (
    COMMA,
    END_OF_LIST,
    START_OF_LIST,
    Texts,
    copy,
    write_names,
    write_row,
)


@merged
def texts_at(letters: Any, starts: Any, n_texts: int) -> Texts:
    """The texts at these addresses."""
    of_texts = array_at(starts, n_texts + 1)
    return Texts(array_at(letters, of_texts[n_texts]), of_texts)


@signed(
    *(LETTERS, INTS, LETTERS, INTS, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE),
    *(LETTERS, INTS, WHOLE, INTS, WHOLE),
    *(WHOLE, INTS, LETTERS, WHOLE, LETTERS, WHOLE, INTS),
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
    pieces = texts_at(letters, starts, n_pieces)
    names = texts_at(name_letters, name_starts, n_names)
    leaves, number_of = texts_at(text_letters, text_starts, n_texts), array_at(text_of, n_known)
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


@signed(LETTERS, INTS, WHOLE, WHOLE, INTS, LETTERS, WHOLE, INTS)
def write_unknown(
    letters: Any, starts: Any, n_names: int, n_rows: int, marks: Any, out: Any, n_out: int,
    ends: Any,
) -> None:  # fmt: skip
    """Writes a list of names for each row, of what it met, and where the last ends; likewise."""
    names, n_words, end = texts_at(letters, starts, n_names), (n_names + 63) >> 6, 0
    text, all_marks = array_at(out, n_out), array_at(marks, n_rows * (MET + n_words))
    for row in range(n_rows):
        text[end] = START_OF_LIST
        end = write_names(all_marks, row * (MET + n_words), n_words, names, text, end + 1)
        text[end], text[end + 1] = END_OF_LIST, COMMA
        end += 2
    array_at(ends, 1)[0] = end
