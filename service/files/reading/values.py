"""Values as JSON has them: what they are, and what they become."""

from collections.abc import Sequence
from functools import partial
from math import isinf
from typing import Any

import numpy as np
import pyarrow as pa

from service.files.reading.look import CODES, LARGEST_WHOLE, NULL, NUMBER, Look, Why, look_at
from service.files.reading.texts import numbers_as
from service.tree.arrays import Ints
from service.tree.attribute import category_text
from service.tree.encode import is_number

NONE = type(None)
NO_NUMBERS = np.zeros(0)


def look_at_values(values: Sequence[Any]) -> Look:
    """What a list of values tells of its column."""
    types = set(map(type, values))
    if types <= {NONE, int, float}:
        return _look_at_numbers(values)
    if types <= {NONE, str} and "\0" not in "".join(filter(None, values)):
        is_null = np.array([value is None for value in values])
        return look_at(
            np.where(is_null, NULL, CODES[Why.TEXT]), NO_NUMBERS, partial(_texts, values)
        )
    codes = np.array([_code(value) for value in values])
    numbers = np.array([float(value) for value in values if is_number(value)])
    return look_at(codes, numbers[np.isfinite(numbers)], partial(_texts, values))


def values_as(values: Sequence[Any], type_: Any) -> Any:
    """The values as an array of this type, which the look at them has found to fit."""
    if pa.types.is_string(type_) and set(map(type, values)) <= {NONE, str}:
        return pa.array(values, type_)
    if pa.types.is_string(type_):
        texts = [None if value is None else category_text(value) for value in values]
        return pa.array(texts, type_)
    return numbers_as(pa.array(np.array(values, dtype=np.float64), from_pandas=True), type_)


def _look_at_numbers(values: Sequence[Any]) -> Look:
    numbers = np.array(values, dtype=np.float64)  # NaN is null, as JSON has none
    codes = np.where(np.isnan(numbers), NULL, NUMBER)
    large = np.flatnonzero(np.abs(numbers) >= LARGEST_WHOLE)
    codes[large] = [_code(values[row]) for row in large.tolist()]
    return look_at(codes, numbers[np.isfinite(numbers)], partial(_texts, values))


def _code(value: object) -> int:
    match value:
        case None:
            return NULL
        case str():
            return CODES[Why.NUL if "\0" in value else Why.TEXT]
        case bool():
            return CODES[Why.TEXT]
        case int():
            return CODES[Why.BEYOND] if abs(value) > LARGEST_WHOLE else NUMBER
        case float():
            return CODES[Why.INFINITE] if isinf(value) else NUMBER
        case _:
            return CODES[Why.NESTED]


def _texts(values: Sequence[Any], rows: Ints) -> list[str]:
    return [_text(values[row]) for row in rows.tolist()]


def _text(value: Any) -> str:
    """What can be told of a value, which may be a list that is very deep."""
    if isinstance(value, list | dict):
        return "[...]" if isinstance(value, list) else "{...}"
    return category_text(value)
