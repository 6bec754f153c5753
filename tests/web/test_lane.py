"""The lane: what it answers is what Flask would, and what it does not know it hands on."""

import gzip
import json
import logging
import shutil
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from werkzeug.test import Client, TestResponse

from service.actions.memory import Memory
from service.storage.aliases import put_alias
from service.storage.engine import Store, open_store
from service.storage.versions import save_version
from service.web import create_app
from service.web.context import EXTENSION
from service.web.heads import Head, Post, Told
from service.web.lane import Lane, rows_at_most
from service.web.places import LARGE_BODY
from tests.actions.odd_trees import columns_of, loaded_trees, rows
from tests.arrow import stream_of
from tests.web.conftest import SETTINGS, a_house_order, trained
from tests.web.test_problems import problem

JSON = "application/json"
ROW = {"colour": "black", "density": 0.9}
numbers = count()


def lane_of(app: Flask) -> Lane:
    lane = app.wsgi_app
    assert isinstance(lane, Lane)
    return lane


def nobody(*_: object) -> Any:
    raise AssertionError("handed on")


@pytest.fixture(scope="module")
def shared(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Flask, Store]]:
    """One app with some models, for all tests that change nothing about them; and its store."""
    path = tmp_path_factory.mktemp("lane") / "bough.db"
    shutil.copy(sqlite_template, path)
    store = open_store(f"sqlite:///{path}")
    trained(store)
    trained(store, model="西瓜")
    trained(store, **a_house_order())
    with store.writing() as session:
        put_alias(session, "西瓜", "冠军", 1)
    yield create_app(replace(SETTINGS, data=path.parent), store), store
    store.dispose()


@pytest.fixture(scope="module")
def app(shared: tuple[Flask, Store]) -> Flask:
    return shared[0]


@pytest.fixture(scope="module")
def alone(app: Flask) -> Client:
    """A client of the lane with nobody behind it."""
    return Client(Lane(nobody, app.extensions[EXTENSION]))


@pytest.fixture(scope="module")
def behind(app: Flask) -> Client:
    """A client of the app without the lane."""
    return Client(lane_of(app).app)


def told(answer: TestResponse) -> tuple[Any, ...]:
    """All that an answer says, but for the id of the request."""
    headers = [(name, value) for name, value in answer.headers if name != "X-Request-ID"]
    if not answer.is_json or answer.status_code == 200:
        return answer.status_code, headers, answer.data
    said = dict(answer.json or {}) | {"request_id": None}
    return answer.status_code, [each for each in headers if each[0] != "Content-Length"], said


def ask(client: Client, body: Any, path: str = "/predict", **more: Any) -> TestResponse:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.post(path, data=data, **{"content_type": JSON, **more})


@pytest.mark.parametrize(
    "fields",
    [
        {"rows": [ROW]}, {"rows": []}, {"rows": [{}, ROW]}, {"rows": [ROW] * 150},
        {"columns": {"density": [0.1, None]}}, {"columns": {}}, {"version": 1, "rows": [ROW]},
        {"rows": [ROW | {"ripe": "yes"}]}, {"rows": [ROW], "strict": True, "missing": "weighted"},
        {"rows": [ROW, {"colour": None}], "layout": "columns"}, {"rows": [ROW], "layout": "rows"},
    ],
)  # fmt: skip
def test_ordinary_questions_are_answered_as_behind_the_lane(
    alone: Client, behind: Client, fields: dict[str, Any]
) -> None:
    for path, body in (
        ("/predict", {"model": "melons", **fields}), ("/predict", {**fields, "model": "melons"}),
        ("/models/melons/predict", fields),
    ):  # fmt: skip
        answer = ask(alone, body, path)

        assert answer.status_code == 200
        assert told(answer) == told(ask(behind, body, path))


def test_numbers_are_predicted_as_behind_the_lane(alone: Client, behind: Client) -> None:
    table = [{"rooms": 3, "place": "sea"}, {"place": "wood"}, {"rooms": 8.5}, {}]
    for layout in ("rows", "columns"):
        body = {"model": "houses", "rows": table, "layout": layout}

        assert told(ask(alone, body)) == told(ask(behind, body))


def test_a_name_may_have_any_characters(alone: Client) -> None:
    for name in ("西瓜", "西瓜@冠军"):
        assert ask(alone, {"model": name, "rows": [ROW]}).status_code == 200
        assert ask(alone, {"rows": [ROW]}, f"/models/{name}/predict").status_code == 200


UNUSUAL: list[tuple[Any, dict[str, Any]]] = [
    (b"", {}),
    (b"{", {}),
    (b"[]", {}),
    (b'{"model": "melons", "rows": [{"density": NaN}]}', {}),
    (b'{"model": "melons", "rows": [1e999], "rows": []}', {}),
    (b'{"rows": [], "model": "melons", "rows": [{}]}', {}),
    (b'{"model": "pumpkins", "rows": [], "model": "melons"}', {}),
    (b'{"model": "melons", "model": "pumpkins", "rows": []}', {}),
    (b'{"model": "\xff", "rows": []}', {}),
    (b'{"model": "\\u006delons", "rows": []}', {}),
    (b'{"model": "melons", "rows": [{"ripe": ' + b"[" * 2000 + b"]" * 2000 + b"}]}", {}),
    ({"model": "a b", "rows": []}, {}),
    ({"model": "a\0b", "rows": []}, {}),
    ({"model": "pumpkins", "rows": [1]}, {}),
    ({"model": "melons@nobody", "rows": []}, {}),
    ({"model": "melons@x", "version": 1, "rows": []}, {}),
    ({"model": "melons", "version": 0, "rows": []}, {}),
    ({"model": "melons", "rows": [], "version": -(10**30)}, {}),
    ({"model": "melons", "version": 7, "rows": []}, {}),
    ({"model": "melons", "version": 1.0, "rows": [ROW]}, {}),
    ({"model": "melons", "version": None, "rows": []}, {}),
    ({"model": "melons", "rows": [{"colour": "red"}]}, {}),
    ({"model": "melons", "rows": [{"colour": "red"}], "strict": True}, {}),
    ({"model": "melons", "rows": [{"density": "1"}]}, {}),
    ({"model": "melons", "rows": [{"size": 1}]}, {}),
    ({"model": "melons", "rows": [{}], "missing": "last_prediction"}, {}),
    ({"model": "melons", "rows": [ROW] * (SETTINGS.max_predict_rows + 1)}, {}),
    ({"model": "melons", "columns": {"density": [1], "colour": []}}, {}),
    ({"model": "melons", "rows": [ROW]}, {"content_type": "application/json;charset=UTF-8"}),
    ({"model": "melons", "rows": [ROW]}, {"content_type": "text/plain"}),
    ({"model": "melons", "rows": [ROW]}, {"headers": {"Content-Encoding": "br"}}),
    ({"model": "melons", "rows": [ROW]}, {"headers": {"Accept": "text/html"}}),
    ({"model": "melons", "rows": [ROW]}, {"query_string": "x=1"}),
    (b" " * (SETTINGS.max_body_bytes + 1), {}),
]


@pytest.mark.parametrize(("body", "more"), UNUSUAL)
def test_the_unusual_is_answered_as_if_there_were_no_lane(
    app: Flask, behind: Client, body: Any, more: dict[str, Any]
) -> None:
    client = Client(app.wsgi_app)

    assert told(ask(client, body, **more)) == told(ask(behind, body, **more))


@pytest.mark.parametrize(
    "path",
    [
        "/models/predict", "/models//predict", "/models/a/b/predict", "/models/melons/predict/",
        "/models/%00/predict", "/models/%ff/predict", "/models/a%40b%40c/predict", "//predict",
        "/xmodels/melons/predict", "/models/melons@/predict", "/models/%20/predict",
    ],
)  # fmt: skip
def test_other_addresses_are_not_taken_for_ours(app: Flask, behind: Client, path: str) -> None:
    client, body = Client(app.wsgi_app), {"rows": [ROW]}

    assert told(ask(client, body, path)) == told(ask(behind, body, path))


def test_other_methods_are_handed_on(app: Flask, behind: Client) -> None:
    client = Client(app.wsgi_app)

    assert told(client.get("/predict")) == told(behind.get("/predict"))


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_asked_of_any_tree_is_answered_as_behind_the_lane(
    shared: tuple[Flask, Store], behind: Client, data: st.DataObject
) -> None:
    app, store = shared
    loaded = data.draw(loaded_trees())
    name = f"odd-{next(numbers)}"
    with store.writing() as session:
        draft = replace(loaded.version, model=name)
        save_version(session, str(uuid4()), draft, loaded.compiled.tree)
    asked = data.draw(rows(loaded, is_odd=data.draw(st.booleans())))
    for table in ({"rows": asked}, {"columns": columns_of(asked)}, {"rows": asked * 60}):
        for layout in ("rows", "columns"):
            body = {"model": name, **table, "layout": layout}

            assert told(ask(Client(app.wsgi_app), body)) == told(ask(behind, body))


def test_headers_and_log_are_those_of_flask(
    alone: Client, behind: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "service.web.requests")
    for path, body in (
        ("/predict", {"model": "melons", "rows": [ROW]}), ("/models/melons/predict", {"rows": []}),
    ):  # fmt: skip
        answers = [
            ask(client, body, path, headers={"X-Request-ID": "abc-1"}) for client in (alone, behind)
        ]
        here, there = ([*answer.headers] for answer in answers)
        logged = [vars(record) for record in caplog.records]
        names = ("name", "levelname", "msg", "method", "route", "status", "request_id")
        caplog.clear()

        assert here == there
        assert [line[each] for line in logged for each in names] == [
            "service.web.requests", "INFO", "request", "POST",
            path.replace("melons", "{name}"), 200, "abc-1",
        ] * 2  # fmt: skip
        assert all(line["duration_ms"] > 0 for line in logged)


def test_an_id_of_another_form_is_replaced(alone: Client) -> None:
    answer = ask(alone, {"model": "melons", "rows": []}, headers={"X-Request-ID": "a b"})

    assert len(answer.headers["X-Request-ID"]) == 32


class Late(BytesIO):
    """A body that does not come."""

    def __init__(self, error: type[OSError]) -> None:
        super().__init__()
        self._error = error

    def read(self, _size: int | None = -1) -> bytes:
        raise self._error


@pytest.mark.parametrize("error", [BlockingIOError, TimeoutError])
def test_a_body_that_does_not_come_is_told_by_flask(app: Flask, error: type[OSError]) -> None:
    surroundings = {"wsgi.input_terminated": True}
    answer = app.test_client().post(
        "/predict",
        input_stream=Late(error),
        content_type=JSON,
        content_length=10,
        environ_overrides=surroundings,
    )

    assert "did not arrive" in problem(answer, 408)["detail"]


def test_a_body_that_ends_early_is_told_by_flask(app: Flask, behind: Client) -> None:
    body = {"input_stream": BytesIO(b'{"rows"'), "content_type": JSON, "content_length": 100}
    answer = app.test_client().post("/predict", **body)

    assert answer.status_code == 400


def test_what_breaks_in_the_lane_is_logged_and_handed_on(
    app: Flask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("service.web.lane.ask", broken)
    answer = ask(Client(app.wsgi_app), {"model": "melons", "rows": [ROW]})

    assert answer.status_code == 200
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == [
        "the lane broke"
    ]


def test_the_database_is_asked_for_a_name_once_a_second(app: Flask, tmp_path: Path) -> None:
    """And when it is away, that is told after a second."""
    now = [0.0]
    gone = open_store(f"sqlite:///{tmp_path / 'bough.db'}")
    (tmp_path / "bough.db").mkdir()
    assert ask(Client(app.wsgi_app), SMALL).status_code == 200  # the name is known now
    known: Memory = app.extensions[EXTENSION].memory
    memory = Memory(gone, 1_000_000, lambda: now[0])
    key = known.names.find(("melons", None), nobody)
    memory.names.find(("melons", None), lambda: key)
    memory.cache.get(key, lambda: known.find(("melons", None)))
    away = create_app(SETTINGS, gone)
    away.extensions[EXTENSION] = replace(away.extensions[EXTENSION], memory=memory)
    client = Client(Lane(lane_of(away).app, away.extensions[EXTENSION]))
    body = {"model": "melons", "rows": [ROW]}

    assert ask(client, body).status_code == 200
    now[0] += 1.0
    answer = ask(client, body)
    gone.dispose()

    assert problem(answer, 503)["detail"] == "The database does not answer."
    assert answer.headers["Retry-After"] == "1"


def test_an_alias_that_is_moved_here_is_followed_at_once(
    sqlite_store: Store, tmp_path: Path
) -> None:
    trained(sqlite_store)
    trained(sqlite_store)
    client = create_app(replace(SETTINGS, data=tmp_path), sqlite_store).test_client()
    for number in (1, 2, 1):
        client.put("/models/melons/aliases/best", json={"version": number})
        answer = client.post("/predict", json={"model": "melons@best", "rows": []})
        assert answer.json is not None
        assert answer.json["version"] == number
    client.delete("/models/melons/aliases/best")

    problem(client.post("/predict", json={"model": "melons@best", "rows": []}), 404)


PLAIN = {"content-type": JSON}
SMALL = json.dumps({"model": "melons", "rows": [ROW]}).encode()
LONG_COLUMNS = b'"columns": {"density": [%b]}}' % b",".join([b"null"] * 50_000)


def test_what_is_in_memory_is_told_at_once_as_it_is_told_later(app: Flask) -> None:
    lane, later = lane_of(app), ask(Client(app.wsgi_app), SMALL)
    columns = json.dumps({"columns": {"density": [0.1, None]}}).encode()

    for tell in (lane.tell, lane.answer):
        told = tell(post(PLAIN | {"x-request-id": "mine"}), 0.0)
        assert told is not None
        assert (later.data, {**later.headers, "X-Request-ID": "mine"}) == (told[0], dict(told[1]))
        assert tell(post(PLAIN, columns, "/models/melons/predict"), 0.0) is not None


def test_a_large_answer_is_packed_where_that_is_liked(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = ask(Client(app.wsgi_app), SMALL)
    monkeypatch.setattr("service.web.packing.LEAST", len(later.data))
    told = lane_of(app).tell(post(PLAIN | {"accept-encoding": "gzip"}), 0.0)

    assert told is not None
    assert "gzip" == dict(told[1])["Content-Encoding"]
    assert later.data == gzip.decompress(told[0])


def post(headers: dict[str, str], sent: bytes = SMALL, path: str = "/predict") -> Post:
    return Post(Head(path, headers, 0, len(sent)), sent)


def told_at_once(app: Flask, posted: Post) -> Told | None:
    lane = lane_of(app)
    is_told = lane.takes(posted.head) and lane.is_small(posted.head)
    return lane.tell(posted, 0.0) if is_told else None


@pytest.mark.parametrize(
    ("path", "headers", "sent"),
    [
        ("/predict", PLAIN, SMALL.replace(b"melons", b"nobody")),
        ("/predict?x=1", PLAIN, SMALL),
        ("/models", PLAIN, SMALL),
        ("/train", PLAIN, SMALL),
        ("/predict", {}, SMALL),
        ("/predict", PLAIN | {"accept": "text/csv"}, SMALL),
        ("/predict", PLAIN | {"content-encoding": "gzip"}, SMALL),
        ("/predict", {"content-type": "application/vnd.apache.arrow.stream"}, SMALL),
        ("/predict", PLAIN, SMALL.replace(b"black", b"purple")),
        ("/predict", PLAIN, SMALL[:-1] + b', "model": "nobody"}'),
        ("/predict", PLAIN, json.dumps({"model": "melons", "rows": [{}] * 50_000}).encode()),
        ("/predict", PLAIN, b'{"model": "melons",' + b" " * 600 + LONG_COLUMNS),
        ("/predict", PLAIN, b'{"model": "melons", "note": "\\"rows\\": [",' + LONG_COLUMNS),
        ("/predict", PLAIN, b'{"model": "melons",' + LONG_COLUMNS.replace(b"s", b"\\u0073", 1)),
        ("/predict", PLAIN, SMALL + b" " * (SETTINGS.max_body_bytes - len(SMALL) + 1)),
    ],
)
def test_whatever_would_take_long_or_must_be_looked_up_is_not_told_at_once(
    app: Flask, monkeypatch: pytest.MonkeyPatch, path: str, headers: dict[str, str], sent: bytes
) -> None:
    assert ask(Client(app.wsgi_app), SMALL).status_code == 200  # it is in memory now
    monkeypatch.setattr(Memory, "find", nobody)

    assert told_at_once(app, post(headers, sent, path)) is None


@pytest.mark.parametrize(
    ("sent", "n_rows"),
    [
        (b'{"rows": [{"a": 1, "b": 2}, {}]}', 3),
        (b'{"model": "m", "rows" :\n[{}]}', 2),
        (b'{"columns": {"a": [1, 2, 3]}}', 4),
        (b'{"columns": {"rows": [1, 2, 3]}}', 4),
        (b'{"model": "rows", "columns": {"a": [1, 2, 3]}}', 5),
        (b'{"model": "{", "rows": [{"a": 1, "b": 2}]}', 5),
        (b'{"\\u0072ows": [{"a": 1, "b": 2}]}', 3),
        (b'{"model": "m"}', 1),
    ],
)
def test_a_body_has_no_more_rows_than_it_looks_like(sent: bytes, n_rows: int) -> None:
    assert rows_at_most(sent) == n_rows


def test_who_steps_aside_hands_everything_on(app: Flask) -> None:
    lane = Lane(nobody, app.extensions[EXTENSION])
    with lane.aside(), pytest.raises(AssertionError, match="handed on"):
        ask(Client(lane), SMALL)

    assert ask(Client(lane), SMALL).status_code == 200


def test_what_breaks_is_not_told_at_once(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.web.lane.ask", nobody)

    assert lane_of(app).tell(post(PLAIN), 0.0) is None
    assert lane_of(app).answer(post(PLAIN), 0.0) is None


@pytest.mark.parametrize(
    ("path", "headers", "n_body"),
    [
        ("/train", PLAIN, 10), ("/models/melons", PLAIN, 10), ("/predict", {}, 10),
        ("/models/melons/predict", {"content-type": "application/x-ndjson"}, 10),
        ("/predict", PLAIN | {"accept": "text/csv"}, 10),
        ("/predict", PLAIN | {"content-encoding": "gzip"}, 10),
        ("/predict", PLAIN, min(LARGE_BODY, SETTINGS.max_body_bytes) + 1),
    ],
)  # fmt: skip
def test_what_may_not_be_a_question_is_told_by_its_head(
    app: Flask, path: str, headers: dict[str, str], n_body: int
) -> None:
    lane = lane_of(app)

    assert lane.takes(Head("/predict", PLAIN, 0, n_body - 1))
    assert not lane.takes(Head(path, headers, 0, n_body))


@pytest.mark.parametrize(
    "rows", [[ROW] * 150, [ROW, {"colour": None}] * 75, [{"colour": "purple"}] * 150]
)
def test_many_rows_are_answered_as_behind_the_lane(
    app: Flask, behind: Client, rows: list[dict[str, Any]]
) -> None:
    sent = json.dumps({"model": "melons", "rows": rows}).encode()
    answer = lane_of(app).answer(post(PLAIN, sent), 0.0)

    if rows[0] == ROW:
        assert answer is not None
    assert answer is None or answer[0] == ask(behind, sent).data


def test_arrow_is_answered_as_behind_the_lane(app: Flask, behind: Client) -> None:
    type_, path = "application/vnd.apache.arrow.stream", "/models/melons/predict"
    sent = stream_of({"density": [0.1, None, 0.9], "colour": ["black", "white", None]})
    posted = post({"content-type": type_}, sent, path)
    answer = lane_of(app).answer(posted, 0.0)

    assert not lane_of(app).is_small(posted.head)
    assert answer is not None
    assert answer[0] == ask(behind, sent, path, content_type=type_).data
