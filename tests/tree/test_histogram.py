"""Histograms: with a bin for each value they cut as the exact search does; else between bins."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from service.errors import LimitReached
from service.tree import binned, histogram, learn
from service.tree.arrays import Floats
from service.tree.attribute import Attribute, Kind
from service.tree.binned import bin_columns
from service.tree.checks import contradictions
from service.tree.compiled import compile_tree
from service.tree.context import make_context
from service.tree.dataset import Dataset
from service.tree.growing import ignore
from service.tree.histogram import grow_binned
from service.tree.learn import study
from service.tree.nodes import Tree
from service.tree.params import Params, resolve
from service.tree.parts import whole
from service.tree.pruners import Task
from service.tree.thaw import grown_of
from service.tree.walk import walk
from tests.strategies import datasets, grow_params

FEW = st.sampled_from([1, 4, 1000])  # rows of what is left to the engine


def by_histogram(data: Dataset, params: Params, few: int, report: Any = ignore) -> Tree:
    context, part = make_context(data, params), whole(data)
    made = bin_columns(data, part.rows, params.bins)
    nodes = grow_binned(context, made, part.weights, 10_000, report, few)
    return grown_of(context, part, nodes).tree


def exactly(data: Dataset, params: Params) -> Tree:
    return study(Task(data, params)).tree


def assert_same(tree: Tree, other: Tree) -> None:
    for name in ("parent", "branch", "attribute", "split", "operator", "set_start", "set_values"):
        assert_array_equal(getattr(tree, name), getattr(other, name), name)
    assert_array_equal(tree.value, other.value)
    for name in ("weight", "share", "distribution", "mean", "variance", "gain", "impurity"):
        assert_allclose(getattr(tree, name), getattr(other, name), 1e-9, 1e-9, err_msg=name)


def many_numbers(
    n_rows: int, n_columns: int = 4, nulls: float = 0.0, n_classes: int = 2
) -> Dataset:
    rng = np.random.default_rng(5)
    values = np.asfortranarray(rng.normal(size=(n_rows, n_columns)))
    noise = rng.normal(size=(n_rows, n_classes))
    target = (np.sin(3 * values[:, :n_classes]) + 0.3 * noise).argmax(axis=1)
    values[rng.random(values.shape) < nulls] = np.nan
    attributes = tuple(Attribute(f"a{number}", Kind.NUMERIC) for number in range(n_columns))
    classes = tuple(f"c{number}" for number in range(n_classes))
    return Dataset(attributes, classes, values, target, np.ones(n_rows))


@given(datasets(), grow_params(), FEW)
def test_with_a_bin_for_each_value_the_tree_is_the_exact_one(
    data: Dataset, params: Params, few: int
) -> None:
    assert_same(by_histogram(data, params, few), exactly(data, params))


@given(datasets(regression=True), grow_params("squared_error"), FEW)
def test_so_it_is_for_a_number(data: Dataset, params: Params, few: int) -> None:
    assert_same(by_histogram(data, params, few), exactly(data, params))


@pytest.mark.parametrize("rule", ["gain_per_cost", "power_per_cost", "gain_squared_per_cost"])
def test_what_was_tested_above_a_bough_is_free(rule: str) -> None:
    data = many_numbers(300)
    costly = (
        Attribute("a", Kind.NUMERIC, cost=3.0),
        Attribute("b", Kind.NUMERIC, cost=1.0, group="g"),
    )
    data = Dataset(
        (*costly, *data.attributes[2:]), data.classes, data.values.round(1), data.target,
        data.weights, {"g": 2.0},
    )  # fmt: skip
    params = Params(cost_rule=rule, min_weight=2.0)
    assert_same(by_histogram(data, params, 50), exactly(data, params))


def test_in_every_bin_there_are_about_as_many_rows() -> None:
    data = many_numbers(10_000)
    made = bin_columns(data, np.arange(10_000), 16).bins
    for column in range(4):
        sizes = np.bincount(made.codes[:, column], minlength=16)
        assert made.n_bins[column] == 16
        assert sizes.min() > 600
        assert sizes.max() < 650


def test_a_bin_is_told_with_the_lowest_and_the_highest_of_its_values() -> None:
    data = many_numbers(500, 1, nulls=0.1)
    made = bin_columns(data, np.arange(500), 7).bins
    for code in range(7):
        inside = data.values[made.codes[:, 0] == code, 0]
        assert (inside.min(), inside.max()) == (made.lowest[0, code], made.highest[0, code])
    assert_array_equal(made.codes[:, 0] == 255, np.isnan(data.values[:, 0]))


def test_a_value_that_most_rows_have_leaves_the_bins_to_the_others() -> None:
    values = np.append(np.zeros(900), np.arange(1.0, 101.0))
    made = bin_columns(a_column(values), np.arange(1000), 11).bins
    assert_array_equal(np.bincount(made.codes[:, 0]), [900] + 10 * [10])


def a_column(values: Floats) -> Dataset:
    x = Attribute("x", Kind.NUMERIC)
    target = (np.arange(len(values)) % 2).astype(np.int64)
    return Dataset((x,), ("c", "d"), values.reshape(-1, 1), target, np.ones(len(values)))


def test_values_that_the_sample_does_not_show_have_bins_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(binned, "SAMPLE", 10)
    values = np.repeat(np.arange(100.0), 3)
    values[:30] = np.nan
    made = bin_columns(a_column(values), np.arange(300), 255).bins
    assert_array_equal(made.lowest[0, : made.n_bins[0]], np.arange(10.0, 100.0))
    assert_array_equal(made.highest[0, : made.n_bins[0]], np.arange(10.0, 100.0))


@pytest.mark.parametrize("few", [1, 100])
def test_rows_are_predicted_where_they_were_trained(few: int) -> None:
    data = many_numbers(3000, n_classes=3)
    tree = by_histogram(data, Params(min_weight=5.0, bins=20), few)
    compiled = compile_tree(tree, data.attributes, data.classes)
    leaves = np.concatenate([routed.leaves for routed in walk(compiled, data.values, "weighted")])
    reached = np.bincount(leaves, minlength=len(tree))
    assert_array_equal(reached, np.where(tree.is_leaf, tree.weight, 0.0))


def test_where_the_table_ends_and_the_engine_begins_makes_no_difference() -> None:
    data = many_numbers(2000, nulls=0.1)
    params = Params(min_weight=5.0, bins=30)
    tree = by_histogram(data, params, 1)
    for few in (20, 300, 5000):
        assert_same(by_histogram(data, params, few), tree)


@pytest.mark.parametrize("nulls", [0.0, 0.1])
def test_the_tree_does_not_depend_on_the_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, nulls: float
) -> None:
    data, trees = many_numbers(3000, nulls=nulls), []
    for n_threads in (1, 2, 3):
        monkeypatch.setattr(histogram, "N_THREADS", n_threads)
        monkeypatch.setattr(histogram, "MANY", 100)
        trees.append(by_histogram(data, Params(min_weight=3.0), 200))
    for tree in trees[1:]:
        assert_array_equal(tree.gain, trees[0].gain)
        assert_array_equal(tree.value, trees[0].value)
        assert_array_equal(tree.distribution, trees[0].distribution)


def test_whoever_listens_may_end_it() -> None:
    told: list[float] = []

    def report(limit: float, fraction: float, _nodes: int) -> None:
        told.append(fraction)
        if fraction >= limit:
            raise KeyboardInterrupt

    by_histogram(many_numbers(2000), Params(), 100, partial(report, 2.0))
    assert told == sorted(told)
    assert told[-1] == 1.0
    for limit in (0.0, 0.3):
        with pytest.raises(KeyboardInterrupt):
            by_histogram(many_numbers(2000), Params(), 100, partial(report, limit))


def test_a_tree_with_too_many_nodes_is_an_error() -> None:
    data = many_numbers(2000)
    with pytest.raises(LimitReached):
        study(Task(data, Params(search="histogram"), max_nodes=20))


def test_a_version_tells_how_its_cuts_were_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    data = many_numbers(100)
    assert study(Task(data, Params())).params.search == "exact"
    monkeypatch.setattr(learn, "MANY_ROWS", 100)
    assert study(Task(data, Params())).params.search == "histogram"
    assert study(Task(data, Params(search="exact"))).params.search == "exact"
    assert study(Task(data, resolve("c45", {}))).params.search == "exact"


def test_where_many_values_are_null_and_divided_fewer_rows_are_searched_by_histograms(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(learn, "MANY_DIVIDED", 100)
    many, some = many_numbers(100, nulls=0.4), many_numbers(100, nulls=0.05)
    assert study(Task(many, Params())).params.search == "histogram"
    assert study(Task(some, Params())).params.search == "exact"
    assert study(Task(many, Params(missing="own_branch"))).params.search == "exact"
    assert study(Task(many, Params(search="exact"))).params.search == "exact"
    assert study(Task(many, resolve("c45", {}))).params.search == "exact"


@pytest.mark.parametrize("pruning", ["cost_complexity", "hold_out", "reduced_error", "auto"])
def test_pruning_is_the_same_with_a_bin_for_each_value(pruning: str) -> None:
    data = many_numbers(120, nulls=0.05)
    data = Dataset(data.attributes, data.classes, data.values.round(1), data.target, data.weights)
    params = {"pruning": pruning, "folds": 3, "min_weight": 2.0}
    one, other = (
        study(Task(data, Params(search=search, **params), is_late=lambda: False))
        for search in ("exact", "histogram")
    )
    assert_same(other.served, one.served)
    for note, expected in zip(leaves(other.notes), leaves(one.notes), strict=True):
        # divided rows are added up in another order
        is_number = isinstance(expected, float)
        assert note == (pytest.approx(expected, 1e-9, 1e-9) if is_number else expected)


def leaves(notes: Any) -> Iterator[Any]:
    """What stands in notes, one after the other, each after the names above it."""
    if isinstance(notes, dict | list | tuple):
        items = notes.items() if isinstance(notes, dict) else enumerate(notes)
        for name, each in items:
            yield name
            yield from leaves(each)
    else:
        yield notes


def test_what_histograms_cannot_do_is_refused() -> None:
    told = {"is_regression": False, "has_costs": False}
    for preset in ("c45", "cart"):
        overrides: dict[str, Any] = {"search": "histogram"}
        found = contradictions(resolve(preset, overrides), overrides, **told)
        assert ["search"] == [name for name, _ in found]
    overrides = {"bins": 10}
    assert ["bins"] == [
        name for name, _ in contradictions(resolve("id3", overrides), overrides, **told)
    ]
