"""The best division of categories into two sets.

With two classes, or a number to predict, some best division is a prefix of the categories ordered
by the chance of a class (or the mean): Fisher 1958, Breiman et al. 1984. With more classes all
divisions of few categories are tried; of many, the prefixes of several orders, then single moves.
"""

from typing import Any

import numpy as np

from service.tree.kernels.compile import kernel
from service.tree.kernels.rooms import KNOWN, LEFT, Rules
from service.tree.kernels.score import SQUARED_ERROR, weight_of
from service.tree.kernels.sets import divided

MOST_TRIED = 10  # categories of which all divisions are tried
MOST_GROUPED = 6  # classes of which all groupings give an order
TURNS = 100  # of the power iteration


@kernel
def best_subset(rules: Rules, n_values: int, sides: Any, line: int, table: Any, sums: Any) -> bool:
    """Whether two sets can be made; then 0 is the side of the first category that is here."""
    present = np.empty(n_values, np.int64)
    n_present = 0
    for category in range(n_values):
        if weight_of(rules.criterion, table, category) > 0:
            present[n_present] = category
            n_present += 1
    if n_present < 2:
        return False
    present = present[:n_present]
    chosen = np.zeros(n_present, np.int64)
    is_plain = rules.criterion == SQUARED_ERROR or sums.shape[1] == 2
    tie = rules.tie * weight_of(rules.criterion, sums, KNOWN)
    if not is_plain and n_present <= MOST_TRIED:
        best = _best_of_all(rules, present, chosen, tie, table, sums)
    else:
        best = _best_prefix(rules, present, chosen, tie, table, sums)
        if best > -np.inf and not is_plain:
            _climb(rules, present, chosen, best, tie, table, sums)
    sides[line, :n_values] = 0
    for place in range(n_present):
        sides[line, present[place]] = chosen[place] ^ chosen[0]
    return best > -np.inf


@kernel
def _value(rules: Rules, present: Any, side: Any, table: Any, sums: Any) -> float:
    """What a division scores."""
    sums[LEFT] = 0.0
    for place in range(len(present)):
        if side[place] == 0:
            for number in range(sums.shape[1]):
                sums[LEFT, number] += table[present[place], number]
    return divided(rules, sums)


@kernel
def _best_of_all(
    rules: Rules, present: Any, chosen: Any, tie: float, table: Any, sums: Any
) -> float:
    """The best score of all divisions, by the set with the first category, smaller sets first."""
    best, n_others = -np.inf, len(present) - 1
    side, members = np.empty(len(present), np.int64), np.zeros(len(present), np.int64)
    for size in range(n_others):
        for place in range(size):
            members[place] = place + 1
        while True:
            side[:] = 1
            side[0] = 0
            for place in range(size):
                side[members[place]] = 0
            here = _value(rules, present, side, table, sums)
            if here > best + tie or (best == -np.inf and here > best):
                best = here
                chosen[:] = side
            if not _next(members, size, n_others):
                break
    return best


@kernel
def _next(members: Any, size: int, most: int) -> bool:
    """Whether there is another choice of so many of 1 ... most, in lexical order; it is made."""
    at = size - 1
    while at >= 0 and members[at] == most - (size - 1 - at):
        at -= 1
    if at < 0:
        return False
    members[at] += 1
    for place in range(at + 1, size):
        members[place] = members[place - 1] + 1
    return True


@kernel
def _best_prefix(
    rules: Rules, present: Any, chosen: Any, tie: float, table: Any, sums: Any
) -> float:
    """The best score of a prefix of any of the orders; of equals the shortest of the first."""
    best, n_classes = -np.inf, sums.shape[1]
    keys = np.empty(len(present))
    if rules.criterion == SQUARED_ERROR or n_classes == 2:
        for place in range(len(present)):
            category = present[place]
            keys[place] = table[category, 1] / weight_of(rules.criterion, table, category)
        return _along(rules, present, keys, chosen, best, tie, table, sums)
    if n_classes <= MOST_GROUPED:
        return _by_groups(rules, present, keys, chosen, tie, table, sums)
    single = np.zeros(1, np.int64)
    for number in range(n_classes):
        single[0] = number + 1
        _chances(present, single, keys, table)
        best = _along(rules, present, keys, chosen, best, tie, table, sums)
    _principal(present, keys, table, sums)
    return _along(rules, present, keys, chosen, best, tie, table, sums)


@kernel
def _by_groups(
    rules: Rules, present: Any, keys: Any, chosen: Any, tie: float, table: Any, sums: Any
) -> float:
    """The best score of a prefix of the orders by the chance of any group of classes."""
    best, n_classes = -np.inf, sums.shape[1]
    members = np.zeros(n_classes, np.int64)
    for size in range(1, n_classes // 2 + 1):
        for place in range(size):
            members[place] = place + 1
        while True:
            _chances(present, members[:size], keys, table)
            best = _along(rules, present, keys, chosen, best, tie, table, sums)
            if not _next(members, size, n_classes):
                break
    return best


@kernel
def _chances(present: Any, members: Any, keys: Any, table: Any) -> None:
    """Per category the chance of these classes, which are counted from 1 on."""
    for place in range(len(present)):
        line = table[present[place]]
        keys[place] = 0.0
        for member in range(len(members)):
            keys[place] += line[members[member] - 1] / line.sum()


@kernel
def _along(
    rules: Rules,
    present: Any,
    keys: Any,
    chosen: Any,
    best: float,
    tie: float,
    table: Any,
    sums: Any,
) -> float:
    """The best score, also of the prefixes of one order; what is better is chosen."""
    order = np.argsort(keys, kind="mergesort")
    left = np.zeros(sums.shape[1])
    at = -1
    for place in range(len(present) - 1):
        for number in range(len(left)):
            left[number] += table[present[order[place]], number]
        sums[LEFT] = left
        here = divided(rules, sums)
        if here > best + tie or (best == -np.inf and here > best):
            best, at = here, place
    if at >= 0:
        chosen[:] = 1
        for place in range(at + 1):
            chosen[order[place]] = 0
    return best


@kernel
def _principal(present: Any, keys: Any, table: Any, sums: Any) -> None:
    """Per category its score on the direction in which the chances of classes differ most."""
    n_classes = sums.shape[1]
    mean = sums[KNOWN] / sums[KNOWN].sum()
    direction, turned = np.empty(n_classes), np.empty(n_classes)
    for number in range(n_classes):
        direction[number] = 1.0 + number  # no direction that the classes have in common
    for _turn in range(TURNS):
        turned[:] = 0.0
        for place in range(len(present)):
            line = table[present[place]]
            weight, along = line.sum(), 0.0
            for number in range(n_classes):
                along += (line[number] / weight - mean[number]) * direction[number]
            keys[place] = along
            for number in range(n_classes):
                turned[number] += weight * along * (line[number] / weight - mean[number])
        length = np.sqrt((turned * turned).sum())
        if length <= 0:
            return
        direction[:] = turned / length


@kernel
def _climb(
    rules: Rules, present: Any, chosen: Any, best: float, tie: float, table: Any, sums: Any
) -> None:
    """Makes all single moves of a category that gain."""
    best = _value(rules, present, chosen, table, sums)
    while True:
        at, most = -1, best
        for place in range(len(present)):
            chosen[place] ^= 1
            here = _value(rules, present, chosen, table, sums)
            chosen[place] ^= 1
            if here > most + tie:
                at, most = place, here
        if at < 0:
            return
        chosen[at] ^= 1
        best = most
