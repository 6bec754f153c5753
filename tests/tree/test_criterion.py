"""The measures: the weather's worked numbers, and what must hold of any table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tree.criterion import (
    Score,
    decrease,
    entropy,
    first_best,
    gini,
    largest_gain,
    largest_ratio_above_average,
)

OUTLOOK = np.array([[2.0, 3.0], [4.0, 0.0], [3.0, 2.0]])  # yes and no, by sunny, overcast, rainy
HUMIDITY = np.array([[3.0, 4.0], [6.0, 1.0]])
WINDY = np.array([[3.0, 3.0], [6.0, 2.0]])
TEMPERATURE = np.array([[2.0, 2.0], [4.0, 2.0], [3.0, 1.0]])

tables = st.lists(st.lists(st.floats(0, 100), min_size=2, max_size=2), min_size=2, max_size=4).map(
    np.array
)


def test_the_weather_has_its_known_impurities() -> None:
    assert float(entropy(np.array([9.0, 5.0]))) == pytest.approx(0.940286, abs=1e-6)
    assert float(gini(np.array([9.0, 5.0]))) == pytest.approx(0.459184, abs=1e-6)


@pytest.mark.parametrize(
    ("branches", "gain", "split_info", "gini_decrease"),
    [
        (OUTLOOK, 0.246750, 1.577406, 0.116327),
        (TEMPERATURE, 0.029223, 1.556657, 0.018707),
        (HUMIDITY, 0.151836, 1.000000, 0.091837),
        (WINDY, 0.048127, 0.985228, 0.030612),
    ],
)
def test_the_weather_has_its_known_gains(
    branches: np.ndarray, gain: float, split_info: float, gini_decrease: float
) -> None:
    assert float(decrease(entropy, branches)) == pytest.approx(gain, abs=1e-6)
    assert float(entropy(branches.sum(axis=1))) == pytest.approx(split_info, abs=1e-6)
    assert float(decrease(gini, branches)) == pytest.approx(gini_decrease, abs=1e-6)


@given(tables)
def test_a_split_never_adds_impurity(branches: np.ndarray) -> None:
    assert float(decrease(entropy, branches)) >= -1e-9
    assert float(decrease(gini, branches)) >= -1e-9


@pytest.mark.parametrize("impurity", [entropy, gini])
def test_no_weight_has_no_impurity(impurity) -> None:
    assert float(impurity(np.zeros(3))) == 0.0


def test_scores_within_a_tie_go_to_the_first() -> None:
    assert first_best(np.array([0.1, 0.5, 0.5 + 1e-13, 0.2])) == 1


def test_the_ratio_counts_only_above_the_mean_gain() -> None:
    gainless_but_narrow = Score(gain=0.01, split_info=0.001)
    scores = [gainless_but_narrow, Score(0.5, 1.5), Score(0.4, 1.0)]

    assert largest_gain(scores) == 1
    assert largest_ratio_above_average(scores) == 2


def test_a_split_without_branching_has_no_ratio() -> None:
    assert largest_ratio_above_average([Score(0.1, 0.0), Score(0.1, 1.0)]) == 1
