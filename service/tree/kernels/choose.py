"""Which of the attributes' splits is made."""

from typing import Any

import numpy as np

from service.tree.kernels.compile import lean
from service.tree.kernels.rooms import (
    ATTRIBUTE,
    FOUND,
    GAIN_HERE,
    GAIN_PER_COST,
    GROUP,
    INFO,
    IS_COUNTED,
    NO_COST,
    PARENT,
    POWER_PER_COST,
    R8,
    RPART,
    TESTED,
    TEXTBOOK,
    Nodes,
    Rules,
)
from service.tree.kernels.rpart import choose_rpart

NEARLY = 1e-3  # how far below the average a gain may lie to C4.5
LEAST_INFO = 1e-3  # to Release 8 a split info not above this makes no ratio
CHEAPEST = 1e-6  # of the largest cost: what a free attribute counts as where cost divides


@lean
def choose(rules: Rules, found: Any, facts: Any, costs: Any, nodes: Nodes, node: int) -> int:
    """The attribute to split on, the first of equals; -1 where none is worth it."""
    if rules.fine_print == TEXTBOOK:
        best = _choose_textbook(rules, found, facts, costs, nodes.links, node)
    elif rules.fine_print == RPART:
        best = choose_rpart(rules, found, nodes.numbers, node)
    else:
        best = _choose_c45(rules, found, facts)
    if best >= 0 and found[best, GAIN_HERE] < rules.min_gain - rules.tie:
        return -1
    return best


@lean
def _choose_textbook(
    rules: Rules, found: Any, facts: Any, costs: Any, links: Any, node: int
) -> int:
    average, best, most = _average(found, facts, False), -1, -np.inf
    for attribute in range(len(found)):
        gain = found[attribute, GAIN_HERE]
        if found[attribute, FOUND] == 0 or not gain > rules.tie:
            continue
        if rules.by_ratio and gain < average - rules.tie:
            continue  # ratios are large by accident where there is hardly any gain
        worth = gain
        if rules.by_ratio:
            info = found[attribute, INFO]
            worth = gain / info if info > 0 else 0.0
        if rules.cost_rule != NO_COST:
            cost = cost_of(facts, costs, links, node, attribute)
            worth = _per_cost(rules, costs, gain, worth, cost)
        if worth > most + rules.tie or best < 0:
            best, most = attribute, worth
    return best


@lean
def _average(found: Any, facts: Any, is_picky: bool) -> float:
    """The mean gain of the attributes with a split, or of those that count; NaN for none."""
    total, n_found, any_counts = 0.0, 0, False
    for attribute in range(len(found)):
        any_counts = any_counts or facts[attribute, IS_COUNTED] == 1
    for attribute in range(len(found)):
        counts = facts[attribute, IS_COUNTED] == 1 or not any_counts or not is_picky
        if found[attribute, FOUND] > 0 and counts:
            total += found[attribute, GAIN_HERE]
            n_found += 1
    return total / n_found if n_found > 0 else np.nan


@lean
def _per_cost(rules: Rules, costs: Any, gain: float, worth: float, cost: float) -> float:
    """What a gain is worth at its cost; the ratio stands in for it in the first rule only."""
    if rules.cost_rule == POWER_PER_COST:
        return float((2.0**gain - 1.0) / (cost + 1.0) ** rules.cost_exponent)
    dearest = CHEAPEST
    for attribute in range(costs.shape[1]):
        dearest = max(dearest, costs[0, attribute])
    cost = max(cost, CHEAPEST * dearest)
    return worth / cost if rules.cost_rule == GAIN_PER_COST else gain * gain / cost


@lean
def cost_of(facts: Any, costs: Any, links: Any, node: int, attribute: int) -> float:
    """What an attribute costs here: nothing if it was tested above, its group's cost but once."""
    group, is_tested, is_shared = facts[attribute, GROUP], facts[attribute, TESTED] == 1, False
    for other in range(len(facts)):
        is_shared = is_shared or (facts[other, TESTED] == 1 and facts[other, GROUP] == group)
    while node > 0:
        node = links[node, PARENT]
        tested = links[node, ATTRIBUTE]
        is_tested = is_tested or tested == attribute
        is_shared = is_shared or facts[tested, GROUP] == group
    if is_tested:
        return 0.0
    return float(costs[0, attribute] + (costs[1, group] if group >= 0 and not is_shared else 0.0))


@lean
def _choose_c45(rules: Rules, found: Any, facts: Any) -> int:
    """The largest gain ratio (or gain) among gains that are nearly average."""
    average = _average(found, facts, True)
    if np.isnan(average):
        return -1
    average = average - NEARLY if rules.by_ratio else -np.inf
    least = LEAST_INFO if rules.fine_print == R8 and rules.by_ratio else 0.0
    best, most = -1, -NEARLY if rules.fine_print == R8 else 0.0
    for attribute in range(len(found)):
        gain, info = found[attribute, GAIN_HERE], found[attribute, INFO]
        if found[attribute, FOUND] == 0 or gain < average or info <= least:
            continue
        worth = gain / info if rules.by_ratio else gain
        if worth > most + rules.tolerance:
            best, most = attribute, worth
    return best
