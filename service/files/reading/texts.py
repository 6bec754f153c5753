"""Texts that may be numbers, as CSV has them: what they are, and what they become.

A number is a sign or none, digits with or without a decimal point, and an exponent or none; spaces
and tabs around it do not matter. NaN, Infinity and hexadecimals are none. Leading zeros make codes,
and more than 2**53 makes identifiers of whole numbers, unless their column is said to be numeric.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from service.files.reading.look import CODES, LARGEST_WHOLE, NULL, NUMBER, Look, Why, look_at
from service.tree.arrays import Floats, Ints

SPACES = " \t"
A_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\z"
A_WHOLE_NUMBER = r"^[+-]?[0-9]+\z"
LEADING_ZERO = r"^[+-]?0[0-9]"
ZERO, NINE, PLUS, MINUS = b"09+-"
# made once, as Arrow needs long to make a scalar of a Python value
NOTHING_ADDED, NO_TEXT = pa.scalar(0.0), pa.scalar(None, pa.string())
IN_NUMBERS = np.zeros(256, dtype=bool)
IN_NUMBERS[list(b"0123456789.eE+-")] = True


def pointed(texts: Any, decimal: str) -> Any:
    """The texts with a decimal point where they have this sign; points of their own go away.

    So `1.234,5` is no number: whether its point divides thousands cannot be known.
    """
    if decimal == ".":
        return texts
    return pc.replace_substring(pc.replace_substring(texts, ".", "·"), decimal, ".")


def look_at_texts(texts: Any) -> Look:
    """What an array of texts tells of its column."""
    is_known = texts.is_valid().to_numpy(zero_copy_only=False)
    numbers = _plain_numbers(texts)
    if numbers is not None:
        # what nearly every column of numbers is; ten times as fast as by distinct texts
        codes = np.where(is_known, NUMBER, NULL)
        return look_at(codes, numbers, _none)
    encoded = texts.dictionary_encode()
    codes_of, numbers = _classified(encoded.dictionary)
    codes = np.full(len(texts), NULL)
    codes[is_known] = codes_of[encoded.indices.drop_null().to_numpy(zero_copy_only=False)]
    return look_at(codes, numbers, lambda rows: texts.take(pa.array(rows)).to_pylist())


def texts_as(texts: Any, type_: Any) -> Any:
    """The texts as values of this type, which the look at them has found to fit."""
    return texts if pa.types.is_string(type_) else numbers_as(_cast(texts), type_)


def numbers_as(floats: Any, type_: Any) -> Any:
    """An array of floats as numbers of this type; there is but one zero."""
    return pc.add(floats, NOTHING_ADDED).cast(type_)


def _none(rows: Ints) -> list[str]:
    return [""] * len(rows)  # as every value is a number, no text is asked for


def _cast(texts: Any) -> Any:
    try:
        return texts.cast(pa.float64())
    except pa.ArrowInvalid:  # there are spaces around some
        return pc.ascii_trim(texts, SPACES).cast(pa.float64())


def _plain_numbers(texts: Any) -> Floats | None:
    """The numbers, if there is nothing to be said about any of the texts."""
    starts, data = _bytes_of(texts)
    if not IN_NUMBERS[data].all() or _has_leading_zeros(starts, data):
        return None
    try:
        floats = texts.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    numbers: Floats = floats.drop_null().to_numpy(zero_copy_only=False)
    return numbers if (np.abs(numbers) < LARGEST_WHOLE).all() else None


def _bytes_of(texts: Any) -> tuple[Ints, Any]:
    """Where each text starts, and the bytes of all of them."""
    _, offsets, data = texts.buffers()
    n_texts = len(texts)
    if data is None or not n_texts:
        return np.zeros(1, dtype=np.int32), np.zeros(0, dtype=np.uint8)
    starts = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + n_texts + 1]
    return starts - starts[0], np.frombuffer(data, dtype=np.uint8)[starts[0] : starts[-1]]


def _has_leading_zeros(starts: Ints, data: Any) -> bool:
    """Whether a text starts with 0 and another digit, after a sign or without one."""
    first, end = starts[:-1], starts[1:]
    known = first < end
    first, end = first[known], end[known]
    first = first + ((data[first] == PLUS) | (data[first] == MINUS))
    first = first[first + 1 < end]
    first = first[data[first] == ZERO]
    second = data[first + 1]
    return bool(((second >= ZERO) & (second <= NINE)).any())


def _classified(texts: Any) -> tuple[Ints, Floats]:
    """What each of some distinct texts is, as a code; and the numbers among them."""
    trimmed = pc.ascii_trim(texts, SPACES)
    is_number = _matches(trimmed, A_NUMBER)
    floats = pc.if_else(pa.array(is_number), trimmed, NO_TEXT).cast(pa.float64())
    numbers = floats.to_numpy(zero_copy_only=False)
    is_infinite = np.isinf(numbers)
    codes = np.where(is_number, NUMBER, CODES[Why.TEXT])
    codes[is_number & _is_beyond(trimmed, numbers)] = CODES[Why.BEYOND]
    codes[is_number & _matches(trimmed, LEADING_ZERO)] = CODES[Why.CODE]
    codes[is_infinite] = CODES[Why.TOO_LARGE]
    codes[_holds_nul(texts)] = CODES[Why.NUL]
    return codes, numbers[is_number & ~is_infinite]


def _matches(texts: Any, pattern: str) -> Any:
    return pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)


def _is_beyond(texts: Any, numbers: Floats) -> Any:
    """Whether each text is a whole number beyond 2**53."""
    with np.errstate(invalid="ignore"):
        is_large = np.abs(numbers) >= LARGEST_WHOLE
    if not is_large.any():
        return is_large
    is_beyond = is_large & _matches(texts, A_WHOLE_NUMBER)
    for place in np.flatnonzero(is_beyond & (np.abs(numbers) == LARGEST_WHOLE)):
        digits = texts[int(place)].as_py().lstrip("+-0")  # for int() takes only so many
        is_beyond[place] = int(digits) > LARGEST_WHOLE
    return is_beyond


def _holds_nul(texts: Any) -> Any:
    _, data = _bytes_of(texts)
    if data.all():
        return np.zeros(len(texts), dtype=bool)
    return pc.match_substring(texts, "\0").to_numpy(zero_copy_only=False)
