"""The rules of Parquet files, each as a sentence."""

import io
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from math import inf, nan
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.errors import LimitReached
from service.files.reading import parquet_file
from tests.files.uploads import (
    as_parquet,
    columns,
    packed,
    places,
    read,
    refused,
    summary,
    types,
    warnings,
)

MOMENT = int(datetime(2026, 3, 1, 9, tzinfo=UTC).timestamp()) * 1_000_000


@pytest.mark.parametrize(
    ("array", "kept"),
    [
        (pa.array([1, None], pa.int8()), [1, None]),
        (pa.array([1, 2**53], pa.uint64()), [1, 2**53]),
        (pa.array([1.5, nan, None, 2.0]), [1.5, None, None, 2.0]),
        (pa.array([1.0, 2.0]), [1, 2]),
        (pa.array([0.5], pa.float16()), [0.5]),
        (pa.array([Decimal("1.50"), None], pa.decimal128(9, 2)), [1.5, None]),
        (pa.array([Decimal("12")], pa.decimal256(50, 0)), [12]),
        (pa.array(["x", None, "1"]), ["x", None, "1"]),
        (pa.array(["x", ""], pa.large_string()), ["x", ""]),
        (pa.array([True, False, None]), ["true", "false", None]),
        (pa.array(["x", "y", "x", None]).dictionary_encode(), ["x", "y", "x", None]),
        (pa.array([3, 4, 3]).dictionary_encode(), [3, 4, 3]),
        (pa.array([date(2026, 3, 1), None]), ["2026-03-01", None]),
        (pa.array([date(2026, 3, 1)], pa.date64()), ["2026-03-01"]),
        (pa.array([time(9, 30), time(9, 30, 0, 5)]), ["09:30:00", "09:30:00.000005"]),
        (
            pa.array([MOMENT, MOMENT + 500_000], pa.timestamp("us")),
            ["2026-03-01T09:00:00", "2026-03-01T09:00:00.500000"],
        ),
        (
            pa.array([MOMENT // 1000], pa.timestamp("ms", "Europe/Berlin")),
            ["2026-03-01T09:00:00Z"],
        ),
        (pa.array([1000 * MOMENT + 7], pa.timestamp("ns")), ["2026-03-01T09:00:00.000000007"]),
        (pa.nulls(2), [None, None]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_each_type_is_kept_as_numbers_or_texts(array: pa.Array, kept: list[Any]) -> None:
    assert {"a": kept} == columns(as_parquet({"a": array}))


@pytest.mark.parametrize(
    ("array", "kept"),
    [
        (pa.array([1, 2**53 + 1]), ["1", "9007199254740993"]),
        (pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
        (pa.array([Decimal(10**20)], pa.decimal128(38, 0)), ["100000000000000000000"]),
    ],
    ids=["int64", "uint64", "decimal"],
)
def test_whole_numbers_beyond_2_to_the_53_are_texts(array: pa.Array, kept: list[str]) -> None:
    data = as_parquet({"a": array})

    assert {"a": kept} == columns(data)
    assert [(None, "a")] == [(each.line, each.column) for each in warnings(data)]
    assert "double" == types(data, numeric=("a",))["a"]


def test_an_infinite_number_is_refused_by_column_and_row() -> None:
    error = refused(as_parquet({"a": [1.0, inf]}))

    assert [(None, "a")] == places(error)
    assert "(in row 1, counted from 0)" in error.misfits[0].detail


@pytest.mark.parametrize(
    "array",
    [
        pa.array([[1], [2]]),
        pa.array([{"x": 1}]),
        pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
        pa.array([b"x"]),
        pa.array([timedelta(1)]),
    ],
    ids=lambda array: str(array.type),
)
def test_a_type_that_is_neither_number_nor_text_is_refused(array: pa.Array) -> None:
    error = refused(as_parquet({"fine": [1] * len(array), "odd": array}))

    assert "Some columns have types that cannot be used: 'odd'." == str(error)
    assert [(None, "odd")] == places(error)


def test_numbers_can_be_named_as_categorical() -> None:
    data = as_parquet({"a": [1.0, 2.5, None, nan], "b": [1, 2, 3, None]})

    assert {"a": ["1", "2.5", None, None], "b": ["1", "2", "3", None]} == columns(
        data, categorical=("a", "b")
    )


def test_texts_in_a_column_that_must_be_numeric_are_refused() -> None:
    assert [(None, "a")] == places(refused(as_parquet({"a": ["1"]}), numeric=("a",)))
    dates = pa.array([0], pa.timestamp("ns"))
    assert "'1970-01-01T00:00:00' is no number" in (
        refused(as_parquet({"a": dates}), numeric=("a",)).misfits[0].detail
    )


def test_a_date_that_is_out_of_range_is_refused() -> None:
    assert [(None, "a")] == places(
        refused(as_parquet({"a": pa.array([2**61], pa.timestamp("us"))}))
    )


def test_texts_that_cannot_be_kept_are_refused() -> None:
    assert "U+0000" in refused(as_parquet({"a": ["x", "y\0"]})).misfits[0].detail
    bad = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"], pa.binary()).buffers())
    assert "not UTF-8" in str(refused(as_parquet({"a": bad})))


def test_the_same_name_twice_is_refused() -> None:
    target = io.BytesIO()
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), target)

    assert "2 columns have the same name 'a': columns 1, 2." == str(refused(target.getvalue()))


def test_a_file_without_rows_or_columns_is_refused() -> None:
    assert "The file has no rows." == str(refused(as_parquet({"a": pa.array([], pa.int64())})))
    assert "The file has no columns." == str(refused(as_parquet({})))


@pytest.mark.parametrize("kept", [4, 8, 100, -1, -8, -20])
def test_a_file_of_which_some_is_lost_is_refused(kept: int) -> None:
    data = as_parquet({"a": list(range(1000)), "b": ["x", "y"] * 500})

    assert "The Parquet file is damaged, or some of it was lost." == str(
        refused(data[:kept], format="parquet")
    )


def test_what_is_no_parquet_file_is_refused() -> None:
    assert "is damaged" in str(refused(b"a,b\n1,2\n", format="parquet"))


def test_a_parquet_file_is_not_to_be_packed_again() -> None:
    data = packed(as_parquet({"a": [1]}))

    assert "send it without gzip" in str(refused(data))
    assert "send it without gzip" in str(refused(data, format="parquet"))


def test_limits_hold_for_what_is_unpacked() -> None:
    data = as_parquet({"a": ["x" * 1000] * 10_000, "b": [1] * 10_000})

    assert len(data) < 100_000
    assert "BOUGH_MAX_DATASET_BYTES" in str(refused(data, LimitReached, max_bytes=9_999_999))
    assert "BOUGH_MAX_DATASET_CELLS" in str(refused(data, LimitReached, max_cells=19_999))
    assert "BOUGH_MAX_DATASET_COLUMNS" in str(refused(data, LimitReached, max_columns=1))
    assert 10_000 == read(data)[0].n_rows


def test_batches_are_cut_where_texts_are_long() -> None:
    texts = [("x" * 100) + str(row % 7) for row in range(5000)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_file, "BATCH_BYTES", 10_000)
        found, table = read(as_parquet({"a": texts}, row_group_size=999))

    assert texts == table["a"].to_pylist()
    assert 7 == found.columns[0].distinct


def test_there_are_no_lines() -> None:
    data = as_parquet({"a": [1, 2]})

    assert (None, "parquet") == (read(data)[0].first_line, read(data)[0].format)
    assert 2 == summary(data).distinct
