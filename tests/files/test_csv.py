"""The rules of CSV files, each as a sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidFile, LimitReached
from service.files.reading import csv_file
from tests.files.naive_table import naive_records
from tests.files.uploads import (
    as_csv,
    columns,
    places,
    read,
    refused,
    summary,
    types,
    warnings,
)


def column(*texts: str, name: str = "age") -> bytes:
    """A file whose first column has these texts."""
    return as_csv([name, "row"], [(text, f"r{row}") for row, text in enumerate(texts)])


def test_a_column_is_numeric_if_all_of_its_values_are_numbers() -> None:
    data = column("1", "-2.5", "+3e2", " 4 ", ".5", "6.", "\t7")

    assert [1.0, -2.5, 300.0, 4.0, 0.5, 6.0, 7.0] == columns(data)["age"]


@pytest.mark.parametrize(
    ("texts", "type_"),
    [
        (("1", "2.0", "3e2", ""), "int64"),
        (("1", "2.5"), "double"),
        (("1", "1e20"), "double"),  # whole, but not for 64 bits
        (("1", "x"), "string"),
        (("", ""), "string"),
    ],
)
def test_numbers_are_kept_whole_where_all_are(texts: tuple[str, ...], type_: str) -> None:
    assert type_ == types(column(*texts))["age"]


@pytest.mark.parametrize("text", ["nan", "NaN", "inf", "-Infinity", "0x1F", "1_000", "1,5", "٣"])
def test_what_only_some_programs_take_for_numbers_is_none(text: str) -> None:
    assert ["1", text] == columns(column("1", text))["age"]


@pytest.mark.parametrize("text", ["007", "-01", "00", "01.5"])
def test_leading_zeros_make_codes_of_numbers(text: str) -> None:
    assert ["12", text, "0", "0.5"] == columns(column("12", text, "0", "0.5"))["age"]


def test_whole_numbers_beyond_2_to_the_53_are_categories_and_a_warning_says_so() -> None:
    data = column("9007199254740992", "9007199254740993")

    assert "string" == types(data)["age"]
    (warning,) = warnings(data)
    assert (3, "age") == (warning.line, warning.column)
    assert "'9007199254740993' is a whole number beyond 2**53" in warning.detail
    assert "int64" == types(column("9007199254740992", "-9007199254740992"))["age"]


def test_leading_zeros_and_long_numbers_are_numbers_where_they_must_be() -> None:
    data = column("007", "9007199254740993")

    assert [7.0, 9007199254740992.0] == columns(data, numeric=("age",))["age"]


def test_a_number_that_is_too_large_is_refused_by_line_and_column() -> None:
    error = refused(column("1", "1e999", "2", "-1e999"))

    assert [(3, "age"), (5, "age")] == places(error)
    assert "'1e999' is too large for a number" == error.misfits[0].detail


def test_a_number_that_is_too_large_is_a_text_among_texts() -> None:
    assert ["1e999", "x"] == columns(column("1e999", "x"))["age"]
    assert ["1e999"] == columns(column("1e999"), categorical=("age",))["age"]


def test_an_empty_field_is_null_quoted_or_not() -> None:
    data = b'a,b\n1,x\n"",""\n,\n'

    assert {"a": [1, None, None], "b": ["x", None, None]} == columns(data)


def test_further_texts_mean_null_if_they_are_named() -> None:
    data = b'a,b\n1,x\nNA,"?"\n3,NA\n'

    assert {"a": [1, None, 3], "b": ["x", None, None]} == columns(data, nulls=("NA", "?"))
    assert ["1", "NA", "3"] == columns(data)["a"]


def test_texts_keep_the_spaces_around_them() -> None:
    assert [" x", "y ", " "] == columns(column(" x", "y ", " "))["age"]


def test_a_column_of_mostly_numbers_is_categorical_and_the_first_text_is_named() -> None:
    (warning,) = warnings(column("1", "2", "abc" * 30, "3", "x"))

    assert (4, "age") == (warning.line, warning.column)
    assert warning.detail.startswith("'abcabc")
    assert "is no number, so that all of 'age' are taken for categories" in warning.detail
    assert len(warning.detail) < 250


def test_a_column_of_few_numbers_is_categorical_without_a_word() -> None:
    assert () == warnings(column("1", "x", "y"))


def test_a_column_that_is_named_as_categorical_is_one_without_a_word() -> None:
    data = column("1", "2", "x", "01")

    assert () == warnings(data, categorical=("age",))
    assert ["1", "2.0"] == columns(column("1", "2.0"), categorical=("age",))["age"]
    assert 0 == summary(column("1", "2"), categorical=("age",)).first_text


def test_a_column_that_must_be_numeric_names_each_text() -> None:
    error = refused(column("1", "x", "", "nan"), numeric=("age",))

    assert [(3, "age"), (5, "age")] == places(error)
    assert "'x' is no number" == error.misfits[0].detail
    assert 100 == len(refused(column(*["x"] * 300), numeric=("age",)).misfits)


@pytest.mark.parametrize("wish", ["numeric", "categorical"])
def test_a_wish_about_a_column_that_is_not_there_is_refused(wish: str) -> None:
    assert "There is no column 'height'" in str(refused(column("1"), **{wish: ("height",)}))


def test_a_column_cannot_be_wished_both_ways() -> None:
    error = refused(column("1"), numeric=("age",), categorical=("age",))

    assert "as numeric and as categorical" in str(error)


def test_the_same_name_twice_is_refused_with_its_places() -> None:
    error = refused(b"a,b,a,c\n1,2,3,4\n")

    assert "2 columns have the same name 'a': columns 1, 3." == str(error)
    assert [(1, "a")] == places(error)


@pytest.mark.parametrize(
    ("header", "detail"),
    [
        ("a,,b", "The name of column 2 is empty."),
        ('a,""', "The name of column 2 is empty."),
        ("a,b\0", "The name of column 2 holds the character U+0000."),
        ("a," + "b" * 1001, "The name of column 2 has more than 1000 characters."),
    ],
)
def test_names_that_cannot_stand_for_columns_are_refused(header: str, detail: str) -> None:
    assert detail == str(refused(header.encode() + b"\n1,2\n"))


def test_more_columns_than_there_may_be_are_refused() -> None:
    error = refused(b"a,b,c\n1,2,3\n", LimitReached, max_columns=2)

    assert "more than 2 columns" in str(error)
    assert "BOUGH_MAX_DATASET_COLUMNS" in str(error)


def test_more_cells_than_there_may_be_are_refused() -> None:
    data = b"a,b\n" + b"1,2\n" * 50

    assert 50 == read(data, max_cells=100)[0].n_rows
    assert "BOUGH_MAX_DATASET_CELLS" in str(refused(data, LimitReached, max_cells=99))


def test_more_bytes_than_there_may_be_are_refused() -> None:
    data = b"a,b\n" + b"1,2\n" * 50

    assert 50 == read(data, max_bytes=len(data))[0].n_rows
    assert "BOUGH_MAX_DATASET_BYTES" in str(refused(data, LimitReached, max_bytes=len(data) - 1))


def test_a_byte_order_mark_is_skipped_but_not_in_a_value() -> None:
    assert {"a": [1, 2]} == columns(b"\xef\xbb\xbfa\n1\n2\n")
    assert {"a": ["\ufeff1"]} == columns(b"\xef\xbb\xbfa\n\xef\xbb\xbf1\n")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way(end: str) -> None:
    found, table = read(end.join(["a,b", "1,x", "2,y"]).encode())

    assert {"a": [1, 2], "b": ["x", "y"]} == table.to_pydict()
    assert 2 == found.first_line


def test_blank_lines_are_skipped_and_lines_are_told_all_the_same() -> None:
    data = b"\n\na,b\n1,2\n\r\n\n1e999,3\n"

    assert [(7, "a")] == places(refused(data))


def test_a_value_may_go_over_several_lines_and_lines_are_told_all_the_same() -> None:
    data = b'a,b\n1,"x\ny\r\nz"\n\n1e999,3\n'

    assert [(6, "a")] == places(refused(data))
    assert ["x\ny\r\nz", "3"] == columns(data.replace(b"e999", b""))["b"]


@pytest.mark.parametrize(
    ("data", "first_line"),
    [
        (b"a,b\n1,2\n3,4\n", 2),
        (b"a,b\r\n1,2\r\n3,4", 2),
        (b"a,b\n1,2\n3,4\n\n\n", 2),  # blank lines at the end move no row
        (b"a,b\n1,2\n\n3,4\n", None),
        (b"\na,b\n1,2\n", None),
        (b'a,b\n1,"2\n3"\n4,5\n', None),
        (b'"a\nb",c\n1,2\n', None),
    ],
)
def test_the_first_line_is_told_if_each_row_is_one(data: bytes, first_line: int | None) -> None:
    assert first_line == read(data)[0].first_line


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [
        ("a,b", ","),
        ("a;b", ";"),
        ("a\tb", "\t"),
        ("a;b,c;d", ";"),
        ("a,b;c", ","),  # as many of both
        ('"a;b;c",d', ","),  # what stands in quotes does not count
        ("a", ","),
    ],
)
def test_the_delimiter_is_the_one_the_header_has_most_of(header: str, delimiter: str) -> None:
    n_columns = len(next(iter(naive_records(header, delimiter)[0]))[1])

    assert n_columns == len(columns((header + "\n" + delimiter.join("1" * n_columns)).encode()))


def test_the_delimiter_can_be_named() -> None:
    assert {"a,b": ["1,2"], "c": ["x"]} == columns(b"a,b|c\n1,2|x\n", delimiter="|")


@pytest.mark.parametrize("delimiter", ['"', "\n", "ab", "é", "\0"])
def test_a_delimiter_that_cannot_be_one_is_refused(delimiter: str) -> None:
    assert "The delimiter must be" in str(refused(b"a,b\n1,2\n", delimiter=delimiter))


def test_quotes_are_doubled_between_quotes_and_are_themselves_elsewhere() -> None:
    data = b'a,b\n"x ""y""",z "q"\n'

    assert {"a": ['x "y"'], "b": ['z "q"']} == columns(data)


def test_rows_that_are_too_short_or_too_long_are_named() -> None:
    error = refused(b'a,b\n1,2\n\n3\n4,5\n6,"7\n",8\n')

    assert [(4, None), (6, None)] == places(error)
    assert "Line 4 cannot be read: it has 1 value, but the header has 2." == str(error)
    assert "it has 3 values, but the header has 2" == error.misfits[1].detail


def test_what_is_not_utf_8_is_named_by_line_and_column() -> None:
    assert [(3, "b")] == places(refused(b"a,b\n1,x\n2,caf\xe9\n"))
    assert "The header cannot be read" in str(refused(b"a,caf\xe9\n1,x\n"))


def test_the_character_nul_is_named_by_line_and_column() -> None:
    error = refused(b"a,b\n1,x\n2,x\0y\n")

    assert [(3, "b")] == places(error)
    assert "holds the character U+0000" in error.misfits[0].detail


@pytest.mark.parametrize("data", [b"a,b", b"a,b\n", b"a,b\n\n\r\n"])
def test_a_header_without_rows_is_refused(data: bytes) -> None:
    assert "The file has no rows." == str(refused(data))


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(data: bytes) -> None:
    assert "The file is empty." == str(refused(data))


@pytest.mark.parametrize(
    "data", [b'a,b\n1,"x\n2,y\n', b'a,b\n1,2\n"', b'a\n"x""\n', b'a,b\n1,"x"",3\n']
)
def test_a_quote_that_is_never_closed_is_refused(data: bytes) -> None:
    error = refused(data)

    assert "never closed" in error.misfits[-1].detail
    assert error.misfits[-1].line in (2, 3)


def test_a_quote_that_is_never_closed_in_the_header_is_refused() -> None:
    assert "The header cannot be read" in str(refused(b'a,"b\n1,2\n'))


FRAGMENTS = st.sampled_from(["a", "1", ",", ",", '"', '"', "\n", "\n", "\r", "\r\n", " ", "é"])


@given(st.lists(FRAGMENTS, max_size=30).map("".join))
def test_records_and_their_lines_are_those_of_the_naive_reader(text: str) -> None:
    data = ("p,q\n" + text).encode()
    records, is_open = naive_records("p,q\n" + text, ",")
    rows = records[1:]
    if not is_open and rows and all(len(record) == 2 for _, record in rows):
        table = read(data, format="csv", categorical=("p", "q"))[1]
        expected = [tuple(value or None for value in record) for _, record in rows]
        assert expected == list(zip(*table.to_pydict().values(), strict=True))
        return
    error = refused(data, format="csv", categorical=("p", "q"))
    ragged = [(line, None) for line, record in rows if len(record) != 2]
    if rows or is_open:
        assert ragged == places(error)[: len(ragged)]
        assert is_open == (len(error.misfits) > len(ragged))


@given(
    st.lists(st.lists(FRAGMENTS, max_size=6).map("".join), min_size=2, max_size=60),
    st.sampled_from(["\n", "\r", "\r\n"]),
)
def test_values_that_lie_across_blocks_are_whole(texts: list[str], end: str) -> None:
    rows = [texts[place : place + 2] for place in range(0, len(texts) - 1, 2)]
    data = as_csv(["p", "q"], rows, quoting=1, lineterminator=end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_file, "LONGEST_RECORD", 100)
        patch.setattr(csv_file, "BATCH_BYTES", 300)
        patch.setattr(csv_file, "BYTES_PER_COLUMN", 1)
        table = read(data, format="csv", categorical=("p", "q"))[1]

    expected = [tuple(value or None for value in row) for row in rows]
    assert expected == list(zip(*table.to_pydict().values(), strict=True))


def test_a_row_that_is_longer_than_a_block_is_named() -> None:
    data = b"a,b\n1,2\n" + b"x" * 5_000_000 + b",3\n"

    error = refused(data)

    assert [(3, None)] == places(error)
    assert "longer than 2097152 bytes" in str(error)
    assert isinstance(error, InvalidFile)


def test_numbers_may_have_a_decimal_comma() -> None:
    data = b"a;b\n1,5;x\n-2;y,1\n,5;z.1\n"

    assert {"a": [1.5, -2.0, 0.5], "b": ["x", "y,1", "z.1"]} == columns(data, decimal=",")


def test_points_are_no_decimals_beside_a_decimal_comma() -> None:
    assert {"a": "string"} == types(b"a\n1.234,5\n1.5\n", decimal=",", delimiter=";")


def test_decimal_commas_that_were_not_declared_are_told() -> None:
    (warning,) = warnings(b"a;b\n1,5;x\n2;y\n")

    assert (2, "a") == (warning.line, warning.column)
    assert "decimal=," in warning.detail


def test_a_bar_is_found_to_be_the_delimiter() -> None:
    assert {"a": [1, 2], "b": ["x", "y"]} == columns(b"a|b\n1|x\n2|y\n")
