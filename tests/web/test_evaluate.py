"""Versions are measured on new data, and say what they were measured at when they were trained."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from service.storage.engine import Store
from tests.web.conftest import HOUSES, MELONS, a_house_order, trained
from tests.web.test_models import get
from tests.web.test_problems import pointers, problem

MELONS_1 = "/models/melons/versions/1/evaluate"


def measured(client: FlaskClient, path: str, **body: Any) -> dict[str, Any]:
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json is not None
    metrics: dict[str, Any] = answer.json["metrics"]
    return metrics


def test_a_version_is_measured_on_rows_that_have_the_target(melon_client: FlaskClient) -> None:
    wrong = {"density": 0.9, "colour": "green", "ripe": "no"}
    metrics = measured(melon_client, MELONS_1, rows=[*MELONS[:3], wrong])

    assert (metrics["rows"], metrics["accuracy"]) == (4, 0.75)
    assert metrics["confusion"] == [[3.0, 0.0], [1.0, 0.0]]


def test_weights_count_in_the_metrics(melon_client: FlaskClient) -> None:
    columns = {"density": [0.9, 0.9], "ripe": ["yes", "no"], "colour": ["green"] * 2, "w": [3, 1]}

    assert measured(melon_client, MELONS_1, columns=columns, weight="w")["accuracy"] == 0.75


def test_a_version_that_predicts_numbers_is_measured_by_its_errors(
    client: FlaskClient, houses: str
) -> None:
    answer = client.post(f"/models/{houses}/versions/1/evaluate", json={"rows": HOUSES}).json
    assert answer is not None

    assert (answer["model"], answer["version"], answer["task"]) == (houses, 1, "regression")
    assert answer["metrics"]["rmse"] ** 2 == pytest.approx(answer["metrics"]["mse"])
    assert 0.5 < answer["metrics"]["r2"] <= 1


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, ""),
        ({"rows": [], "columns": {}}, ""),
        ({"rows": []}, ""),
        ({"rows": [{"density": 1}]}, ""),
        ({"rows": MELONS, "missing": "none"}, "/missing"),
        ({"rows": MELONS, "weight": 1}, "/weight"),
        ({"rows": [{"ripe": None}]}, "/rows/0/ripe"),
        ({"rows": [{"ripe": "rotten"}]}, "/rows/0/ripe"),
        ({"rows": [{"ripe": "yes", "size": 1}]}, "/rows/0/size"),
        ({"rows": [{"ripe": "yes", "w": -1}], "weight": "w"}, "/rows/0/w"),
    ],
)
def test_what_cannot_be_measured_is_pointed_at(
    melon_client: FlaskClient, body: dict[str, Any], pointer: str
) -> None:
    assert pointers(melon_client.post(MELONS_1, json=body)) == [pointer]


def test_what_there_is_not_is_not_measured(melon_client: FlaskClient) -> None:
    problem(melon_client.post("/models/melons/versions/9/evaluate", json={"rows": MELONS}), 404)


@pytest.mark.parametrize("method", ["hold_out", "cross_validation"])
def test_a_version_keeps_what_it_was_measured_at(
    client: FlaskClient, store: Store, method: str
) -> None:
    trained(store, evaluation={"method": method}, data={"rows": MELONS * 5})
    trained(store, **a_house_order(evaluation={"method": method}))
    told = get(client, "/models/melons/versions/1")["metrics"]
    numbers = get(client, "/models/houses/versions/1")["metrics"]

    assert told["evaluation"]["method"] == method
    assert 0 <= told["evaluation"]["accuracy"] <= 1
    assert told["training"]["accuracy"] == 1
    assert numbers["evaluation"]["rmse"] >= 0
    assert [each["nulled"] for each in told["evaluation"]["nulls"]["density"]] == [0, 0.1, 0.3, 0.5]
