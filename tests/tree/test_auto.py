"""The preset that chooses for itself."""

from collections.abc import Callable
from itertools import count

import numpy as np
import pytest

from service.tree.attribute import Attribute, Kind
from service.tree.dataset import Dataset
from service.tree.learn import study
from service.tree.params import Params, resolve
from service.tree.pruners import Task

RANDOM = np.random.default_rng(3)


def a_dataset(target: np.ndarray, classes: tuple[str, ...], values: np.ndarray) -> Dataset:
    attributes = (
        Attribute("x", Kind.NUMERIC),
        Attribute("noise", Kind.NUMERIC),
        Attribute("c", Kind.CATEGORICAL, ("p", "q", "r")),
    )
    return Dataset(attributes, classes, np.asfortranarray(values), target, np.ones(len(target)))


def some_values(n_rows: int) -> np.ndarray:
    columns = [RANDOM.random(n_rows), RANDOM.random(n_rows), RANDOM.integers(0, 3, n_rows)]
    values = np.column_stack(columns).astype(np.float64)
    values[RANDOM.random(n_rows) < 0.1, 0] = np.nan
    return values


def after(times: int) -> Callable[[], bool]:
    """Late once it was asked so many times."""
    asked = count()
    return lambda: next(asked) >= times


def auto(**changes: object) -> Params:
    return resolve("auto", {"folds": 3, **changes})


def test_it_finds_the_one_cut_there_is_and_says_what_it_tried() -> None:
    values = some_values(80)
    target = (np.nan_to_num(values[:, 0]) > 0.5).astype(np.int64)
    learned = study(Task(a_dataset(target, ("no", "yes"), values), auto(), is_late=after(10)))
    tree, notes = learned.served, learned.notes

    assert tree.attribute[0] == 0
    assert (tree.is_leaf & tree.is_reached).sum() <= 4
    assert notes["chosen"] in notes["tried"]
    assert len({each["family"] for each in notes["tried"]}) >= 4
    assert "standard error" in notes["reason"]


def test_noise_is_not_split() -> None:
    values, target = some_values(60), RANDOM.integers(0, 2, 60)
    learned = study(Task(a_dataset(target, ("no", "yes"), values), auto(), is_late=after(10)))

    assert learned.notes["chosen"]["leaves"] <= 3


def test_numbers_are_predicted_too() -> None:
    values = some_values(60)
    target = np.where(values[:, 2] == 1, 10.0, 0.0) + RANDOM.random(60)
    learned = study(Task(a_dataset(target, (), values), auto(), is_late=after(10)))

    assert learned.served.attribute[0] == 2
    assert learned.params.criterion == "squared_error"


def test_it_chooses_the_same_twice() -> None:
    values = some_values(40)
    data = a_dataset(RANDOM.integers(0, 3, 40), ("a", "b", "c"), values)
    once, again = (study(Task(data, auto(), is_late=after(10))).notes for _ in range(2))

    assert once == again


@pytest.mark.parametrize("missing", ["majority", "own_branch", "stop", "drop"])
def test_it_keeps_to_what_was_said_of_nulls(missing: str) -> None:
    values, target = some_values(30), RANDOM.integers(0, 2, 30)
    data = a_dataset(target, ("no", "yes"), values)
    learned = study(Task(data, auto(missing=missing), is_late=after(10)))

    assert learned.params.missing == missing


def test_one_row_is_a_leaf() -> None:
    data = a_dataset(np.array([1]), ("no", "yes"), some_values(1))

    assert len(study(Task(data, auto())).tree) == 1


def test_when_there_is_no_time_one_way_is_judged_on_one_fold() -> None:
    values, target = some_values(60), RANDOM.integers(0, 2, 60)
    data = a_dataset(target, ("no", "yes"), values)
    learned = study(Task(data, auto(), is_late=lambda: True))

    assert len({each["family"] for each in learned.notes["tried"]}) == 1


def test_a_limit_that_was_asked_for_is_kept() -> None:
    values, target = some_values(60), RANDOM.integers(0, 2, 60)
    data = a_dataset(target, ("no", "yes"), values)
    learned = study(Task(data, auto(min_weight=25.0), is_late=after(10)))

    assert learned.params.min_weight == 25.0
