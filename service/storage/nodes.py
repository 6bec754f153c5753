"""A tree as rows: saved in bulk and loaded exactly as it was."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, cast

import numpy as np
from sqlalchemy import Table
from sqlalchemy.orm import Session

from service.storage.bulk import fetch_columns, insert_many
from service.storage.records import NodeState, Version
from service.storage.tables import NodeRow, NodeValueRow, NodeWeightRow
from service.tree.arrays import Floats, Ints
from service.tree.attribute import Attribute, Kind
from service.tree.cut import at_alpha
from service.tree.nodes import SYMBOLS, Operator, Split, Tree

NODES = cast(Table, NodeRow.__table__)
NODE_WEIGHTS = cast(Table, NodeWeightRow.__table__)
NODE_VALUES = cast(Table, NodeValueRow.__table__)
OPERATORS = [SYMBOLS.get(operator) for operator in Operator]
SPLITS = [None if split is Split.LEAF else split.name.lower() for split in Split]
OPERATOR_NUMBERS = {text: number for number, text in enumerate(OPERATORS)}
SPLIT_NUMBERS = {text: number for number, text in enumerate(SPLITS)}
THRESHOLDS = (Operator.AT_MOST, Operator.ABOVE)
NUMBERS = ("share", "weight", "mean", "variance", "impurity", "gain", "alpha_cut")


def served(tree: Tree, alpha: float | None) -> Tree:
    """The tree that answers: that of the sequence at an alpha, or without one the tree itself."""
    return tree if alpha is None else at_alpha(tree, alpha)


def save_nodes(
    session: Session,
    version_id: int,
    tree: Tree,
    attributes: Sequence[Attribute],
    alpha: float | None,
) -> None:
    """Save every node of the tree, its distribution and its set; states are those at the alpha."""
    columns = _edges(tree, attributes) | _numbers(tree) | _splits(tree, attributes)
    columns |= {"version_id": [version_id] * len(tree), "state": _states(served(tree, alpha))}
    insert_many(session, NODES, zip(*(columns[each.name] for each in NODES.c), strict=True))
    nodes, classes = np.nonzero(tree.distribution)
    weights = tree.distribution[nodes, classes]
    rows = zip(repeat(version_id), nodes.tolist(), classes.tolist(), weights.tolist())
    insert_many(session, NODE_WEIGHTS, rows)
    insert_many(session, NODE_VALUES, _set_rows(version_id, tree, attributes))


def load_tree(session: Session, version: Version) -> Tree:
    """The tree of a version, equal to the one that was saved: with all nodes of its sequence."""
    columns = fetch_columns(session, NODES, version.id)
    numbers = {attribute.name: number for number, attribute in enumerate(version.attributes)}
    attribute = np.array([numbers.get(name, -1) for name in columns["attribute"]], np.int64)
    parent = np.array([-1, *columns["parent"][1:]], np.int64)
    asked = attribute[parent]
    codes = [
        {category: code for code, category in enumerate(attribute.values)}
        for attribute in version.attributes
    ]
    set_start, set_values = _sets(session, version.id, asked, codes)
    return Tree(
        parent=parent,
        depth=np.array(columns["depth"], np.int64),
        branch=np.array(columns["branch"], np.int64),
        operator=np.array([OPERATOR_NUMBERS[text] for text in columns["operator"]], np.int64),
        value=_values(columns, asked, codes),
        set_start=set_start,
        set_values=set_values,
        distribution=_distribution(session, version, len(parent)),
        attribute=attribute,
        split=np.array([SPLIT_NUMBERS[text] for text in columns["split"]], np.int64),
        **{name: np.array(columns[name], np.float64) for name in NUMBERS},  # None becomes NaN
    )


def _edges(tree: Tree, attributes: Sequence[Attribute]) -> dict[str, Sequence[Any]]:
    """The columns that say where a node stands, and the condition that leads there."""
    operators = tree.operator.tolist()
    asked = tree.attribute[tree.parent].tolist()  # whose value the edge asks for
    edges = list(zip(operators, tree.value.tolist(), asked, strict=True))
    return {
        "node_id": range(len(tree)),
        "parent": [None, *tree.parent.tolist()[1:]],
        "depth": tree.depth.tolist(),
        "branch": tree.branch.tolist(),
        "operator": [OPERATORS[operator] for operator in operators],
        "threshold": [value if operator in THRESHOLDS else None for operator, value, _ in edges],
        "category": [_category(attributes[asked], *edge) for *edge, asked in edges],
    }


def _category(attribute: Attribute, operator: int, value: float) -> str | None:
    """The category that a condition names: equal to it, or in order before or after it."""
    is_ordinal = attribute.kind == Kind.ORDINAL and operator in THRESHOLDS
    return attribute.values[int(value)] if is_ordinal or operator == Operator.EQUAL else None


def _numbers(tree: Tree) -> dict[str, Sequence[Any]]:
    return {
        name: [None if value != value else value for value in getattr(tree, name).tolist()]
        for name in NUMBERS
    }


def _splits(tree: Tree, attributes: Sequence[Attribute]) -> dict[str, Sequence[Any]]:
    names = [attribute.name for attribute in attributes] + [None]  # -1, a leaf, is the last
    return {
        "attribute": [names[number] for number in tree.attribute.tolist()],
        "split": [SPLITS[split] for split in tree.split.tolist()],
    }


def _states(tree: Tree) -> list[str]:
    states = np.where(tree.is_leaf, NodeState.LEAF.value, NodeState.INNER.value)
    told: list[str] = np.where(tree.is_reached, states, NodeState.PRUNED.value).tolist()
    return told


def _set_rows(
    version_id: int, tree: Tree, attributes: Sequence[Attribute]
) -> Iterator[tuple[Any, ...]]:
    nodes = np.repeat(np.arange(len(tree)), np.diff(tree.set_start))
    asked = tree.attribute[tree.parent[nodes]]
    for node, attribute, code in zip(
        nodes.tolist(), asked.tolist(), tree.set_values.tolist(), strict=True
    ):
        yield version_id, node, attributes[attribute].values[code]


def _sets(
    session: Session, version_id: int, asked: Ints, codes: Sequence[Mapping[str, int]]
) -> tuple[Ints, Ints]:
    """Where the set of each node begins, and the categories of all sets by their numbers."""
    columns = fetch_columns(session, NODE_VALUES, version_id)
    nodes = np.array(columns["node_id"], np.int64)
    attributes = asked[nodes].tolist()
    found = [codes[each][text] for each, text in zip(attributes, columns["value"], strict=True)]
    values = np.array(found, np.int64)
    starts = np.searchsorted(nodes, np.arange(len(asked) + 1))
    return starts, values[np.lexsort((values, nodes))]


def _values(
    columns: Mapping[str, Sequence[Any]], asked: Ints, codes: Sequence[Mapping[str, int]]
) -> Floats:
    """Per node the value of the condition on its edge: a threshold or a category's number."""
    return np.array(
        [
            threshold if category is None or threshold is not None else codes[attribute][category]
            for threshold, category, attribute in zip(
                columns["threshold"], columns["category"], asked.tolist(), strict=True
            )
        ],
        np.float64,
    )


def _distribution(session: Session, version: Version, n_nodes: int) -> Floats:
    distribution = np.zeros((n_nodes, len(version.classes)))
    columns = fetch_columns(session, NODE_WEIGHTS, version.id)
    distribution[columns["node_id"], columns["class_id"]] = columns["weight"]
    return distribution
