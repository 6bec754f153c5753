"""What differs between a tree that an oracle told as nested nodes and a tree of ours."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from service.tree.arrays import Floats
from service.tree.attribute import Attribute, Kind
from service.tree.nodes import Operator, Tree

Told: TypeAlias = dict[str, Any]  # one node of the oracle, its children nested in it
Attributes: TypeAlias = tuple[Attribute, ...]

PRINTED = 1e-6  # how exactly the oracles that store no gap print their midpoints


@dataclass(frozen=True)
class Rule:
    """What of a node is compared, and how closely."""

    tolerance: float = 1e-7  # of weights, distributions and means: absolute and relative
    gains: bool = False  # also what the criterion gave the split
    stops_at_null: bool = False  # not below a split that some row at the node does not know
    fewest: float = 0.0  # not the splits of nodes of less weight, where ties are common


@dataclass(frozen=True)
class _Pair:
    """A node of the oracle, and ours that should be the same."""

    told: Told
    node: int
    path: str


def differences(
    tree: Tree, told: Told, attributes: Attributes, rule: Rule | None = None
) -> Iterator[str]:
    """In words what differs, top-down; below a split that differs nothing more is said."""
    rule = rule or Rule()
    stack = [_Pair(told, 0, "root")]
    while stack:
        pair = stack.pop()
        for text in [*_split(tree, pair, attributes, rule), *_numbers(tree, pair, rule)]:
            yield f"{pair.path}: {text}"
        if _goes_on(tree, pair, attributes, rule):
            below, faults = _below(tree, pair, attributes)
            yield from faults
            stack.extend(reversed(below))


def _goes_on(tree: Tree, pair: _Pair, attributes: Attributes, rule: Rule) -> bool:
    if "attr" not in pair.told or _attribute(tree, pair.node, attributes) != pair.told["attr"]:
        return False
    if tree.weight[pair.node] < rule.fewest:
        return False
    return not (rule.stops_at_null and pair.told["count_known"] < pair.told["n"])


def _split(tree: Tree, pair: _Pair, attributes: Attributes, rule: Rule) -> Iterator[str]:
    if tree.weight[pair.node] < rule.fewest:
        return
    wanted, found = pair.told.get("attr"), _attribute(tree, pair.node, attributes)
    if wanted != found:
        yield f"splits on {found}, not on {wanted}"
        return
    if rule.gains and "gain" in pair.told:
        yield from _far("gain", tree.gain[[pair.node]], [pair.told["gain"]], rule)
    is_cut = wanted is not None and attributes[tree.attribute[pair.node]].kind == Kind.NUMERIC
    if is_cut:
        yield from _cut(tree, pair)


def _cut(tree: Tree, pair: _Pair) -> Iterator[str]:
    for branch in _branches(tree, pair.node):
        if not _same_cut(pair.told, tree.value[branch]):
            where = pair.told.get("gap", pair.told["threshold"])
            yield f"cuts {pair.told['attr']} at {tree.value[branch]}, not at {where}"


def _same_cut(told: Told, threshold: float) -> bool:
    if "gap" in told:
        low, high = told["gap"]
        return bool(low <= threshold < high)
    return bool(np.isclose(threshold, told["threshold"], rtol=PRINTED, atol=PRINTED))


def _branches(tree: Tree, node: int) -> range:
    first = int(tree.first_child[node])
    return range(first, first + int(tree.n_branches[node]))


def _attribute(tree: Tree, node: int, attributes: Attributes) -> str | None:
    return None if tree.is_leaf[node] else attributes[tree.attribute[node]].name


def _numbers(tree: Tree, pair: _Pair, rule: Rule) -> Iterator[str]:
    for name, wanted in _told_numbers(pair.told).items():
        yield from _far(name, np.atleast_1d(getattr(tree, name)[pair.node]), wanted, rule)


def _told_numbers(told: Told) -> dict[str, list[float]]:
    """By the name of our column what the oracle says of the node."""
    if told.get("empty") or not sum(told.get("stats", [1])):
        return {"weight": [0.0], "share": [0.0]}  # what such a leaf answers is a matter of taste
    if "stats" in told and "mean" in told:
        squares, weight = told["stats"]
        return {"weight": [weight], "mean": [told["mean"]], "variance": [squares / weight]}
    if "stats" in told:
        return {"weight": [sum(told["stats"])], "distribution": told["stats"]}
    if "mean" in told:
        variance = told["dev"] / told["n"] if "dev" in told else told["impurity"]
        return {"weight": [told["n"]], "mean": [told["mean"]], "variance": [variance]}
    if "n" in told:
        return {"weight": [told["n"]], "distribution": told["dist"]}
    return {"probabilities": told["dist"]} if "dist" in told else {}


def _far(name: str, found: Floats, wanted: list[float], rule: Rule) -> Iterator[str]:
    if not np.allclose(found, wanted, rtol=rule.tolerance, atol=rule.tolerance):
        yield f"{name} is {np.array(found).tolist()}, not {wanted}"


def _below(tree: Tree, pair: _Pair, attributes: Attributes) -> tuple[list[_Pair], list[str]]:
    """The pairs of children, and what is said of branches that have no partner."""
    below, faults = [], []
    told, name = pair.told, pair.told["attr"]
    if tree.n_branches[pair.node] != len(told["children"]):
        faults.append(f"{pair.path}: {tree.n_branches[pair.node]} branches, not as told")
    shares, rounding = _shares(told)
    for place, child in enumerate(told["children"]):
        branch = _partner(tree, pair, child, attributes)
        path = f"{pair.path} / {name} {_condition(child)}"
        if branch is None:
            faults.append(f"{path}: no such branch")
            continue
        below.append(_Pair(child, branch, path))
        if shares and abs(tree.share[branch] - shares[place]) > 1e-7 + rounding:
            faults.append(f"{path}: share is {tree.share[branch]}, not {shares[place]}")
    return below, faults


def _shares(told: Told) -> tuple[list[float], float]:
    """The shares of the branches, and how far rounding to eight places can move them."""
    weights = told.get("branch_share", told.get("branch_weights", [1.0]))
    total = sum(weights)
    return [weight / total for weight in weights if len(weights) > 1], 1e-8 / total


def _condition(child: Told) -> str:
    return str(child.get("branch") or child.get("values") or f"= {child['value']}")


def _partner(tree: Tree, pair: _Pair, child: Told, attributes: Attributes) -> int | None:
    attribute = attributes[tree.attribute[pair.node]]
    branches = _branches(tree, pair.node)
    if attribute.kind == Kind.NUMERIC:
        wanted = Operator.AT_MOST if child["branch"] in ("<", "<=") else Operator.ABOVE
        return next((node for node in branches if tree.operator[node] == wanted), None)
    absent = set(pair.told.get("absent_here", ()))
    names = _told_categories(child, attribute) - absent
    return next(
        (node for node in branches if _categories(tree, node, attribute) - absent == names), None
    )


def _told_categories(child: Told, attribute: Attribute) -> set[str]:
    if "branch" in child:  # two categories told as the numbers 0 and 1
        return {attribute.values[0 if child["branch"] in ("<", "<=") else 1]}
    return set(child["values"]) if "values" in child else {child["value"]}


def _categories(tree: Tree, node: int, attribute: Attribute) -> set[str]:
    if tree.operator[node] == Operator.EQUAL:
        return {attribute.values[int(tree.value[node])]}
    return {attribute.values[int(number)] for number in tree.categories(node)}
