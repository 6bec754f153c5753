"""Explanation: each leaf that a row reaches, told as the steps that led there."""

from dataclasses import dataclass

import numpy as np

from service.tree.arrays import Floats
from service.tree.attribute import Kind
from service.tree.compiled import CompiledTree
from service.tree.nodes import SYMBOLS, Operator
from service.tree.route import route


@dataclass(frozen=True)
class Step:
    """A node passed: what it asked, which way the row went, and what weight it then carried."""

    node: int
    attribute: int
    operator: str
    value: str | float
    is_known: bool
    share: float
    weight: float


@dataclass(frozen=True)
class Path:
    """One way down: the weight of the row that took it, and the leaf at its end."""

    weight: float
    leaf: int
    support: float  # training weight at the leaf
    distribution: tuple[float, ...]
    steps: tuple[Step, ...]


def explain(compiled: CompiledTree, values: Floats, most: int) -> list[list[Path]]:
    """Per row its paths, heaviest first, at most so many of each."""
    told: list[list[Path]] = [[] for _ in range(len(values))]
    for routed in route(compiled, values):
        order = np.lexsort((routed.leaves, -routed.weights, routed.rows))
        rows, starts, counts = np.unique(routed.rows, return_index=True, return_counts=True)
        for row, start, count in zip(rows.tolist(), starts.tolist(), counts.tolist(), strict=True):
            heaviest = order[start : start + min(count, most)]
            told[row] = [
                _path(compiled, values[row], int(routed.leaves[at]), float(routed.weights[at]))
                for at in heaviest.tolist()
            ]
    return told


def _path(compiled: CompiledTree, given: Floats, leaf: int, weight: float) -> Path:
    nodes = [leaf]
    while (parent := int(compiled.tree.parent[nodes[-1]])) >= 0:
        nodes.append(parent)
    steps: list[Step] = []
    carried = 1.0
    for node in reversed(nodes[:-1]):
        step = _step(compiled, given, node, carried)
        steps.append(step)
        carried = step.weight
    distribution = tuple(compiled.tree.distribution[leaf].tolist())
    return Path(weight, leaf, float(compiled.tree.weight[leaf]), distribution, tuple(steps))


def _step(compiled: CompiledTree, given: Floats, child: int, carried: float) -> Step:
    node = int(compiled.tree.parent[child])
    attribute = int(compiled.tree.attribute[node])
    is_known = not np.isnan(given[attribute])
    share = float(compiled.tree.share[child])
    return Step(
        node=node,
        attribute=attribute,
        operator=SYMBOLS[Operator(compiled.tree.operator[child])],
        value=edge_value(compiled, child),
        is_known=is_known,
        share=share,
        weight=carried if is_known else carried * share,
    )


def edge_value(compiled: CompiledTree, child: int) -> str | float:
    """What the condition on the edge to a node compares with: a category or a threshold."""
    attribute = compiled.attributes[int(compiled.tree.attribute[compiled.tree.parent[child]])]
    value = float(compiled.tree.value[child])
    return attribute.values[int(value)] if attribute.kind == Kind.CATEGORICAL else value
