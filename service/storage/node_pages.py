"""The nodes of a tree page by page, with names in the place of numbers."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Select, or_, select
from sqlalchemy.orm import Session, aliased

from service.storage.paging import Order, paged, to_page
from service.storage.records import NodeRecord, NodeState, Page, Position, Version
from service.storage.tables import NodeRow, NodeValueRow, NodeWeightRow

BREADTH_FIRST = Order((NodeRow.node_id,))


def node_page(
    session: Session, version: Version, alpha: float | None, after: Position | None, limit: int
) -> Page[NodeRecord]:
    """One page of a version's nodes, parents before their children; those there at the alpha."""
    rows = session.execute(paged(_reached(version.id, alpha), BREADTH_FIRST, after, limit)).all()
    return to_page(
        rows, limit, lambda some: _records(session, version, alpha, some), lambda node: (node.node,)
    )


def _reached(version_id: int, alpha: float | None) -> Select[NodeRow, str | None]:
    """The nodes that the root leads to, and on what the node above each of them splits."""
    above = aliased(NodeRow)
    is_above = (above.version_id == NodeRow.version_id) & (above.node_id == NodeRow.parent)
    statement = select(NodeRow, above.attribute.label("asked")).outerjoin(above, is_above)
    statement = statement.where(NodeRow.version_id == version_id)
    if alpha is None:
        return statement
    return statement.where(or_(NodeRow.parent.is_(None), above.alpha_cut > alpha))


def _records(
    session: Session, version: Version, alpha: float | None, rows: Sequence[Any]
) -> list[NodeRecord]:
    if not rows:
        return []
    first, last = rows[0].NodeRow.node_id, rows[-1].NodeRow.node_id
    distributions = _distributions(session, version, first, last)
    sets = _sets(session, version.id, first, last)
    declared = {each.name: each.values for each in version.attributes}
    return [
        NodeRecord(
            node=row.node_id,
            parent=row.parent,
            depth=row.depth,
            branch=row.branch,
            operator=row.operator,
            threshold=row.threshold,
            category=row.category,
            categories=_in_order(sets.get(row.node_id), declared.get(asked, ())),
            share=row.share,
            weight=row.weight,
            impurity=row.impurity,
            distribution=distributions[row.node_id],
            mean=row.mean,
            variance=row.variance,
            alpha_cut=row.alpha_cut,
            **_split(row, alpha),
        )
        for row, asked in rows
    ]


def _in_order(found: Collection[str] | None, declared: Sequence[str]) -> tuple[str, ...] | None:
    return None if found is None else tuple(each for each in declared if each in found)


def _split(row: NodeRow, alpha: float | None) -> dict[str, Any]:
    """What a node does at the alpha: from its alpha_cut on it is a leaf."""
    is_cut = alpha is not None and row.alpha_cut is not None and row.alpha_cut <= alpha
    if is_cut or row.attribute is None:
        return {"attribute": None, "split": None, "gain": None, "state": NodeState.LEAF}
    split = {"attribute": row.attribute, "split": row.split, "gain": row.gain}
    return split | {"state": NodeState.INNER}


def _distributions(
    session: Session, version: Version, first: int, last: int
) -> dict[int, dict[str, float]]:
    """The weight of every class at the nodes from first to last."""
    distributions = {node: dict.fromkeys(version.classes, 0.0) for node in range(first, last + 1)}
    weights = session.execute(
        select(NodeWeightRow.node_id, NodeWeightRow.class_id, NodeWeightRow.weight).where(
            NodeWeightRow.version_id == version.id, NodeWeightRow.node_id.between(first, last)
        )
    )
    for node, class_id, weight in weights:
        distributions[node][version.classes[class_id]] = weight
    return distributions


def _sets(session: Session, version_id: int, first: int, last: int) -> dict[int, set[str]]:
    """The categories on the edges to the nodes from first to last, where there are several."""
    found = session.execute(
        select(NodeValueRow.node_id, NodeValueRow.value).where(
            NodeValueRow.version_id == version_id, NodeValueRow.node_id.between(first, last)
        )
    )
    sets: dict[int, set[str]] = defaultdict(set)
    for node, value in found:
        sets[node].add(value)
    return sets
