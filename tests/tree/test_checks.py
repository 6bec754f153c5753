"""Parameters: what can be said, and what contradicts what."""

from typing import Any

import pytest

from service.tree.bounds import BOUNDS
from service.tree.checks import contradictions
from service.tree.compiled import ESTIMATES
from service.tree.cost_complexity import LINKS, RISKS
from service.tree.criterion import CRITERIA
from service.tree.engine import CATEGORICAL, COST_RULES
from service.tree.learn import LEARNERS
from service.tree.params import CHOICES, PRESETS, resolve


@pytest.mark.parametrize(
    ("name", "functions"),
    [
        ("criterion", CRITERIA), ("categorical", CATEGORICAL), ("bound", BOUNDS),
        ("pruning", LEARNERS), ("leaf_estimate", ESTIMATES), ("links", LINKS), ("risk", RISKS),
        ("cost_rule", ["none", *COST_RULES]),
    ],
)  # fmt: skip
def test_every_choice_has_its_function_and_every_function_can_be_chosen(
    name: str, functions: Any
) -> None:
    assert set(CHOICES[name]) == set(functions)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_does_not_contradict_itself(preset: str) -> None:
    assert [] == list(contradictions(PRESETS[preset], {}, is_regression=False, has_costs=False))


@pytest.mark.parametrize(
    ("preset", "overrides", "named"),
    [
        ("id3", {"confidence": 0.1}, "confidence"),
        ("c45", {"criterion": "gini"}, "criterion"),
        ("c45", {"criterion": "gain"}, "criterion"),
        ("c45", {"categorical": "subset"}, "categorical"),
        ("c45", {"missing": "own_branch"}, "missing"),
        ("c45", {"min_weight": 0.0}, "min_weight"),
        ("cart", {"categorical": "multiway"}, "categorical"),
        ("cart", {"missing": "own_branch"}, "missing"),
        ("cart", {"alpha": 1.0, "folds": 5}, "folds"),
        ("id3", {"numeric_penalty": True}, "numeric_penalty"),
        ("id3", {"cost_exponent": 0.5}, "cost_exponent"),
        ("id3", {"estimate_weight": 2.0}, "estimate_weight"),
        ("id3", {"criterion": "squared_error"}, "criterion"),
        ("id3", {"cost_rule": "gain_per_cost"}, "cost_rule"),
        ("auto", {"criterion": "gini"}, "criterion"),
    ],
)
def test_a_contradiction_names_the_parameter(
    preset: str, overrides: dict[str, Any], named: str
) -> None:
    params = resolve(preset, overrides)
    found = contradictions(params, overrides, is_regression=False, has_costs=False)

    assert named in dict(found)


@pytest.mark.parametrize("preset", ["id3", "c45", "gini"])
def test_a_number_is_not_learned_with_a_criterion_for_classes(preset: str) -> None:
    found = contradictions(PRESETS[preset], {}, is_regression=True, has_costs=False)

    assert "criterion" in dict(found)
