"""What bounds rows in bulk, and what becomes of them when something breaks."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service.actions import bulk, bulk_lines, bulk_texts
from service.storage.engine import Store
from service.web import backlog, create_app
from service.web import bulk as web_bulk
from service.web.context import EXTENSION, IS_LEAVING
from tests.web.conftest import SETTINGS, trained
from tests.web.forms import ARROW, CSV, NDJSON, Row, as_csv, as_ndjson, from_ndjson
from tests.web.test_problems import problem

ROWS: list[Row] = [{"density": number / 100} for number in range(100)]
Make = Callable[..., Flask]


@pytest.fixture
def make(sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """What makes an app of the melons with some settings; it reads a few rows at a time."""
    monkeypatch.setattr(bulk, "ROWS", 4)
    monkeypatch.setattr(bulk_lines, "BLOCK_BYTES", 60)
    monkeypatch.setattr(web_bulk, "CHUNK", 100)
    trained(sqlite_store)
    return lambda **changes: create_app(replace(SETTINGS, data=tmp_path, **changes), sqlite_store)


def put(app: Flask, kind: str = NDJSON, **more: Any) -> Any:
    body = {NDJSON: as_ndjson(ROWS), CSV: as_csv(ROWS, ["density"])}[kind]
    return app.test_client().post("/models/melons/predict", data=body, content_type=kind, **more)


def last_of(answer: Any) -> Row:
    """The problem that ends an answer that had begun."""
    *answers, last = from_ndjson(answer.data)
    assert answer.status_code == 200
    assert all("class" in each for each in answers)
    return last


def test_what_takes_too_long_is_ended(make: Make) -> None:
    app = make(bulk_seconds=0.0)

    assert "BOUGH_BULK_SECONDS" in last_of(put(app))["detail"]
    assert problem(put(app, CSV), 422)["type"] == "/problems/limit-reached"


def test_an_answer_that_is_not_read_in_time_is_given_up(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_bulk, "LEAVING", -10.0)
    answer = put(make(bulk_seconds=5.0))
    with pytest.raises(TimeoutError):
        answer.get_data()


def test_a_process_that_is_to_end_ends_its_streams(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_bulk, "LEAVING", 0.0)
    app = make()
    app.config[IS_LEAVING] = lambda: True

    assert last_of(put(app))["status"] == 503


def test_a_body_may_not_be_too_large(make: Make) -> None:
    app = make(max_bulk_bytes=1000)

    assert problem(put(app), 413)["detail"] == "The body is larger than 1000 bytes."


def test_what_is_put_aside_may_not_be_too_large(make: Make) -> None:
    told = problem(put(make(max_bulk_bytes=4000), CSV, headers={"Accept": "application/json"}), 422)

    assert "BOUGH_MAX_BULK_BYTES" in told["detail"]


def test_what_does_not_fit_into_memory_is_put_into_a_file(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    app = make()
    expected = put(app, CSV).data
    monkeypatch.setattr(backlog, "IN_MEMORY", 500)

    assert put(app, CSV).data == expected
    assert list((tmp_path / "spool").iterdir()) == []


def test_large_bodies_leave_a_thread_to_others(make: Make) -> None:
    app = make()
    places = app.extensions[EXTENSION].places
    with ExitStack() as held:
        for _ in range(SETTINGS.web_threads - 1):
            held.enter_context(places.moving(None))
        large = {"headers": {"Content-Length": str(web_bulk.LARGE)}}
        answer = app.test_client().post(
            "/models/melons/predict", data=b"", content_type=ARROW, **large
        )

        assert problem(answer, 503)
        assert put(app).status_code == 200  # it is small
    assert put(app).status_code == 200


@pytest.mark.parametrize("kind", [NDJSON, CSV])
def test_places_are_given_back(make: Make, kind: str) -> None:
    app = make()
    for _ in range(2 * SETTINGS.web_threads):
        chunked = {"environ_overrides": {"wsgi.input_terminated": True}}
        answer = app.test_client().post(
            "/models/melons/predict",
            input_stream=BytesIO(b'{"density": []}'),
            content_type=kind,
            **chunked,
        )
        assert answer.status_code == 422


def test_what_breaks_in_the_middle_is_told_in_the_last_line(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make()
    texts, calls = bulk_texts.many, []

    def break_later(*given: Any) -> Any:
        calls.append(given)
        if len(calls) > 3:
            raise RuntimeError("a value that nobody should see")
        return texts(*given)

    monkeypatch.setattr(bulk_texts, "many", break_later)
    last = last_of(put(app))

    assert (last["status"], last["type"]) == (500, "/problems/internal-error")
    assert "value" not in last["detail"]


@pytest.mark.parametrize(
    "body",
    [
        {"model": "melons", "rows": ROWS},
        {"rows": ROWS, "model": "melons"},
        {"model": "melons", "columns": {"density": [0.5] * 100}},
        {"model": "melons", "rows": [*ROWS, {"colour": "red"}]},
        {"model": "melons", "rows": [*ROWS, {"density": "much"}]},
    ],
)
def test_a_large_body_of_json_is_answered_as_a_small_one(
    melon_client: FlaskClient, monkeypatch: pytest.MonkeyPatch, body: dict[str, Any]
) -> None:
    expected = melon_client.post("/predict", json=body)
    for module in ("lane", "predict"):
        monkeypatch.setattr(f"service.web.{module}.LARGE_BODY", 100)
    monkeypatch.setattr("service.actions.ask_parts.PART", 300)
    answer = melon_client.post("/predict", json=body)

    assert answer.status_code == expected.status_code
    if answer.status_code == 200:
        assert answer.data == expected.data
        assert answer.headers["Content-Length"] == expected.headers["Content-Length"]
    else:
        assert problem(answer, 422)["errors"] == problem(expected, 422)["errors"]
