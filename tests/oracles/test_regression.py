"""Regression beside scikit-learn 1.9.1 and Weka 3.6.14's REPTree; rpart anova is in test_cart.

Attributes that divide a few rows alike are common, and each program takes another of them: splits
are compared at nodes of at least the weight that `FEWEST` names. scikit-learn's pruning path does
not depend on that. REPTree scores nulls otherwise than we do, so its tree is compared on complete
sets; how it routes rows with nulls is compared on all sets, by routing them through its own tree.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest

from service.tree.compiled import compile_tree
from service.tree.cost_complexity import merged, sequence
from service.tree.learn import learn
from service.tree.nodes import Tree
from service.tree.params import Params, resolve
from service.tree.predict import predict
from service.tree.pruners import Task, sequence_tree
from tests.oracles.compare import Rule, differences
from tests.oracles.reptree import tree_of
from tests.oracles.sets import REGRESSION, expected, oracle_set

FEWEST = {
    ("sklearn", "housing"): 47,
    ("weka_reptree", "housing"): 47,
    ("weka_reptree", "servo"): 0,
}


def params(**changes: Any) -> Params:
    fixed = {"criterion": "squared_error", "pruning": "none", "rules": "textbook"}
    return resolve("cart", {**fixed, **changes})


@cache
def multiway(name: str) -> Tree:
    return learn(oracle_set(name).data, params(categorical="multiway"))


def test_the_tree_is_scikit_learns_down_to_the_ties() -> None:
    told = expected("sklearn", "housing", "squared_error")["tree"]
    data, rule = oracle_set("housing").data, Rule(1e-6, fewest=FEWEST["sklearn", "housing"])

    assert [] == list(differences(learn(data, params()), told, data.attributes, rule))


def test_the_pruning_path_of_housing_is_scikit_learns() -> None:
    task = Task(oracle_set("housing").data, params(links="weakest_link"))
    found, n_rows = sequence(merged(sequence_tree(task), "impurity"), "impurity"), 506
    told = expected("sklearn", "housing", "squared_error")["ccp_path"]
    for alpha, impurity in zip(told["alphas"], told["impurities"], strict=True):
        # where several links are equally weak, it cuts one after the other and we cut all
        left = found.risks[found.alphas / n_rows <= alpha + 1e-9][-1] / n_rows

        assert np.abs(found.alphas / n_rows - alpha).min() < 1e-6
        assert left >= impurity - 1e-6


@pytest.mark.parametrize("name", ["housing", "servo"])
def test_the_multiway_tree_is_reptrees(name: str) -> None:
    told = expected("weka_reptree", name, "nopruning_M1")
    rule = Rule(1e-6, fewest=FEWEST["weka_reptree", name])
    attributes = oracle_set(name).data.attributes

    assert [] == list(differences(multiway(name), told["tree"], attributes, rule))


@pytest.mark.parametrize("name", REGRESSION)
def test_rows_with_nulls_are_routed_as_reptree_routes_them(name: str) -> None:
    one, told = oracle_set(name), expected("weka_reptree", name, "nopruning_M1")
    tree = tree_of(told["tree"], one.data.attributes)
    compiled = compile_tree(tree, one.data.attributes, one.data.classes)
    answers = predict(compiled, one.probe).means

    np.testing.assert_allclose(answers, told["probe"]["pred"], rtol=0, atol=1e-6)


def test_the_probe_rows_of_servo_are_answered_as_reptree_does() -> None:
    one = oracle_set("servo")
    told = expected("weka_reptree", "servo", "nopruning_M1")["probe"]["pred"]
    compiled = compile_tree(multiway("servo"), one.data.attributes, one.data.classes)

    np.testing.assert_allclose(predict(compiled, one.probe).means, told, rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", REGRESSION)
def test_who_knows_nothing_is_told_the_mean_that_reptree_tells(name: str) -> None:
    one = oracle_set(name)
    told = expected("weka_reptree", name, "nopruning_M1")["probe"]["pred"]
    compiled = compile_tree(multiway(name), one.data.attributes, one.data.classes)

    assert predict(compiled, one.probe).means[0] == pytest.approx(told[0], rel=1e-8)
