"""Rows in bulk: whatever the form, they are answered as rows in JSON are."""

from itertools import product
from typing import Any

import orjson
import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.actions import bulk, bulk_lines
from service.storage.engine import Store
from service.tree.route import STRATEGIES
from tests.web.conftest import SETTINGS, a_house_order, trained
from tests.web.forms import (
    ARROW,
    CSV,
    NDJSON,
    READ,
    Row,
    as_arrow,
    as_ndjson,
    ask,
    forms,
    from_ndjson,
    put,
    without_lines,
    without_warnings,
)
from tests.web.test_problems import pointers, problem

NAMES = {"melons": ["colour", "density", "ripe"], "houses": ["rooms", "place"]}
COLOURS = st.sampled_from(["green", "black", "white", "red", "a;b", 'a "quoted", one', None])
NUMBERS = st.one_of(st.none(), st.integers(-3, 9), st.floats(0, 1), st.sampled_from([1e300, 0.44]))
PLACES = st.sampled_from(["sea", "town", "wood", None])
ROWS: dict[str, st.SearchStrategy[Row]] = {
    "melons": st.fixed_dictionaries(
        {}, optional={"colour": COLOURS, "density": NUMBERS, "ripe": st.just("no")}
    ),
    "houses": st.fixed_dictionaries({}, optional={"rooms": NUMBERS, "place": PLACES}),
}
QUESTIONS = st.sampled_from(list(ROWS)).flatmap(
    lambda model: st.tuples(st.just(model), st.lists(ROWS[model], max_size=12))
)


def told(warnings: list[Row]) -> list[str]:
    return [warning["pointer"] for warning in warnings]


@pytest.fixture
def served(sqlite_store: Store, client_of: Any, monkeypatch: pytest.MonkeyPatch) -> FlaskClient:
    """A client of melons and houses, whose rows are read a few at a time."""
    monkeypatch.setattr(bulk, "ROWS", 4)
    monkeypatch.setattr(bulk_lines, "BLOCK_BYTES", 60)
    trained(sqlite_store)
    trained(sqlite_store, **a_house_order())
    client: FlaskClient = client_of(sqlite_store)
    return client


@given(QUESTIONS, st.sampled_from(list(STRATEGIES)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rows_are_answered_alike_in_every_form(
    served: FlaskClient, question: tuple[str, list[Row]], missing: str
) -> None:
    model, rows = question
    expected = ask(served, model, rows, missing=missing)
    strangers = [pointer.split("/")[2:] for pointer in told(expected["warnings"])]
    for (kind, body), wanted in product(forms(rows, NAMES[model]), READ):
        answers = READ[wanted](put(served, model, body, kind, wanted, missing=missing).data)
        strange = [
            [str(row), str(each["pointer"]).split("/")[-1] if wanted == NDJSON else each]
            for row, answer in enumerate(answers)
            for each in answer.pop("warnings", [])
        ]

        assert expected["predictions"] == answers
        assert sorted(strangers) == sorted(strange)


@given(QUESTIONS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
def test_json_answers_to_other_forms_are_those_to_json(
    served: FlaskClient, question: tuple[str, list[Row]]
) -> None:
    model, rows = question
    expected = ask(served, model, rows)
    for kind, body in forms(rows, NAMES[model]):
        answer = put(served, model, body, kind, "application/json").json

        assert without_lines(answer) == expected
        assert answer.keys() == expected.keys()


@given(QUESTIONS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
def test_json_is_answered_in_other_forms_as_they_are(
    served: FlaskClient, question: tuple[str, list[Row]]
) -> None:
    model, rows = question
    body = orjson.dumps({"rows": rows})
    for wanted, (kind, sent) in product(READ, forms(rows, NAMES[model])[:1]):
        own = READ[wanted](put(served, model, body, "application/json", wanted).data)
        others = READ[wanted](put(served, model, sent, kind, wanted).data)

        assert [without_lines(each) for each in others] == own


@pytest.mark.parametrize("wanted", list(READ))
def test_where_attributes_cost_something_every_form_tells_it(
    client_of: Any, sqlite_store: Store, wanted: str
) -> None:
    trained(sqlite_store, attributes=[{"name": "density", "cost": 4}])
    client, rows = client_of(sqlite_store), [{"density": 0.1}, {}]
    expected = ask(client, "melons", rows)["predictions"]
    for kind, body in forms(rows, ["density"]):
        answers = READ[wanted](put(client, "melons", body, kind, wanted).data)
        assert expected == [without_warnings(each) for each in answers]


@pytest.mark.parametrize("wanted", [CSV, ARROW, "application/json"])
@pytest.mark.parametrize(
    ("kind", "wrong", "detail", "line"),
    [
        (NDJSON, "much", "must be a number", 10),
        (CSV, "much", "must be a number", 11),
        (ARROW, float("inf"), "is too large for a number", None),
    ],
)
def test_what_is_wrong_is_named_by_row_and_field_wherever_it_stands(
    served: FlaskClient, kind: str, wrong: Any, detail: str, line: int | None, wanted: str
) -> None:
    rows: list[Row] = [{"density": 0.1, "colour": "black"}] * 9 + [{"density": wrong}]
    body = dict(forms(rows, NAMES["melons"]))[kind]
    sent = {"data": body, "content_type": kind, "headers": {"Accept": wanted}}
    (fault,) = problem(served.post("/predict?model=melons", **sent), 422)["errors"]

    assert fault["pointer"] == "/rows/9/density"
    assert (fault["detail"], fault.get("line")) == (detail, line)


def test_an_error_in_the_first_block_of_ndjson_is_a_problem(served: FlaskClient) -> None:
    body = as_ndjson([{"density": 0.1}, {"density": [1], "size": 2}])
    answer = served.post("/predict?model=melons", data=body, content_type=NDJSON)

    assert problem(answer, 422)["errors"] == [
        {"pointer": "/rows/1/size", "detail": "the model has no attribute 'size'", "line": 2},
        {"pointer": "/rows/1/density", "detail": "must be a number", "line": 2},
    ]


def test_an_error_in_a_later_block_of_ndjson_is_the_last_line(served: FlaskClient) -> None:
    rows: list[Row] = [{"density": 0.1}] * 50
    body = as_ndjson(rows) + b"\n" + as_ndjson([{"density": [1]}, *rows])
    answer = served.post("/predict?model=melons", data=body, content_type=NDJSON)
    *answers, last = from_ndjson(answer.data)

    assert answer.status_code == 200
    assert answers == ask(served, "melons", rows)["predictions"][: len(answers)]
    assert len(answers) > 40
    assert (last["type"], last["status"]) == ("/problems/invalid-data", 422)
    assert last["request_id"] == answer.headers["X-Request-ID"]
    assert last["errors"] == [
        {"pointer": "/rows/50/density", "detail": "must be a number", "line": 52}
    ]


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        (b"[]", "must be an object"),
        (b'{"density": 1} {"density": 2}', "is not JSON"),
        (b'{"density": 1}, {"density": 2}', "is not JSON"),
        (b'{"colour": "\xff"}', "is not UTF-8, which JSON must be: its byte 13 is 0xff"),
        (b'{"density": NaN}', "is not JSON, which has no NaN"),
        (b'{"density": 1e400}', "holds a number that is too large"),
        (b'{"density":\n1}', "is not JSON"),
        (b'{"colour": "bl\nack"}', "is not JSON"),
        (b'{"colour": "black"\n"density": 1}\n{"density": 1},{"density": 2}', "is not JSON"),
        (b'{"density": 1}, {"density": 2}\n{"colour": "bl\nack"}', "is not JSON"),
    ],
)
def test_a_line_that_is_no_object_is_named(
    melon_client: FlaskClient, line: bytes, detail: str
) -> None:
    body = b'{"density": 1}\n\n' + line
    answer = melon_client.post("/predict?model=melons", data=body, content_type=NDJSON)
    fault = problem(answer, 422)["errors"][0]

    assert (fault["pointer"], fault["line"]) == ("/rows/1", 3)
    assert detail in fault["detail"]


def test_ndjson_may_have_blank_lines_a_mark_at_its_start_and_no_end(
    melon_client: FlaskClient,
) -> None:
    body = b'\xef\xbb\xbf\r\n{"density": 1}\r\n  \n\n{"density": 0}'
    answer = put(melon_client, "melons", body, NDJSON, NDJSON)

    assert (
        from_ndjson(answer.data)
        == ask(melon_client, "melons", [{"density": 1}, {"density": 0}])["predictions"]
    )


@pytest.mark.parametrize("kind", [NDJSON, CSV, ARROW])
@pytest.mark.parametrize("wanted", list(READ))
def test_no_rows_have_no_answers(melon_client: FlaskClient, kind: str, wanted: str) -> None:
    body = dict(forms([], ["density"]))[kind]

    assert READ[wanted](put(melon_client, "melons", body, kind, wanted).data) == []


@pytest.mark.parametrize("kind", [NDJSON, CSV, ARROW])
def test_a_line_that_is_too_long_and_a_body_that_ends_early_are_refused(
    melon_client: FlaskClient, kind: str
) -> None:
    body = {
        NDJSON: b" " * 3 * 1024**2,
        CSV: b'colour\n"' + b"x" * 3 * 1024**2,
        ARROW: as_arrow([{"density": 1.0}], ["density"])[:-40],
    }[kind]
    told = problem(melon_client.post("/predict?model=melons", data=body, content_type=kind), 422)

    assert "longer than" in str(told) or "some of it was lost" in told["detail"]


@pytest.mark.parametrize("kind", [CSV, ARROW])
def test_a_column_that_the_model_does_not_have_is_named(
    melon_client: FlaskClient, kind: str
) -> None:
    body = dict(forms([{"size": 1.0, "density": 1.0}], ["size", "density"]))[kind]

    assert pointers(melon_client.post("/predict?model=melons", data=body, content_type=kind)) == [
        "/columns/size"
    ]


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("", "model"),
        ("model=a b", "model"),
        ("model=melons@champion&version=1", "version"),
        ("model=melons&version=x", "version"),
        ("model=melons&missing=guess", "missing"),
        ("model=melons&strict=yes", "strict"),
        ("model=melons&rows=1", "rows"),
        ("model=melons&model=melons", "model"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_named(
    melon_client: FlaskClient, query: str, parameter: str
) -> None:
    answer = melon_client.post(f"/predict?{query}", data=b"{}", content_type=NDJSON)

    assert [each["parameter"] for each in problem(answer, 422)["errors"]] == [parameter]


def test_what_json_says_itself_cannot_stand_in_the_address_too(melon_client: FlaskClient) -> None:
    answer = melon_client.post("/predict?strict=true", json={"model": "melons", "rows": []})
    named = melon_client.post("/models/melons/predict?model=x", data=b"", content_type=NDJSON)

    assert [each["parameter"] for each in problem(answer, 422)["errors"]] == ["strict"]
    assert [each["parameter"] for each in problem(named, 422)["errors"]] == ["model"]


def test_strict_makes_strangers_faults_in_every_form(melon_client: FlaskClient) -> None:
    for kind, body in forms([{"colour": "red"}], ["colour"]):
        sent = {"data": body, "content_type": kind}
        answer = melon_client.post("/predict?model=melons&strict=true", **sent)

        assert pointers(answer) == ["/rows/0/colour"]


def test_the_answer_says_which_version_it_is_from(melon_client: FlaskClient) -> None:
    answer = put(melon_client, "melons", b"{}", NDJSON, NDJSON)

    assert (answer.headers["Bough-Model"], answer.headers["Bough-Version"]) == ("melons", "1")
    problem(melon_client.post("/predict?model=pumpkins", data=b"", content_type=NDJSON), 404)


@pytest.mark.parametrize(
    ("kind", "accepted", "answered"),
    [
        (NDJSON, None, NDJSON),
        ("application/jsonl", "*/*", NDJSON),
        (CSV, "application/json, text/plain, */*", CSV),
        (CSV, "text/html", CSV),
        (CSV, "application/json", "application/json"),
        (NDJSON, "text/csv;q=0.5, application/ndjson", NDJSON),
        ("application/csv", f"{ARROW}, text/csv;q=0.9", ARROW),
        ("application/json", "application/*;q=0.1, text/csv", CSV),
    ],
)
def test_accept_says_in_which_form_to_answer(
    melon_client: FlaskClient, kind: str, accepted: str | None, answered: str
) -> None:
    body = {"application/json": b'{"rows": []}', CSV: b"density\n", "application/csv": b"density"}
    headers = {} if accepted is None else {"Accept": accepted}
    sent = {"data": body.get(kind, b""), "content_type": kind, "headers": headers}
    answer = melon_client.post("/models/melons/predict", **sent)

    assert (answer.status_code, answer.mimetype) == (200, answered)
    assert answer.headers["Vary"] == "Accept, Accept-Encoding"


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "", f"{CSV}; charset=latin-1", f"{CSV}; header=absent", "application/x-parquet"],
)
def test_other_forms_are_not_taken(melon_client: FlaskClient, kind: str) -> None:
    problem(melon_client.post("/predict?model=melons", data=b"{}", content_type=kind), 415)


def test_rows_in_bulk_may_be_more_than_json_may_have(melon_client: FlaskClient) -> None:
    rows = [{"density": number / 500} for number in range(5 * SETTINGS.max_predict_rows)]
    answers = from_ndjson(put(melon_client, "melons", as_ndjson(rows), NDJSON, NDJSON).data)

    assert len(answers) == len(rows)
    assert answers[:9] == ask(melon_client, "melons", rows[:9])["predictions"]
