"""Orders to train: all that can be wrong is said at once, and before anything is written."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import yaml
from flask.testing import FlaskClient

from service.actions.request import EvaluationPlan, read_request
from service.actions.train import train
from service.settings import Settings
from service.storage import jobs
from service.storage.engine import Store
from service.tree.attribute import Attribute, Kind
from service.tree.params import CHOICES, Params, params_of, resolve
from tests.web.conftest import MELONS, an_order
from tests.web.test_problems import JSON, NESTED, nested, pointers, problem

HELD = {"preset": "id3", "pruning": "reduced_error"}
OPENAPI = Path(__file__).parents[2] / "openapi.yaml"


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
    assert made.draft.params["preset"] == "gini"
    asked = resolve("gini", {"max_depth": 1, "search": "exact"})  # which auto means for few rows
    assert params_of(dict(made.draft.params)) == asked
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
            {"name": "n", "kind": "numeric", "values": [], "cost": 1.0, "group": None},
            {"name": "c", "kind": "categorical", "values": ["1", "x"], "cost": 1.0, "group": None},
        ],
        "task": "classification",
        "classes": ["true", "false"],
        "params": {"preset": "auto"} | asdict(resolve("auto", {})),
        "rows": 2,
        "warnings": [
            {
                "pointer": "/data/rows/1/c",
                "detail": "is no number, so that all of 'c' are taken for categories; "
                "declare its kind",
            }
        ],
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
        ({"attributes": [{"name": "density", "cost": -1}]}, ["/attributes/0/cost"]),
        ({"attributes": [{"name": "density", "cost": "1"}]}, ["/attributes/0/cost"]),
        (
            {"attributes": [{"name": "density", "kind": "ignored", "cost": 1}]},
            ["/attributes/0/cost"],
        ),
        ({"attributes": [{"name": "density", "group": "lab"}]}, ["/attributes/0/group"]),
        ({"groups": {"lab": 1}}, ["/groups/lab"]),
        ({"groups": {"lab": -1}}, ["/groups/lab"]),
        ({"groups": {"a\0": 1}}, ["/groups/a\0"]),
        ({"groups": [1]}, ["/groups"]),
        ({"task": "clustering"}, ["/task"]),
        ({"task": "regression"}, None),
        ({"task": "regression", "classes": ["yes", "no"]}, ["/classes", "/task"]),
        ({"class_weights": {"yes": -1}}, ["/class_weights/yes"]),
        ({"class_weights": {"rotten": 2}}, ["/class_weights/rotten"]),
        ({"class_weights": {"yes": 0, "no": 0}}, ["/class_weights"]),
        ({"validation_rows": [1]}, ["/validation_rows"]),
        ({"validation_rows": [1, 1], "params": HELD}, ["/validation_rows"]),
        ({"validation_rows": [6], "params": HELD}, ["/validation_rows"]),
        ({"validation_rows": [0, 1, 2, 3, 4, 5], "params": HELD}, ["/validation_rows"]),
        ({"validation_rows": [-1], "params": HELD}, ["/validation_rows/0"]),
        ({"evaluation": {"method": "luck"}}, ["/evaluation/method"]),
        ({"evaluation": {"method": "none", "folds": 3}}, ["/evaluation/folds"]),
        ({"evaluation": {"method": "cross_validation", "folds": 1}}, ["/evaluation/folds"]),
        (
            {"evaluation": {"method": "cross_validation", "fraction": 0.5}},
            ["/evaluation/fraction"],
        ),
        ({"evaluation": {"method": "hold_out", "fraction": 1}}, ["/evaluation/fraction"]),
        ({"evaluation": {"nulled": "yes"}}, ["/evaluation/nulled"]),
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
        ({"params": {"preset": "c45", "raising": "no"}}, ["/params/raising"]),
        ({"params": {"preset": "c45", "confidence": 0}}, ["/params/confidence"]),
        ({"params": {"preset": "c45", "confidence": 1.1}}, ["/params/confidence"]),
        ({"params": {"preset": "cart", "folds": 1}}, ["/params/folds"]),
        ({"params": {"preset": "cart", "alpha": -1}}, ["/params/alpha"]),
        ({"params": {"cost_exponent": 2}}, ["/params/cost_exponent"]),
        ({"params": {"leaf_estimate": "guess"}}, ["/params/leaf_estimate"]),
        ({"params": {"seed": 1.5}}, ["/params/seed"]),
    ],
)
def test_what_cannot_be_used_is_pointed_at(
    melon_client: FlaskClient, changes: dict[str, Any], expected: list[str] | None
) -> None:
    found = pointers(melon_client.post("/train", json=an_order(**changes)))

    if expected is None:  # one for each row that does not fit what is declared
        assert all(pointer.endswith(("/colour", "/ripe")) for pointer in found)
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("params", "place", "sides"),
    [
        ({"preset": "id3", "confidence": 0.1}, "confidence", ("pessimistic", "none")),
        ({"preset": "c45", "alpha": 1}, "alpha", ("cost_complexity", "pessimistic")),
        ({"preset": "c45", "categorical": "subset"}, "categorical", ("j48", "subset")),
        ({"preset": "id3", "cost_rule": "gain_per_cost"}, "cost_rule", ("cost", "attribute")),
        ({"preset": "id3", "criterion": "squared_error"}, "criterion", ("number", "classes")),
    ],
)
def test_a_contradiction_names_both_sides(
    melon_client: FlaskClient, params: dict[str, Any], place: str, sides: tuple[str, str]
) -> None:
    told = problem(melon_client.post("/train", json=an_order(params=params)), 422)

    (fault,) = [each for each in told["errors"] if each["pointer"] == f"/params/{place}"]
    assert all(side in fault["detail"] for side in sides)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ("-A", {"leaf_estimate": "laplace"}),
        ("-B", {"categorical": "one_vs_rest"}),
        ("-S", {"raising": False}),
        ("-O", {"collapse": False}),
        ("-J", {"numeric_penalty": False}),
        ("-U", {"pruning": "none"}),
        ("-M 5", {"min_weight": 5}),
        ("-C 0.1", {"confidence": 0.1}),
    ],
)
def test_each_option_of_j48_has_its_counterpart(
    melon_client: FlaskClient, options: str, parts: dict[str, Any]
) -> None:
    answer = melon_client.post(
        "/train?validate_only=true", json=an_order(params={"preset": "c45", **parts})
    )

    assert answer.status_code == 200, options
    assert answer.json is not None
    assert answer.json["params"] | parts == answer.json["params"]


def test_every_parameter_is_in_the_contract_with_its_default() -> None:
    told = yaml.safe_load(OPENAPI.read_text(encoding="utf-8"))["components"]["schemas"]["Params"]
    documented = dict(told["properties"])
    documented.pop("preset")

    assert {name: each["default"] for name, each in documented.items()} == asdict(Params())
    assert {name: tuple(documented[name]["enum"]) for name in CHOICES} == CHOICES
    assert all(each["description"] for each in documented.values())


def test_a_number_is_learned_by_regression_unless_the_order_says_otherwise(
    melon_client: FlaskClient,
) -> None:
    def told(**changes: Any) -> tuple[str, str]:
        order = an_order(
            target="density",
            data={"rows": [row for row in MELONS if row["density"]]},
            params={"preset": "cart"},
            **changes,
        )
        answer = melon_client.post("/train?validate_only=true", json=order).json
        assert answer is not None
        return answer["task"], answer["params"]["criterion"]

    assert told() == ("regression", "squared_error")
    assert told(task="classification") == ("classification", "gini")


def test_a_preset_for_classes_cannot_learn_a_number(melon_client: FlaskClient) -> None:
    rows = [row for row in MELONS if row["density"]]
    order = an_order(target="density", data={"rows": rows}, params={"preset": "c45"})

    assert {"/params/criterion", "/params/pruning"} <= set(
        pointers(melon_client.post("/train", json=order))
    )
    weighed = order | {"params": {"preset": "cart"}, "class_weights": {"a": 1}}
    assert pointers(melon_client.post("/train", json=weighed)) == ["/class_weights"]


def test_what_an_order_says_is_what_is_trained_with(client: FlaskClient, store: Store) -> None:
    order = an_order(
        attributes=[
            {"name": "colour", "kind": "ordinal", "values": ["white", "green", "black"]},
            {"name": "density", "cost": 3, "group": "lab"},
        ],
        groups={"lab": 5},
        class_weights={"yes": 2},
        validation_rows=[0, 3],
        params={"preset": "id3", **HELD, "cost_rule": "gain_per_cost"},
        evaluation={"method": "hold_out", "fraction": 0.5, "seed": 3},
    )
    job = client.post("/train", json=order).json
    assert job is not None
    with store.reading() as session:
        body = jobs.fetch_input(session, job["id"])
    request = read_request(body)

    assert request.plan.validation_rows == (0, 3)
    assert request.evaluation == EvaluationPlan("hold_out", fraction=0.5, seed=3)
    made = train(body, Settings().max_nodes, lambda *_: None).draft
    assert made.attributes[0] == Attribute("colour", Kind.ORDINAL, ("white", "green", "black"))
    assert made.attributes[1] == Attribute("density", Kind.NUMERIC, (), 3.0, "lab")
    assert made.group_costs == {"lab": 5.0}


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
    rows = [{"x": 1, "y": f"number {number}"} for number in range(1001)]
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
