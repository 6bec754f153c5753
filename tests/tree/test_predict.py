"""Prediction: a null is divided over the branches by their share."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from service.tree.attribute import Attribute, Kind
from service.tree.compiled import CompiledTree, compile_tree
from service.tree.dataset import Dataset
from service.tree.explain import Step, explain
from service.tree.learn import learn
from service.tree.params import Params
from service.tree.predict import predict
from service.tree.route import route
from tests.naive import naive_predict
from tests.strategies import datasets, grow_params, matrices


@st.composite
def trees_and_rows(draw) -> tuple[CompiledTree, np.ndarray]:
    data = draw(datasets())
    compiled = a_compiled(data, draw(grow_params()))
    return compiled, draw(matrices(data.attributes, 6))


def a_compiled(data: Dataset, params: Params) -> CompiledTree:
    return compile_tree(learn(data, params), data.attributes, data.classes)


def nulls_as_none(row: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in row]


@given(trees_and_rows())
def test_the_fast_prediction_is_the_naive_one(drawn: tuple[CompiledTree, np.ndarray]) -> None:
    compiled, values = drawn
    expected = [naive_predict(compiled.tree, nulls_as_none(row)) for row in values]

    assert_allclose(predict(compiled, values).probabilities, expected, atol=1e-12)


@given(trees_and_rows())
def test_probabilities_sum_to_one_within_their_bounds(
    drawn: tuple[CompiledTree, np.ndarray],
) -> None:
    found = predict(*drawn)

    assert_allclose(found.probabilities.sum(axis=1), 1.0)
    assert (found.lowest <= found.probabilities + 1e-12).all()
    assert (found.highest >= found.probabilities - 1e-12).all()


@given(trees_and_rows())
def test_a_row_without_nulls_reaches_one_leaf(drawn: tuple[CompiledTree, np.ndarray]) -> None:
    compiled, values = drawn
    found = predict(compiled, np.nan_to_num(values))

    assert (found.leaves == 1).all()
    assert len(found.met) == 0
    assert (found.lowest == found.highest).all()


@given(datasets(), st.sampled_from(["gain", "gain_ratio", "gini"]))
def test_who_knows_nothing_is_told_the_root(data: Dataset, criterion: str) -> None:
    compiled = a_compiled(data, Params(criterion=criterion))
    found = predict(compiled, np.full((1, len(data.attributes)), np.nan))

    assert_allclose(found.probabilities[0], compiled.probabilities[0], atol=1e-9)


def is_divided(step: Step) -> bool:
    """Whether the row went down more than one branch there; null may have a branch of its own."""
    return not step.is_known and step.operator != "is null"


@given(trees_and_rows())
def test_the_paths_of_a_row_make_up_its_prediction(
    drawn: tuple[CompiledTree, np.ndarray],
) -> None:
    compiled, values = drawn
    found = predict(compiled, values)
    for row, paths in enumerate(explain(compiled, values, most=1_000)):
        mixed = sum(path.weight * compiled.probabilities[path.leaf] for path in paths)
        weights = [path.weight for path in paths]
        shares = [np.prod([s.share for s in path.steps if is_divided(s)]) for path in paths]

        assert sum(weights) == pytest.approx(1.0)
        assert weights == sorted(weights, reverse=True)
        assert weights == pytest.approx(shares)
        assert all(not path.steps or path.steps[-1].weight == path.weight for path in paths)
        assert_allclose(mixed, found.probabilities[row], atol=1e-12)


@given(trees_and_rows())
def test_the_attributes_met_are_those_that_a_path_did_not_know(
    drawn: tuple[CompiledTree, np.ndarray],
) -> None:
    compiled, values = drawn
    met = {tuple(pair) for pair in predict(compiled, values).met.tolist()}
    told = {
        (row, step.attribute)
        for row, paths in enumerate(explain(compiled, values, most=1_000))
        for path in paths
        for step in path.steps
        if is_divided(step)
    }

    assert met == told


@given(trees_and_rows())
def test_small_blocks_answer_as_one_large_block(drawn: tuple[CompiledTree, np.ndarray]) -> None:
    compiled, values = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("service.tree.route.MOST_AT_ONCE", 1)
        small = predict(compiled, values)
        n_blocks = len(list(route(compiled, values)))

    assert n_blocks <= len(values) + 1
    for column, expected in vars(predict(compiled, values)).items():
        if column != "met":
            np.testing.assert_array_equal(getattr(small, column), expected)


def test_no_rows_have_no_predictions() -> None:
    compiled = a_compiled(two_rows(), Params())

    assert predict(compiled, np.empty((0, 1))).probabilities.shape == (0, 2)


def two_rows() -> Dataset:
    return Dataset(
        (Attribute("x", Kind.NUMERIC),),
        ("no", "yes"),
        np.array([[1.0], [2.0]]),
        np.array([0, 1]),
        np.ones(2),
    )


@st.composite
def any_tree_and_rows(draw) -> tuple[CompiledTree, np.ndarray]:
    regression = draw(st.booleans())
    criteria = ("squared_error",) if regression else ()
    data = draw(datasets(regression=regression))
    compiled = a_compiled(data, draw(grow_params(*criteria)))
    return compiled, draw(matrices(data.attributes, 6))


@pytest.mark.parametrize("missing", ["weighted", "aggregate"])
@given(any_tree_and_rows())
def test_who_ends_early_is_told_what_the_leaves_below_would_tell(
    missing: str, drawn: tuple[CompiledTree, np.ndarray]
) -> None:
    compiled, values = drawn
    to_the_leaves = replace(compiled, mixture=None)
    early, late = (predict(each, values, missing) for each in (compiled, to_the_leaves))

    for column, expected in vars(late).items():
        assert_allclose(getattr(early, column), expected, atol=1e-9)


@pytest.mark.parametrize("missing", ["last_prediction", "default_child"])
def test_nothing_is_certain_where_a_null_was_decided_for_the_row(missing: str) -> None:
    compiled = a_compiled(two_rows(), Params())
    found = predict(compiled, np.array([[np.nan], [1.0]]), missing)

    assert found.certain.tolist() == [False, True]
