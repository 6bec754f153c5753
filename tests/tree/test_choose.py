"""The choice among attributes: ratio, averages and costs, by the weather's worked numbers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tree.attribute import Attribute, Kind
from service.tree.context import Context
from service.tree.dataset import Dataset
from service.tree.nodes import Split
from service.tree.params import Params
from tests.readable.candidate import Candidate
from tests.readable.choose import (
    choose,
    effective_costs,
    gain_per_cost,
    gain_squared_per_cost,
    power_per_cost,
)

GAINS = np.array([0.246750, 0.151836, 0.048127, 0.029223])  # outlook, humidity, windy, temperature
COSTS = np.array([1.0, 3.0, 0.5, 10.0])
INFOS = np.array([1.577406, 1.0, 0.985228, 1.556657])


def a_context(costs: np.ndarray = COSTS, **params: object) -> Context:
    attributes = tuple(
        Attribute(name, Kind.CATEGORICAL, ("a", "b"), cost)
        for name, cost in zip("ohwt", costs.tolist(), strict=True)
    )
    data = Dataset(attributes, ("n", "y"), np.zeros((1, 4)), np.zeros(1, dtype=int), np.ones(1))
    return Context(data, Params(**params), np.zeros(1, np.int64), np.zeros(4, dtype=bool))


def chosen(context: Context, tested: tuple[int, ...] = ()) -> int | None:
    found = [
        Candidate(number, Split.MULTIWAY, np.ones(2), float(gain), float(info))
        for number, (gain, info) in enumerate(zip(GAINS, INFOS, strict=True))
    ]
    best = choose(context, found, tested)
    return None if best is None else best.attribute


@pytest.mark.parametrize(
    ("worth", "expected"),
    [
        (gain_per_cost(GAINS, COSTS, 1.0), [0.24675, 0.05061, 0.09625, 0.00292]),
        (gain_squared_per_cost(GAINS, COSTS, 1.0), [0.06089, 0.00769, 0.00463, 0.00009]),
        (power_per_cost(GAINS, COSTS, 0.0), [0.18653, 0.11099, 0.03392, 0.02046]),
        (power_per_cost(GAINS, COSTS, 0.5), [0.13190, 0.05549, 0.02770, 0.00617]),
        (power_per_cost(GAINS, COSTS, 1.0), [0.09327, 0.02775, 0.02261, 0.00186]),
    ],
)
def test_the_weather_is_worth_what_is_published(worth: np.ndarray, expected: list[float]) -> None:
    assert worth.tolist() == pytest.approx(expected, abs=2e-5)


def test_the_largest_gain_is_chosen() -> None:
    assert chosen(a_context()) == 0


def test_the_largest_ratio_above_the_mean_gain_is_chosen() -> None:
    assert chosen(a_context(criterion="gain_ratio")) == 0


def test_a_dear_attribute_gives_way() -> None:
    dear = np.array([100.0, 3.0, 0.5, 10.0])

    assert chosen(a_context(dear, cost_rule="gain_per_cost")) == 2
    assert chosen(a_context(dear, cost_rule="gain_squared_per_cost")) == 1
    assert chosen(a_context(dear, cost_rule="power_per_cost", cost_exponent=0.0)) == 0


def test_what_was_tested_above_is_free() -> None:
    dear = np.array([100.0, 3.0, 0.5, 10.0])

    assert chosen(a_context(dear, cost_rule="gain_per_cost"), tested=(0,)) == 0


def test_a_group_pays_its_shared_cost_once() -> None:
    context = a_context()
    attributes = tuple(
        replace(each, group="blood") if each.name in "hw" else each
        for each in context.data.attributes
    )
    data = replace(context.data, attributes=attributes, group_costs={"blood": 10.0})

    assert effective_costs(data, [0, 1, 2], tested=()).tolist() == [1.0, 13.0, 10.5]
    assert effective_costs(data, [0, 1, 2], tested=(1,)).tolist() == [1.0, 0.0, 0.5]


@given(st.floats(0.1, 100.0))
def test_the_unit_of_cost_does_not_matter_where_cost_divides(unit: float) -> None:
    for rule in ("gain_per_cost", "gain_squared_per_cost"):
        assert chosen(a_context(COSTS * unit, cost_rule=rule)) == chosen(a_context(cost_rule=rule))
