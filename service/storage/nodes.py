"""A tree as rows: saved in bulk, loaded exactly as it was, or read page by page with names."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, cast

import numpy as np
from sqlalchemy import Table, select
from sqlalchemy.orm import Session

from service.storage.bulk import fetch_columns, insert_many
from service.storage.paging import Order, paged, to_page
from service.storage.records import NodeRecord, Page, Position, Version
from service.storage.tables import ClassRow, NodeRow, NodeWeightRow
from service.tree.arrays import Floats, Ints
from service.tree.attribute import Attribute
from service.tree.nodes import SYMBOLS, Operator, Split, Tree

NODES = cast(Table, NodeRow.__table__)
NODE_WEIGHTS = cast(Table, NodeWeightRow.__table__)
BREADTH_FIRST = Order((NodeRow.node_id,))
OPERATORS = [SYMBOLS.get(operator) for operator in Operator]
SPLITS = [None if split is Split.LEAF else split.name.lower() for split in Split]
OPERATOR_NUMBERS = {text: number for number, text in enumerate(OPERATORS)}
SPLIT_NUMBERS = {text: number for number, text in enumerate(SPLITS)}
THRESHOLDS = (Operator.AT_MOST, Operator.ABOVE)


def save_nodes(
    session: Session, version_id: int, tree: Tree, attributes: Sequence[Attribute]
) -> None:
    """Save every node of the tree and its distribution."""
    insert_many(session, NODES, _node_rows(version_id, tree, attributes))
    nodes, classes = np.nonzero(tree.distribution)
    weights = tree.distribution[nodes, classes]
    rows = zip(repeat(version_id), nodes.tolist(), classes.tolist(), weights.tolist())
    insert_many(session, NODE_WEIGHTS, rows)


def load_tree(session: Session, version: Version) -> Tree:
    """The tree of a version, equal to the one that was saved."""
    columns = fetch_columns(session, NODES, version.id)
    numbers = {attribute.name: number for number, attribute in enumerate(version.attributes)}
    attribute = np.array([numbers.get(name, -1) for name in columns["attribute"]], np.int64)
    parent = np.array([-1, *columns["parent"][1:]], np.int64)
    return Tree(
        parent=parent,
        depth=np.array(columns["depth"], np.int64),
        branch=np.array(columns["branch"], np.int64),
        operator=np.array([OPERATOR_NUMBERS[text] for text in columns["operator"]], np.int64),
        value=_values(columns, attribute[parent], version.attributes),
        share=np.array(columns["share"], np.float64),
        weight=np.array(columns["weight"], np.float64),
        distribution=_distribution(session, version),
        impurity=np.array(columns["impurity"], np.float64),
        attribute=attribute,
        split=np.array([SPLIT_NUMBERS[text] for text in columns["split"]], np.int64),
        gain=np.array(columns["gain"], np.float64),
    )


def node_page(
    session: Session, version_id: int, after: Position | None, limit: int
) -> Page[NodeRecord]:
    """One page of a version's nodes, parents before their children."""
    statement = select(NodeRow).where(NodeRow.version_id == version_id)
    rows = session.scalars(paged(statement, BREADTH_FIRST, after, limit)).all()
    return to_page(
        rows, limit, lambda some: _records(session, version_id, some), lambda node: (node.node,)
    )


def _node_rows(
    version_id: int, tree: Tree, attributes: Sequence[Attribute]
) -> Iterator[tuple[Any, ...]]:
    """The rows of the table in its own order of columns."""
    names = [attribute.name for attribute in attributes] + [None]  # -1, a leaf, is the last
    operators = tree.operator.tolist()
    splitter = tree.attribute[tree.parent].tolist()  # whose value the edge asks for
    edges = list(zip(operators, tree.value.tolist(), splitter, strict=True))
    return zip(
        repeat(version_id),
        range(len(tree)),
        [None, *tree.parent.tolist()[1:]],
        tree.depth.tolist(),
        tree.branch.tolist(),
        [OPERATORS[operator] for operator in operators],
        [value if operator in THRESHOLDS else None for operator, value, _ in edges],
        [
            attributes[splitter].values[int(value)] if operator == Operator.EQUAL else None
            for operator, value, splitter in edges
        ],
        tree.share.tolist(),
        tree.weight.tolist(),
        tree.impurity.tolist(),
        [names[number] for number in tree.attribute.tolist()],
        [SPLITS[split] for split in tree.split.tolist()],
        [None if gain != gain else gain for gain in tree.gain.tolist()],  # NaN at a leaf
    )


def _values(
    columns: Mapping[str, Sequence[Any]], splitter: Ints, attributes: Sequence[Attribute]
) -> Floats:
    """Per node the value of the condition on its edge: a threshold or a category's number."""
    numbers = [
        {category: float(number) for number, category in enumerate(attribute.values)}
        for attribute in attributes
    ]
    return np.array(
        [
            threshold if category is None else numbers[attribute][category]
            for threshold, category, attribute in zip(
                columns["threshold"], columns["category"], splitter.tolist(), strict=True
            )
        ],
        np.float64,
    )


def _distribution(session: Session, version: Version) -> Floats:
    distribution = np.zeros((version.n_nodes, len(version.classes)))
    columns = fetch_columns(session, NODE_WEIGHTS, version.id)
    distribution[columns["node_id"], columns["class_id"]] = columns["weight"]
    return distribution


def _records(session: Session, version_id: int, rows: Sequence[NodeRow]) -> list[NodeRecord]:
    if not rows:
        return []
    distributions = _named_distributions(session, version_id, rows[0].node_id, rows[-1].node_id)
    return [
        NodeRecord(
            node=row.node_id,
            parent=row.parent,
            depth=row.depth,
            branch=row.branch,
            operator=row.operator,
            threshold=row.threshold,
            category=row.category,
            share=row.share,
            weight=row.weight,
            impurity=row.impurity,
            attribute=row.attribute,
            split=row.split,
            gain=row.gain,
            distribution=distributions[row.node_id],
        )
        for row in rows
    ]


def _named_distributions(
    session: Session, version_id: int, first: int, last: int
) -> dict[int, dict[str, float]]:
    """The weight of every class at the nodes from first to last."""
    classes = session.execute(
        select(ClassRow.class_id, ClassRow.name)
        .where(ClassRow.version_id == version_id)
        .order_by(ClassRow.class_id)
    ).all()
    names = {class_id: name for class_id, name in classes}
    distributions = {node: dict.fromkeys(names.values(), 0.0) for node in range(first, last + 1)}
    weights = session.execute(
        select(NodeWeightRow.node_id, NodeWeightRow.class_id, NodeWeightRow.weight).where(
            NodeWeightRow.version_id == version_id, NodeWeightRow.node_id.between(first, last)
        )
    )
    for node, class_id, weight in weights:
        distributions[node][names[class_id]] = weight
    return distributions
