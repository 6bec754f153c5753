"""A name that is nearly right is answered with the one that may be meant."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from service.errors import hint
from tests.web.test_problems import problem

ROWS = [{"colour": "black", "ripe": "yes"}, {"colour": "green", "ripe": "no"}]
ORDER = {"model": "melons", "target": "ripe", "data": {"rows": ROWS}}


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        ("/predict", {"model": "melons", "row": []}, "Unknown field; is 'rows' meant?"),
        ("/predict", {"model": "melons", "rows": [], "zzz": 1}, "Unknown field."),
        (
            "/predict",
            {"model": "melons", "rows": [{"color": "black"}]},
            "the model has no attribute 'color'; is 'colour' meant?",
        ),
        (
            "/predict",
            {"model": "melons", "rows": [{"zzz": "black"}]},
            "the model has no attribute 'zzz'",
        ),
        (
            "/models/melons/predict",
            {"model": "melons", "rows": [{}]},
            "is in the address already; leave it out here",
        ),
        ("/models/melons/predict", {"modle": "melons", "rows": [{}]}, "Unknown field."),
        ("/train", ORDER | {"parms": {}}, "Unknown field; is 'params' meant?"),
        ("/train", ORDER | {"params": {"max_deph": 3}}, "Unknown field; is 'max_depth' meant?"),
        ("/train", ORDER | {"data": {"row": ROWS}}, "Unknown field; is 'rows' meant?"),
        (
            "/train",
            ORDER | {"attributes": [{"name": "colour", "knd": "ordinal"}]},
            "Unknown field; is 'kind' meant?",
        ),
        ("/train", ORDER | {"zzz": 1}, "Unknown field."),
    ],
)
def test_the_nearest_name_is_told(
    melon_client: FlaskClient, path: str, body: dict[str, Any], detail: str
) -> None:
    told = problem(melon_client.post(path, json=body), 422)

    assert detail in [fault["detail"] for fault in told["errors"]]


def test_a_column_that_is_nearly_an_attribute_is_told(melon_client: FlaskClient) -> None:
    answer = melon_client.post(
        "/models/melons/predict", data=b"color\nblack\n", content_type="text/csv"
    )

    (fault,) = problem(answer, 422)["errors"]
    assert fault["detail"] == "the model has no attribute 'color'; is 'colour' meant?"


def test_a_parameter_that_is_nearly_one_is_told(melon_client: FlaskClient) -> None:
    (fault,) = problem(melon_client.get("/models?limt=3"), 422)["errors"]

    assert (fault["parameter"], fault["detail"]) == ("limt", "Unknown field; is 'limit' meant?")


@pytest.mark.parametrize(
    "path", ["/models/melon", "/models/melon/versions", "/models/melon/versions/1"]
)
def test_a_model_that_is_nearly_there_is_told(melon_client: FlaskClient, path: str) -> None:
    told = problem(melon_client.get(path), 404)

    assert told["detail"] == "There is no model 'melon'; is 'melons' meant?"
    assert problem(melon_client.get("/models/zzz"), 404)["detail"] == "There is no model 'zzz'."


@pytest.mark.timeout(10)
def test_very_many_names_take_no_longer_than_those_that_are_told(melon_client: FlaskClient) -> None:
    # too little for the limit of a body, but each name would be looked for
    many = {f"row{number}": 1 for number in range(10_000)}

    for path, body in (
        ("/predict", {"model": "melons", "rows": []} | many),
        ("/train", ORDER | {"data": many}),
        ("/predict", {"model": "melons", "rows": [many]}),
    ):
        told = problem(melon_client.post(path, json=body), 422)
        assert 100 == len(told["errors"])


def test_to_look_for_a_name_takes_no_longer_for_many_or_long_ones() -> None:
    assert hint("a" * 101, ["a" * 100]) == ""
    assert hint("a" * 100, ["a" * 101, "b", "a" * 99]) == f"; is {'a' * 99!r} meant?"
    assert hint("near", [*["far"] * 200, "nears"]) == ""
