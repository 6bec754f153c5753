"""Orders to train: all that can be wrong is said at once, and before anything is written."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from service.actions.train import train
from service.settings import Settings
from service.storage import jobs
from service.storage.engine import Store
from tests.web.conftest import MELONS, an_order
from tests.web.test_problems import JSON, NESTED, nested, pointers, problem


def test_an_order_becomes_a_job(client: FlaskClient) -> None:
    answer = client.post("/train", json=an_order())
    job = answer.json
    assert job is not None

    assert answer.status_code == 202
    assert answer.headers["Location"] == f"/jobs/{job['id']}"
    assert answer.headers["Retry-After"] == "1"
    assert (job["model"], job["state"], job["version"]) == ("melons", "queued", None)
    assert job["created_at"].endswith("Z")
    assert client.get(answer.headers["Location"]).json == job


def test_what_is_kept_of_an_order_can_be_trained(client: FlaskClient, store: Store) -> None:
    order = an_order(
        attributes=[{"name": "colour", "values": ["white", "black", "green", "red"]}],
        classes=["no", "yes", "rotten"],
        params={"preset": "gini", "max_depth": 1},
    )
    job = client.post("/train", json=order).json
    assert job is not None
    with store.reading() as session:
        body = jobs.fetch_input(session, job["id"])
    made = train(body, Settings().max_nodes, lambda *_: None)

    assert made.draft.classes == ("no", "yes", "rotten")
    assert made.draft.attributes[0].values == ("white", "black", "green", "red")
    assert made.draft.params == {
        "preset": "gini", "criterion": "gini", "max_depth": 1, "min_weight": 0.0, "min_gain": 0.0,
    }  # fmt: skip
    assert made.tree.depth.max() == 1


def test_columns_are_trained_on_like_rows(melon_client: FlaskClient) -> None:
    columns = {name: [row[name] for row in MELONS] for name in MELONS[0]}
    told = [
        melon_client.post("/train?validate_only=true", json=an_order(data=data)).json
        for data in ({"rows": MELONS}, {"columns": columns})
    ]

    assert told[0] == told[1]


def test_an_order_can_be_looked_at_without_writing_anything(
    client: FlaskClient, store: Store
) -> None:
    rows = [{"n": 1, "c": 1.0, "w": 2, "t": True}, {"n": 2.5, "c": "x", "w": 1, "t": False}]
    answer = client.post(
        "/train?validate_only=true",
        json={"model": "m", "target": "t", "weight": "w", "data": {"rows": rows}},
    )
    with store.reading() as session:
        page = jobs.list_jobs(session, limit=1)

    assert answer.status_code == 200
    assert answer.json == {
        "valid": True,
        "model": "m",
        "attributes": [
            {"name": "n", "kind": "numeric", "values": []},
            {"name": "c", "kind": "categorical", "values": ["1", "x"]},
        ],
        "classes": ["true", "false"],
        "rows": 2,
    }
    assert page.items == ()


@pytest.mark.parametrize("name", ["西瓜", "🍉", "a.b", "x" * 100, "...", "👨‍👩‍👧"])
def test_a_name_may_be_in_any_script(melon_client: FlaskClient, name: str) -> None:
    assert (
        melon_client.post("/train?validate_only=true", json=an_order(model=name)).status_code == 200
    )


@pytest.mark.parametrize(
    "name",
    ["", "a b", "a\n", "\t", "a/b", "a@b", ".", "..", "x" * 101, "\0", "\x7f", "\u3000", None, 7],
)
def test_a_name_must_fit_into_an_address(melon_client: FlaskClient, name: object) -> None:
    assert pointers(melon_client.post("/train", json=an_order(model=name))) == ["/model"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"target": "ripeness"}, ["/target"]),
        ({"target": 1}, ["/target"]),
        ({"colour": "green"}, ["/colour"]),
        ({"data": {}}, ["/data"]),
        ({"data": []}, ["/data"]),
        ({"data": {"rows": [], "columns": {}}}, ["/data"]),
        ({"data": {"rows": MELONS, "csv": ""}}, ["/data/csv"]),
        ({"data": {"rows": []}}, ["/data/rows"]),
        ({"data": {"rows": {}}}, ["/data/rows"]),
        ({"data": {"rows": [1, {}]}}, ["/data/rows/0"]),
        ({"data": {"columns": {"ripe": 1}}}, ["/data/columns/ripe"]),
        ({"data": {"rows": [*MELONS, {"ripe": None}]}}, ["/data/rows/6/ripe"]),
        ({"data": {"rows": [*MELONS, {"ripe": ["yes"]}]}}, ["/data/rows/6/ripe"]),
        ({"data": {"rows": [*MELONS, {"ripe": "y\0"}]}}, ["/data/rows/6/ripe"]),
        ({"attributes": [{"name": "density", "kind": "ordinal"}]}, ["/attributes/0/kind"]),
        ({"attributes": [{"kind": "numeric"}]}, ["/attributes/0/name"]),
        ({"attributes": [{"name": "density", "cost": 1}]}, ["/attributes/0/cost"]),
        ({"attributes": [{"name": "a\0"}]}, ["/attributes/0/name"]),
        (
            {"attributes": [{"name": "density", "kind": "numeric", "values": [1]}]},
            ["/attributes/0/values"],
        ),
        ({"attributes": [{"name": "colour", "values": [1, 1.0]}]}, ["/attributes/0/values"]),
        ({"attributes": [{"name": "colour", "values": [None]}]}, ["/attributes/0/values/0"]),
        ({"attributes": [{"name": "colour", "kind": "numeric"}]}, None),
        ({"attributes": [{"name": "colour", "values": ["black"]}]}, None),
        ({"attributes": [{"name": "x"}, {"name": "x"}]}, ["/attributes/1/name"]),
        ({"attributes": [{"name": "ripe"}]}, ["/attributes/0/name", "/target"]),
        (
            {"weight": "density", "attributes": [{"name": "density"}]},
            ["/attributes/0/name", "/weight"],
        ),
        ({"weight": "ripe"}, ["/target", "/weight"]),
        ({"classes": ["yes"]}, ["/classes"]),
        ({"classes": ["yes", "no", "no"]}, ["/classes"]),
        ({"classes": ["yes", "no", {}]}, ["/classes/2"]),
        ({"classes": [str(number) for number in range(1001)]}, ["/classes"]),
        ({"params": {"preset": "c5"}}, ["/params/preset"]),
        ({"params": {"criterion": "luck"}}, ["/params/criterion"]),
        ({"params": {"max_depth": -1}}, ["/params/max_depth"]),
        ({"params": {"max_depth": "3"}}, ["/params/max_depth"]),
        ({"params": {"max_depth": True}}, ["/params/max_depth"]),
        ({"params": {"max_depth": 1e300}}, ["/params/max_depth"]),
        ({"params": {"min_gain": -0.1}}, ["/params/min_gain"]),
        ({"params": {"min_gain": "0"}}, ["/params/min_gain"]),
        ({"params": {"min_weight": None}}, ["/params/min_weight"]),
        ({"params": {"depth": 3}}, ["/params/depth"]),
    ],
)
def test_what_cannot_be_used_is_pointed_at(
    melon_client: FlaskClient, changes: dict[str, Any], expected: list[str] | None
) -> None:
    found = pointers(melon_client.post("/train", json=an_order(**changes)))

    if expected is None:  # one for each row that does not fit what is declared
        assert all(pointer.endswith("/colour") for pointer in found)
    else:
        assert found == expected


def test_all_fields_that_cannot_be_used_are_named_at_once(melon_client: FlaskClient) -> None:
    answer = melon_client.post("/train", json={"model": "a b", "params": {"min_gain": -1}, "x": 1})

    assert set(pointers(answer)) == {"/model", "/target", "/data", "/params/min_gain", "/x"}


def test_a_column_cannot_be_named_with_what_postgresql_cannot_keep(
    melon_client: FlaskClient,
) -> None:
    rows = [row | {"a\0": 1} for row in MELONS]
    columns = {"a\0": [1, 2], "ripe": ["yes", "no"]}

    assert pointers(melon_client.post("/train", json=an_order(data={"rows": rows}))) == [
        "/data/rows/0/a\0"
    ]
    assert pointers(melon_client.post("/train", json=an_order(data={"columns": columns}))) == [
        "/data/columns/a\0"
    ]


def test_a_target_with_a_value_of_its_own_in_each_row_is_refused(melon_client: FlaskClient) -> None:
    rows = [{"x": 1, "y": number} for number in range(1001)]
    order = {"model": "m", "target": "y", "data": {"rows": rows}}

    assert pointers(melon_client.post("/train", json=order)) == ["/target"]


def test_an_ignored_column_may_hold_anything(client: FlaskClient) -> None:
    order = an_order(
        data={"rows": [row | {"notes": NESTED} for row in MELONS]},
        attributes=[{"name": "notes", "kind": "ignored"}],
    )

    assert client.post("/train", data=nested(order, 500), **JSON).status_code == 202


@pytest.mark.parametrize("value", ["yes", "1", "", "True"])
def test_validate_only_is_true_or_false(melon_client: FlaskClient, value: str) -> None:
    told = problem(melon_client.post(f"/train?validate_only={value}", json=an_order()), 422)

    assert [error["parameter"] for error in told["errors"]] == ["validate_only"]


def test_columns_that_are_only_declared_count_as_data(melon_client: FlaskClient) -> None:
    rows = [{"ripe": "yes"}, {"ripe": "no"}] * 1000
    declared = [{"name": str(number)} for number in range(3000)]
    order = an_order(data={"rows": rows}, attributes=declared)

    assert pointers(melon_client.post("/train", json=order)) == ["/attributes"]
