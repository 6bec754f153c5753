"""What happens to a grown tree: as the readable versions have it, to the last bit."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tree.attribute import Attribute, Kind
from service.tree.compiled import compile_tree
from service.tree.cost_complexity import at_alpha, risk_of, rpart_links, weakest_links
from service.tree.cross_validation import _losses_at, betas, cross_validated
from service.tree.cut import cheapest, with_leaves
from service.tree.dataset import Dataset, rows_of
from service.tree.learn import learn
from service.tree.mixture import make_mixture
from service.tree.nodes import Tree
from service.tree.params import Params
from service.tree.pruners import Task, sequence_tree
from service.tree.walk import walk
from tests.naive_compiled import naive_branch_tables, naive_largest_branch, naive_mixture
from tests.naive_cross_validation import naive_cross_validated, naive_losses_at
from tests.naive_sequence import (
    naive_cheapest,
    naive_is_reached,
    naive_rpart_links,
    naive_weakest_links,
    naive_with_leaves,
)
from tests.strategies import datasets, grow_params

LINKS = {
    "weakest_link": (weakest_links, naive_weakest_links),
    "rpart": (rpart_links, naive_rpart_links),
}
RPART = Params(criterion="gini", categorical="subset", missing="stop", rules="rpart", links="rpart")


def many_rows(seed: int, *, regression: bool = False, n_rows: int = 150) -> Dataset:
    """Rows with nulls and broken weights, of which a tree grows that is deep here, wide there."""
    chance = np.random.default_rng(seed)
    wide, few = tuple(map(str, range(12))), ("p", "q", "r")
    attributes = (
        Attribute("wide", Kind.CATEGORICAL, wide), Attribute("x", Kind.NUMERIC),
        Attribute("few", Kind.CATEGORICAL, few), Attribute("y", Kind.NUMERIC),
    )  # fmt: skip
    columns = [chance.integers(12, size=n_rows), chance.normal(size=n_rows).round(1),
               chance.integers(3, size=n_rows), chance.random(n_rows)]  # fmt: skip
    values = np.asfortranarray(np.column_stack(columns).astype(np.float64))
    values[chance.random(values.shape) < 0.1] = np.nan
    target = chance.normal(size=n_rows) if regression else chance.integers(3, size=n_rows)
    weights = chance.choice([0.0, 0.3, 1.0, 1.0, 2.7], n_rows)
    return Dataset(attributes, () if regression else ("k", "l", "m"), values, target, weights)


def many_nodes(seed: int, categorical: str, *, regression: bool = False) -> Tree:
    criterion = "squared_error" if regression else "gini"
    params = Params(criterion=criterion, categorical=categorical)
    return learn(many_rows(seed, regression=regression), params)


def cut_at_random(tree: Tree, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random(len(tree)) < 0.3


def assert_same(expected: Any, actual: Any) -> None:
    for field in fields(expected):
        np.testing.assert_array_equal(
            getattr(expected, field.name), getattr(actual, field.name), err_msg=field.name
        )


SHAPES = [(seed, categorical) for seed in range(2) for categorical in ("multiway", "subset")]


class TestLinks:
    """The alphas at which nodes become leaves."""

    @pytest.mark.parametrize("links", LINKS)
    @pytest.mark.parametrize(("seed", "categorical"), SHAPES)
    @pytest.mark.parametrize("regression", [False, True])
    def test_of_many_nodes(
        self, links: str, seed: int, categorical: str, *, regression: bool
    ) -> None:
        tree = many_nodes(seed, categorical, regression=regression)
        fast, naive = LINKS[links]

        like_any = np.random.default_rng(seed).integers(9, size=len(tree)).astype(np.float64)
        for own in (risk_of(tree, "misclassification"), risk_of(tree, "impurity"), like_any):
            np.testing.assert_array_equal(naive(tree, own), fast(tree, own))

    @given(datasets(), grow_params("gini"), st.sampled_from(sorted(LINKS)))
    def test_of_any_tree(self, data: Dataset, params: Params, links: str) -> None:
        tree = learn(data, params)
        own = risk_of(tree, "misclassification")
        fast, naive = LINKS[links]

        np.testing.assert_array_equal(naive(tree, own), fast(tree, own))

    def test_risks_beyond_all_numbers_come_to_an_end(self) -> None:
        tree = many_nodes(0, "subset")
        with np.errstate(invalid="ignore", over="ignore"):
            own = 1e308 * risk_of(tree, "impurity")
            found = weakest_links(tree, own)

        assert np.isinf(own[0])
        assert np.isnan(found[tree.is_leaf]).all()


class TestCut:
    """A tree with some of its nodes made leaves."""

    @pytest.mark.parametrize(("seed", "categorical"), SHAPES)
    def test_what_the_root_leads_to(self, seed: int, categorical: str) -> None:
        tree = many_nodes(seed, categorical)
        is_cut = cut_at_random(tree, seed)
        cut = replace(tree, attribute=np.where(is_cut, -1, tree.attribute))

        np.testing.assert_array_equal(naive_is_reached(cut), cut.is_reached)
        assert_same(naive_with_leaves(tree, is_cut), with_leaves(tree, is_cut))

    @pytest.mark.parametrize("prune_ties", [False, True])
    @pytest.mark.parametrize(("seed", "categorical"), SHAPES)
    def test_the_cheapest_of_many_nodes(
        self, seed: int, categorical: str, *, prune_ties: bool
    ) -> None:
        tree = many_nodes(seed, categorical)
        as_leaf = risk_of(tree, "misclassification") + 0.7 * (tree.weight > 0)

        expected = naive_cheapest(tree, as_leaf, prune_ties=prune_ties)
        assert_same(expected, cheapest(tree, as_leaf, prune_ties=prune_ties))

    @given(
        data=datasets(), params=grow_params("gini"), alpha=st.floats(0, 3), prune_ties=st.booleans()
    )
    def test_the_cheapest_of_any_tree(
        self, data: Dataset, params: Params, alpha: float, *, prune_ties: bool
    ) -> None:
        tree = learn(data, params)
        as_leaf = risk_of(tree, "impurity") + alpha

        expected = naive_cheapest(tree, as_leaf, prune_ties=prune_ties)
        assert_same(expected, cheapest(tree, as_leaf, prune_ties=prune_ties))


class TestCompiled:
    """What is made of a tree before rows are routed."""

    @given(datasets(), grow_params(), st.integers(0, 9))
    def test_branches_and_tables_of_any_tree(
        self, data: Dataset, params: Params, seed: int
    ) -> None:
        tree = learn(data, params)
        cut = replace(tree, alpha_cut=np.where(cut_at_random(tree, seed), 0.0, 1.0))
        for each in (tree, at_alpha(cut, 0.5)):
            compiled = compile_tree(each, data.attributes, data.classes)
            starts, table = naive_branch_tables(each, data.attributes)

            np.testing.assert_array_equal(starts, compiled.table_start)
            np.testing.assert_array_equal(table, compiled.table)
            np.testing.assert_array_equal(naive_largest_branch(each), compiled.largest_branch)

    @pytest.mark.parametrize(("seed", "categorical"), SHAPES)
    @pytest.mark.parametrize("regression", [False, True])
    def test_the_mixture_of_many_nodes(
        self, seed: int, categorical: str, *, regression: bool
    ) -> None:
        tree = many_nodes(seed, categorical, regression=regression)
        answers = tree.mean[:, None] if regression else tree.probabilities

        assert_same(naive_mixture(tree, answers, 4), make_mixture(tree, answers, 4))


WAYS = {
    "nulls divided": Params(criterion="gini", categorical="multiway"),
    "nulls stopped": replace(RPART, rules="textbook"),
    "as rpart counts": RPART,
    "own estimate": Params(criterion="gini", leaf_estimate="laplace", links="rpart"),
}


class TestCrossValidation:
    """What the rows of a fold lose at every alpha."""

    def judged(self, data: Dataset, params: Params) -> tuple[Tree, Dataset, np.ndarray]:
        """A tree of most rows, the others, and the limits of alpha."""
        held = np.arange(len(data.target)) % 4 == 3
        tree = sequence_tree(Task(data, params), np.flatnonzero(~held & (data.weights > 0)))
        cuts = np.unique(np.append(0.0, tree.alpha_cut[~tree.is_leaf]))
        return tree, rows_of(data, held), betas(cuts, params.links)

    def assert_each_row_loses_the_same(self, data: Dataset, params: Params) -> None:
        tree, held, limits = self.judged(data, params)
        losses, stopped = naive_losses_at(held, tree, params, limits)
        before = np.arange(len(limits)) + 0.5
        counts_last = params.rules == "rpart"
        for row in range(len(held.target)):
            alone = rows_of(held, np.array([row]))
            tally = _losses_at(alone, tree, params, limits, before, walk)
            expected = np.where(stopped[:, row] & counts_last, before, losses[:, row])

            np.testing.assert_array_equal(expected, tally.last)
            np.testing.assert_array_equal(expected * held.weights[row], tally.sums)

    @pytest.mark.parametrize("way", WAYS)
    def test_each_of_many_rows_loses_the_same(self, way: str) -> None:
        self.assert_each_row_loses_the_same(many_rows(5), WAYS[way])

    @pytest.mark.parametrize("missing", ["fractional", "stop"])
    def test_each_of_many_rows_loses_the_same_in_regression(self, missing: str) -> None:
        params = Params(criterion="squared_error", missing=missing)
        self.assert_each_row_loses_the_same(many_rows(6, regression=True), params)

    @given(datasets(), grow_params("gini"))
    def test_each_of_any_rows_loses_the_same(self, data: Dataset, params: Params) -> None:
        if len(data.target) > 3:
            self.assert_each_row_loses_the_same(data, params)

    @pytest.mark.parametrize("way", WAYS)
    @pytest.mark.parametrize("regression", [False, True])
    def test_the_risks_are_the_sums_over_all_rows(self, way: str, *, regression: bool) -> None:
        params = WAYS[way]
        if regression:
            params = replace(params, criterion="squared_error", leaf_estimate="frequency")
        task = Task(many_rows(7, regression=regression), params)
        tree = sequence_tree(task)
        alphas = np.unique(np.append(0.0, tree.alpha_cut[~tree.is_leaf]))
        folds = np.random.default_rng(1).integers(4, size=len(task.data.target))
        arguments = (task.data, lambda rows: sequence_tree(task, rows), params, folds, alphas)
        expected, actual = naive_cross_validated(*arguments), cross_validated(*arguments)

        np.testing.assert_allclose(actual.risks, expected.risks, rtol=1e-12)
        np.testing.assert_allclose(actual.errors, expected.errors, rtol=1e-9)
