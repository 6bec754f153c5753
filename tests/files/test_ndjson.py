"""The rules of NDJSON files, each as a sentence."""

import json

import pytest

from service.errors import LimitReached
from service.files.reading import ndjson_file
from tests.files.uploads import (
    as_ndjson,
    columns,
    places,
    read,
    refused,
    summary,
    types,
    warnings,
)


def test_numbers_are_numbers_and_strings_are_texts_whatever_they_look_like() -> None:
    data = as_ndjson([{"a": 1, "b": "1"}, {"a": 2.5, "b": "02"}])

    assert {"a": [1.0, 2.5], "b": ["1", "02"]} == columns(data)


def test_true_and_false_are_texts() -> None:
    assert {"a": ["true", "false", None]} == columns(
        as_ndjson([{"a": v} for v in (True, False, None)])
    )


def test_columns_stand_in_order_of_first_appearance_and_what_is_absent_is_null() -> None:
    data = as_ndjson([{"b": 1}, {"a": "x", "b": 2}, {}, {"c": True}])

    assert ["b", "a", "c"] == list(columns(data))
    assert {"b": [1, 2, None, None], "a": [None, "x", None, None], "c": [None] * 3 + ["true"]} == (
        columns(data)
    )


def test_a_column_that_appears_late_is_null_before() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ndjson_file, "BLOCK_BYTES", 16)
        patch.setattr(ndjson_file, "BATCH_CELLS", 4)
        found, table = read(as_ndjson([{"a": 1}] * 20 + [{"b": 2}] * 20))

    assert {"a": [1] * 20 + [None] * 20, "b": [None] * 20 + [2] * 20} == table.to_pydict()
    assert (20, 0) == (found.columns[1].nulls, found.columns[1].first_null)


def test_a_column_of_numbers_and_texts_is_categorical_by_the_text_of_the_numbers() -> None:
    data = as_ndjson([{"a": value} for value in (1, 1.0, 2.5, "x", True, 10**20)])

    assert ["1", "1", "2.5", "x", "true", "100000000000000000000"] == columns(data)["a"]


def test_a_column_of_mostly_numbers_is_categorical_and_the_first_text_is_named() -> None:
    (warning,) = warnings(b'{"a": 1}\n\n{"a": 2}\n{"a": "three"}\n')

    assert (4, "a") == (warning.line, warning.column)
    assert "'three' is no number, so that all of 'a' are taken for categories" in warning.detail


@pytest.mark.parametrize("digits", ["9007199254740993", "18446744073709551616", "-" + "9" * 40])
def test_whole_numbers_beyond_2_to_the_53_keep_their_digits_as_categories(digits: str) -> None:
    data = b'{"a": 1}\n{"a": %s}\n' % digits.encode()

    assert ["1", digits] == columns(data)["a"]
    assert [(2, "a")] == [(each.line, each.column) for each in warnings(data)]
    assert [1.0, float(digits)] == columns(data, numeric=("a",))["a"]


def test_floats_may_be_beyond_2_to_the_53() -> None:
    data = b'{"a": 1e22}\n{"a": 1}\n'

    assert {"a": [1e22, 1.0]} == columns(data)
    assert not summary(data).is_fractional


@pytest.mark.parametrize("number", [b"1e999", b"-1e999", b"9" * 400, b"-" + b"9" * 5000])
def test_numbers_that_are_too_large_are_refused(number: bytes) -> None:
    error = refused(b'{"a": 1}\n{"a": %s}\n' % number)

    assert [(2, "a")] == places(error)
    assert "too large for a number" in error.misfits[0].detail


@pytest.mark.parametrize("value", ["[1]", '{"b": 1}', "[]", "[" * 900 + "]" * 900])
def test_lists_and_objects_as_values_are_named_by_line_and_column(value: str) -> None:
    error = refused(b'{"a": 1}\n\n{"a": %s}\n' % value.encode())

    assert [(3, "a")] == places(error)
    assert "is a list or an object" in error.misfits[0].detail


@pytest.mark.parametrize(
    "line",
    [
        b'{"a": 1',
        b"{'a': 1}",
        b'{"a": NaN}',
        b'{"a": 1e999, "b": NaN}',
        b'{"a": 01}',
        b'{"a": "\xff"}',
        b'{"a": "\\ud800"}',
        b'{"a": 1e999, "b": "\\ud800"}',
        b'{"a": 9999999999999999999, "b": "\\ud800"}',
        b'{"a": "x\0y"}',
        b"\0",
        b'{"a": ' + b"[" * 100_000 + b"}",
        b'{"a": 9999999999999999999, "b": ' + b"[" * 100_000 + b"}",
    ],
)
def test_a_line_that_is_no_json_is_named(line: bytes) -> None:
    error = refused(b'{"a": 1}\n' + line + b"\n")

    assert [(2, None)] == places(error)
    assert str(error).startswith("Line 2 is no JSON: ")


@pytest.mark.parametrize("line", [b"1", b'"x"', b"null", b'[{"a": 1}]'])
def test_a_line_that_is_no_object_is_named(line: bytes) -> None:
    assert "Line 2 is no JSON object." == str(refused(b'{"a": 1}\n' + line + b"\n"))


def test_the_character_nul_is_named_by_line_and_column() -> None:
    assert [(2, "a")] == places(refused(b'{"a": "x"}\n{"a": "\\u0000"}\n'))


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 1001])
def test_names_that_cannot_stand_for_columns_are_refused_by_line(name: str) -> None:
    error = refused(b'{"a": 1}\n' + json.dumps({name: 1}).encode())

    assert [(2, None)] == places(error)
    assert "The name of a column in line 2" in str(error)


def test_a_string_in_a_column_that_must_be_numeric_is_named() -> None:
    data = as_ndjson([{"a": 1}, {"a": "2"}, {"a": True}])

    assert [(2, "a"), (3, "a")] == places(refused(data, numeric=("a",)))


def test_a_column_of_numbers_can_be_named_as_categorical() -> None:
    assert {"a": ["1", "2.5"]} == columns(as_ndjson([{"a": 1.0}, {"a": 2.5}]), categorical=("a",))


@pytest.mark.parametrize(
    ("data", "first_line"),
    [
        (b'{"a": 1}\n{"a": 2}\n', 1),
        (b'{"a": 1}\r\n{"a": 2}', 1),
        (b'{"a": 1}\n{"a": 2}\n\n \n', 1),
        (b'{"a": 1}\n\n{"a": 2}\n', None),
        (b'\n{"a": 1}\n', None),
    ],
)
def test_the_first_line_is_told_if_each_row_is_one(data: bytes, first_line: int | None) -> None:
    assert first_line == read(data)[0].first_line


def test_a_byte_order_mark_is_skipped() -> None:
    assert {"a": [1, 2]} == columns(b'\xef\xbb\xbf{"a": 1}\n{"a": 2}')


@pytest.mark.parametrize("data", [b"{}\n{}\n", b"{}"])
def test_rows_without_any_column_are_refused(data: bytes) -> None:
    assert "The file has no columns." == str(refused(data))


@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_a_file_without_rows_is_refused(data: bytes) -> None:
    assert "The file has no rows." == str(refused(data, format="ndjson"))


def test_more_columns_or_cells_than_there_may_be_are_refused() -> None:
    data = as_ndjson([{"a": 1, "b": 2}, {"c": 3}])

    assert "_COLUMNS" in str(refused(data, LimitReached, max_columns=2))
    assert "_CELLS" in str(refused(data, LimitReached, max_cells=5))
    assert "int64" == types(data, max_cells=6)["c"]


def test_a_line_that_is_too_long_is_named() -> None:
    error = refused(b'{"a": 1}\n{"a": "' + b"x" * 5_000_000 + b'"}\n')

    assert [(2, None)] == places(error)
    assert "Line 2 is longer than 2097152 bytes." == str(error)


def test_a_json_array_is_refused_with_advice() -> None:
    assert "one object a line" in str(refused(b'[{"a": 1},\n{"a": 2}]'))
