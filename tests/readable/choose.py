"""Which of the attributes' candidates is split on, and what its value costs there."""

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

import numpy as np

from service.tree.arrays import Floats
from service.tree.context import Context
from service.tree.criterion import first_best
from service.tree.dataset import Dataset
from tests.readable.candidate import Candidate

CostRule: TypeAlias = Callable[[Floats, Floats, float], Floats]  # gains, costs, exponent -> worth


def gain_per_cost(gains: Floats, costs: Floats, _exponent: float) -> Floats:
    """Norton's IDX."""
    return gains / costs


def gain_squared_per_cost(gains: Floats, costs: Floats, _exponent: float) -> Floats:
    """Tan and Schlimmer's CS-ID3."""
    return gains * gains / costs


def power_per_cost(gains: Floats, costs: Floats, exponent: float) -> Floats:
    """Nunez' EG2; the exponent is from 0 (cost is ignored) to 1."""
    worth: Floats = (np.exp2(gains) - 1.0) / (costs + 1.0) ** exponent
    return worth


COST_RULES: dict[str, CostRule] = {
    "gain_per_cost": gain_per_cost,
    "gain_squared_per_cost": gain_squared_per_cost,
    "power_per_cost": power_per_cost,
}
NO_COST = 1e-6  # of the largest cost: what a free attribute counts as where cost divides


def choose(
    context: Context, found: Sequence[Candidate], tested: Collection[int]
) -> Candidate | None:
    """The candidate to split on, the first of equals; None where nothing is gained."""
    gains = np.array([candidate.gain for candidate in found])
    worth = gains
    if context.params.criterion == "gain_ratio":
        infos = np.array([candidate.split_info for candidate in found])
        worth = gains / np.where(infos > 0, infos, np.inf)
    if context.params.cost_rule != "none":
        costs = effective_costs(context.data, [each.attribute for each in found], tested)
        rule = COST_RULES[context.params.cost_rule]
        if context.params.cost_rule != "power_per_cost":
            dearest = max(attribute.cost for attribute in context.data.attributes)
            costs = np.maximum(costs, NO_COST * max(dearest, NO_COST))
        # the ratio stands in for the gain in the first rule only
        taken = worth if context.params.cost_rule == "gain_per_cost" else gains
        worth = rule(taken, costs, context.params.cost_exponent)
    worth = np.where(gains > context.tie, worth, -np.inf)
    if context.params.criterion == "gain_ratio":
        # ratios are large by accident where there is hardly any gain
        worth = np.where(gains >= gains.mean() - context.tie, worth, -np.inf)
    best = found[first_best(worth, context.tie)]
    return best if best.gain > context.tie else None


def effective_costs(data: Dataset, attributes: Sequence[int], tested: Collection[int]) -> Floats:
    """What each attribute costs where others have been tested above: nothing if it was itself."""
    groups = {data.attributes[number].group for number in tested}
    costs = []
    for number in attributes:
        described = data.attributes[number]
        shared = 0.0
        if described.group is not None and described.group not in groups:
            shared = data.group_costs.get(described.group, 0.0)
        costs.append(0.0 if number in tested else described.cost + shared)
    return np.array(costs)
