"""Random trees that have every kind of node, and the draft of a version to keep one under."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from service.storage.engine import Session
from service.storage.records import VersionDraft
from service.storage.versions import save_version
from service.tree.attribute import Attribute, Kind
from service.tree.nodes import Operator, Split, Tree

ATTRIBUTES = (
    Attribute("纹理", Kind.CATEGORICAL, ("清晰", "稍糊", "模糊")),
    Attribute("density", Kind.NUMERIC, cost=2.5, group="scales"),
    Attribute("it's\ta \\ colour", Kind.CATEGORICAL, ("green", "\\N", "")),
    Attribute("size", Kind.ORDINAL, ("small", "medium", "large"), cost=0.0, group="scales"),
)
CLASSES = ("yes", "no", "非")
Edge = tuple[int, int, float, list[int]]  # branch, operator, value, set of categories
THIRDS = (([0], [1, 2]), ([1], [0, 2]), ([2, 0], [1]), ([0], [1], [2]))


def a_draft(model: str = "melons", **changes: Any) -> VersionDraft:
    draft = VersionDraft(
        model=model,
        task="classification",
        target="ripe",
        classes=CLASSES,
        attributes=ATTRIBUTES,
        ignored=("id",),
        params={"preset": "id3", "max_depth": None},
        metrics={"accuracy": 0.5},
        n_rows=17,
        group_costs={"scales": 4.0},
    )
    return replace(draft, **changes)


def saved(session: Session, job_id: str, model: str = "melons", n_nodes: int = 9) -> int:
    """The number of a new version with some tree."""
    return save_version(session, job_id, a_draft(model), a_tree(n_nodes))


def a_tree(n_nodes: int = 9, seed: int = 0) -> Tree:
    """A tree of at least so many nodes, with random splits and numbers."""
    random = np.random.default_rng(seed)
    parent, edges = [-1], [(0, int(Operator.NONE), np.nan, [])]
    attributes: list[int] = []
    splits: list[Split] = []
    while len(splits) < len(parent):
        node = len(splits)
        must = node == len(parent) - 1
        is_inner = len(parent) < n_nodes and (must or random.random() < 0.7)
        attributes.append(int(random.integers(len(ATTRIBUTES))) if is_inner else -1)
        split, below = split_on(attributes[-1], random) if is_inner else (Split.LEAF, [])
        splits.append(split)
        parent += [node] * len(below)
        edges += below
    return _with_numbers(np.array(parent), edges, np.array(attributes), np.array(splits), random)


def split_on(attribute: int, random: np.random.Generator) -> tuple[Split, list[Edge]]:
    """Some split on an attribute and its edges; now and then with a branch for null."""
    split, edges = Split.THRESHOLD, list(cut(attribute, random))
    if ATTRIBUTES[attribute].kind is Kind.CATEGORICAL:
        sets = THIRDS[random.integers(4)]
        split = Split.MULTIWAY if len(sets) == 3 else Split.SUBSET
        edges = [among(branch, sorted(codes)) for branch, codes in enumerate(sets)]
    if random.random() < 0.2:
        edges.append((len(edges), int(Operator.NULL), np.nan, []))
    return split, edges


def among(branch: int, codes: list[int]) -> Edge:
    if len(codes) == 1:
        return branch, int(Operator.EQUAL), float(codes[0]), []
    return branch, int(Operator.AMONG), np.nan, codes


def cut(attribute: int, random: np.random.Generator) -> Iterator[Edge]:
    value = float(random.normal() * 10.0 ** random.integers(-300, 300))
    if ATTRIBUTES[attribute].kind is Kind.ORDINAL:
        value = float(random.integers(2))
    yield 0, int(Operator.AT_MOST), value, []
    yield 1, int(Operator.ABOVE), value, []


def _with_numbers(
    parent: np.ndarray,
    edges: list[Edge],
    attribute: np.ndarray,
    split: np.ndarray,
    random: np.random.Generator,
) -> Tree:
    n_nodes = len(parent)
    branch, operator, value, sets = zip(*edges, strict=True)
    depth = np.zeros(n_nodes, np.int64)
    distribution = random.random((n_nodes, len(CLASSES))) * random.integers(0, 2, (n_nodes, 3))
    share, weight = random.random(n_nodes), random.random(n_nodes) * 1e6
    is_empty = (random.random(n_nodes) < 0.2) & (attribute < 0) & (parent >= 0)
    share[is_empty], weight[is_empty] = 0.0, 0.0
    for node in range(1, n_nodes):
        depth[node] = depth[parent[node]] + 1
        if is_empty[node]:
            distribution[node] = distribution[parent[node]]
    return Tree(
        parent=parent,
        depth=depth,
        branch=np.array(branch),
        operator=np.array(operator),
        value=np.array(value),
        set_start=np.cumsum([0, *map(len, sets)]),
        set_values=np.array([code for codes in sets for code in codes], np.int64),
        share=share,
        weight=weight,
        distribution=distribution,
        mean=np.full(n_nodes, np.nan),
        variance=np.full(n_nodes, np.nan),
        impurity=random.random(n_nodes),
        attribute=attribute,
        split=split,
        gain=np.where(attribute < 0, np.nan, random.random(n_nodes)),
        alpha_cut=np.full(n_nodes, np.nan),
    )


def of_numbers(tree: Tree) -> Tree:
    """The same tree as if it had been grown for a number."""
    random = np.random.default_rng(len(tree))
    return replace(
        tree,
        distribution=np.zeros((len(tree), 0)),
        mean=random.normal(size=len(tree)),
        variance=random.random(len(tree)),
    )


def with_sequence(tree: Tree) -> Tree:
    """The same tree with an alpha for each inner node, never larger than that of its parent."""
    alpha_cut = np.random.default_rng(len(tree)).random(len(tree))
    for node in range(1, len(tree)):
        alpha_cut[node] = min(alpha_cut[node], alpha_cut[tree.parent[node]])
    return replace(tree, alpha_cut=np.where(tree.is_leaf, np.nan, alpha_cut))
