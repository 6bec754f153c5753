"""Reach: what is looked up is what is routed, for one row as for many."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from service.tree.attribute import Attribute, Kind
from service.tree.compiled import CompiledTree
from service.tree.dataset import Dataset
from service.tree.params import Params
from service.tree.predict import Predictions, predict
from service.tree.reach import Reach, make_reach
from service.tree.reached import mix, predict_by
from tests.tree.test_walk import Drawn, compiled_of, squares, trees_and_rows


def reach_of(compiled: CompiledTree) -> Reach:
    """The reach of a tree, however much memory it takes beside it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("service.tree.reach._expected_bytes", lambda *_: 0)
        reach = make_reach(compiled)
    assert reach is not None
    return reach


def has_reach(compiled: CompiledTree) -> bool:
    """Whether rows may be divided in a tree, by its shares alone."""
    return (
        compiled.mixture is not None and not compiled.is_forgetful and not compiled.tree.is_leaf[0]
    )


def assert_same(found: Predictions, expected: Predictions) -> None:
    """The same but for rounding."""
    for name, column in vars(expected).items():
        if name in ("probabilities", "deviation"):
            assert_allclose(getattr(found, name), column, rtol=1e-12, atol=1e-15)
        else:
            assert_array_equal(getattr(found, name), column, strict=True)


def assert_told_alone(reach: Reach, values: np.ndarray, expected: Predictions) -> None:
    """Each row by itself is told what it is told among others, to the last bit."""
    for row, given_ in enumerate(values.tolist()):
        alone = mix(reach, [None if value != value else value for value in given_])
        met = expected.met[expected.met[:, 0] == row, 1].tolist()
        bounds = (expected.lowest[row].tolist(), expected.highest[row].tolist())
        told = (expected.probabilities[row].tolist(), *bounds)

        assert (alone.probabilities, alone.lowest, alone.highest) == told
        assert (alone.n_leaves, alone.unknown) == (expected.leaves[row], met)
        assert_array_equal(alone.deviation, expected.deviation[row])


@given(trees_and_rows())
def test_rows_reach_what_they_are_routed_to(drawn: Drawn) -> None:
    compiled, values = drawn
    if not has_reach(compiled):
        assert make_reach(compiled) is None
        return
    reach = reach_of(compiled)
    found = predict_by(reach, values)

    assert_same(found, predict(compiled, values))
    assert_told_alone(reach, values, found)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_deep_trees_of_many_attributes_are_reached_too(share: float) -> None:
    draw = np.random.default_rng(0)
    data = squares(40, n_classes=3)
    wide = np.asfortranarray(np.column_stack([data.values, draw.normal(size=(1600, 5)).round(1)]))
    numbers = tuple(Attribute(f"n{at}", Kind.NUMERIC) for at in range(5))
    compiled = compiled_of(
        replace(data, attributes=(*data.attributes, *numbers), values=wide),
        Params(categorical="subset", max_depth=9, min_weight=2),
    )
    values = wide[:80].copy()
    values[draw.random(values.shape) < share] = np.nan
    reach = reach_of(compiled)

    assert compiled.n_leaves > 64
    assert_same(predict_by(reach, values), predict(compiled, values))
    assert_told_alone(reach, values, predict_by(reach, values))


def test_blocks_tell_as_one() -> None:
    compiled = compiled_of(squares(8), Params())
    values = np.array([[np.nan, 3.0], [2.0, np.nan], [np.nan, np.nan], [1.0, 1.0]])
    reach = reach_of(compiled)
    whole = predict_by(reach, values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("service.tree.reached.MOST_ROWS", 3)
        parts = predict_by(reach, values)

    for name, column in vars(whole).items():
        assert_array_equal(getattr(parts, name), column)


def test_no_rows_reach_nothing() -> None:
    reach = reach_of(compiled_of(squares(3), Params()))

    assert predict_by(reach, np.empty((0, 2))).probabilities.shape == (0, 2)


def test_there_is_no_reach_that_takes_more_memory_than_the_tree() -> None:
    def grown(n_rows: int) -> CompiledTree:
        values = np.arange(float(n_rows))[:, None]
        target = np.arange(n_rows) % 2
        attributes = (Attribute("a", Kind.NUMERIC),)
        data = Dataset(attributes, ("x", "y"), values, target, np.ones(n_rows))
        return compiled_of(data, Params())

    small, large = grown(100), grown(10_000)
    reach = make_reach(small)

    assert reach is not None
    assert reach.n_bytes < small.n_bytes
    assert make_reach(large) is None


def test_where_null_has_its_own_branches_there_is_nothing_to_divide() -> None:
    data = squares(4)
    data.values[::3, 0] = np.nan

    assert make_reach(compiled_of(data, Params(missing="own_branch"))) is None
