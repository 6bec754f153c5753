"""Walking: the kernels tell, bit for bit, what routing and prediction tell."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from service.tree.attribute import Attribute, Kind
from service.tree.compiled import CompiledTree, compile_tree
from service.tree.dataset import Dataset
from service.tree.kernels.sums import BLOCK, LEVELS, summed
from service.tree.learn import learn
from service.tree.nodes import Split, Tree
from service.tree.params import Params
from service.tree.predict import predict
from service.tree.route import DIVIDING, STRATEGIES, Routed, Router, route
from service.tree.walk import HOW, answers, walk
from tests.strategies import datasets, grow_params, matrices

Drawn = tuple[CompiledTree, np.ndarray]


@st.composite
def trees_and_rows(draw) -> Drawn:
    regression = draw(st.booleans())
    data = draw(datasets(regression=regression))
    params = draw(grow_params(*(("squared_error",) if regression else ())))
    tree = cut(learn(data, params), draw(st.integers(0, 20)))
    compiled = compile_tree(tree, data.attributes, data.classes)
    return forgetful(compiled, draw(st.integers(0, 9))), draw(matrices(data.attributes, 12))


def cut(tree: Tree, node: int) -> Tree:
    """The tree with this node a leaf, if it has it; what was below is still there."""
    here = np.arange(len(tree)) == node
    return replace(
        tree,
        attribute=np.where(here, -1, tree.attribute),
        split=np.where(here, Split.LEAF, tree.split),
    )


def forgetful(compiled: CompiledTree, which: int) -> CompiledTree:
    """The tree without one in ten of the categories in its sets."""
    is_forgotten = np.arange(len(compiled.table)) % 10 == which
    return replace(compiled, table=np.where(is_forgotten, -1, compiled.table))


def in_one(blocks: list[Routed]) -> dict[str, np.ndarray]:
    """All blocks as one, in the order in which they came."""
    return {name: np.concatenate([vars(each)[name] for each in blocks]) for name in vars(blocks[0])}


def assert_same_routes(compiled: CompiledTree, values: np.ndarray, missing: str) -> None:
    mixtures = [None, compiled.mixture] if missing in DIVIDING else [None]
    for mixture in mixtures:
        routers: list[Router] = [route, walk]
        expected, found = (
            in_one(list(each(compiled, values, missing, mixture))) for each in routers
        )
        for name, column in expected.items():
            assert_array_equal(found[name], column, strict=True)


def assert_same_predictions(compiled: CompiledTree, values: np.ndarray, missing: str) -> None:
    expected = predict(compiled, values, missing)

    assert_array_equal(answers(compiled, values, missing), expected.probabilities)
    for name, column in vars(predict(compiled, values, missing, walk)).items():
        assert_array_equal(column, vars(expected)[name], strict=True)


def test_every_strategy_can_be_walked() -> None:
    assert HOW.keys() == STRATEGIES.keys()


@given(trees_and_rows())
def test_rows_walk_where_they_are_routed(drawn: Drawn) -> None:
    for missing in STRATEGIES:
        assert_same_routes(*drawn, missing)


@given(trees_and_rows())
def test_the_answers_are_the_predicted_ones(drawn: Drawn) -> None:
    compiled, values = drawn
    for missing in STRATEGIES:
        assert_same_predictions(compiled, values, missing)
        assert_same_predictions(replace(compiled, mixture=None), values, missing)


@given(trees_and_rows())
def test_small_blocks_tell_as_one_large_block(drawn: Drawn) -> None:
    compiled, values = drawn
    whole = in_one(list(walk(compiled, values)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("service.tree.walk.MOST_AT_ONCE", 1)
        blocks = list(walk(compiled, values))

    assert all(len(each.leaves) <= max(compiled.n_leaves, len(values)) for each in blocks)
    for name, column in in_one(blocks).items():
        assert_array_equal(column, whole[name])


@given(trees_and_rows())
def test_the_order_of_values_in_memory_changes_nothing(drawn: Drawn) -> None:
    compiled, values = drawn
    expected = answers(compiled, values)
    apart = np.repeat(values, 2, axis=0)[::2]

    for same in (np.ascontiguousarray(values), np.asfortranarray(values), apart):
        assert_array_equal(answers(compiled, same), expected)


def test_no_rows_walk_nowhere() -> None:
    compiled = compiled_of(squares(3), Params())
    nothing = np.empty((0, 2))

    assert list(walk(compiled, nothing)) == []
    assert answers(compiled, nothing).shape == (0, 2)


def compiled_of(data: Dataset, params: Params) -> CompiledTree:
    return compile_tree(learn(data, params), data.attributes, data.classes)


def squares(n_categories: int, n_classes: int = 2) -> Dataset:
    """Two attributes, a row for each pair of their categories, and classes without a pattern."""
    pairs = np.array(list(product(range(n_categories), repeat=2)), dtype=np.float64, order="F")
    names = tuple(map(str, range(n_categories)))
    attributes = tuple(Attribute(name, Kind.CATEGORICAL, names) for name in "ab")
    target = np.random.default_rng(0).integers(0, n_classes, len(pairs))
    weights = np.random.default_rng(1).random(len(pairs))
    return Dataset(attributes, tuple("xyz"[:n_classes]), pairs, target, weights)


@pytest.mark.parametrize("missing", DIVIDING)
def test_a_row_that_reaches_very_many_leaves_is_mixed_in_the_same_order(missing: str) -> None:
    compiled = replace(compiled_of(squares(30, n_classes=3), Params()), mixture=None)
    values = np.array([[np.nan, np.nan], [3.0, np.nan], [np.nan, 5.0], [1.0, 2.0]])

    assert compiled.n_leaves > 4 * BLOCK
    assert_same_routes(compiled, values, missing)
    assert_same_predictions(compiled, values, missing)


@pytest.mark.parametrize("missing", STRATEGIES)
def test_a_category_in_neither_set_is_undecided(missing: str) -> None:
    colour = Attribute("colour", Kind.CATEGORICAL, ("green", "black", "white"))
    seen = Dataset(
        (colour,), ("no", "yes"), np.array([[0.0], [0.0], [1.0]]), np.array([0, 0, 1]), np.ones(3)
    )
    compiled = compiled_of(seen, Params(categorical="subset", missing="stop", rules="rpart"))
    values = np.array([[0.0], [1.0], [2.0], [np.nan]])

    assert compiled.table.tolist() == [0, 1, -1]
    assert_same_routes(compiled, values, missing)
    assert_same_predictions(compiled, values, missing)


@pytest.mark.parametrize("missing", STRATEGIES)
@pytest.mark.parametrize("way", ["fractional", "own_branch"])
def test_many_attributes_are_kept_in_mind(missing: str, way: str) -> None:
    draw = np.random.default_rng(0)
    values = np.asfortranarray(draw.normal(size=(200, 130)))
    attributes = tuple(Attribute(f"a{number}", Kind.NUMERIC) for number in range(130))
    values[draw.random(values.shape) < 0.3] = np.nan
    data = Dataset(attributes, ("no", "yes"), values, draw.integers(0, 2, 200), np.ones(200))
    compiled = compiled_of(data, Params(missing=way, max_depth=5))
    values[draw.random(values.shape) < 0.5] = np.nan

    assert_same_routes(compiled, values, missing)
    assert_same_predictions(compiled, values, missing)


@given(st.integers(1, 3000), st.integers(0, 2**32 - 1))
@example(BLOCK, 0)
@example(BLOCK + 1, 0)
@example(BLOCK + 2, 0)
def test_sums_are_numpys_to_the_last_bit(n_terms: int, seed: int) -> None:
    terms = np.random.default_rng(seed).random(n_terms)
    found = summed(terms, n_terms, np.empty(2 * LEVELS, dtype=np.int64), np.empty(LEVELS))

    assert found == np.add.reduceat(terms, [0])[0]
