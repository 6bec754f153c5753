"""What Weka's J48 makes of tables at the edge of its rules, with the options that are named."""

from typing import Any

import numpy as np
import pytest

from service.tree.attribute import Attribute, Kind
from service.tree.compiled import compile_tree
from service.tree.dataset import Dataset
from service.tree.learn import learn
from service.tree.params import resolve
from service.tree.predict import predict
from service.tree.walk import walk

CLASSES = ("k0", "k1")


def categories(name: str, *values: str) -> Attribute:
    return Attribute(name, Kind.CATEGORICAL, values)


def dataset(attributes: tuple[Attribute, ...], lines: list[Any], *weights: float) -> Dataset:
    """The rows of some lines, each a value for every attribute and the class."""
    cells = [
        [
            each.values.index(cell) if each.values else float(cell)
            for each, cell in zip(attributes, line[:-1], strict=True)
        ]
        for line in lines
    ]
    target = np.array([CLASSES.index(line[-1]) for line in lines])
    values = np.asfortranarray(cells, dtype=np.float64)
    return Dataset(attributes, CLASSES, values, target, np.array(weights or [1.0] * len(lines)))


@pytest.mark.parametrize("preset", ["c45", "c45r8"])
@pytest.mark.parametrize(
    ("low", "high", "n_nodes"),
    [
        (0.12345, 0.12346, 1),
        (0.3, 0.30001, 1),
        (48.20001, 48.20002, 1),
        (0.00107, 0.00108, 1),
        (0.0, 0.00001, 1),
        (7.1, 7.10001, 3),
        (0.3, 0.30002, 3),
    ],
)
def test_numbers_that_are_a_hundred_thousandth_apart_are_cut_as_rounding_has_it(
    low: float, high: float, n_nodes: int, preset: str
) -> None:
    lines = [(low, "k0")] * 5 + [(high, "k1")] * 5
    tree = learn(dataset((Attribute("x", Kind.NUMERIC),), lines), resolve(preset, {}))

    assert n_nodes == len(tree.parent)


def test_of_binary_splits_an_attribute_that_gains_nothing_counts_for_the_average() -> None:
    """`-U -B -M 1`: nobody has v0, and neither v1 nor v2 tells anything."""
    attributes = (
        categories("c", "v0", "v1", "v2"),
        categories("d", "p", "q"),
        categories("e", "p", "q"),
    )
    lines = ["2pq0", "1qp1", "1qq0", "2qp1", "1qq1", "2qp1"]
    data = dataset(attributes, [(f"v{c}", d, e, f"k{y}") for c, d, e, y in lines])
    params = {"categorical": "one_vs_rest", "pruning": "none", "min_weight": 1.0}

    assert 1 == learn(data, resolve("c45", params)).attribute[0]


def test_a_branch_that_hardly_weighs_anything_answers_as_its_parent() -> None:
    """`-U -M 2`, a row of weight 5e-7."""
    attributes = (categories("c", "a", "b", "z"),)
    lines = [("a", "k1")] * 3 + [("b", "k0")] * 2 + [("b", "k1"), ("b", "k0"), ("z", "k0")]
    data = dataset(attributes, lines, *[1.0] * 7, 5e-7)
    params = resolve("c45", {"pruning": "none"})
    tree = learn(data, params)
    asked = predict(
        compile_tree(tree, attributes, CLASSES, params), np.array([[2.0]]), "weighted", walk
    )

    assert not tree.is_leaf[0]
    np.testing.assert_allclose(asked.probabilities[0], [3 / 7, 4 / 7], atol=1e-6)
