"""Explanation: each leaf that a row reaches, told as the steps that led there."""

from dataclasses import dataclass

import numpy as np

from service.tree.arrays import Floats
from service.tree.attribute import Kind
from service.tree.compiled import CompiledTree
from service.tree.descend import branches_at
from service.tree.nodes import SYMBOLS, Operator
from service.tree.route import DIVIDING, route


@dataclass(frozen=True)
class Step:
    """A node passed: what it asked, which way the row went, and what weight it then carried."""

    node: int
    attribute: int
    operator: str
    value: str | float | tuple[str, ...] | None
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


MOST_STEPS = 100_000  # told in one answer; a path of a deep tree may have thousands


def explain(
    compiled: CompiledTree, values: Floats, most: int, missing: str = "weighted"
) -> list[list[Path]]:
    """Per row its paths, heaviest first, at most so many of each; fewer where they are long."""
    told: list[list[Path]] = [[] for _ in range(len(values))]
    most_steps = MOST_STEPS // max(len(values), 1)
    for routed in route(compiled, values, missing):
        order = np.lexsort((routed.leaves, -routed.weights, routed.rows))
        rows, starts, counts = np.unique(routed.rows, return_index=True, return_counts=True)
        for row, start, count in zip(rows.tolist(), starts.tolist(), counts.tolist(), strict=True):
            heaviest = order[start : start + min(count, most)]
            lengths = np.cumsum(compiled.tree.depth[routed.leaves[heaviest]])
            heaviest = heaviest[: max(1, int(np.searchsorted(lengths, most_steps, side="right")))]
            told[row] = [
                _path(
                    Walk(compiled, values[row], missing in DIVIDING),
                    int(routed.leaves[at]),
                    float(routed.weights[at]),
                )
                for at in heaviest.tolist()
            ]
    return told


@dataclass(frozen=True)
class Walk:
    """A row on its way down: its values, and whether it is divided where it does not know."""

    compiled: CompiledTree
    given: Floats
    is_divided: bool


def _path(walk: Walk, leaf: int, weight: float) -> Path:
    tree = walk.compiled.tree
    nodes = [leaf]
    while (parent := int(tree.parent[nodes[-1]])) >= 0:
        nodes.append(parent)
    passed = np.array(nodes[:0:-1], dtype=np.int64)
    given = walk.given.take(tree.attribute.take(passed))
    branches = branches_at(walk.compiled, passed, given)
    steps: list[Step] = []
    carried = 1.0
    # a category that the node has never seen is undecided, like null
    known = ((branches >= 0) & ~np.isnan(given)).tolist()
    for child, branch, is_known in zip(nodes[-2::-1], branches.tolist(), known, strict=True):
        is_whole = branch >= 0 or not walk.is_divided
        step = _step(walk.compiled, child, carried, is_known=is_known, is_whole=is_whole)
        steps.append(step)
        carried = step.weight
    distribution = tuple(tree.distribution[leaf].tolist())
    return Path(weight, leaf, float(tree.weight[leaf]), distribution, tuple(steps))


def _step(
    compiled: CompiledTree, child: int, carried: float, *, is_known: bool, is_whole: bool
) -> Step:
    node = int(compiled.tree.parent[child])
    share = float(compiled.tree.share[child])
    return Step(
        node=node,
        attribute=int(compiled.tree.attribute[node]),
        operator=SYMBOLS[Operator(compiled.tree.operator[child])],
        value=edge_value(compiled, child),
        is_known=is_known,
        share=share,
        weight=carried if is_whole else carried * share,
    )


def edge_value(compiled: CompiledTree, child: int) -> str | float | tuple[str, ...] | None:
    """What the condition on the edge to a node compares with: category, threshold, categories."""
    tree = compiled.tree
    attribute = compiled.attributes[int(tree.attribute[tree.parent[child]])]
    match Operator(tree.operator[child]):
        case Operator.NULL:
            return None
        case Operator.AMONG:
            return tuple(attribute.values[code] for code in tree.categories(child).tolist())
        case _:
            value = float(tree.value[child])
            return value if attribute.kind == Kind.NUMERIC else attribute.values[int(value)]
