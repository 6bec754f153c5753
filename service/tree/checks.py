"""Parameters that contradict each other, each told with both sides."""

from collections.abc import Iterator, Mapping
from typing import Any

from service.tree.params import Params

C45_RULES = ("j48", "r8")
RPART_CRITERIA = ("gini", "gain", "squared_error")
FITTING = {  # parameters that mean something for some ways of pruning only
    "confidence": ("pessimistic",),
    "bound": ("pessimistic",),
    "raising": ("pessimistic",),
    "alpha": ("penalised", "cost_complexity"),
    "risk": ("cost_complexity",),
    "links": ("cost_complexity",),
    "folds": ("cost_complexity", "auto"),
    "standard_errors": ("cost_complexity", "auto"),
    "validation": ("hold_out", "reduced_error"),
    "prune_ties": ("reduced_error",),
    "seconds": ("auto",),
}
CHOSEN_BY_AUTO = (
    "criterion",
    "categorical",
    "rules",
    "cut",
    "numeric_penalty",
    "collapse",
    "bound",
)


RULES_ELSE = "say rules = textbook beside it"


def contradictions(
    params: Params, overrides: Mapping[str, Any], *, is_regression: bool, has_costs: bool
) -> Iterator[tuple[str, str]]:
    """Pairs of a parameter and a sentence that says what it contradicts."""
    yield from _of_task(params, is_regression=is_regression)
    yield from _of_rules(params)
    yield from _of_rpart(params)
    yield from _of_company(params, overrides)
    yield from _of_search(params, overrides)
    yield from _of_costs(params, has_costs=has_costs)
    for name in overrides:
        if name in FITTING and params.pruning not in FITTING[name]:
            fits = " or ".join(FITTING[name])
            yield name, f"{name} is for pruning = {fits}, but pruning is {params.pruning}"
        if name in CHOSEN_BY_AUTO and params.pruning == "auto":
            yield name, f"{name} is chosen by pruning = auto; name a preset to set it yourself"


def _of_task(params: Params, *, is_regression: bool) -> Iterator[tuple[str, str]]:
    if is_regression:
        if params.criterion != "squared_error" and params.pruning != "auto":
            yield "criterion", f"the target is a number, but {params.criterion} is for classes"
        if params.pruning == "pessimistic":
            yield "pruning", "the target is a number, but pessimistic pruning counts errors"
        if params.leaf_estimate != "frequency":
            yield "leaf_estimate", f"the target is a number, {params.leaf_estimate} is for classes"
    elif params.criterion == "squared_error":
        yield "criterion", "squared_error is for a number, but the target has classes"


def _of_rules(params: Params) -> Iterator[tuple[str, str]]:
    if params.rules not in C45_RULES:
        return
    rules = f"rules = {params.rules}"
    if params.min_weight <= 0:
        yield "min_weight", f"{rules} need a min_weight above 0"
    if params.criterion not in ("gain_ratio", "gain"):
        yield "criterion", f"{rules} go with gain_ratio or gain, not with {params.criterion}"
    if params.rules == "j48" and params.criterion == "gain":
        yield "criterion", f"{rules} go with gain_ratio; plain gain is an option of r8"
    if params.categorical == "subset":
        yield "categorical", f"{rules} go with multiway or one_vs_rest splits, not with subset"
    if params.missing in ("own_branch", "majority", "stop"):
        yield "missing", f"{rules} go with fractional or drop, not with {params.missing}"
    if params.cost_rule != "none":
        yield "cost_rule", f"{rules} have a choice of their own, which knows no costs"


def _of_rpart(params: Params) -> Iterator[tuple[str, str]]:
    """What rpart's rules do not know; named where it was asked for, or where the rules were."""
    if params.rules != "rpart":
        return
    if params.criterion not in RPART_CRITERIA:
        yield "criterion", f"rules = rpart go with gini, gain or squared_error: {RULES_ELSE}"
    if params.categorical != "subset":
        yield "categorical", f"rules = rpart go with subset splits: {RULES_ELSE}"
    if params.missing == "own_branch":
        yield "missing", f"rules = rpart know no branch for null: {RULES_ELSE}"
    if params.cost_rule != "none":
        yield "cost_rule", f"rules = rpart know no costs: {RULES_ELSE}"


def _of_company(params: Params, overrides: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Parameters that mean nothing without another one."""
    if params.numeric_penalty and params.rules not in C45_RULES:
        yield "numeric_penalty", f"it is for rules = j48 or r8, but rules are {params.rules}"
    if "cost_exponent" in overrides and params.cost_rule != "power_per_cost":
        rule = params.cost_rule
        yield "cost_exponent", f"it is for cost_rule = power_per_cost, but cost_rule is {rule}"
    if "estimate_weight" in overrides and params.leaf_estimate != "m_estimate":
        estimate = params.leaf_estimate
        yield "estimate_weight", f"it is for leaf_estimate = m_estimate, which is {estimate}"
    if params.alpha is not None and params.pruning == "cost_complexity":
        for name in ("folds", "standard_errors"):
            if name in overrides:
                yield name, f"{name} is for choosing alpha, but alpha is given"


def _of_search(params: Params, overrides: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if params.search == "histogram" and params.rules != "textbook":
        yield "search", f"histogram is for rules = textbook, but rules are {params.rules}"
    if "bins" in overrides and params.search != "histogram":
        yield "bins", f"it is for search = histogram, but search is {params.search}"


def _of_costs(params: Params, *, has_costs: bool) -> Iterator[tuple[str, str]]:
    if params.cost_rule != "none" and not has_costs:
        yield "cost_rule", "no attribute has a cost, so that cost_rule has nothing to go by"
