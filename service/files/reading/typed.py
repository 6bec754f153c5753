"""Arrays that have a type of their own, as Parquet has them: what they are, what they become.

Numbers are numbers. Texts, true and false are texts, and so are dates and times, as ISO 8601 has
them; none of them is ever taken for a number.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.files.reading.look import CODES, LARGEST_WHOLE, NULL, NUMBER, Look, Why, look_at
from service.files.reading.texts import numbers_as
from service.tree.arrays import Floats, Ints
from service.tree.attribute import category_text

NO_NUMBER = pa.scalar(None, pa.float64())
OUT_OF_RANGE = "<"  # with which Arrow's text begins where it has none
NO_FRACTION = r"\.0+$"


def is_text(type_: Any) -> bool:
    """Whether the values of this type are texts by themselves."""
    return bool(
        types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_)
    )


def is_usable(type_: Any) -> bool:
    """Whether a column can have this type."""
    if types.is_dictionary(type_):
        return is_usable(type_.value_type)
    is_time = types.is_date(type_) or types.is_time(type_) or types.is_timestamp(type_)
    is_plain = is_text(type_) or types.is_boolean(type_) or types.is_null(type_)
    return bool(is_plain or is_time or _is_numeric(type_))


def look_at_array(array: Any) -> Look:
    """What an array tells of its column."""
    array = _opened(array)
    if _is_numeric(array.type):
        numbers = _floats(array).to_numpy(zero_copy_only=False)
        return look_at(_number_codes(array, numbers), numbers[np.isfinite(numbers)], _told(array))
    is_known = array.is_valid().to_numpy(zero_copy_only=False)
    codes = np.where(is_known, CODES[Why.TEXT], NULL)
    why, is_unusable = _unusable(array)
    codes[is_known & is_unusable] = CODES[why]
    return look_at(codes, np.zeros(0), _told(array))


def array_as(array: Any, type_: Any) -> Any:
    """The values as an array of this type, which the look at them has found to fit."""
    array = _opened(array)
    return _texts(array) if types.is_string(type_) else numbers_as(_floats(array), type_)


def n_bytes_of(array: Any) -> int:
    """How many bytes the values take when each stands for itself."""
    if not types.is_dictionary(array.type) or not is_text(array.type.value_type):
        return int(array.nbytes)
    lengths = pc.binary_length(array.dictionary.cast(pa.string()))
    return 4 * len(array) + int(pc.sum(lengths.take(array.indices)).as_py() or 0)


def _opened(array: Any) -> Any:
    """The array itself, without a dictionary; those of texts stay, as they spare much."""
    if not types.is_dictionary(array.type) or is_text(array.type.value_type):
        return array
    return _opened(array.dictionary_decode())


def _is_numeric(type_: Any) -> bool:
    return bool(types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_))


def _floats(array: Any) -> Any:
    """The numbers as floats; NaN is null."""
    floats = array.cast(pa.float64(), safe=False)
    return pc.if_else(pc.is_nan(floats), NO_NUMBER, floats)


def _number_codes(array: Any, numbers: Floats) -> Ints:
    codes = np.where(np.isnan(numbers), NULL, NUMBER)
    codes[np.isinf(numbers)] = CODES[Why.INFINITE]
    if types.is_floating(array.type) or (types.is_decimal(array.type) and array.type.scale > 0):
        return codes
    for row in np.flatnonzero(np.abs(numbers) >= LARGEST_WHOLE).tolist():
        if abs(array[row].as_py()) > LARGEST_WHOLE:
            codes[row] = CODES[Why.BEYOND]
    return codes


def _unusable(array: Any) -> tuple[Why, Any]:
    """Why some texts cannot be used, and whether each is one of them."""
    if types.is_dictionary(array.type):
        holds_nul = pc.match_substring(array.dictionary.cast(pa.string()), "\0")
        return Why.NUL, _filled(holds_nul.take(array.indices))
    if is_text(array.type):
        return Why.NUL, _filled(pc.match_substring(array.cast(pa.string()), "\0"))
    return Why.OUT_OF_RANGE, _filled(pc.starts_with(_texts(array), OUT_OF_RANGE))


def _filled(claims: Any) -> Any:
    return pc.fill_null(claims, False).to_numpy(zero_copy_only=False)


def _told(array: Any) -> Callable[[Ints], list[str]]:
    def texts_of(rows: Ints) -> list[str]:
        texts: list[str] = _texts(array.take(pa.array(rows))).to_pylist()
        return texts

    return texts_of


def _texts(array: Any) -> Any:
    """The values as texts."""
    type_ = array.type
    if types.is_dictionary(type_):
        return array.dictionary_decode().cast(pa.string())
    if types.is_floating(type_) or (types.is_decimal(type_) and type_.scale > 0):
        floats = _floats(array).to_pylist()
        texts = [None if each is None else category_text(each) for each in floats]
        return pa.array(texts, pa.string())
    if types.is_timestamp(type_):
        return _iso(array.view(pa.int64()).view(pa.timestamp(type_.unit)), type_.tz)
    if types.is_time(type_):
        return pc.replace_substring_regex(array.cast(pa.string()), NO_FRACTION, "")
    return (array.cast(pa.date32()) if types.is_date64(type_) else array).cast(pa.string())


def _iso(moments: Any, zone: str | None) -> Any:
    """Moments as ISO 8601 has them: those of a time zone in UTC, the others as they are."""
    texts = pc.replace_substring(moments.cast(pa.string()), " ", "T", max_replacements=1)
    texts = pc.replace_substring_regex(texts, NO_FRACTION, "")
    return texts if zone is None else pc.binary_join_element_wise(texts, "Z", "")
