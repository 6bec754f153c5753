"""The measures: the weather's worked numbers, and what must hold of any table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tree.criterion import (
    CRITERIA,
    decrease,
    entropy,
    first_best,
    gini,
    misclassification,
    variance,
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
    ("branches", "gain", "split_info", "gini_decrease", "errors_decrease"),
    [
        (OUTLOOK, 0.246750, 1.577406, 0.116327, 0.071429),
        (TEMPERATURE, 0.029223, 1.556657, 0.018707, 0.0),
        (HUMIDITY, 0.151836, 1.000000, 0.091837, 0.071429),
        (WINDY, 0.048127, 0.985228, 0.030612, 0.0),
    ],
)
def test_the_weather_has_its_known_gains(
    branches: np.ndarray, gain: float, split_info: float, gini_decrease: float,
    errors_decrease: float,
) -> None:  # fmt: skip
    errors = decrease(CRITERIA["misclassification"], branches)
    assert float(errors) == pytest.approx(errors_decrease, abs=1e-6)
    assert float(decrease(CRITERIA["gain"], branches)) == pytest.approx(gain, abs=1e-6)
    assert float(entropy(branches.sum(axis=1))) == pytest.approx(split_info, abs=1e-6)
    assert float(decrease(CRITERIA["gini"], branches)) == pytest.approx(gini_decrease, abs=1e-6)


@given(tables)
def test_a_split_never_adds_impurity(branches: np.ndarray) -> None:
    assert float(decrease(CRITERIA["gain"], branches)) >= -1e-9
    assert float(decrease(CRITERIA["gini"], branches)) >= -1e-9


@pytest.mark.parametrize("impurity", [entropy, gini, misclassification, variance])
def test_no_weight_has_no_impurity(impurity) -> None:
    assert float(impurity(np.zeros(3))) == 0.0


def test_scores_within_a_tie_go_to_the_first() -> None:
    assert first_best(np.array([0.1, 0.5, 0.5 + 1e-13, 0.2])) == 1


def test_the_weather_would_be_wrong_in_5_of_14_rows() -> None:
    assert float(misclassification(np.array([9.0, 5.0]))) == pytest.approx(5 / 14)


def test_the_variance_of_numbers_comes_from_their_moments() -> None:
    numbers = np.array([1.0, 2.0, 4.0])
    moments = np.array([3.0, numbers.sum(), (numbers**2).sum()])

    assert float(variance(moments)) == pytest.approx(float(numbers.var()))
