"""Pruning the table of nodes gives what pruning nodes that hold their rows gives."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from service.tree.attribute import Attribute, Kind
from service.tree.bounds import BOUNDS, deviate
from service.tree.confirmed import confirmed
from service.tree.context import Context, make_context
from service.tree.dataset import Dataset
from service.tree.growing import ignore
from service.tree.grown import Grown
from service.tree.kernels.bounds import Judge, more_errors
from service.tree.nodes import Tree
from service.tree.params import Params
from service.tree.parts import Part, whole
from service.tree.pessimism import BOUNDS as KERNELS
from service.tree.pessimism import collapse, prune
from tests.naive_pruning import grown_of, naive_collapse, naive_prune
from tests.readable.freeze import freeze
from tests.readable.grow import grow_from
from tests.readable.sprout import Sprout, copied
from tests.strategies import datasets, grow_params

NUMERIC, CATEGORICAL = Kind.NUMERIC, Kind.CATEGORICAL
JUDGED = {
    "bound": st.sampled_from(["c45", "j48", "exact"]),
    "confidence": st.sampled_from([0.01, 0.1, 0.25, 0.4, 0.5, 0.7, 1.0]),
    "raising": st.sampled_from([True, True, True, False]),
}
C45 = st.builds(
    Params,
    criterion=st.just("gain_ratio"),
    rules=st.sampled_from(["j48", "r8"]),
    categorical=st.sampled_from(["multiway", "one_vs_rest"]),
    min_weight=st.sampled_from([0.5, 1.0, 2.0]),
    **JUDGED,
)
RPART = st.builds(
    Params,
    criterion=st.sampled_from(["gini", "gain"]),
    rules=st.just("rpart"),
    categorical=st.just("subset"),
    missing=st.sampled_from(["fractional", "majority", "stop"]),
    **JUDGED,
)
TEXTBOOK = st.builds(
    lambda params, judged: replace(params, **judged), grow_params(), st.fixed_dictionaries(JUDGED)
)
PARAMS = st.one_of(C45, RPART, TEXTBOOK)


def crowd(seed: int, n_rows: int = 100) -> Dataset:
    """Rows whose class takes two attributes to tell: the split above them is mere noise."""
    numbers = np.random.default_rng(seed)
    sizes = [0, 0, 0, 2, 3, 9]
    drawn = [
        numbers.integers(0, size, n_rows).astype(np.float64)
        if size
        else numbers.normal(size=n_rows)
        for size in sizes
    ]
    values = np.asfortranarray(np.stack(drawn, axis=1))
    differ = (values[:, 0] > 0) != (values[:, 1] > 0)
    target = (differ ^ (numbers.random(n_rows) < 0.1)).astype(np.int64)
    values[numbers.random(values.shape) < 0.1] = np.nan
    attributes = tuple(
        Attribute(f"a{number}", CATEGORICAL if size else NUMERIC, tuple("pqrstuvwx"[:size]))
        for number, size in enumerate(sizes)
    )
    weights = numbers.choice([0.5, 1.0, 2.0], n_rows)
    return Dataset(attributes, ("no", "yes"), values, target, weights)


def rooted(data: Dataset, params: Params) -> tuple[Context, Sprout]:
    context = make_context(data, params)
    return context, grow_from(context, whole(data), None, 100_000, ignore)


def assert_same(expected: Tree, actual: Tree) -> None:
    for field in fields(Tree):
        one, other = getattr(expected, field.name), getattr(actual, field.name)
        assert one.dtype == other.dtype, field.name
        compare = assert_allclose if one.dtype == np.float64 else assert_array_equal
        kind = {"rtol": 1e-9, "atol": 1e-9} if one.dtype == np.float64 else {}
        compare(other, one, err_msg=field.name, **kind)


def assert_pruned_alike(context: Context, root: Sprout) -> int:
    """Prunes in both ways; how many branches were raised comes back."""
    pruned = prune(context, grown_of(context, root))
    twin = copied(root)
    n_raised = naive_prune(context, twin)
    assert_same(freeze(context, twin), pruned)
    return n_raised


@given(datasets(most_rows=20), PARAMS)
def test_any_tree_is_pruned_as_its_twin_is(data: Dataset, params: Params) -> None:
    assert_pruned_alike(*rooted(data, params))


@given(st.integers(0, 10_000), PARAMS)
def test_noise_and_nulls_are_pruned_as_by_the_twin(seed: int, params: Params) -> None:
    assert_pruned_alike(*rooted(crowd(seed), replace(params, max_depth=None)))


@pytest.mark.parametrize("rules", ["j48", "r8", "textbook", "rpart"])
@pytest.mark.parametrize("bound", ["c45", "j48", "exact"])
def test_branches_are_raised_with_the_rows_of_the_node_above(rules: str, bound: str) -> None:
    criterion = "gain_ratio" if rules in ("j48", "r8") else "gini"
    categorical = "subset" if rules == "rpart" else "multiway"
    params = Params(criterion, categorical, rules=rules, min_weight=2.0, bound=bound)
    n_raised = [assert_pruned_alike(*rooted(crowd(seed), params)) for seed in range(6)]

    assert any(n_raised)


@given(datasets(most_rows=20), PARAMS)
def test_any_tree_is_collapsed_as_its_twin_is(data: Dataset, params: Params) -> None:
    context, root = rooted(data, params)
    collapsed = collapse(grown_of(context, root))
    naive_collapse(root)
    expected = grown_of(context, root)

    assert_same(expected.tree, collapsed.tree)
    assert_array_equal(expected.filled, collapsed.filled)


def test_a_tree_is_as_it_was_after_it_was_pruned_with_several_confidences() -> None:
    context, root = rooted(crowd(0), Params("gain_ratio", rules="j48", min_weight=2.0, bound="j48"))
    grown, untouched = (grown_of(context, copied(root)) for _ in range(2))
    sizes = []
    for confidence in (0.4, 0.1, 0.01):
        params = replace(context.params, confidence=confidence)
        sizes.append(len(prune(replace(context, params=params), grown)))

    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]
    assert_same(untouched.tree, grown.tree)
    assert_array_equal(untouched.part.weights, grown.part.weights)


@given(st.floats(1e-5, 500), st.floats(0, 1), st.floats(0.001, 1.0), st.sampled_from(list(KERNELS)))
def test_the_kernels_expect_the_errors_that_the_bounds_do(
    weight: float, part: float, confidence: float, bound: str
) -> None:
    judge = Judge(KERNELS[bound], confidence, deviate(bound, confidence), 0.0, 0.1, raises=True)
    expected = BOUNDS[bound](weight, part * weight, confidence)

    assert more_errors(judge, weight, part * weight) == pytest.approx(expected, abs=1e-9, rel=1e-9)


def held_out(context: Context) -> tuple[Part, Part]:
    """Every third row with any weight, and the others before it."""
    rows = whole(context.data).rows
    held = np.arange(len(rows)) % 3 == 1
    parts = [Part(chosen, context.data.weights[chosen]) for chosen in (rows[~held], rows[held])]
    return parts[0], parts[1]


def assert_confirmed_alike(context: Context) -> None:
    training, validation = held_out(context)
    full = grow_from(context, training, None, 100_000, ignore)
    checked = grow_from(context, training, validation, 100_000, ignore)
    grown: Grown = grown_of(context, full)

    assert_same(freeze(context, checked), confirmed(context, grown, validation))


@given(datasets(most_rows=20), PARAMS)
def test_the_splits_that_held_out_rows_confirm_are_those_of_growing_with_them(
    data: Dataset, params: Params
) -> None:
    assert_confirmed_alike(make_context(data, params))


@given(datasets(most_rows=20, regression=True), grow_params("squared_error"))
def test_likewise_where_a_number_is_predicted(data: Dataset, params: Params) -> None:
    assert_confirmed_alike(make_context(data, params))


@given(st.integers(0, 10_000), PARAMS)
def test_likewise_of_noise_and_nulls(seed: int, params: Params) -> None:
    assert_confirmed_alike(make_context(crowd(seed), params))
