"""Presets `rpart` and `cart` beside rpart 4.1.19 and scikit-learn 1.9.1.

rpart, usesurrogate=0: on every set, with nulls or without, the tree grown in full
(`grown_gini_cp_minus1`), and the whole cptable of `full_gini`, `full_information` and `full_anova`:
CP, nsplit, rel error, and xerror and xstd on the given folds. Rows that know nothing are left out,
as rpart's na.action does. rpart tells CPs apart that differ in the last bit only; of those we have
one, and compare it with the row of the same number of splits.

scikit-learn shuffles attributes, so ties go anywhere: from it the pruning path only, whose alphas
and leaves do not depend on which of the equal splits was taken.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest

from service.tree.cost_complexity import Sequence, merged, sequence
from service.tree.cross_validation import cross_validated
from service.tree.dataset import Dataset, rows_of
from service.tree.learn import learn
from service.tree.nodes import Tree
from service.tree.params import Params, resolve
from service.tree.pruners import Task, sequence_tree
from tests.oracles.compare import Rule, differences
from tests.oracles.sets import CLASSIFICATION, COMPLETE, REGRESSION, expected, oracle_set

CRITERION = {
    "grown_gini_cp_minus1": "gini",
    "full_gini": "gini",
    "full_information": "gain",
    "full_anova": "squared_error",
    "gini": "gini",
    "entropy": "gain",
}
CPTABLES = [
    *((name, run) for name in CLASSIFICATION for run in ("full_gini", "full_information")),
    *((name, "full_anova") for name in REGRESSION),
]
PRINTED = 2e-8  # eight decimals


def params(run: str, preset: str = "rpart", **changes: Any) -> Params:
    return resolve(preset, {"pruning": "none", "criterion": CRITERION[run], **changes})


def knowing(name: str) -> np.ndarray:
    """Which rows know anything; rpart drops the others."""
    return ~np.isnan(oracle_set(name).data.values).all(axis=1)


@cache
def data_of(name: str) -> Dataset:
    return rows_of(oracle_set(name).data, knowing(name))


@cache
def full_tree(name: str, run: str) -> Tree:
    return merged(sequence_tree(Task(data_of(name), params(run))), "misclassification")


@cache
def found(name: str, run: str) -> Sequence:
    return sequence(full_tree(name, run), "misclassification")


def table(name: str, run: str) -> list[dict[str, Any]]:
    """The rows of rpart's cptable that have the number of splits of ours, by ascending CP."""
    rows = {row["nsplit"]: row for row in expected("rpart", name, run)["cptable"]}
    return [rows[leaves - 1] for leaves in found(name, run).n_leaves.tolist()]


@pytest.mark.parametrize("name", CLASSIFICATION)
def test_the_grown_tree_is_rparts(name: str) -> None:
    told = expected("rpart", name, "grown_gini_cp_minus1")
    tree = learn(data_of(name), params("grown_gini_cp_minus1"))

    assert [] == list(differences(tree, told["tree"], data_of(name).attributes, Rule(1e-6)))
    assert told["nodes"] == len(tree)


@pytest.mark.parametrize(("name", "run"), CPTABLES)
def test_the_cptable_is_rparts(name: str, run: str) -> None:
    ours, told = found(name, run), table(name, run)
    root = ours.risks[-1]
    for values, title in ((ours.alphas, "CP"), (ours.risks, "rel error")):
        wanted = [row[title] for row in told]
        np.testing.assert_allclose(values / root, wanted, rtol=0, atol=PRINTED)


@pytest.mark.parametrize(("name", "run"), CPTABLES)
def test_every_row_of_rparts_cptable_is_in_ours_up_to_rounding(name: str, run: str) -> None:
    ours = found(name, run)
    for row in expected("rpart", name, run)["cptable"]:
        assert np.abs(ours.alphas / ours.risks[-1] - row["CP"]).min() < PRINTED


@pytest.mark.parametrize(("name", "run"), CPTABLES)
def test_the_cross_validated_risk_is_rparts_xerror(name: str, run: str) -> None:
    ours, told, task = found(name, run), table(name, run), Task(data_of(name), params(run))
    folds = oracle_set(name).folds[knowing(name)]
    validated = cross_validated(
        task.data, lambda rows: sequence_tree(task, rows), task.params, folds, ours.alphas
    )
    for values, title in ((validated.risks, "xerror"), (validated.errors, "xstd")):
        wanted = [row[title] for row in told]
        np.testing.assert_allclose(values / ours.risks[-1], wanted, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in CLASSIFICATION if name in COMPLETE])
def test_without_nulls_cart_is_rpart(name: str) -> None:
    """Preset cart routes nulls down every branch; where there are none it has the same sequence."""
    tree = sequence_tree(Task(data_of(name), params("full_gini", preset="cart")))
    ours = sequence(merged(tree, "misclassification"), "misclassification")

    np.testing.assert_allclose(ours.alphas, found(name, "full_gini").alphas, atol=1e-9)
    np.testing.assert_array_equal(ours.n_leaves, found(name, "full_gini").n_leaves)


@pytest.mark.parametrize("run", ["gini", "entropy"])
def test_the_pruning_path_of_iris_is_scikit_learns(run: str) -> None:
    asked = params(run, preset="cart", risk="impurity", links="weakest_link")
    tree = merged(sequence_tree(Task(data_of("iris"), asked)), "impurity")
    ours = sequence(tree, "impurity")
    told = expected("sklearn", "iris", run)["ccp_path"]["leaves_at_alpha"]

    assert [leaves for _, leaves in told] == ours.n_leaves.tolist()
    np.testing.assert_allclose(ours.alphas / 150, [alpha for alpha, _ in told], rtol=0, atol=1e-9)
