"""Forms: who fits is read as by hand, and all who are ordinary fit."""

import json
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from service.actions.form import (
    ODD,
    Form,
    count_rows,
    fitting,
    make_codes,
    make_form,
    numbers_of,
    rows_of,
    values_of,
)
from service.actions.load import Loaded
from service.tree.attribute import Attribute, Kind
from service.tree.inputs import Inputs, encode_inputs
from service.tree.table import table_of_columns, table_of_rows
from tests.actions.odd_trees import columns_of, loaded_trees, rows

FLAGS = Attribute("flag", Kind.CATEGORICAL, ("true", "false"))
SIZES = Attribute("size", Kind.ORDINAL, ("1", "2", "30"))
BOTH = Attribute("both", Kind.CATEGORICAL, ("1", "true", "false"))
WEIGHT = Attribute("weight", Kind.NUMERIC)


def form_of(loaded: Loaded) -> Form | None:
    attributes = loaded.version.attributes
    return make_form(attributes, loaded.not_inputs, make_codes(attributes))


def by_hand(loaded: Loaded, table: dict[str, Any]) -> Inputs:
    """What is made of a table that was read without a form."""
    if "rows" in table:
        read = table_of_rows(table["rows"], ("rows",), 10**9)
    else:
        read = table_of_columns(table["columns"], ("columns",), 10**9)
    return encode_inputs(loaded.compiled, read, loaded.not_inputs, strict=False)


def tables(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"rows": rows}, {"columns": columns_of(rows)}]


@given(st.data())
def test_who_fits_is_read_as_by_hand(data: st.DataObject) -> None:
    loaded = data.draw(loaded_trees())
    form = form_of(loaded)
    assume(form is not None)
    assert form is not None
    for table in tables(data.draw(rows(loaded, is_odd=True))):
        sent = json.dumps(table).encode()  # which writes larger numbers than orjson does
        question = fitting(form, sent)
        if question is None:
            continue
        n_rows = count_rows(question)
        assert n_rows is not None
        inputs = by_hand(loaded, orjson.loads(sent))
        some = [numbers_of(form, row) for row in rows_of(question, n_rows)]
        shape = (n_rows, form.n_attributes)

        assert inputs.strangers == ()
        assert_array_equal(values_of(form, question, n_rows), inputs.values)
        assert_array_equal(np.array(some, dtype=np.float64).reshape(shape), inputs.values)


@given(st.data())
def test_who_is_ordinary_fits(data: st.DataObject) -> None:
    loaded = data.draw(loaded_trees())
    form = form_of(loaded)
    if form is None:
        assert any(ODD.search(each.name) for each in loaded.version.attributes)
        return
    for table in tables(data.draw(rows(loaded, is_odd=False))):
        sent = json.dumps({"model": "m", "strict": True, **table}).encode()
        question = fitting(form, sent)

        assert question is not None
        assert question.model == "m"


def question(table: str, *attributes: Attribute) -> list[list[Any]] | None:
    """The numbers of the rows in a body; None if it does not fit."""
    form = make_form(attributes, ("target", "tar\\get"), make_codes(attributes))
    assert form is not None
    read = fitting(form, f'{{"rows": {table}}}'.encode())
    return read and [numbers_of(form, row) for row in rows_of(read, len(read.rows or ()))]


@pytest.mark.parametrize(
    ("value", "code"),
    [('"true"', 0), ("true", 0), ("false", 1), ("null", None), ("1", ...), ('"True"', ...)],
)
def test_a_truth_is_a_category_by_its_text(value: str, code: Any) -> None:
    found = question(f'[{{"flag": {value}}}]', FLAGS)

    assert found == (None if code is ... else [[code]])


@pytest.mark.parametrize(
    ("value", "code"),
    [('"1"', 0), ("1", 0), ("30", 2), ("3", ...), ("1.0", ...), ("true", ...), ('"30"', 2)],
)
def test_a_number_is_a_category_by_its_text(value: str, code: Any) -> None:
    found = question(f'[{{"size": {value}}}]', SIZES)

    assert found == (None if code is ... else [[code]])


def test_where_1_and_true_are_two_categories_neither_is_taken_for_the_other() -> None:
    assert question('[{"both": 1}, {"both": "true"}]', BOTH) == [[0], [1]]
    assert question('[{"both": true}]', BOTH) is None


@pytest.mark.parametrize(
    "row",
    [
        '{"weight": "1"}', '{"weight": true}', '{"weight": [1]}', '{"weight": 1e999}',
        '{"weight": NaN}', '{"wait": 1}', '{"tar\\\\get": 1}', "[]", "null", '{"weight": 01}',
    ],
)  # fmt: skip
def test_what_is_wrong_does_not_fit(row: str) -> None:
    assert question(f'[{{"weight": 1}}, {row}]', WEIGHT) is None


@pytest.mark.parametrize("value", ["null", "true", "-1.5", "7", '"x"'])
def test_what_is_no_input_may_be_anything_plain(value: str) -> None:
    given_ = f'[{{"target": {value}, "weight": 7}}, {{"target": null}}, {{}}]'

    assert question(given_, WEIGHT) == [[7.0], [None], [None]]


@pytest.mark.parametrize("value", ['{"a": [1, "x"]}', "[]", "1" + "0" * 400])
def test_what_is_no_input_and_not_plain_is_read_by_hand(value: str) -> None:
    assert question(f'[{{"target": {value}, "weight": 7}}]', WEIGHT) is None


def test_the_last_of_a_name_counts_as_everywhere() -> None:
    assert question('[{"weight": 1, "weight": 2}]', WEIGHT) == [[2.0]]
    assert question('[{"\\u0077eight": 1}]', WEIGHT) == [[1.0]]


@pytest.mark.parametrize(
    "fields",
    [
        {"rows": None}, {"model": None, "rows": []}, {"model": 1, "rows": []}, {"strict": 1},
        {"missing": "none", "rows": []}, {"layout": "table", "rows": []}, {"more": 1, "rows": []},
        {"version": "1", "rows": []}, {"version": True, "rows": []}, {"columns": {"weight": 1}},
        {"columns": {"weight": ["1"]}}, {"columns": []},
    ],
)  # fmt: skip
def test_fields_that_are_out_of_the_ordinary_do_not_fit(fields: dict[str, Any]) -> None:
    form = make_form((WEIGHT,), (), {})
    assert form is not None

    assert fitting(form, orjson.dumps(fields)) is None


@pytest.mark.parametrize(
    ("fields", "n_rows"),
    [
        ({}, None), ({"rows": [], "columns": {}}, None), ({"rows": [{}, {}]}, 2),
        ({"columns": {}}, 0), ({"columns": {"weight": [1, 2]}}, 2),
        ({"columns": {"weight": [1, 2], "target": [1]}}, None),
    ],
)  # fmt: skip
def test_rows_are_counted_where_they_make_one_table(
    fields: dict[str, Any], n_rows: int | None
) -> None:
    form = make_form((WEIGHT,), ("target",), {})
    assert form is not None
    read = fitting(form, orjson.dumps(fields))

    assert read is not None
    assert count_rows(read) == n_rows
