"""The catalogue: what models there are, their versions, their trees."""

from collections import deque
from typing import Any

import numpy as np

from service.actions.load import Loaded
from service.errors import NotFound
from service.tree.compiled import CompiledTree
from service.tree.criterion import first_best
from service.tree.explain import edge_value
from service.tree.nodes import SYMBOLS, Operator, Split


def nested_tree(loaded: Loaded, start: int, depth: int) -> dict[str, Any]:
    """A node and what is below it as nested objects, down to so many levels.

    A node whose children were left out says so: `truncated` is true.
    """
    compiled = loaded.compiled
    tree = compiled.tree
    if start >= len(tree) or not tree.is_reached[start]:
        raise NotFound(f"the tree has no node {start}")
    names = [attribute.name for attribute in loaded.version.attributes]
    deepest = int(tree.depth[start]) + depth
    top = _node(compiled, names, start)
    queue = deque([top])
    while queue:
        told = queue.popleft()
        node = told["node"]
        if tree.is_leaf[node]:
            continue
        if tree.depth[node] == deepest:
            told["truncated"] = True
            continue
        first = int(compiled.first_child[node])
        children = range(first, first + int(compiled.n_branches[node]))
        told["children"] = [_node(compiled, names, child) for child in children]
        queue.extend(told["children"])
    return top


def _node(compiled: CompiledTree, names: list[str], node: int) -> dict[str, Any]:
    tree = compiled.tree
    told: dict[str, Any] = {"node": node}
    if node:
        told["operator"] = SYMBOLS[Operator(tree.operator[node])]
        told["value"] = edge_value(compiled, node)
        told["share"] = float(tree.share[node])
    told["weight"] = float(tree.weight[node])
    told |= _answer(compiled, node)
    told["impurity"] = float(tree.impurity[node])
    if not np.isnan(tree.alpha_cut[node]):
        told["alpha_cut"] = float(tree.alpha_cut[node])
    if tree.split[node] != Split.LEAF:
        told["attribute"] = names[int(tree.attribute[node])]
        told["split"] = Split(tree.split[node]).name.lower()
        told["gain"] = float(tree.gain[node])
    return told


def _answer(compiled: CompiledTree, node: int) -> dict[str, Any]:
    """What a node says, or would say if it were a leaf."""
    tree = compiled.tree
    if tree.is_regression:
        deviation = float(np.sqrt(tree.variance[node]))
        return {"mean": float(tree.mean[node]), "deviation": deviation}
    distribution = tree.distribution[node]
    return {
        "distribution": dict(zip(compiled.classes, distribution.tolist(), strict=True)),
        "class": compiled.classes[first_best(distribution)],
    }
