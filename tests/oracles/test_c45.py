"""Preset `c45` beside J48 (Weka 3.9.7), and `c45r8` beside Quinlan's Release 8.

J48: on every classification set the runs of `J48`, node by node: attribute, gap of the cut, weights
and distributions to 1e-7, shares of the branches; and the probabilities of the probe rows and of
the training rows with a null to 1e-9. Structure may be demanded everywhere: J48 compares with a
tolerance, so its ties go to the first attribute, the lowest cut and the first class, as ours do.

Release 8, built in double precision: the runs of `R8`, printed to six places for nodes and seven
for probabilities. It breaks ties by rounding, so the sets in `TIED` are left out of its runs.

Predicted classes are compared only where the two best probabilities are 1e-6 apart.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest

from service.tree.arrays import Floats
from service.tree.compiled import compile_tree
from service.tree.dataset import Dataset
from service.tree.learn import learn
from service.tree.nodes import Tree
from service.tree.params import resolve
from service.tree.predict import predict
from tests.oracles.compare import Rule, differences
from tests.oracles.sets import CLASSIFICATION, expected, oracle_set

TEXTBOOK = {"pruning": "none", "collapse": False, "numeric_penalty": False, "cut": "midpoint"}
J48: dict[str, dict[str, Any]] = {
    "default_pruned": {},
    "U_M2": {"pruning": "none", "min_weight": 2},
    "U_M1": {"pruning": "none", "min_weight": 1},
    "U_M1_nocollapse": {"pruning": "none", "min_weight": 1, "collapse": False},
    "U_M1_nocollapse_noMDL_midpoint": {**TEXTBOOK, "min_weight": 1},
    "U_M2_nocollapse_noMDL_midpoint": {**TEXTBOOK, "min_weight": 2},
}
# pruning keeps the gain that a raised node had before it was raised
GROWN = [run for run in J48 if run != "default_pruned"]

R8: dict[str, dict[str, Any]] = {
    f"{criterion}_m{least}_{stage}": {
        "min_weight": least,
        **({"pruning": "none"} if stage == "unpruned" else {}),
        **({"criterion": "gain"} if criterion == "gain" else {}),
    }
    for criterion in ("ratio", "gain")
    for least in (1, 2)
    for stage in ("unpruned", "pruned_cf25")
}
# seen as ties: J48, which is the same but for them, splits otherwise at just these nodes
TIED = {
    ("zoo", "ratio_m1_unpruned"),  # the root: milk and feathers both have a ratio of exactly 1
    ("zoo", "ratio_m1_pruned_cf25"),
    ("zoo", "ratio_m2_unpruned"),
    ("zoo", "ratio_m2_pruned_cf25"),
    ("vote", "ratio_m2_unpruned"),  # two attributes that divide a few rows alike
    ("labor", "ratio_m1_unpruned"),  # a side that weighs just what the window asks for
    ("labor", "ratio_m1_pruned_cf25"),
    ("crx", "gain_m1_unpruned"),  # A2 and A11 gain 0.9494520153879492 each, at a node of 3.17
    ("crx", "gain_m2_unpruned"),  # a side of A14 weighs just the 2 that are asked for
}
R8_CASES = [(name, run) for name in CLASSIFICATION for run in R8 if (name, run) not in TIED]


@cache
def learned(preset: str, name: str, run: str) -> Tree:
    overrides = J48[run] if preset == "c45" else R8[run]
    return learn(oracle_set(name).data, resolve(preset, overrides))


def probabilities(tree: Tree, data: Dataset, values: Floats) -> Floats:
    compiled = compile_tree(tree, data.attributes, data.classes)
    return predict(compiled, values).probabilities


def assert_same_answers(preset: str, oracle: str, name: str, run: str, tolerance: float) -> None:
    """The probe rows and the training rows with a null are answered as the oracle does."""
    one, told = oracle_set(name), expected(oracle, name, run)
    tree, rows = learned(preset, name, run), told["missing_rows"]
    found = probabilities(tree, one.data, one.probe)
    np.testing.assert_allclose(found, told["probe"]["dist"], rtol=0, atol=tolerance)
    if rows["row"]:
        found = probabilities(tree, one.data, one.data.values[rows["row"]])
        np.testing.assert_allclose(found, rows["dist"], rtol=0, atol=tolerance)


@pytest.mark.parametrize("run", J48)
@pytest.mark.parametrize("name", CLASSIFICATION)
def test_the_tree_is_j48s_node_by_node(name: str, run: str) -> None:
    told = expected("j48_weka39", name, run)
    tree = learned("c45", name, run)

    assert [] == list(differences(tree, told["tree"], oracle_set(name).data.attributes))
    assert told["nodes"] == len(tree)


@pytest.mark.parametrize("run", GROWN)
@pytest.mark.parametrize("name", CLASSIFICATION)
def test_the_gain_of_every_split_is_j48s(name: str, run: str) -> None:
    told, rule = expected("j48_weka39", name, run)["tree"], Rule(gains=True)
    attributes = oracle_set(name).data.attributes

    assert [] == list(differences(learned("c45", name, run), told, attributes, rule))


@pytest.mark.parametrize("run", J48)
@pytest.mark.parametrize("name", CLASSIFICATION)
def test_rows_with_nulls_are_answered_as_j48_does(name: str, run: str) -> None:
    assert_same_answers("c45", "j48_weka39", name, run, tolerance=1e-9)


@pytest.mark.parametrize("name", CLASSIFICATION)
def test_the_trees_of_the_folds_predict_what_j48s_do(name: str) -> None:
    one = oracle_set(name)
    told = np.array(expected("j48_weka39", name, "default_pruned")["cv"]["pred"])
    found = np.empty((len(told), len(one.data.classes)))
    for fold in np.unique(one.folds):
        out = one.folds == fold
        tree = learn(some_rows(one.data, ~out), resolve("c45", {}))
        found[out] = probabilities(tree, one.data, one.data.values[out])
    best = np.sort(found, axis=1)
    clear = best[:, -1] - best[:, -2] > 1e-6

    np.testing.assert_array_equal(found.argmax(axis=1)[clear], told[clear])


def some_rows(data: Dataset, rows: np.ndarray) -> Dataset:
    return Dataset(
        data.attributes, data.classes, data.values[rows], data.target[rows], data.weights[rows]
    )


@pytest.mark.parametrize(("name", "run"), R8_CASES)
def test_the_tree_is_release_8s_node_by_node(name: str, run: str) -> None:
    told, rule = expected("c45r8_double", name, run), Rule(tolerance=2e-6)
    tree = learned("c45r8", name, run)

    assert [] == list(differences(tree, told["tree"], oracle_set(name).data.attributes, rule))
    assert told["nodes"] == len(tree)


@pytest.mark.parametrize(("name", "run"), R8_CASES)
def test_rows_with_nulls_are_answered_as_release_8_does(name: str, run: str) -> None:
    assert_same_answers("c45r8", "c45r8_double", name, run, tolerance=1e-7)
