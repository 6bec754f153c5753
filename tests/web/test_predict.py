"""Predictions and explanations over HTTP: what may be asked, and how faults are named."""

from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from service.storage.engine import Store
from service.web import create_app
from tests.web.conftest import SETTINGS, trained
from tests.web.test_problems import pointers, problem


def ask(client: FlaskClient, **body: Any) -> Any:
    """What is answered to such a question about the melons."""
    answer = client.post("/predict", json={"model": "melons"} | body)
    assert answer.status_code == 200, answer.text
    return answer.json


def test_a_row_is_predicted_with_how_sure_the_path_is(client: FlaskClient, melons: str) -> None:
    answer = ask(client, rows=[{"colour": None, "density": 0.4}, {"density": None}])
    known, unknown = answer["predictions"]

    assert (answer["model"], answer["version"], answer["task"]) == (melons, 1, "classification")
    assert answer["warnings"] == []
    assert known == {
        "class": "no",
        "probabilities": {"yes": 0.0, "no": 1.0},
        "leaves": 1,
        "unknown": [],
        "bounds": {"yes": [0.0, 0.0], "no": [1.0, 1.0]},
        "certain": True,
    }
    assert unknown["unknown"] == ["colour", "density"]
    assert unknown["probabilities"] == pytest.approx({"yes": 0.5, "no": 0.5})


def test_columns_say_the_same_as_rows(melon_client: FlaskClient) -> None:
    rows = [{"colour": "black", "density": 0.9}, {"colour": None, "density": 0.1}]
    columns = {"colour": ["black", None], "density": [0.9, 0.1]}

    assert ask(melon_client, columns=columns) == ask(melon_client, rows=rows)


def test_the_answer_can_be_columns_too(melon_client: FlaskClient) -> None:
    rows = [{"density": 0.9, "colour": "black"}, {}]
    by_row = ask(melon_client, rows=rows)["predictions"]
    by_column = ask(melon_client, rows=rows, layout="columns")["predictions"]

    assert by_column["class"] == [each["class"] for each in by_row]
    assert by_column["probabilities"]["yes"] == [each["probabilities"]["yes"] for each in by_row]
    assert by_column["leaves"] == [each["leaves"] for each in by_row]
    assert by_column["unknown"] == [each["unknown"] for each in by_row]
    assert by_column["bounds"]["no"]["lowest"] == [each["bounds"]["no"][0] for each in by_row]


@pytest.mark.parametrize("table", [{"rows": []}, {"columns": {}}, {"columns": {"density": []}}])
def test_no_rows_have_no_predictions(melon_client: FlaskClient, table: dict[str, Any]) -> None:
    assert ask(melon_client, **table)["predictions"] == []


def test_the_target_may_stand_in_a_row_and_means_nothing(melon_client: FlaskClient) -> None:
    assert (
        ask(melon_client, rows=[{"ripe": "no"}])["predictions"]
        == ask(melon_client, rows=[{}])["predictions"]
    )


@pytest.mark.parametrize("path", ["/predict", "/explain"])
@pytest.mark.parametrize("value", ["0.4", True, [0.4], {"is": 0.4}])
def test_what_is_no_number_is_pointed_at(
    melon_client: FlaskClient, path: str, value: object
) -> None:
    rows = [{"density": 0.1}, {"density": None}, {"density": value}]
    columns = {"density": [0.1, None, value]}

    for table, pointer in (
        ({"rows": rows}, "/rows/2/density"), ({"columns": columns}, "/columns/density/2"),
    ):  # fmt: skip
        assert pointers(melon_client.post(path, json={"model": "melons"} | table)) == [pointer]


@pytest.mark.parametrize("value", [["black"], {"is": "black"}])
def test_what_can_be_no_category_is_pointed_at(melon_client: FlaskClient, value: object) -> None:
    rows = {"model": "melons", "rows": [{}, {"colour": value}]}
    columns = {"model": "melons", "columns": {"colour": [None, value]}}

    assert pointers(melon_client.post("/predict", json=rows)) == ["/rows/1/colour"]
    assert pointers(melon_client.post("/predict", json=columns)) == ["/columns/colour/1"]


def test_an_unknown_attribute_is_pointed_at_in_each_row(melon_client: FlaskClient) -> None:
    rows = [{"color": "black"}, {}, {"color": "white", "a/b~": 1}]
    columns = {"color": ["black"], "density": [1]}

    assert set(pointers(melon_client.post("/predict", json={"model": "melons", "rows": rows}))) == {
        "/rows/0/color", "/rows/2/color", "/rows/2/a~1b~0",
    }  # fmt: skip
    assert pointers(
        melon_client.post("/predict", json={"model": "melons", "columns": columns})
    ) == ["/columns/color"]


def test_all_faults_are_named_but_no_more_than_a_hundred(melon_client: FlaskClient) -> None:
    rows = [{"density": "a lot", "size": 1}] * 150

    assert (
        len(pointers(melon_client.post("/predict", json={"model": "melons", "rows": rows}))) == 100
    )


def test_an_undeclared_category_is_a_warning_or_if_strict_an_error(
    melon_client: FlaskClient,
) -> None:
    rows = [{"colour": "red", "density": 0.9}]
    answer = ask(melon_client, rows=rows)
    strict = melon_client.post("/predict", json={"model": "melons", "rows": rows, "strict": True})

    assert [warning["pointer"] for warning in answer["warnings"]] == ["/rows/0/colour"]
    assert answer["predictions"][0]["unknown"] == ["colour"]
    assert pointers(strict) == ["/rows/0/colour"]


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"model": 1}, "/model"),
        ({"model": "a b"}, "/model"),
        ({"model": "a@b@c"}, "/model"),
        ({"model": "\0"}, "/model"),
        ({"version": 0}, "/version"),
        ({"version": "1"}, "/version"),
        ({"version": True}, "/version"),
        ({"version": 1.5}, "/version"),
        ({"version": 2**40}, "/version"),
        ({"version": None}, "/version"),
        ({"model": "melons@champion", "version": 1}, "/version"),
        ({"layout": "table"}, "/layout"),
        ({"layout": []}, "/layout"),
        ({"strict": "yes"}, "/strict"),
        ({"missing": "guess"}, "/missing"),
        ({"missing": None}, "/missing"),
        ({"missing": []}, "/missing"),
        ({"columns": {}}, ""),
        ({"explain": True}, "/explain"),
        ({"rows": {}}, "/rows"),
        ({"rows": [[]]}, "/rows/0"),
        ({"rows": [{}] * (SETTINGS.max_predict_rows + 1)}, "/rows"),
    ],
)
def test_a_field_that_cannot_be_used_is_pointed_at(
    melon_client: FlaskClient, fields: dict[str, Any], pointer: str
) -> None:
    answer = melon_client.post("/predict", json={"model": "melons", "rows": []} | fields)

    assert pointers(answer) == [pointer]


def test_columns_must_be_equally_long_lists(melon_client: FlaskClient) -> None:
    def told(columns: object) -> list[str]:
        return pointers(melon_client.post("/predict", json={"model": "melons", "columns": columns}))

    assert told([]) == ["/columns"]
    assert told({"density": 1}) == ["/columns/density"]
    assert told({"density": [1, 2], "colour": ["black"]}) == ["/columns/colour"]
    assert told({"density": [1] * (SETTINGS.max_predict_rows + 1)}) == ["/columns"]


def test_a_question_without_model_or_rows_says_both(melon_client: FlaskClient) -> None:
    assert pointers(melon_client.post("/predict", json={})) == ["/model", ""]


def test_what_there_is_not_is_not_found(melon_client: FlaskClient) -> None:
    for body in ({"model": "pumpkins"}, {"model": "melons@x"}, {"model": "melons", "version": 9}):
        problem(melon_client.post("/predict", json=body | {"rows": []}), 404)


def test_a_version_is_chosen_by_number_by_alias_or_as_the_newest(
    client: FlaskClient, store: Store, melons: str
) -> None:
    trained(store, params={"max_depth": 0})
    client.put("/models/melons/aliases/champion", json={"version": 1})

    assert ask(client, rows=[])["version"] == 2
    assert ask(client, rows=[], version=1)["version"] == 1
    assert ask(client, rows=[], model="melons@champion")["version"] == 1


def test_the_model_may_stand_in_the_address(client: FlaskClient, melons: str) -> None:
    client.put("/models/melons/aliases/champion", json={"version": 1})
    for name in ("melons", "melons@champion"):
        answer = client.post(f"/models/{name}/predict", json={"rows": [{"density": 0.1}]})
        assert answer.json == ask(client, rows=[{"density": 0.1}])
    doubled = client.post("/models/melons/predict", json={"model": "melons", "rows": []})

    assert pointers(doubled) == ["/model"]


def test_an_explanation_is_the_prediction_with_its_paths(client: FlaskClient, melons: str) -> None:
    body = {"model": melons, "rows": [{"density": 0.9, "colour": None}]}
    (predicted,) = ask(client, rows=body["rows"])["predictions"]
    answer = client.post("/explain", json=body).json
    assert answer is not None
    (told,) = answer["explanations"]
    weights = [path["weight"] for path in told["paths"]]

    assert told | predicted == told
    assert weights == sorted(weights, reverse=True)
    assert sum(weights) == pytest.approx(1.0)
    assert told["omitted_paths"] == 0
    assert told["paths"][0]["steps"][0] == {
        "node": 0, "attribute": "density", "operator": ">", "value": pytest.approx(0.4395),
        "given": 0.9, "share": pytest.approx(0.6), "weight": 1.0,
    }  # fmt: skip


def test_only_so_many_rows_are_explained_at_once(melon_client: FlaskClient) -> None:
    rows: list[dict[str, Any]] = [{}] * (SETTINGS.max_explain_rows + 1)

    assert pointers(melon_client.post("/explain", json={"model": "melons", "rows": rows})) == [
        "/rows"
    ]
    assert pointers(
        melon_client.post("/explain", json={"model": "melons", "rows": [], "layout": "columns"})
    ) == ["/layout"]


def test_nulls_can_be_asked_to_be_taken_otherwise(client: FlaskClient, melons: str) -> None:
    def said(missing: str) -> tuple[float | None, int]:
        (answer,) = ask(client, rows=[{"density": None}], missing=missing)["predictions"]
        return answer["probabilities"] and answer["probabilities"]["yes"], answer["leaves"]

    assert said("last_prediction") == (0.5, 1)
    assert said("default_child") == (1.0, 1)
    assert said("none") == (None, 0)
    assert said("weighted") == said("aggregate") == (pytest.approx(0.5), 4)


def test_explanations_take_nulls_as_they_are_asked_to(client: FlaskClient, melons: str) -> None:
    body = {"model": melons, "rows": [{}], "missing": "last_prediction"}
    answer = client.post("/explain", json=body).json
    assert answer is not None
    (told,) = answer["explanations"]

    assert [(path["weight"], path["leaf"]) for path in told["paths"]] == [(1.0, 0)]
    assert told["paths"][0]["steps"] == []


def test_a_number_is_predicted_with_its_deviation(client: FlaskClient, houses: str) -> None:
    rows = [{"rooms": 8, "place": "sea"}, {"rooms": None, "place": "sea"}]
    answer = ask(client, model=houses, rows=rows)
    known, unknown = answer["predictions"]

    assert answer["task"] == "regression"
    assert known["certain"]
    assert known["bounds"] == [known["value"], known["value"]]
    assert unknown["unknown"] == ["rooms"]
    assert unknown["bounds"][0] < unknown["value"] < unknown["bounds"][1]
    assert unknown["deviation"] > known["deviation"]


def test_numbers_as_columns_say_the_same_as_rows(client: FlaskClient, houses: str) -> None:
    rows = [{"rooms": 8, "place": "sea"}, {"place": "town"}, {}]
    by_row = ask(client, model=houses, rows=rows, missing="none")["predictions"]
    columns = ask(client, model=houses, rows=rows, missing="none", layout="columns")["predictions"]

    for name in ("value", "deviation", "leaves", "unknown", "certain"):
        assert columns[name] == [each[name] for each in by_row]
    assert columns["bounds"]["lowest"] == [each["bounds"] and each["bounds"][0] for each in by_row]
    assert (by_row[2]["value"], by_row[2]["leaves"]) == (None, 0)


def test_a_predicted_number_is_explained_by_the_means_of_its_paths(
    client: FlaskClient, houses: str
) -> None:
    answer = client.post("/explain", json={"model": houses, "rows": [{"place": "sea"}]}).json
    assert answer is not None
    (told,) = answer["explanations"]
    meant = sum(path["weight"] * path["mean"] for path in told["paths"])

    assert told["value"] == pytest.approx(meant)
    assert all(path["deviation"] >= 0 for path in told["paths"])


def test_where_attributes_cost_something_the_answer_says_how_much(
    client: FlaskClient, store: Store
) -> None:
    declared = [{"name": "density", "cost": 4, "group": "lab"}, {"name": "colour", "cost": 0}]
    trained(store, attributes=declared, groups={"lab": 2})
    rows = [{"density": 0.1}, {}]
    answers = ask(client, rows=rows)["predictions"]
    told = client.post("/explain", json={"model": "melons", "rows": rows[:1]}).json

    assert [each["cost"] for each in answers] == [6.0, 0.0]
    assert told is not None
    assert told["explanations"][0]["paths"][0]["cost"] == 6.0


def test_leaves_answer_as_the_version_was_told_to_estimate(
    client: FlaskClient, store: Store
) -> None:
    trained(store, params={"preset": "id3", "leaf_estimate": "laplace"})
    (answer,) = ask(client, rows=[{"density": 0.1}])["predictions"]

    assert 0 < answer["probabilities"]["yes"] < 0.5


@pytest.mark.parametrize("path", ["/predict", "/explain"])
def test_a_query_beside_a_json_body_is_refused(melon_client: FlaskClient, path: str) -> None:
    body = {"model": "melons", "rows": [{}]}
    answer = melon_client.post(f"{path}?missing=none", json=body)

    assert "a JSON body says all of this itself" in problem(answer, 422)["errors"][0]["detail"]


@pytest.mark.parametrize("rows", [[{}] * 11, [{"colour": "a stranger"}] * 11])
def test_more_probabilities_than_may_be_answered_are_refused(
    store: Store, melons: str, rows: list[dict[str, Any]]
) -> None:
    client = create_app(replace(SETTINGS, max_answer_cells=20), store).test_client()
    body = {"model": melons, "rows": rows}

    assert client.post("/predict", json=body | {"rows": rows[:10]}).status_code == 200
    assert "probabilities" in problem(client.post("/predict", json=body), 422)["detail"]
