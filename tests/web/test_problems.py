"""Every error is a problem with a request id, and says where it arose."""

import logging
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.actions.wrong_json import PIECE, what_is_wrong
from service.settings import Settings
from service.storage.engine import open_store
from service.web import create_app
from tests.web.conftest import SETTINGS, an_order

JSON = {"content_type": "application/json"}
NESTED = "nested"


def problem(answer: TestResponse, status: int) -> dict[str, Any]:
    """The problem that an answer of this status tells."""
    assert answer.status_code == status, answer.text
    assert answer.content_type == "application/problem+json"
    assert answer.json is not None
    told: dict[str, Any] = answer.json
    assert told["status"] == status
    assert told["type"].startswith("/problems/")
    assert told["title"]
    assert told["detail"]
    assert told["request_id"] == answer.headers["X-Request-ID"]
    return told


def pointers(answer: TestResponse) -> list[str]:
    """Where the faults are that an answer of 422 names."""
    return [error["pointer"] for error in problem(answer, 422)["errors"]]


def nested(body: dict[str, Any], depth: int) -> bytes:
    """The body with lists in lists in the place of NESTED; no library writes so many of them."""
    return orjson.dumps(body).replace(b'"nested"', b"[" * depth + b"]" * depth)


def test_an_unknown_address_is_a_problem(melon_client: FlaskClient) -> None:
    assert problem(melon_client.get("/西瓜"), 404)["instance"] == "/%E8%A5%BF%E7%93%9C"


def test_a_wrong_method_is_a_problem_that_says_which_are_allowed(melon_client: FlaskClient) -> None:
    answer = melon_client.delete("/train")

    problem(answer, 405)
    assert "POST" in answer.headers["Allow"]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[1,]", b'{"model": NaN}', b'{"model": Infinity}', b'{"model": 1e999}',
        b"\xff", b'"\\ud800"', b"[" * 5000 + b"]" * 5000,
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/train", "/predict"])
def test_what_is_not_json_is_a_problem(melon_client: FlaskClient, path: str, body: bytes) -> None:
    problem(melon_client.post(path, data=body, **JSON), 400)


@pytest.mark.parametrize("path", ["/train", "/predict", "/explain"])
def test_where_a_body_is_not_utf_8_is_told(melon_client: FlaskClient, path: str) -> None:
    told = problem(melon_client.post(path, data=b'{"model":\n"m\xe9lons"}', **JSON), 400)

    assert told["detail"].endswith("is not UTF-8, which JSON must be: its byte 13 is 0xe9")


@pytest.mark.parametrize("place", [0, 1, PIECE - 3, PIECE - 1, PIECE, 3 * PIECE + 5])
@pytest.mark.parametrize("strange", [b"\xff", b"\xe9t\xe9", b"\xed\xa0\x80", "\u00e9".encode()[:1]])
def test_the_first_strange_byte_is_found_wherever_it_stands(place: int, strange: bytes) -> None:
    text = "\u00e9".encode() * (place // 2) + b"x" * (place % 2) + strange
    with pytest.raises(orjson.JSONDecodeError) as told:
        orjson.loads(text)

    expected = f"is not UTF-8, which JSON must be: its byte {place + 1} is {strange[0]:#04x}"
    assert what_is_wrong(text, told.value, "") == expected


@pytest.mark.parametrize("path", ["/train", "/predict", "/explain"])
def test_a_body_that_is_no_object_is_pointed_at(melon_client: FlaskClient, path: str) -> None:
    assert pointers(melon_client.post(path, data=b"[]", **JSON)) == [""]


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/csv"},
        {"Content-Type": "application/json; charset=latin-1"},
        {"Content-Type": "application/json", "Content-Encoding": "br"},
        {},
    ],
)
def test_a_body_that_is_not_declared_as_json_is_a_problem(
    melon_client: FlaskClient, headers: dict[str, str]
) -> None:
    problem(melon_client.post("/explain", data=b"{}", headers=headers), 415)


@pytest.mark.parametrize(
    "kind", ["application/json;charset=UTF-8", "application/vnd.melons+json", "Application/JSON"]
)
def test_json_may_be_declared_in_more_than_one_way(melon_client: FlaskClient, kind: str) -> None:
    problem(melon_client.post("/predict", data=b"{}", content_type=kind), 422)


def test_a_body_that_is_too_large_is_a_problem(melon_client: FlaskClient) -> None:
    body = b" " * (SETTINGS.max_body_bytes + 1)

    problem(melon_client.post("/predict", data=body, **JSON), 413)


@pytest.mark.parametrize(("extra", "status"), [(0, 422), (1, 413)])
def test_a_body_without_a_length_may_not_be_too_large_either(
    melon_client: FlaskClient, extra: int, status: int
) -> None:
    body = b"{}" + b" " * (SETTINGS.max_body_bytes - 2 + extra)
    answer = melon_client.post(
        "/predict",
        headers={"Transfer-Encoding": "chunked"},
        input_stream=BytesIO(body),
        environ_overrides={"wsgi.input_terminated": True},
        **JSON,
    )

    problem(answer, status)


def test_deep_nesting_is_refused_without_breaking(melon_client: FlaskClient) -> None:
    order = an_order(data={"rows": [{"colour": NESTED, "ripe": "yes"}]})

    assert pointers(melon_client.post("/train", data=nested(order, 1000), **JSON)) == [
        "/data/rows/0/colour"
    ]
    problem(melon_client.post("/train", data=nested(order, 2000), **JSON), 400)


def test_a_database_that_is_away_is_a_problem_to_try_again(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'bough.db'}")
    (tmp_path / "bough.db").mkdir()
    answer = create_app(Settings(), store).test_client().get("/models")
    store.dispose()

    problem(answer, 503)
    assert answer.headers["Retry-After"] == "1"


def test_what_breaks_is_logged_and_not_shown(app: Flask, caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> None:
        raise ValueError("a secret")

    app.add_url_rule("/broken", view_func=broken)
    answer = app.test_client().get("/broken", headers={"X-Request-ID": "abc-1"})

    assert "secret" not in answer.text
    assert problem(answer, 500)["request_id"] == "abc-1"
    (logged,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert vars(logged)["request_id"] == "abc-1"
    assert logged.exc_info is not None


@pytest.mark.parametrize("given", ["", "a b", "x" * 129, "ä"])
def test_a_request_id_of_another_form_is_replaced(melon_client: FlaskClient, given: str) -> None:
    made = melon_client.get("/livez", headers={"X-Request-ID": given}).headers["X-Request-ID"]

    assert made != given
    assert len(made) == 32


def test_an_answer_may_not_be_taken_for_another_type(melon_client: FlaskClient) -> None:
    for path in ("/livez", "/nothing", "/openapi.yaml"):
        assert melon_client.get(path).headers["X-Content-Type-Options"] == "nosniff"


def test_the_log_has_the_request_and_no_value(
    melon_client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    rows = [{"colour": "a-secret-colour"}, {"density": "a-secret-density"}]
    for row in rows:
        melon_client.post("/models/melons/predict", json={"rows": [row]})

    logged = [vars(record) for record in caplog.records if record.name == "service.web.requests"]
    assert [line["status"] for line in logged] == [200, 422]
    assert {line["route"] for line in logged} == {"/models/{name}/predict"}
    assert {line["method"] for line in logged} == {"POST"}
    assert all(line["duration_ms"] > 0 and line["request_id"] for line in logged)
    assert "secret" not in str([vars(record) for record in caplog.records])
