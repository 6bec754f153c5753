"""The engine beside the readable learner, on random data: the same tree, to the last split."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import LimitReached
from service.tree.attribute import Attribute, Kind
from service.tree.context import make_context
from service.tree.dataset import Dataset
from service.tree.growing import grow_nodes, ignore
from service.tree.grown import Grown
from service.tree.params import PRESETS, Params
from service.tree.parts import Part, whole
from service.tree.presort import picked, presort
from service.tree.rpart_order import is_rpart
from service.tree.thaw import grown_of
from tests.readable.freeze import freeze
from tests.readable.grow import grow_from
from tests.readable.rpart import squared_error
from tests.readable.sprout import breadth_first
from tests.strategies import datasets, grow_params

ANY = 1_000_000
EXACT = ("parent", "depth", "branch", "operator", "attribute", "split", "set_start", "set_values")
ROUNDED = ("share", "weight", "distribution", "mean", "variance", "impurity", "gain")
MISSING = ["fractional", "stop", "majority"]


def by_engine(data: Dataset, params: Params, part: Part | None) -> Grown:
    """The tree of all rows, or of a part of them, whose columns are picked from those of all."""
    context, rows = make_context(data, params, part), whole(data)
    columns = presort(data, rows.rows, as_rpart=is_rpart(params))
    if part is not None:
        columns = picked(columns, np.isin(columns.rows, part.rows))
    part = part or rows
    return grown_of(context, part, grow_nodes(context, columns, part.weights, ANY, ignore))


def by_hand(data: Dataset, params: Params, part: Part | None) -> Grown:
    """The same by the readable learner."""
    context = make_context(data, params, part)
    part = part or whole(data)
    root = grow_from(context, part, None, ANY, ignore)
    sprouts, risks = breadth_first(root), None
    filled = [np.nan if each.candidate is None else each.candidate.filled for each in sprouts]
    if is_rpart(params) and data.is_regression:
        errors = [squared_error(context, each.part, is_root=each is root) for each in sprouts]
        risks = np.array(errors)
    return Grown(freeze(context, root), part, np.array(filled), risks)


def assert_alike(data: Dataset, params: Params, part: Part | None = None) -> None:
    ours, told = by_engine(data, params, part), by_hand(data, params, part)
    for name in EXACT:
        np.testing.assert_array_equal(getattr(ours.tree, name), getattr(told.tree, name), name)
    for name in ROUNDED:
        wanted = getattr(told.tree, name)
        np.testing.assert_allclose(getattr(ours.tree, name), wanted, 1e-9, 1e-11, err_msg=name)
    np.testing.assert_array_equal(ours.tree.value, told.tree.value)
    np.testing.assert_array_equal(ours.filled, told.filled)
    np.testing.assert_array_equal(ours.risks, told.risks)


def rpart_params(*criteria: str) -> st.SearchStrategy[Params]:
    return st.builds(
        Params,
        criterion=st.sampled_from(criteria),
        categorical=st.just("subset"),
        rules=st.just("rpart"),
        missing=st.sampled_from(MISSING),
        cut=st.sampled_from(["midpoint", "below_midpoint", "training_value"]),
        max_depth=st.sampled_from([None, None, 0, 1, 2]),
        min_weight=st.sampled_from([0.0, 1.0, 2.0]),
        min_gain=st.sampled_from([0.0, 0.0, 0.1]),
    )


C45_PARAMS = st.builds(
    lambda **changes: replace(PRESETS["c45"], **changes),
    rules=st.sampled_from(["j48", "r8"]),
    criterion=st.sampled_from(["gain_ratio", "gain"]),
    categorical=st.sampled_from(["multiway", "one_vs_rest"]),
    missing=st.sampled_from(MISSING),
    numeric_penalty=st.booleans(),
    min_weight=st.sampled_from([0.5, 1.0, 2.0]),
)
COST_RULES = st.sampled_from(["none", "gain_per_cost", "power_per_cost", "gain_squared_per_cost"])


@st.composite
def fold_of(draw: Any, data: Dataset) -> Part | None:
    """Some of the rows, or all of them."""
    if draw(st.booleans()):
        return None
    kept = draw(st.lists(st.booleans(), min_size=len(data.target), max_size=len(data.target)))
    rows = np.flatnonzero(np.array(kept) & (data.weights > 0))
    return Part(rows, data.weights[rows]) if len(rows) else None


@given(datasets(), grow_params(), COST_RULES, st.data())
def test_classes_by_textbook_rules(
    data: Dataset, params: Params, cost_rule: str, drawn: st.DataObject
) -> None:
    assert_alike(data, replace(params, cost_rule=cost_rule), drawn.draw(fold_of(data)))


@given(datasets(regression=True), grow_params("squared_error"))
def test_numbers_by_textbook_rules(data: Dataset, params: Params) -> None:
    assert_alike(data, params)


@given(datasets(most_rows=30), C45_PARAMS)
def test_classes_by_the_rules_of_c45(data: Dataset, params: Params) -> None:
    assert_alike(data, params)


@given(datasets(most_rows=30), rpart_params("gini", "gain"), st.data())
def test_classes_by_the_rules_of_rpart(data: Dataset, params: Params, drawn: st.DataObject) -> None:
    if drawn.draw(st.booleans()):
        data = replace(data, weights=np.ones(len(data.target)))
    assert_alike(data, params, drawn.draw(fold_of(data)))


@given(datasets(most_rows=30, regression=True), rpart_params("squared_error"), st.data())
def test_numbers_by_the_rules_of_rpart(data: Dataset, params: Params, drawn: st.DataObject) -> None:
    assert_alike(data, params, drawn.draw(fold_of(data)))


def crowd(seed: int, n_rows: int, n_classes: int) -> Dataset:
    """Many rows with ties, nulls, and a category more than rpart would divide in every way."""
    draw = np.random.default_rng(seed)
    columns = [
        draw.normal(size=n_rows).round(1),
        draw.integers(0, 18, n_rows).astype(np.float64),
        draw.normal(size=n_rows).round(3),
        draw.integers(0, 5, n_rows).astype(np.float64),
    ]
    columns = [np.where(draw.random(n_rows) < 0.05, np.nan, each) for each in columns]
    attributes = (
        Attribute("a", Kind.NUMERIC),
        Attribute("b", Kind.CATEGORICAL, tuple(map(str, range(18)))),
        Attribute("c", Kind.NUMERIC),
        Attribute("d", Kind.CATEGORICAL, tuple("pqrst")),
    )
    target = np.nan_to_num(columns[0]) + np.nan_to_num(columns[3]) % 3 + draw.normal(size=n_rows)
    if n_classes:
        target = np.floor(target).astype(np.int64) % n_classes
    weights = draw.choice([1.0, 1.0, 0.5], n_rows) if seed % 2 else np.ones(n_rows)
    classes = tuple("xyzu"[:n_classes])
    return Dataset(attributes, classes, np.asfortranarray(np.stack(columns, 1)), target, weights)


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize(("seed", "n_classes"), [(0, 2), (1, 2), (2, 4), (3, 3), (4, 0), (5, 0)])
@pytest.mark.parametrize("rules", ["textbook", "rpart"])
def test_many_rows(rules: str, seed: int, n_classes: int, missing: str) -> None:
    criterion = ("squared_error", "", "gini", "gain", "gini")[n_classes]
    params = Params(
        criterion, categorical="subset", rules=rules, missing=missing, max_depth=6, min_weight=2.0
    )
    assert_alike(crowd(seed, 700, n_classes), params)


@pytest.mark.parametrize("preset", ["cart", "rpart", "c45", "gini"])
def test_so_many_rows_that_two_threads_grow(preset: str) -> None:
    assert_alike(crowd(6, 9_000, 2), replace(PRESETS[preset], max_depth=7, min_weight=20.0))


@pytest.mark.parametrize("n_rows", [3_000, 5_000])
def test_nulls_that_are_divided_without_end_are_refused(n_rows: int) -> None:
    draw = np.random.default_rng(0)
    attributes = tuple(
        Attribute(name, Kind.CATEGORICAL, tuple(map(str, range(300)))) for name in "abcd"
    )
    values = draw.integers(0, 300, (n_rows, 4)).astype(np.float64)
    values[draw.random(values.shape) < 0.8] = np.nan
    data = Dataset(
        attributes, ("x", "y"), np.asfortranarray(values), draw.integers(0, 2, n_rows),
        np.ones(n_rows),
    )  # fmt: skip
    with pytest.raises(LimitReached, match="parts of each row"):
        by_engine(data, Params("gain", min_weight=0.0), None)


@pytest.mark.parametrize("missing", ["fractional", "own_branch"])
@pytest.mark.parametrize(("seed", "n_classes"), [(6, 2), (7, 2), (8, 4), (10, 0)])
def test_two_threads_grow_what_one_grows(
    seed: int, n_classes: int, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = crowd(seed, 12_000, n_classes)
    params = Params("gain" if n_classes else "squared_error", missing=missing, min_weight=5.0)
    by_two = by_engine(data, params, None)
    monkeypatch.setattr("service.tree.growing.FEWEST", len(data.target) + 1)
    by_one = by_engine(data, params, None)

    assert len(by_one.tree) > 500
    for name, column in vars(by_one.tree).items():
        np.testing.assert_array_equal(getattr(by_two.tree, name), column, name)
