"""Arrow in bulk: values mean what they mean in JSON, and nothing that is sent breaks us."""

from typing import Any

import pyarrow as pa
import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.storage.engine import Store
from tests.arrow import stream_of
from tests.web.conftest import SETTINGS, trained
from tests.web.forms import ARROW, Row, as_arrow, ask, from_arrow, put, without_warnings
from tests.web.test_problems import problem


@pytest.mark.parametrize(
    "array",
    [
        pa.array([5, None], pa.int8()),
        pa.array([5.0, float("nan")], pa.float32()),
        pa.array([5, None], pa.uint64()),
        pa.array([5, None]).cast(pa.decimal128(25, 3)),
        pa.array([5.0, None]).dictionary_encode(),
        pa.array([5.0, None], pa.float16()),
    ],
)
def test_numbers_of_any_type_are_numbers_in_arrow(melon_client: FlaskClient, array: Any) -> None:
    expected = ask(melon_client, "melons", [{"density": 5}, {}])["predictions"]

    assert sent_as(melon_client, {"density": array}) == expected


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["true", None, "5", "x"], pa.large_string()),
        pa.array(["true", None, "5", "x"], pa.string_view()),
        pa.array(["true", None, "5", "x"]).dictionary_encode(),
        pa.DictionaryArray.from_arrays([1, 2, 0, 3], ["5", "true", None, "x"]),
    ],
)
def test_texts_of_any_type_are_categories_in_arrow(
    client_of: Any, sqlite_store: Store, array: Any
) -> None:
    trained(sqlite_store, data={"rows": SIZES})
    client, values = client_of(sqlite_store), ["true", None, "5", "x"]
    expected = ask(client, "melons", [{"size": value} for value in values])["predictions"]

    assert sent_as(client, {"size": array}) == expected


@pytest.mark.parametrize(
    "array",
    [
        pa.array([True, None]),
        pa.array([5, None]),
        pa.array([5.0, None]),
        pa.array([2**62, None]),
        pa.nulls(2),
    ],
)
def test_values_of_any_type_are_the_categories_that_they_are_in_json(
    client_of: Any, sqlite_store: Store, array: Any
) -> None:
    trained(sqlite_store, data={"rows": SIZES})
    client, values = client_of(sqlite_store), array.to_pylist()
    expected = ask(client, "melons", [{"size": value} for value in values])["predictions"]

    assert sent_as(client, {"size": array, "ripe": pa.array(["a", "b"])}) == expected


SIZES: list[Row] = [
    {"size": size, "ripe": ripe}
    for size, ripe in ((True, "yes"), (5, "no"), ("x", "yes"), (2**62, "no"))
    for _ in range(3)
]


def sent_as(client: FlaskClient, columns: dict[str, Any]) -> list[Row]:
    """The answers to columns of Arrow, without their warnings."""
    answer = put(client, "melons", stream_of(columns), ARROW, ARROW)
    return [without_warnings(each) for each in from_arrow(answer.data)]


@pytest.mark.parametrize(
    ("name", "array", "detail"),
    [
        ("density", pa.array([None, True]), "must be a number"),
        ("density", pa.array([None, "1"]), "must be a number"),
        ("density", pa.array([None, [1]]), "must be a number"),
        ("density", pa.array([None, float("inf")]), "is too large for a number"),
        ("colour", pa.array([None, ["black"]]), "must be a string, number, true or false"),
        ("colour", pa.array([None, b"black"]), "must be a string, number, true or false"),
    ],
)
def test_what_cannot_be_used_in_arrow_is_named(
    melon_client: FlaskClient, name: str, array: Any, detail: str
) -> None:
    sent = {"data": stream_of({name: array}), "content_type": ARROW}
    answer = melon_client.post("/predict?model=melons", **sent)

    assert problem(answer, 422)["errors"] == [{"pointer": f"/rows/1/{name}", "detail": detail}]


def refused(client: FlaskClient, body: bytes) -> str:
    """Why a stream is refused."""
    detail: str = problem(
        client.post("/models/melons/predict", data=body, content_type=ARROW), 422
    )["detail"]
    return detail


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
@pytest.mark.parametrize("texts", [pa.array(["black"] * 99), pa.array([0.5] * 99)])
def test_packed_buffers_are_refused_before_they_are_unpacked(
    melon_client: FlaskClient, codec: str, texts: Any
) -> None:
    columns = {"colour": texts.dictionary_encode()}

    assert "gzip the body" in refused(melon_client, stream_of(columns, compression=codec))


def test_dictionaries_may_be_sent_anew_but_not_grow(melon_client: FlaskClient) -> None:
    def sent(*, grows: bool) -> bytes:
        sink = pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=grows)
        batches = [
            pa.record_batch({"colour": pa.DictionaryArray.from_arrays([place], names)})
            for place, names in ((0, ["black"]), (1, ["black", "white"]))
        ]
        with pa.ipc.new_stream(sink, batches[0].schema, options=options) as stream:
            for batch in batches:
                stream.write_batch(batch)
        return sink.getvalue().to_pybytes()

    rows = [{"colour": "black"}, {"colour": "white"}]
    anew = from_arrow(put(melon_client, "melons", sent(grows=False), ARROW, ARROW).data)

    assert "deltas" in refused(melon_client, sent(grows=True))
    assert list(map(without_warnings, anew)) == ask(melon_client, "melons", rows)["predictions"]


def test_rows_that_take_no_room_are_refused(melon_client: FlaskClient) -> None:
    assert "more rows than" in refused(melon_client, stream_of({"colour": pa.nulls(10**9)}))


def test_a_record_batch_may_not_be_larger_than_a_body(melon_client: FlaskClient) -> None:
    columns = {"density": pa.array([0.5] * (SETTINGS.max_body_bytes // 8 + 1))}

    assert "more than 200000 bytes" in refused(melon_client, stream_of(columns))


def test_one_stream_after_the_other_is_refused(melon_client: FlaskClient) -> None:
    assert "Something follows" in refused(melon_client, STREAM + STREAM)


def test_a_name_may_stand_there_once(melon_client: FlaskClient) -> None:
    array = pa.array([0.5])
    batch, sink = (
        pa.RecordBatch.from_arrays([array, array], ["density"] * 2),
        pa.BufferOutputStream(),
    )
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)

    assert "twice" in refused(melon_client, sink.getvalue().to_pybytes())


STREAM = as_arrow(
    [{"colour": "black", "density": 0.5}, {"density": None}, {"colour": None}] * 3,
    ["colour", "density"],
    encoded=True,
)


@given(st.lists(st.tuples(st.integers(0, len(STREAM) - 1), st.integers(0, 255)), max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
def test_a_damaged_stream_is_answered_or_refused(
    melon_client: FlaskClient, changes: list[tuple[int, int]]
) -> None:
    body = bytearray(STREAM)
    for place, value in changes:
        body[place] = value
    sent = {"data": bytes(body), "content_type": ARROW}
    answer = melon_client.post("/models/melons/predict", **sent)

    assert answer.status_code in (200, 422), answer.text


@given(st.integers(0, len(STREAM) - 1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_stream_that_ends_early_is_answered_up_to_a_batch_or_refused(
    melon_client: FlaskClient, n_bytes: int
) -> None:
    sent = {"data": STREAM[:n_bytes], "content_type": ARROW}
    answer = melon_client.post("/models/melons/predict", **sent)

    assert answer.status_code in (200, 422), answer.text


def test_who_sends_an_arrow_file_is_told_to_send_a_stream(melon_client: FlaskClient) -> None:
    sink, table = pa.BufferOutputStream(), pa.table({"density": [1.0]})
    with pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)
    sent = {"data": sink.getvalue().to_pybytes(), "content_type": ARROW}
    answer = melon_client.post("/models/melons/predict", **sent)

    assert "send an Arrow IPC stream" in problem(answer, 422)["detail"]


def test_a_text_is_no_stream(melon_client: FlaskClient) -> None:
    sent = {"data": b"hello world, not arrow", "content_type": ARROW}
    answer = melon_client.post("/models/melons/predict", **sent)

    assert "is no Arrow IPC stream" in problem(answer, 422)["detail"]


def test_rows_without_columns_are_rows_all_the_same(melon_client: FlaskClient) -> None:
    sink, batch = pa.BufferOutputStream(), pa.record_batch({"density": [None] * 5}).select([])
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    answer = put(melon_client, "melons", sink.getvalue().to_pybytes(), ARROW, ARROW)

    assert from_arrow(answer.data) == from_arrow(
        put(melon_client, "melons", stream_of({"density": pa.nulls(5)}), ARROW, ARROW).data
    )


def test_a_small_stream_with_a_large_answer_is_held_to_the_limits(
    melon_client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = stream_of({"density": pa.nulls(4096)})
    whole = put(melon_client, "melons", sent, ARROW, ARROW).data
    monkeypatch.setattr("service.web.bulk.IN_MEMORY", 1000)

    assert put(melon_client, "melons", sent, ARROW, ARROW).data == whole
    with monkeypatch.context() as patch:
        patch.setattr("service.web.backlog.Backlog.is_full", True)
        answer = melon_client.post("/models/melons/predict", data=sent, content_type=ARROW)
        assert answer.status_code == 422
