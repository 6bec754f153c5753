"""Reading: what native code reads is what the form reads, and it gives up at everything else."""

import json
import struct
from fractions import Fraction
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from service.actions.ask import CLOSING, OPENING, READERS, ask_natively
from service.actions.form import count_rows, fitting, make_codes, make_form, values_of
from service.actions.reading import PAD, Reader, make_reader, read_columns, read_rows
from service.actions.ready import Ready, make_ready
from service.settings import Settings
from service.tree.arrays import Floats
from service.tree.attribute import Attribute, Kind
from tests.actions.golf import golf
from tests.actions.odd_trees import loaded_trees, rows
from tests.actions.test_form import tables
from tests.actions.test_reply import with_natives
from tests.natives import natives

MOST = 1_000


def reader_of(*attributes: Attribute) -> Reader:
    reader = make_reader(attributes, natives())
    assert reader is not None
    return reader


def read(reader: Reader, sent: bytes) -> Floats | None:
    """The values of a body that has nothing but rows or columns; None if it is not read."""
    opening = OPENING.match(sent)
    kernel = READERS.get(opening[3] + opening[4]) if opening else None
    found = kernel and opening and kernel(reader, sent, opening.end(), MOST)
    return found[0] if found and CLOSING.fullmatch(sent, found[1]) else None


@given(st.data())
def test_what_is_read_is_what_the_form_reads(data: st.DataObject) -> None:
    loaded = data.draw(loaded_trees())
    attributes = loaded.version.attributes
    form = make_form(attributes, loaded.not_inputs, make_codes(attributes))
    reader = make_reader(attributes, natives())
    assume(form is not None and reader is not None)
    assert form is not None
    assert reader is not None
    for table in tables(data.draw(rows(loaded, is_odd=data.draw(st.booleans())))):
        sent = json.dumps(table, indent=data.draw(st.sampled_from([None, 1]))).encode()
        values, question = read(reader, sent), fitting(form, sent)
        if values is None:
            continue
        assert question is not None
        n_rows = count_rows(question)
        assert n_rows is not None

        assert_array_equal(values, values_of(form, question, n_rows))


USUAL = [Attribute("weight", Kind.NUMERIC), Attribute("a rather long name", Kind.NUMERIC),
         Attribute("é", Kind.CATEGORICAL, ("x", "", "y z", "nothing but a long text", "é")),
         Attribute("size", Kind.ORDINAL, ("1", "2", "30"))]  # fmt: skip


@given(st.data())
def test_what_is_usual_is_read(data: st.DataObject) -> None:
    reader = reader_of(*USUAL)
    floats = st.floats(-1e30, 1e30).filter(lambda value: value == 0 or abs(value) > 1e-30)
    numbers = st.one_of(st.none(), st.integers(-(10**18), 10**18), floats)
    values: dict[str, st.SearchStrategy[Any]] = {
        each.name: st.one_of(st.none(), st.sampled_from(each.values)) if each.values else numbers
        for each in USUAL
    }
    sent = data.draw(st.lists(st.fixed_dictionaries({}, optional=values), max_size=9))
    expected = [[each.get(at.name) for at in USUAL] for each in sent]
    for at, each in enumerate(USUAL):
        for row in expected:
            row[at] = each.values.index(row[at]) if each.values and row[at] is not None else row[at]
    wanted = np.array(expected, dtype=np.float64).reshape(len(sent), len(USUAL))
    for table in tables(sent):
        found = read(reader, orjson.dumps(table))
        if "columns" in table and not table["columns"]:
            continue  # nobody knows how many rows there are
        assert found is not None
        assert_array_equal(found, wanted)


@pytest.mark.parametrize("kind", ["rows", "columns"])
def test_blanks_may_stand_wherever_json_has_them(kind: str) -> None:
    text = {
        "rows": ' { "rows" : [ { "x" : 1 } , { } ] } ',
        "columns": ' { "columns" : { "x" : [ 1 , null ] } } ',
    }
    reader = reader_of(Attribute("x", Kind.NUMERIC))
    for blank in ("", " ", "\t", "\r\n", "  \n"):
        found = read(reader, text[kind].replace(" ", blank).encode())

        assert found is not None
        assert_array_equal(found, [[1.0], [np.nan]])
    for blank in ("\f", "\v", "\0", "\xa0"):
        assert read(reader, text[kind].replace(" ", blank).encode()) is None


NUMBER = reader_of(Attribute("x", Kind.NUMERIC))


def number(text: str) -> float | None:
    """The number that a text is; None if it is not read."""
    found = read(NUMBER, b'{"rows":[{"x":%b}]}' % text.encode())
    return None if found is None else float(found[0, 0])


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(5e-324)
@example(1.7976931348623157e308)
@example(-0.0)
@example(0.00022129102179551912)
def test_a_float_is_read_as_it_was_written(value: float) -> None:
    found = number(repr(value))

    assert found is None or struct.pack("d", found) == struct.pack("d", value)
    assert found is not None or not 1e-40 < abs(value) < 1e60


@given(st.integers(0, 10**19 - 1), st.integers(-70, 70))
def test_digits_are_read_as_the_nearest_float(whole: int, power: int) -> None:
    text = f"{whole}e{power}"
    found = number(text)

    assert found == float(text) or (found is None and abs(power) > 64)


@given(st.integers(0, 45), st.integers(0, 10**19 - 1))
def test_zeros_behind_the_point_do_not_count_as_digits(n_zeros: int, digits: int) -> None:
    text = f"0.{'0' * n_zeros}{digits}"

    assert number(text) == float(text)


@given(st.integers(1, 10**12), st.integers(0, 10**6))
@example(1, 5)
def test_what_has_too_many_digits_is_left_to_others(times: int, decimals: int) -> None:
    assert number(f"{times << 64}.{decimals}") is None


@given(st.integers(1 << 52, (1 << 53) - 1), st.integers(-8, 2))
def test_half_way_between_two_floats_the_even_one_is_read(whole: int, power: int) -> None:
    middle = Fraction(2 * whole + 1, 2) * Fraction(2) ** power
    digits, n_decimals = middle, 0
    while digits.denominator > 1:
        digits, n_decimals = digits * 10, n_decimals + 1
    text = f"{digits.numerator}e-{n_decimals}"
    found = number(text)

    assert found is None or found == float(text)


@pytest.mark.parametrize(
    "text",
    ["1.", "01", "-", ".5", "+1", "1e", "1e+", "NaN", "Infinity", "1_0", "0x1", "--1", "1.5.5",
     "nul", "nullx", "true", '"1"', "1 2", "00", "-01", "1e5x", "[1]", "{}", "", "1e99999",
     "12345678901234567890"],
)  # fmt: skip
def test_what_is_no_plain_number_is_left_to_others(text: str) -> None:
    assert number(text) is None


@pytest.mark.parametrize(
    "rows",
    ['[{"x":1,"x":2}]', '[{"y":1}]', '[{"x":1},]', '[{"x":1}', '[{"x":1}]]', '[{"x":1,}]', "[,]",
     '[{"x":1}{"x":1}]', '[{"x" 1}]', '[{x:1}]', '[{"x":1]]', '[["x"]]', "[1]", '[{"\\u0078":1}]',
     '[{"x', '[{"x":', "[{", "["],
)  # fmt: skip
def test_what_is_no_list_of_rows_that_are_known_is_left_to_others(rows: str) -> None:
    assert read(NUMBER, f'{{"rows":{rows}}}'.encode()) is None


@pytest.mark.parametrize(
    "columns",
    ['{"x":[1],"x":[2]}', '{"x":[1,2],"y":[1]}', '{"x":[1,]}', '{"x":[1}', '{"x":1}', '{"x":[[1]]}',
     '{"x":[1] "y":[1]}', '{"x":[1],"y":[1,2]}', '{"x":["]"]}', "{", "{,}"],
)  # fmt: skip
def test_what_are_no_columns_that_are_known_is_left_to_others(columns: str) -> None:
    reader = reader_of(Attribute("x", Kind.NUMERIC), Attribute("y", Kind.NUMERIC))

    assert read(reader, f'{{"columns":{columns}}}'.encode()) is None


def test_a_category_that_json_writes_otherwise_is_left_to_others() -> None:
    reader = reader_of(Attribute("x", Kind.CATEGORICAL, ("a\\b", "c", 'd"')))

    assert_array_equal(read(reader, b'{"rows":[{"x":"c"}]}'), [[1.0]])
    for written in ('"a\\b"', '"a\\\\b"', '"d\\""', '"d"', "1", "true", '"unheard of"', '"c'):
        assert read(reader, f'{{"rows":[{{"x":{written}}}]}}'.encode()) is None


def test_very_many_categories_are_found() -> None:
    texts = tuple(f"category {number:05}" for number in range(3_000))
    reader = reader_of(Attribute("x", Kind.CATEGORICAL, texts))
    found = read_rows(
        reader, b"%b]" % b",".join(b'{"x":"%b"}' % t.encode() for t in texts), 0, 9_999
    )

    assert found is not None
    assert_array_equal(found[0][:, 0], np.arange(3_000.0))


def test_texts_that_all_look_alike_have_no_reader() -> None:
    alike = tuple(f"the same{number:09}and the same" for number in range(99))

    assert make_reader([Attribute("x", Kind.CATEGORICAL, alike)], natives()) is None


def test_without_native_code_or_attributes_there_is_no_reader() -> None:
    assert make_reader(USUAL, None) is None
    assert make_reader([], natives()) is None
    assert make_reader([Attribute('q"', Kind.NUMERIC)], natives()) is None


def test_more_rows_than_may_be_are_left_to_others() -> None:
    rows, columns = b",".join([b"{}"] * 11) + b"]", b'"x":[%b]}' % b",".join([b"1"] * 11)

    assert read_rows(NUMBER, rows, 0, 10) is None
    assert read_columns(NUMBER, columns, 0, 10) is None
    assert read_rows(NUMBER, rows, 0, 11) is not None
    assert read_columns(NUMBER, columns, 0, 11) is not None


@given(st.binary(max_size=60), st.integers(0, 60))
def test_whatever_comes_nothing_behind_it_is_read(noise: bytes, place: int) -> None:
    whole = b'{"x":-1.5e3},{"x":null},{ }]'
    sent = whole[:place] + noise + whole[place:]
    for read_some in (read_rows, read_columns):
        found = read_some(NUMBER, sent, 0, MOST)

        assert found is None or found[1] <= len(sent)
    assert len(PAD) >= 8


READY = make_ready(with_natives(golf()))
SETTINGS = Settings()


def find(selected: tuple[str, int | None]) -> Ready | None:
    return READY if selected in (("golf", None), ("golf", 1)) else None


ROW = '[{"outlook":"sunny"}]'


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (f'{{"model":"golf","rows":{ROW}}}', None),
        (f' {{"model":"golf","version":1,"rows":{ROW}}} ', None),
        (f'{{"rows":{ROW}}}', "golf"),
        (f'{{"rows":{ROW},"layout":"columns"}}', "golf"),
    ],
)
def test_the_usual_is_answered_natively(body: str, name: str | None) -> None:
    answer = ask_natively(body.encode(), name, find, SETTINGS)

    assert answer is not None
    assert orjson.loads(answer)["version"] == 1


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (f'{{"model":"golf","rows":{ROW}}}', "golf"),  # named twice
        (f'{{"rows":{ROW}}}', None),
        (f'{{"model":"golf","version":2,"rows":{ROW}}}', None),
        (f'{{"model":"golf","rows":{ROW},"strict":true}}', None),
        (f'{{"model":"golf","rows":{ROW}}}x', None),
        ('{"model":"golf","rows":[]}', None),
        ('{"model":"golf","columns":[]}', None),
        ('{"model":"golf","rows":{}}', None),
    ],
)
def test_the_unusual_is_left_to_others(body: str, name: str | None) -> None:
    assert ask_natively(body.encode(), name, find, SETTINGS) is None


def test_a_name_that_is_no_text_is_left_to_others() -> None:
    assert ask_natively(b'{"model":"\xff","rows":[{}]}', None, find, SETTINGS) is None
