"""What a prediction costs: known values that were asked for, each attribute and group once."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.actions.explain import explain
from service.actions.load import Loaded
from service.actions.predict import by_column, by_row, predict
from service.tree.costs import expected_costs
from service.tree.route import STRATEGIES
from tests.actions.golf import HUMIDITY, OUTLOOK, TEMPERATURE, golf
from tests.actions.test_missing import a_table

ATTRIBUTES = (
    replace(OUTLOOK, cost=2.0, group="weather"),
    replace(TEMPERATURE, cost=3.0, group="weather"),
    replace(HUMIDITY, cost=100.0),
)


def costly() -> Loaded:
    return golf(attributes=ATTRIBUTES, group_costs={"weather": 10.0})


def cost(row: dict[str, Any], missing: str = "weighted") -> float | None:
    (answer,) = by_row(predict(costly(), a_table(row), missing, strict=False))
    return answer["cost"]


def test_what_is_asked_for_on_the_way_is_paid_and_its_group_once() -> None:
    assert cost({"outlook": "rain", "temperature": 1, "humidity": 1}) == 2 + 10
    assert cost({"outlook": "sunny", "temperature": 1, "humidity": 1}) == 2 + 3 + 10


def test_what_is_null_costs_nothing() -> None:
    assert cost({}) == 0
    assert cost({"outlook": "sunny"}) == pytest.approx(2 + 10)


def test_the_cost_is_meaned_over_the_paths_by_their_weight() -> None:
    # to half of it the temperature matters, behind an outlook that nobody looked at
    assert cost({"temperature": 40}) == pytest.approx(0.5 * (3 + 10))
    assert cost({"temperature": 40}, "default_child") == 3 + 10
    assert cost({"temperature": 40}, "last_prediction") == 0
    assert cost({"temperature": 40}, "none") is None


def test_each_path_tells_its_own_cost() -> None:
    row = {"temperature": 40, "humidity": 1}
    (told,), _ = explain(costly(), a_table(row), 10, "weighted", strict=False)

    assert {path["leaf"]: path["cost"] for path in told["paths"]} == {2: 0.0, 3: 13.0}
    assert told["cost"] == pytest.approx(6.5)


def test_columns_say_the_same_costs_as_rows() -> None:
    answer = predict(costly(), a_table({}, {"outlook": "rain"}), "weighted", strict=False)

    assert by_column(answer)["cost"] == [0.0, 12.0]


def test_without_costs_nothing_is_said_of_them() -> None:
    (answer,) = by_row(predict(golf(), a_table({}), "weighted", strict=False))
    (told,), _ = explain(golf(), a_table({}), 10, "weighted", strict=False)

    assert "cost" not in answer
    assert "cost" not in told["paths"][0]


@given(
    st.lists(
        st.tuples(st.sampled_from([np.nan, 0.0, 1.0, 2.0]), st.sampled_from([np.nan, 40.0, 60.0])),
        min_size=1,
    ),
    st.sampled_from(sorted(STRATEGIES)),
)
def test_the_fast_cost_is_the_naive_one(rows: list[tuple[float, float]], missing: str) -> None:
    loaded = costly()
    values = np.array([[*row, 70.0] for row in rows])
    found = expected_costs(loaded.compiled, values, missing, loaded.version.group_costs)

    assert found == pytest.approx([naive(*row, missing) for row in rows], nan_ok=True)


def naive(outlook: float, temperature: float, missing: str) -> float:
    """The cost of a row in the golf tree, told path by path."""
    at_sunny = 0.0 if np.isnan(temperature) else 3.0
    both = 2.0 + at_sunny + 10.0
    only = at_sunny + (10.0 if at_sunny else 0.0)
    if not np.isnan(outlook):
        is_lost = outlook == 0 and np.isnan(temperature) and missing == "none"
        return np.nan if is_lost else both if outlook == 0 else 12.0
    pooled = {True: 50 / 100, False: 10 / 60 if temperature == 40 else 40 / 90}
    return {
        "weighted": only / 2,
        "aggregate": only * pooled[bool(np.isnan(temperature))],
        "default_child": only,
        "last_prediction": 0.0,
        "none": np.nan,
    }[missing]
