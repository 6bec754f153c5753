"""Telling: native code finds what routing and prediction find, for one row as for many."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from service.tree.attribute import Attribute, Kind
from service.tree.compiled import CompiledTree, compile_tree
from service.tree.dataset import Dataset
from service.tree.learn import learn
from service.tree.params import Params
from service.tree.predict import Predictions, predict
from service.tree.tell import Told, find_leaves, predictions_of, tell, tell_by_hand
from tests.natives import teller_of
from tests.tree.test_walk import Drawn, compiled_of, squares, trees_and_rows

SUMS = ("probabilities", "deviation")


def assert_same(found: Predictions, expected: Predictions) -> None:
    """The same but for the rounding of sums."""
    for name, column in vars(expected).items():
        if name in SUMS:
            assert_allclose(getattr(found, name), column, rtol=1e-12, atol=1e-12)
        else:
            assert_array_equal(getattr(found, name), column, strict=True)


def assert_told(compiled: CompiledTree, values: np.ndarray) -> Told:
    """Checks what is told of rows against what is predicted, and that each is told it alone too."""
    teller = teller_of(compiled)
    told = tell(teller, values)
    by_hand = tell_by_hand(compiled, values)
    assert_same(predictions_of(compiled, told), predict(compiled, values))
    assert_same(predictions_of(compiled, by_hand), predict(compiled, values))
    assert_array_equal(told.marks[:, [0, *range(2, told.marks.shape[1])]],
                       by_hand.marks[:, [0, *range(2, told.marks.shape[1])]])  # fmt: skip
    for row in range(len(values)):
        alone = tell(teller, values[row : row + 1])
        assert_array_equal(alone.numbers[0], told.numbers[row])
        assert_array_equal(alone.marks[0], told.marks[row])
    return told


@given(trees_and_rows())
def test_rows_are_told_what_is_predicted(drawn: Drawn) -> None:
    compiled, values = drawn
    assert_told(compiled, values)
    assert_told(replace(compiled, mixture=None), values)


@given(trees_and_rows())
def test_the_class_that_is_told_is_the_likeliest(drawn: Drawn) -> None:
    compiled, values = drawn
    told = tell(teller_of(compiled), values)
    if not compiled.tree.is_regression:
        expected = predictions_of(compiled, told).classes

        assert_array_equal(np.where(told.leaves > 0, told.marks[:, 1], -1), expected)


@given(trees_and_rows())
def test_a_row_that_knows_its_way_keeps_the_number_of_its_leaf(drawn: Drawn) -> None:
    compiled, values = drawn
    ends = tell(teller_of(compiled), values).ends
    at_leaves = ends[ends >= 0]

    assert compiled.tree.is_leaf[at_leaves].all()
    assert_array_equal(
        tell(teller_of(compiled), values).probabilities[ends >= 0],
        compiled.probabilities[at_leaves],
    )


@given(trees_and_rows())
def test_leaves_are_found_where_all_rows_know_their_way(drawn: Drawn) -> None:
    compiled, values = drawn
    teller = teller_of(compiled)
    ends = tell(teller, values).ends
    sure = values[ends >= 0]
    found = find_leaves(teller, np.asfortranarray(sure))

    assert_array_equal(find_leaves(teller, np.ascontiguousarray(sure)), ends[ends >= 0])
    assert_array_equal(found, ends[ends >= 0])
    assert (find_leaves(teller, values) is None) == bool((ends < 0).any())


@given(trees_and_rows())
def test_the_order_of_values_in_memory_changes_nothing(drawn: Drawn) -> None:
    compiled, values = drawn
    teller = teller_of(compiled)
    wide = np.empty((len(values), 2 * values.shape[1]))
    wide[:, ::2] = values
    expected = tell(teller, np.ascontiguousarray(values))
    for other in (np.asfortranarray(values), wide[:, ::2]):
        assert_array_equal(tell(teller, other).numbers, expected.numbers)
        assert_array_equal(tell(teller, other).marks, expected.marks)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("most_rows", [1, 7, 1024])
def test_blocks_of_rows_in_deep_trees_tell_as_one(share: float, most_rows: int) -> None:
    compiled, wide = a_deep_tree(n_numbers=5)
    values = wide[:80].copy()
    values[np.random.default_rng(1).random(values.shape) < share] = np.nan
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("service.tree.tell.MOST_ROWS", most_rows)

        assert_told(compiled, values)


def test_a_tree_may_have_more_attributes_than_a_word_has_bits() -> None:
    compiled, wide = a_deep_tree(n_numbers=150)
    values = wide[:40].copy()
    values[np.random.default_rng(2).random(values.shape) < 0.7] = np.nan
    told = assert_told(compiled, values)

    assert compiled.tree.attribute.max() > 128
    assert told.marks.shape[1] == 3 + 3


def a_deep_tree(n_numbers: int) -> tuple[CompiledTree, np.ndarray]:
    draw = np.random.default_rng(0)
    data = squares(40, n_classes=3)
    more = draw.normal(size=(1600, n_numbers)).round(1)
    wide = np.asfortranarray(np.column_stack([data.values, more]))
    numbers = tuple(Attribute(f"n{at}", Kind.NUMERIC) for at in range(n_numbers))
    noisy = (data.target + (draw.random(1600) < 0.3)) % 3
    compiled = compiled_of(
        replace(data, attributes=(*data.attributes, *numbers), values=wide, target=noisy),
        Params(categorical="subset", max_depth=9, min_weight=2),
    )
    assert compiled.n_leaves > 64
    return compiled, wide


def test_who_knows_the_way_to_a_branch_of_no_share_may_not_know_it_on() -> None:
    attributes = (Attribute("a", Kind.NUMERIC), Attribute("b", Kind.NUMERIC))
    values = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    data = Dataset(attributes, ("x", "y"), values, np.array([0, 0, 0, 0, 1, 1]), np.ones(6))
    tree = learn(data, Params())
    assert tree.attribute[:3].tolist() == [0, -1, 1]
    share = np.where(
        np.arange(len(tree)) == 1, 1.0, np.where(np.arange(len(tree)) == 2, 0.0, tree.share)
    )
    compiled = compile_tree(replace(tree, share=share), attributes, data.classes)
    told = assert_told(
        compiled, np.array([[1.0, np.nan], [1.0, 1.0], [np.nan, 1.0], [0.0, np.nan]])
    )

    assert told.leaves.tolist() == [2, 1, 1, 1]


@pytest.mark.parametrize("n_rows", [1023, 1024, 1025, 2049])
def test_very_many_rows_are_told_what_each_is_told_alone(n_rows: int) -> None:
    compiled, wide = a_deep_tree(n_numbers=5)
    draw = np.random.default_rng(n_rows)
    values = wide[draw.integers(0, len(wide), n_rows)]
    values[draw.random(values.shape) < 0.2] = np.nan
    teller = teller_of(compiled)
    told = tell(teller, values)

    for row in (0, 1, 1022, n_rows - 1):
        alone = tell(teller, values[row : row + 1])
        assert_array_equal(alone.numbers[0], told.numbers[row])
        assert_array_equal(alone.marks[0], told.marks[row])
    assert_same(predictions_of(compiled, told), predict(compiled, values))


def test_large_numbers_that_hardly_differ_keep_their_deviation() -> None:
    values = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    target = 1e9 + np.array([0.0, 1.0, 2.0, 3.0])
    attributes = (Attribute("a", Kind.NUMERIC), Attribute("b", Kind.NUMERIC))
    data = Dataset(attributes, (), values, target, np.ones(4))
    compiled = compiled_of(data, Params(criterion="squared_error"))
    told = predictions_of(compiled, tell(teller_of(compiled), np.array([[np.nan, 0.0]])))

    assert_allclose(told.deviation, [1.0], rtol=1e-9)


def test_no_rows_are_told_nothing() -> None:
    compiled = compiled_of(squares(3), Params())

    assert tell(teller_of(compiled), np.empty((0, 2))).probabilities.shape == (0, 2)


def test_a_tree_of_one_leaf_tells_everybody_the_same() -> None:
    compiled = compiled_of(squares(3), Params(max_depth=0))

    assert_told(compiled, np.array([[np.nan, np.nan], [1.0, 2.0]]))


@pytest.mark.parametrize("size", [0.1, 1e6, 1e9])
def test_the_deviation_is_exact_however_large_the_numbers_are(size: float) -> None:
    draw = np.random.default_rng(3)
    attributes = tuple(Attribute(f"n{at}", Kind.NUMERIC) for at in range(3))
    values = np.asfortranarray(draw.integers(0, 4, size=(60, 3)).astype(float))
    target = size * (1 + 1e-9 * draw.integers(0, 3, size=60))
    data = Dataset(attributes, (), values, target, draw.random(60) + 0.1)
    compiled = compiled_of(data, Params(criterion="squared_error"))
    asked = values.copy()
    asked[draw.random(asked.shape) < 0.5] = np.nan
    told = predictions_of(compiled, tell(teller_of(compiled), asked))
    expected = predict(compiled, asked)

    assert_allclose(told.deviation, expected.deviation, rtol=1e-6, atol=1e-12 * size)
