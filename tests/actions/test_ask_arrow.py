"""Asking in Arrow: native code answers, byte for byte, what those answer who read in bulk."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.actions.ask_arrow import ask_in_arrow
from service.actions.bulk import Asked
from service.actions.bulk_arrow import read_arrow, write_arrow
from service.actions.bulk_csv import write_csv
from service.actions.reading import MOST_PLANS
from service.actions.reading_arrow import END
from service.actions.ready import Ready, make_ready
from service.errors import InvalidData
from service.files.records import Ingestion
from service.tree.arrays import Floats
from service.tree.attribute import Attribute, Kind
from tests.actions.golf import golf
from tests.actions.odd_trees import loaded_trees
from tests.actions.test_reply import with_natives
from tests.arrow import stream_of
from tests.strategies import matrices

MOST = 10**7


def array_of(attribute: Attribute, column: Floats) -> Any:
    known = [None if value != value else value for value in column.tolist()]
    if attribute.kind == Kind.NUMERIC:
        return pa.array(known, pa.float64())
    names = [None if code is None else attribute.values[int(code)] for code in known]
    return pa.array(names, pa.string())


def sent_to(ready: Ready, values: Floats) -> bytes:
    named = zip(ready.loaded.version.attributes, values.T, strict=True)
    return stream_of({each.name: array_of(each, column) for each, column in named})


def in_bulk(ready: Ready, sent: bytes) -> bytes:
    asked = Asked(ready)
    order = Ingestion(max_bytes=MOST, max_cells=MOST, max_columns=MOST)
    return b"".join(write_arrow(asked, read_arrow(iter([sent]), asked, order)))


def natively(ready: Ready, sent: bytes) -> bytes | memoryview | None:
    return ask_in_arrow(sent, ready, MOST)


def golf_ready() -> Ready:
    return make_ready(with_natives(golf()))


@given(st.data())
def test_a_batch_is_answered_as_in_bulk(data: st.DataObject) -> None:
    ready = make_ready(with_natives(data.draw(loaded_trees())))
    sent = sent_to(ready, data.draw(matrices(ready.loaded.version.attributes, 20)))
    answer = natively(ready, sent)

    assert answer is None or answer == in_bulk(ready, sent)


@given(st.data())
def test_a_batch_without_nulls_is_answered_as_in_bulk(data: st.DataObject) -> None:
    ready = make_ready(with_natives(data.draw(loaded_trees())))
    values = data.draw(matrices(ready.loaded.version.attributes, 20))
    sent = sent_to(ready, np.nan_to_num(values, nan=data.draw(st.sampled_from([0.0, -0.0]))))
    answer = natively(ready, sent)

    assert answer is None or answer == in_bulk(ready, sent)


def some_rows(n_rows: int) -> Floats:
    rng = np.random.default_rng(n_rows)
    values = np.array([[0.0, 60.0, 1.0], [1.0, 80.0, 0.0], [2.0, 90.0, 1.0]])
    found: Floats = values[rng.integers(0, 3, n_rows)]
    found[rng.random(found.shape) < 0.3] = np.nan
    return found


@pytest.mark.parametrize("n_rows", [1, 7, 8, 9, 1_000, 1_001, 16_384])
def test_batches_of_any_length_are_answered_natively(n_rows: int) -> None:
    ready, values = golf_ready(), some_rows(n_rows)
    for sent in (sent_to(ready, values), sent_to(ready, np.nan_to_num(values))):
        answer = natively(ready, sent)

        assert answer is not None
        assert answer == in_bulk(ready, sent)


@given(st.lists(st.lists(st.floats(0.0, 100.0), min_size=9, max_size=9), min_size=2, max_size=4))
def test_streams_that_begin_alike_are_read_by_one_plan(columns: list[list[float]]) -> None:
    ready = golf_ready()
    assert ready.reader is not None
    for column in columns:
        sent = stream_of({numeric_name(): pa.array(column)})

        assert natively(ready, sent) == in_bulk(ready, sent)
    assert len(ready.reader.plans) == 1


def test_no_more_plans_are_kept_than_are_soon_made() -> None:
    ready = golf_ready()
    assert ready.reader is not None
    for n_rows in range(1, 2 * MOST_PLANS):
        sent = sent_to(ready, some_rows(n_rows))

        assert natively(ready, sent) == in_bulk(ready, sent)
        assert len(ready.reader.plans) <= MOST_PLANS


@pytest.mark.parametrize("n_columns", [1, 2])
def test_columns_that_are_not_there_are_null(n_columns: int) -> None:
    ready = golf_ready()
    attributes = ready.loaded.version.attributes[:n_columns]
    values = some_rows(50)[:, :n_columns]
    named = zip(attributes, values.T, strict=True)
    sent = stream_of({each.name: array_of(each, column) for each, column in named})

    assert natively(ready, sent) is not None
    assert natively(ready, sent) == in_bulk(ready, sent)


def golf_columns(**columns: Any) -> dict[str, Any]:
    attributes = golf_ready().loaded.version.attributes
    named = zip(attributes, some_rows(3).T, strict=True)
    return {each.name: array_of(each, column) for each, column in named} | columns


def numeric_name() -> str:
    attributes = golf_ready().loaded.version.attributes
    return next(each.name for each in attributes if each.kind == Kind.NUMERIC)


def text_name() -> str:
    attributes = golf_ready().loaded.version.attributes
    return next(each.name for each in attributes if each.kind != Kind.NUMERIC)


def text_value() -> str:
    attributes = golf_ready().loaded.version.attributes
    return next(each.values[0] for each in attributes if each.values)


STRANGE = {
    "whole numbers": {numeric_name(): pa.array([1, 2, 3])},
    "infinite": {numeric_name(): pa.array([1.0, 2.0, np.inf])},
    "a stranger": {text_name(): pa.array(["nobody", None, None])},
    "a category and a zero": {text_name(): pa.array([f"{text_value()}\0", None, None])},
    "a dictionary": {text_name(): pa.array(["nobody", None, None]).dictionary_encode()},
    "wide texts": {text_name(): pa.array([None, None, None], pa.large_string())},
    "another column": {"another": pa.array([1.0, 2.0, 3.0])},
    "texts for numbers": {numeric_name(): pa.array(["1", "2", "3"])},
    "nothing": {numeric_name(): pa.nulls(3)},
}


@pytest.mark.parametrize("columns", STRANGE.values(), ids=STRANGE.keys())
def test_what_is_strange_is_left_to_those_who_read_in_bulk(columns: dict[str, Any]) -> None:
    assert natively(golf_ready(), stream_of(golf_columns(**columns))) is None


def test_other_streams_are_left_to_those_who_read_in_bulk() -> None:
    ready, sent = golf_ready(), stream_of(golf_columns())
    batch = pa.record_batch(golf_columns())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
        stream.write_batch(batch)

    assert natively(ready, sent) is not None
    assert natively(ready, sink.getvalue().to_pybytes()) is None
    assert natively(ready, sent[:-8]) is None
    assert natively(ready, sent + bytes(8)) is None
    assert (
        natively(ready, stream_of({name: each[:0] for name, each in golf_columns().items()}))
        is None
    )
    assert ask_in_arrow(sent, ready, len(sent) - 1) is None


@pytest.mark.parametrize("form", ["Arrow", "CSV"])
def test_no_rows_are_answered_without_native_code_as_with_it(form: str) -> None:
    plain, native = make_ready(golf()), golf_ready()
    sent = stream_of({name: each[:0] for name, each in golf_columns().items()})
    if form == "Arrow":
        assert in_bulk(plain, sent) == in_bulk(native, sent)
    else:
        assert [*write_csv(Asked(plain), iter(()))] == [*write_csv(Asked(native), iter(()))]


def test_no_more_messages_are_read_than_tell_that_there_are_too_many() -> None:
    nothing, damaged = pa.schema([]).serialize().to_pybytes(), b"\xff\xff\xff\xff\x10\0\0\0" + END

    assert natively(golf_ready(), 3 * nothing + damaged) is None
    with pytest.raises(InvalidData, match="lost"):
        natively(golf_ready(), 2 * nothing + damaged)


def test_packed_buffers_are_refused() -> None:
    with pytest.raises(InvalidData, match="packed"):
        natively(golf_ready(), stream_of(golf_columns(), compression="lz4"))


def test_a_name_that_is_no_text_is_damage() -> None:
    sent = stream_of(golf_columns())
    with pytest.raises(InvalidData, match="lost"):
        natively(golf_ready(), sent.replace(numeric_name().encode(), b"\x80" * len(numeric_name())))


def told(answer: Any, ready: Ready, sent: bytes) -> bytes | None:
    """The answer; None where the stream is damaged."""
    try:
        found: bytes | None = answer(ready, sent)
    except InvalidData:
        return None
    return found


READY, WHOLE = golf_ready(), stream_of(golf_columns())


@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), max_size=3))
def test_whatever_is_damaged_is_answered_as_in_bulk_or_not_at_all(
    changes: list[tuple[int, int]],
) -> None:
    sent = bytearray(WHOLE)
    for place, letter in changes:
        sent[place] = letter
    answer = told(natively, READY, bytes(sent))

    assert answer is None or answer == told(in_bulk, READY, bytes(sent))
