"""Columns of Arrow arrays as numbers and texts, without a look at each value; and back again."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from service.files.reading.typed import array_as, is_text, is_usable
from service.tree.arrays import Floats, Ints
from service.tree.columns import Numbers, Texts

STRANGER = "\0"  # which no category can be
NOTHING, NULL = pa.array([], pa.string()), pa.array([None], pa.string())
A_TEXT, NESTED = "", ()  # in the place of values that cannot be used, whatever they are


def numbers_of(array: Any) -> Sequence[Any]:
    """The array as numbers; where it holds something else, a column that is not all numbers."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    type_ = array.type
    if pa.types.is_null(type_):
        return Numbers(np.full(len(array), np.nan))
    if not (
        pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_)
    ):
        return _instead(array, A_TEXT)
    floats: Floats = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    if not np.isfinite(_total(floats)) and np.isinf(floats).any():
        return [None if number != number else number for number in floats.tolist()]
    return Numbers(floats)


def _total(values: Floats) -> float:
    """The sum, which is not finite if any of them is not: faster than a look at each."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(values.sum())


def texts_of(array: Any, categories: Any) -> Sequence[Any]:
    """The array as numbers of these categories, an Arrow array; all others are one stranger."""
    if not is_usable(array.type):
        return _instead(array, NESTED)
    named = (*categories.to_pylist(), STRANGER)
    if pa.types.is_dictionary(array.type) and is_text(array.type.value_type):
        known = np.append(_codes(array.dictionary, categories), -1)
        return Texts(named, known[_filled(array.indices)])
    if pa.types.is_null(array.type):
        return Texts(named, np.full(len(array), -1))
    return Texts(named, _codes(array_as(array, pa.string()), categories))


def _codes(texts: Any, categories: Any) -> Ints:
    """Per text the number of its category, -1 for null, and the next number for strangers."""
    texts = texts if pa.types.is_string(texts.type) else texts.cast(pa.string())
    # null is looked up as if it were one more category, so that nothing is found for strangers only
    places = pc.index_in(texts, value_set=pa.concat_arrays([categories, NULL]))
    n_known = len(categories)
    places = places.fill_null(n_known + 1) if places.null_count else places
    codes: Ints = np.array([*range(n_known), -1, n_known]).take(places.to_numpy())
    return codes


def _filled(indices: Any) -> Ints:
    """Indices as numbers, -1 for null."""
    filled = pc.fill_null(indices.cast(pa.int64()), -1) if indices.null_count else indices
    found: Ints = filled.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return found


def _instead(array: Any, value: object) -> list[Any]:
    known = array.is_valid().to_numpy(zero_copy_only=False)
    return [value if each else None for each in known.tolist()]


def named(codes: Ints, names: Sequence[str]) -> Any:
    """Names by their numbers, -1 being null."""
    mask = codes < 0 if len(codes) and codes.min() < 0 else None
    indices = pa.array(codes.astype(np.int8 if len(names) < 128 else np.int32), mask=mask)
    return pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string()))


def numbers(values: Any) -> Any:
    """Numbers or truths; NaN is null."""
    if values.dtype == np.float64 and np.isnan(_total(values)):
        return pa.array(values, from_pandas=True)
    return pa.array(values)


def listed(pairs: Ints, names: Sequence[str], n_rows: int) -> Any:
    """Per row a list of names, of pairs (row, number of the name) that are sorted."""
    starts = np.zeros(n_rows + 1, dtype=np.int32)
    texts = NOTHING
    if len(pairs):
        starts[1:] = np.bincount(pairs[:, 0], minlength=n_rows).cumsum()
        texts = pa.array(names, pa.string()).take(pa.array(pairs[:, 1].copy()))
    return pa.ListArray.from_arrays(pa.array(starts), texts)
