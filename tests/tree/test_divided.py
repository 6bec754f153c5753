"""Tables where nulls are divided: the tree is the exact one, and each table the plain sum."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from service.errors import LimitReached
from service.tree import divided, engine
from service.tree.attribute import Attribute, Kind
from service.tree.binned import bin_columns
from service.tree.boughs import Ground
from service.tree.context import make_context
from service.tree.dataset import Dataset, rows_of
from service.tree.divided import by_knowledge, is_divided, make_desk, stock_of
from service.tree.engine import rules_of
from service.tree.facts import columns_of
from service.tree.kernels.pairs import FIRST, HAS_TABLE, N_GROUPS, NEXT, count_nulls, fill, part
from service.tree.params import Params
from service.tree.parts import whole
from tests.strategies import datasets, grow_params
from tests.tree.test_histogram import FEW, assert_same, by_histogram, exactly

FRACTIONAL = grow_params().map(lambda params: replace(params, missing="fractional"))


def mixed(n_rows: int, nulls: float, n_classes: int = 2) -> Dataset:
    """Numbers of few values and categories, with nulls."""
    rng = np.random.default_rng(7)
    values = np.asfortranarray(rng.integers(0, 30, size=(n_rows, 6)).astype(np.float64))
    values[:, 3:] %= 5
    signal = values[:, 0] / 30 + (values[:, 3] == 2) + 0.5 * rng.normal(size=n_rows)
    target = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    values[rng.random(values.shape) < nulls] = np.nan
    attributes = tuple(
        Attribute(f"a{number}", Kind.CATEGORICAL, tuple("pqrst"))
        if number > 2
        else Attribute(f"a{number}", Kind.NUMERIC)
        for number in range(6)
    )
    classes = tuple(f"c{number}" for number in range(n_classes))
    return Dataset(attributes, classes, values, target, np.ones(n_rows))


def ground_of(data: Dataset, params: Params) -> Ground:
    context, part = make_context(data, params), whole(data)
    binned = bin_columns(data, part.rows, params.bins)
    columns = columns_of(context, binned.columns)
    return Ground(context, binned, rules_of(context, binned.columns, part.weights), columns)


@given(datasets(), FRACTIONAL, FEW, st.integers(20, 60))
def test_with_a_bin_for_each_value_the_tree_of_many_rows_is_the_exact_one(
    data: Dataset, params: Params, few: int, times: int
) -> None:
    many = rows_of(data, np.repeat(np.arange(len(data.target)), times))
    params = replace(params, min_weight=times * params.min_weight)

    assert_same(by_histogram(many, params, few), exactly(many, params))


@pytest.mark.parametrize("nulls", [0.1, 0.4])
@pytest.mark.parametrize("categorical", ["multiway", "subset", "one_vs_rest"])
@pytest.mark.parametrize("criterion", ["gain", "gain_ratio", "gini"])
def test_the_tree_of_a_few_thousand_rows_is_the_exact_one(
    nulls: float, categorical: str, criterion: str
) -> None:
    data = mixed(3000, nulls, n_classes=3)
    params = Params(criterion=criterion, categorical=categorical, min_weight=20.0)

    assert_same(by_histogram(data, params, 1), exactly(data, params))


@given(st.integers(0, 2**32 - 1), st.sampled_from([30, 700]), st.integers(0, 5))
def test_the_table_of_a_branch_is_the_sum_of_its_rows_and_of_its_share_of_the_nulls(
    seed: int, n_rows: int, attribute: int
) -> None:
    rng, data = np.random.default_rng(seed), mixed(n_rows, 0.3)
    ground = ground_of(data, Params())
    order = by_knowledge(ground)
    stock, weights, share = stock_of(ground, order), rng.random(n_rows), rng.random()
    desk = make_desk(ground, stock, n_rows)
    desk.pairs.rows[:n_rows], desk.pairs.weights[:n_rows] = np.arange(n_rows), weights
    start, end = stock.starts[attribute], stock.starts[attribute + 1] - 1
    groups = rng.integers(0, 2, end - start)
    desk.ways[start:end], desk.ways[end] = groups, 2
    path = desk.path
    path.steps[0, [FIRST, NEXT, N_GROUPS, HAS_TABLE]] = 0, 0, 1, 0
    path.marks[0, :3] = 0, n_rows, n_rows

    part(desk.pairs, path, 0, 0, stock.lines[attribute], desk.ways, 3)
    path.steps[1, [FIRST, NEXT, N_GROUPS, HAS_TABLE]] = 0, 0, 2, 0
    path.shares[1, :2] = share, 1 - share

    values, target = data.values[order], data.target[order]
    branch = np.append(groups, 2)[stock.lines[attribute] - start]
    for number, part_of_null in enumerate((share, 1 - share)):
        count_nulls(desk.pairs, path, 1, stock)
        fill(desk.pairs, path, 1, number, stock, desk.table)
        here = np.where(branch == number, 1.0, np.where(branch == 2, part_of_null, 0.0)) * weights
        for column in range(6):
            of_column = desk.table[:, stock.starts[column] : stock.starts[column + 1]]
            known = ~np.isnan(values[:, column])
            expected = np.zeros(of_column.shape)
            lines = stock.lines[column][known] - stock.starts[column]
            np.add.at(expected, (target[known], lines), here[known])
            assert_allclose(of_column, expected, 1e-12, 1e-12)


def test_rows_that_know_as_much_stand_together() -> None:
    ground = ground_of(mixed(500, 0.4), Params())
    order = by_knowledge(ground)

    assert_array_equal(np.sort(order), np.arange(500))
    assert (np.diff(stock_of(ground, order).known[:, 1].astype(np.int64)) >= 0).all()


def test_large_tables_few_nulls_and_other_ways_with_them_are_not_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def is_so(data: Dataset, params: Params) -> bool:
        ground = ground_of(data, params)
        return is_divided(ground.context, ground.columns, ground.binned.bins.n_bins)

    assert is_so(mixed(1000, 0.2), Params())
    assert not is_so(mixed(1000, 0.0), Params())
    assert not is_so(mixed(1000, 0.05), Params())
    assert not is_so(mixed(1000, 0.2), Params(missing="majority"))
    monkeypatch.setattr(divided, "MOST_CELLS", 100)
    assert not is_so(mixed(1000, 0.2), Params())


def test_so_many_parts_of_a_row_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MOST_PARTS", 1)
    with pytest.raises(LimitReached):
        by_histogram(mixed(1000, 0.4), Params(), 1)


@pytest.mark.parametrize("few", [1, 400, 5000])
def test_where_boughs_begin_makes_no_difference(few: int) -> None:
    data, params = mixed(2000, 0.4), Params(min_weight=5.0)

    assert_same(by_histogram(data, params, few), by_histogram(data, params, 700))
