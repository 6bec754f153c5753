"""Random tables, written in each format, are read back as the naive rules have them."""

import csv
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.files.records import Ingested
from tests.files import naive_table as naive
from tests.files.uploads import as_csv, as_ndjson, as_parquet, packed, read, refused

LOOKING_LIKE_NUMBERS = [
    *("0", "1", "1", "1.0", "2", "-0", "+5", " 7 ", "\t8", "1e3", "1E-2", ".5", "5.", "0.10"),
    *("9007199254740992", "-9007199254740992", "1e22", "1e-400", "0e5"),
]
NO_NUMBERS = [
    *("", "", "01", "-007", "00", "00.5", "9007199254740993", "12345678901234567890", "nan"),
    *("NaN", "inf", "-Infinity", "0x1F", "1_000", "1,5", "1;5", ".", "-", "e5", "1e", "1 2"),
    *("NA", "?", " ", "'", '"', '""', 'a"b', "x\ny", "x\r\ny", "\r", "\n", "é", "\u2028", "٣"),
    *("1\n", "1\u00a0", "\ufeff1", "a,b", "tab\there", "1e999", "-1e999", "9" * 400),
]
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
NUMBERS = st.one_of(
    st.integers(-(10**17), 10**17),
    st.integers(-3, 3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-10, 10).map(lambda number: round(number, 2)),
)
LIKE_NUMBERS = st.one_of(st.sampled_from(LOOKING_LIKE_NUMBERS), NUMBERS.map(repr))
FIELDS = st.sampled_from(
    [
        st.one_of(LIKE_NUMBERS, LIKE_NUMBERS, st.just("")),
        st.one_of(LIKE_NUMBERS, st.sampled_from(NO_NUMBERS)),
        st.one_of(TEXT, st.sampled_from(NO_NUMBERS)),
        st.integers(0, 1).map(str),
        st.just(""),
    ]
)
VALUES = st.sampled_from(
    [
        st.one_of(NUMBERS, st.none()),
        st.one_of(NUMBERS, st.booleans(), TEXT, st.none()),
        st.one_of(TEXT, st.sampled_from(LOOKING_LIKE_NUMBERS), st.none()),
        st.integers(0, 1),
        st.integers(-(10**25), 10**25),
        st.none(),
    ]
)
NAMES = st.one_of(TEXT.filter(bool), st.sampled_from(["a", "b b", "c,d", 'e"f', "g\nh", " i"]))
QUOTINGS = st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
PACKINGS = st.sampled_from([packed, bytes])
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def tables(draw: Any, cells: Any) -> tuple[list[str], list[list[Any]]]:
    """Names and columns; each column draws from a strategy of its own."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    n_rows = draw(st.integers(1, 30))
    lists = [draw(st.lists(draw(cells), min_size=n_rows, max_size=n_rows)) for _ in names]
    return names, lists


def assert_is(expected: dict[str, list[Any]], found: Ingested, table: pa.Table) -> None:
    assert {name: naive.values(cells) for name, cells in expected.items()} == table.to_pydict()
    for name, cells in expected.items():
        type_ = table.schema.field(name).type
        told = next(each for each in found.columns if each.name == name)
        wanted = naive.summarised(name, cells)
        assert wanted == replace(told, mean=None)
        assert list((wanted.values or {}).items()) == list((told.values or {}).items())
        known = [value for value in naive.values(cells) if value is not None]
        assert {str} >= {type(value) for value in known} or not pa.types.is_string(type_)
        if told.kind == "numeric":
            mean = float(sum(map(Fraction, known)) / len(known))
            assert told.mean == pytest.approx(mean, abs=1e-12 * max(map(abs, known)))


@given(tables(FIELDS), st.sampled_from(",;\t|"), ENDS, QUOTINGS, PACKINGS)
def test_a_csv_file_is_read_as_the_rules_have_it(
    drawn: Any, delimiter: str, end: str, quoting: Any, packing: Any
) -> None:
    names, lists = drawn
    is_broken = any(end in text for texts in [names, *lists] for text in texts for end in "\r\n")
    quoting = csv.QUOTE_ALL if is_broken else quoting
    rows = list(zip(*lists, strict=True))
    data = as_csv(names, rows, delimiter=delimiter, lineterminator=end, quoting=quoting)
    if data.startswith(b"\xef\xbb\xbf"):
        return  # the first name begins with what is taken for a mark
    wishes = {"format": "csv", "delimiter": delimiter, "nulls": ("NA", "?")}
    data = packing(data)
    expected = {
        name: [naive.csv_cell(text, ("NA", "?")) for text in texts]
        for name, texts in zip(names, lists, strict=True)
    }

    if any(map(naive.is_refused, expected.values())):
        assert all("is too large" in each.detail for each in refused(data, **wishes).misfits)
        return
    found, table = read(data, **wishes)

    assert (len(rows), None if is_broken else 2) == (found.n_rows, found.first_line)
    assert_is(expected, found, table)


@given(tables(VALUES), st.randoms(use_true_random=False), PACKINGS)
def test_an_ndjson_file_is_read_as_the_rules_have_it(drawn: Any, random: Any, packing: Any) -> None:
    names, lists = drawn
    rows = [dict(zip(names, row, strict=True)) for row in zip(*lists, strict=True)]
    sparse = [
        {name: value for name, value in row.items() if value is not None or random.random() < 0.5}
        for row in rows
    ]
    data = as_ndjson([dict.fromkeys(names), *sparse])
    expected = {
        name: [naive.json_cell(row[name]) for row in [dict.fromkeys(names), *rows]]
        for name in names
    }

    found, table = read(packing(data), format="ndjson")

    assert (len(rows) + 1, 1) == (found.n_rows, found.first_line)
    assert names == table.column_names
    assert_is(expected, found, table)


PARQUET_TYPES = [
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.int8(), st.integers(-128, 127)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.float64(), st.floats(allow_nan=False, allow_infinity=False)),
    (pa.float32(), st.floats(width=32, allow_nan=False, allow_infinity=False)),
    (pa.string(), TEXT),
    (pa.large_string(), TEXT),
    (pa.bool_(), st.booleans()),
    (pa.dictionary(pa.int32(), pa.string()), TEXT),
    (pa.dictionary(pa.int8(), pa.int64()), st.integers(0, 5)),
    (pa.null(), st.none()),
]


@given(st.data(), st.lists(st.sampled_from(PARQUET_TYPES), min_size=1, max_size=4))
def test_a_parquet_file_is_read_as_the_rules_have_it(data: Any, drawn: Any) -> None:
    n_rows = data.draw(st.integers(1, 30))
    lists = [
        data.draw(st.lists(st.one_of(cells, cells, st.none()), min_size=n_rows, max_size=n_rows))
        for _, cells in drawn
    ]
    names = [f"column {number}" for number in range(len(drawn))]
    arrays = [pa.array(each, type_) for each, (type_, _) in zip(lists, drawn, strict=True)]
    expected = {
        name: [naive.json_cell(value) for value in values]
        for name, values in zip(names, lists, strict=True)
    }

    found, table = read(as_parquet(dict(zip(names, arrays, strict=True)), row_group_size=7))

    assert ("parquet", n_rows, None) == (found.format, found.n_rows, found.first_line)
    assert_is(expected, found, table)
