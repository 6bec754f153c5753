"""Pruning: the published numbers, and what must hold of any tree."""

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tree.arrays import Floats
from service.tree.bounds import more_errors_c45, more_errors_exact, more_errors_j48
from service.tree.compiled import compile_tree
from service.tree.cost_complexity import (
    at_alpha,
    merged,
    risk_of,
    sequence,
    weighted_impurity,
    with_alpha_cut,
)
from service.tree.cross_validation import Validated, chosen_alpha
from service.tree.cut import with_leaves
from service.tree.dataset import Dataset
from service.tree.learn import learn, study
from service.tree.nodes import Tree
from service.tree.params import Params, resolve
from service.tree.penalised import penalised
from service.tree.predict import predict
from service.tree.pruners import Task
from tests.strategies import datasets, grow_params


def n_leaves(tree: Tree) -> int:
    return int((tree.is_leaf & tree.is_reached & (tree.weight > 0)).sum())


def loss(tree: Tree, alpha: float) -> float:
    """Impurity of the leaves that are reached, plus alpha for each."""
    leaves = tree.is_leaf & tree.is_reached & (tree.weight > 0)
    return float(weighted_impurity(tree)[leaves].sum() + alpha * leaves.sum())


def with_alphas(tree: Tree, risk: str, links: str) -> Tree:
    return merged(with_alpha_cut(tree, links, risk_of(tree, risk)), risk)


def every_pruned_tree(tree: Tree) -> list[Tree]:
    inner = np.flatnonzero(~tree.is_leaf)
    found = []
    for mask in range(2 ** len(inner)):
        is_cut = np.zeros(len(tree), dtype=bool)
        is_cut[inner[[bool(mask >> bit & 1) for bit in range(len(inner))]]] = True
        found.append(with_leaves(tree, is_cut))
    return found


class TestExpectedErrors:
    """How many errors to expect of a leaf, by the three bounds."""

    @pytest.mark.parametrize(
        ("weight", "errors", "c45", "j48", "exact"),
        [
            (6, 0, 0.2063, 0.2063, 0.2063), (9, 0, 0.1428, 0.1428, 0.1428),
            (1, 0, 0.7500, 0.7500, 0.7500), (16, 1, 0.1567, 0.1547, 0.1596),
            (14, 5, 0.4854, 0.4829, 0.4835), (5, 2, 0.6479, 0.6444, 0.6406),
            (100, 10, 0.1281, 0.1275, 0.1282), (10, 9.6, 0.9868, 1.0000, 0.9977),
            (6, 0.5, 0.2970, 0.2951, 0.3011),
        ],
    )  # fmt: skip
    def test_the_rates_are_those_that_are_published(
        self, weight: float, errors: float, c45: float, j48: float, exact: float
    ) -> None:
        rates = [
            (errors + more(weight, errors, 0.25)) / weight
            for more in (more_errors_c45, more_errors_j48, more_errors_exact)
        ]

        assert rates == pytest.approx([c45, j48, exact], abs=5e-5)

    @pytest.mark.parametrize(
        ("weight", "errors", "confidence", "more"),
        [(1, 0, 0.25, 0.75), (2, 0, 0.25, 1.0), (16, 1, 0.25, 1.506894), (5.4, 0.4, 0.25, 1.251801),
         (2, 1.6, 0.25, 0.268), (16, 1, 0.10, 2.648073), (16, 1, 0.01, 5.014145),
         (16, 1, 0.5, 0.760793)],
    )  # fmt: skip
    def test_release_8_adds_what_its_source_adds(
        self, weight: float, errors: float, confidence: float, more: float
    ) -> None:
        assert more_errors_c45(weight, errors, confidence) == pytest.approx(more, abs=1e-6)

    @pytest.mark.parametrize(
        ("weight", "errors", "more"), [(16, 1, 1.475715), (14, 5, 1.76112), (5.4, 0.4, 1.243134)]
    )
    def test_weka_adds_what_its_source_adds(
        self, weight: float, errors: float, more: float
    ) -> None:
        assert more_errors_j48(weight, errors, 0.25) == pytest.approx(more, abs=1e-6)

    def test_the_books_three_leaves_are_worse_than_one(self) -> None:
        three = sum(more_errors_c45(weight, 0, 0.25) for weight in (6, 9, 1))
        one = 1 + more_errors_c45(16, 1, 0.25)

        assert three == pytest.approx(3.273, abs=5e-4)
        assert one == pytest.approx(2.507, abs=5e-4)

    @given(st.floats(0.5, 50), st.floats(0, 1))
    def test_less_confidence_expects_more_errors(self, weight: float, part: float) -> None:
        few, many = (more_errors_exact(weight, part * weight, c) for c in (0.4, 0.1))

        assert -1e-9 <= few <= many + 1e-9


@given(datasets(), st.floats(0.01, 4.0))
def test_penalised_loss_is_the_least_there_is(data: Dataset, alpha: float) -> None:
    tree = learn(data, Params(criterion="gain", max_depth=3))
    if (~tree.is_leaf).sum() > 8:
        return
    found = penalised(tree, alpha)

    assert loss(found, alpha) == pytest.approx(min(loss(t, alpha) for t in every_pruned_tree(tree)))


@given(datasets(), grow_params("gain", "gini"), st.floats(0.0, 5.0))
def test_dynamic_programming_finds_the_weakest_link_tree(
    data: Dataset, params: Params, alpha: float
) -> None:
    params = replace(params, missing="fractional")
    tree = with_alphas(learn(data, params), "impurity", "weakest_link")
    cuts = tree.alpha_cut[~np.isnan(tree.alpha_cut)]
    if (np.abs(cuts - alpha) < 1e-6).any():
        return  # on the very edge rounding decides

    assert n_leaves(penalised(tree, alpha)) == n_leaves(at_alpha(tree, alpha))
    assert loss(penalised(tree, alpha), alpha) == pytest.approx(loss(at_alpha(tree, alpha), alpha))


@given(datasets(), grow_params("gini"), st.sampled_from(["weakest_link", "rpart"]))
def test_the_trees_of_a_sequence_are_nested(data: Dataset, params: Params, links: str) -> None:
    tree = with_alphas(learn(data, params), "misclassification", links)
    found = sequence(tree, "misclassification")
    reached = [at_alpha(tree, alpha).is_reached for alpha in found.alphas]

    assert found.alphas[0] == 0
    assert (np.diff(found.alphas) > 0).all()
    assert (np.diff(found.n_leaves) < 0).all()
    assert all((after <= before).all() for before, after in pairwise(reached))
    assert [n_leaves(at_alpha(tree, alpha)) for alpha in found.alphas] == found.n_leaves.tolist()


def risks_at(tree: Tree, alphas: Floats) -> list[float]:
    found = []
    for alpha in alphas:
        at = at_alpha(tree, float(alpha))
        leaves = at.is_leaf & at.is_reached
        wrong = at.weight - at.distribution.max(axis=1)
        found.append(float(wrong[leaves & (at.weight > 0)].sum()))
    return found


@given(datasets(), grow_params("gini"))
def test_the_risks_of_a_sequence_are_those_of_its_trees(data: Dataset, params: Params) -> None:
    params = replace(params, missing="fractional")
    tree = with_alphas(learn(data, params), "misclassification", "weakest_link")
    found = sequence(tree, "misclassification")

    assert found.risks.tolist() == pytest.approx(risks_at(tree, found.alphas), abs=1e-9)


def test_the_smallest_risk_wins_and_one_standard_error_goes_to_the_smaller_tree() -> None:
    validated = Validated(
        alphas=np.array([0.0, 1.0, 2.0, 3.0]),
        risks=np.array([10.0, 8.0, 8.0, 9.0]),
        errors=np.array([2.0, 2.0, 0.9, 2.0]),
    )

    assert chosen_alpha(validated, standard_errors=0.0) == 2.0
    assert chosen_alpha(validated, standard_errors=1.0) == 2.0
    assert chosen_alpha(validated, standard_errors=1.2) == 3.0


@given(datasets(), st.sampled_from(["c45", "c45r8"]), st.sampled_from(["c45", "j48", "exact"]))
def test_pessimistic_pruning_never_makes_a_tree_larger(
    data: Dataset, preset: str, bound: str
) -> None:
    full = learn(data, resolve(preset, {"pruning": "none", "min_weight": 1.0}))
    pruned = learn(data, resolve(preset, {"bound": bound, "min_weight": 1.0}))

    assert len(pruned) <= len(full)
    assert pruned.weight[0] == pytest.approx(full.weight[0])


@given(datasets(most_rows=20))
def test_reduced_error_never_predicts_the_validation_rows_worse(data: Dataset) -> None:
    held = np.arange(len(data.target)) % 3 == 1
    if not (held.any() and (data.weights[~held] > 0).any()) or np.isnan(data.values).any():
        return
    params = Params(pruning="reduced_error")
    pruned = study(Task(data, params, validation=held)).tree
    full = learn(
        Dataset(data.attributes, data.classes, data.values[~held], data.target[~held],
                data.weights[~held]), Params()
    )  # fmt: skip

    assert errors(data, pruned, held) <= errors(data, full, held) + 1e-9


def errors(data: Dataset, tree: Tree, rows: np.ndarray) -> float:
    compiled = compile_tree(tree, data.attributes, data.classes)
    found = predict(compiled, data.values[rows]).classes
    return float(data.weights[rows][found != data.target[rows]].sum())


@given(datasets(), grow_params(), st.sampled_from([2.0, 4.0]))
def test_doubling_all_weights_changes_nothing_but_weights(
    data: Dataset, params: Params, factor: float
) -> None:
    params = replace(params, min_weight=0.0)
    heavy = replace(data, weights=data.weights * factor)
    once, twice = learn(data, params), learn(heavy, params)

    np.testing.assert_array_equal(once.attribute, twice.attribute)
    np.testing.assert_allclose(once.share, twice.share)
    np.testing.assert_allclose(once.distribution * factor, twice.distribution)


@given(datasets(), st.sampled_from(["gain", "gini"]), st.randoms(use_true_random=False))
def test_the_order_of_attributes_decides_ties_only(
    data: Dataset, criterion: str, random: random.Random
) -> None:
    order = list(range(len(data.attributes)))
    random.shuffle(order)
    shuffled = replace(
        data,
        attributes=tuple(data.attributes[number] for number in order),
        values=np.asfortranarray(data.values[:, order]),
    )
    params = Params(criterion=criterion, max_depth=1)
    once, again = learn(data, params), learn(shuffled, params)

    assert np.nan_to_num(once.gain[0]) == pytest.approx(np.nan_to_num(again.gain[0]), abs=1e-9)
    np.testing.assert_allclose(once.distribution[0], again.distribution[0])
