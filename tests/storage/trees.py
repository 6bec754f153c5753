"""Random trees that have every kind of node, and the draft of a version to keep one under."""

from collections.abc import Iterator

import numpy as np

from service.storage.engine import Session
from service.storage.records import VersionDraft
from service.storage.versions import save_version
from service.tree.attribute import Attribute, Kind
from service.tree.nodes import Operator, Split, Tree

ATTRIBUTES = (
    Attribute("纹理", Kind.CATEGORICAL, ("清晰", "稍糊", "模糊")),
    Attribute("density", Kind.NUMERIC),
    Attribute("it's\ta \\ colour", Kind.CATEGORICAL, ("green", "\\N", "")),
)
CLASSES = ("yes", "no", "非")
Edge = tuple[int, int, float]  # branch, operator, value


def a_draft(model: str = "melons") -> VersionDraft:
    return VersionDraft(
        model=model,
        task="classification",
        target="ripe",
        classes=CLASSES,
        attributes=ATTRIBUTES,
        ignored=("id",),
        params={"preset": "id3", "max_depth": None},
        metrics={"accuracy": 0.5},
        n_rows=17,
    )


def saved(session: Session, job_id: str, model: str = "melons", n_nodes: int = 9) -> int:
    """The number of a new version with some tree."""
    return save_version(session, job_id, a_draft(model), a_tree(n_nodes))


def a_tree(n_nodes: int = 9, seed: int = 0) -> Tree:
    """A tree of at least so many nodes, with random splits and numbers."""
    random = np.random.default_rng(seed)
    parent, edges, splits = [-1], [(0, int(Operator.NONE), np.nan)], []
    while len(splits) < len(parent):
        node = len(splits)
        must = node == len(parent) - 1
        is_inner = len(parent) < n_nodes and (must or random.random() < 0.7)
        splits.append(int(random.integers(len(ATTRIBUTES))) if is_inner else -1)
        below = list(edges_of(splits[-1], random)) if is_inner else []
        parent += [node] * len(below)
        edges += below
    return _with_numbers(np.array(parent), edges, np.array(splits), random)


def edges_of(attribute: int, random: np.random.Generator) -> Iterator[Edge]:
    if ATTRIBUTES[attribute].kind is Kind.NUMERIC:
        cut = float(random.normal() * 10.0 ** random.integers(-300, 300))
        yield 0, int(Operator.AT_MOST), cut
        yield 1, int(Operator.ABOVE), cut
        return
    for category in range(len(ATTRIBUTES[attribute].values)):
        yield category, int(Operator.EQUAL), float(category)


def _with_numbers(
    parent: np.ndarray, edges: list[Edge], attribute: np.ndarray, random: np.random.Generator
) -> Tree:
    n_nodes = len(parent)
    branch, operator, value = (np.array(column) for column in zip(*edges, strict=True))
    depth = np.zeros(n_nodes, np.int64)
    distribution = random.random((n_nodes, len(CLASSES))) * random.integers(0, 2, (n_nodes, 3))
    share, weight = random.random(n_nodes), random.random(n_nodes) * 1e6
    is_empty = (random.random(n_nodes) < 0.2) & (attribute < 0) & (parent >= 0)
    share[is_empty], weight[is_empty] = 0.0, 0.0
    for node in range(1, n_nodes):
        depth[node] = depth[parent[node]] + 1
        if is_empty[node]:
            distribution[node] = distribution[parent[node]]
    threshold_or_leaf = np.where(attribute == 1, Split.THRESHOLD, Split.MULTIWAY)
    return Tree(
        parent=parent,
        depth=depth,
        branch=branch,
        operator=operator,
        value=value,
        share=share,
        weight=weight,
        distribution=distribution,
        impurity=random.random(n_nodes),
        attribute=attribute,
        split=np.where(attribute < 0, Split.LEAF, threshold_or_leaf),
        gain=np.where(attribute < 0, np.nan, random.random(n_nodes)),
    )
