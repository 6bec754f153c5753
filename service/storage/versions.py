"""Versions: one trained result each, saved whole and never changed."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Select, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from service.errors import LeaseLost, NotFound
from service.points import passing
from service.storage.clock import now
from service.storage.missing import no_model
from service.storage.nodes import save_nodes, served
from service.storage.paging import Order, paged, to_page
from service.storage.records import LARGEST, Page, Position, Version, VersionDraft, VersionKey
from service.storage.tables import AliasRow, ClassRow, ModelRow, Row, VersionRow
from service.tree.attribute import Attribute, Kind
from service.tree.nodes import Tree

NEWEST_FIRST = Order((VersionRow.number,), descending=True)
WITH_MODEL = select(VersionRow, ModelRow.name).join(ModelRow, VersionRow.model_id == ModelRow.id)
KEYS = select(VersionRow.id, VersionRow.job_id).join(ModelRow, VersionRow.model_id == ModelRow.id)
INSERTS: dict[str, Callable[[type[Row]], Any]] = {
    "postgresql": postgresql.insert,
    "sqlite": sqlite.insert,
}


def save_version(session: Session, job_id: str, draft: VersionDraft, tree: Tree) -> int:
    """The number of the new version, which is saved with its nodes under its model's name."""
    model_id, number = _next_number(session, draft.model)
    version_id = _insert_version(session, job_id, model_id, number, _columns(draft, tree))
    passing("worker-versioned")
    classes = [
        {"version_id": version_id, "class_id": class_id, "name": name}
        for class_id, name in enumerate(draft.classes)
    ]
    if classes:
        session.execute(insert(ClassRow), classes)
    save_nodes(session, version_id, tree, draft.attributes, draft.alpha)
    return number


def fetch_version(
    session: Session, model: str, number: int | None = None, alias: str | None = None
) -> Version:
    """The version with this number or alias, and the newest one if neither is given."""
    row = session.execute(_chosen(WITH_MODEL, model, number, alias)).first()
    if row is None:
        raise _missing(session, model, number, alias)
    return _versions(session, [row])[0]


def find_version(
    session: Session, model: str, number: int | None = None, alias: str | None = None
) -> VersionKey:
    """The key of that version, with one query."""
    row = session.execute(_chosen(KEYS, model, number, alias)).first()
    if row is None:
        raise _missing(session, model, number, alias)
    return row.id, row.job_id


def _chosen(
    statement: Select[Any, Any], model: str, number: int | None, alias: str | None
) -> Select[Any, Any]:
    statement = statement.where(ModelRow.name == model)
    if alias is not None:
        statement = statement.join(AliasRow, AliasRow.version_id == VersionRow.id)
        statement = statement.where(AliasRow.name == alias)
    if number is not None:
        statement = statement.where(VersionRow.number == min(number, LARGEST))
    return statement.order_by(VersionRow.number.desc()).limit(1)


def fetch_version_by_id(session: Session, version_id: int) -> Version:
    """The version with this id."""
    row = session.execute(WITH_MODEL.where(VersionRow.id == version_id)).first()
    if row is None:
        raise NotFound(f"There is no version with the id {version_id}.")
    return _versions(session, [row])[0]


def list_versions(
    session: Session, model: str, after: Position | None, limit: int
) -> Page[Version]:
    """One page of a model's versions, the newest first."""
    statement = WITH_MODEL.where(ModelRow.name == model)
    rows = session.execute(paged(statement, NEWEST_FIRST, after, limit)).all()
    if not rows and after is None:
        raise no_model(session, model)
    return to_page(
        rows, limit, lambda some: _versions(session, some), lambda version: (version.number,)
    )


def _next_number(session: Session, model: str) -> tuple[int, int]:
    """The model's id and a number that nobody else gets: its row is locked until the end."""
    statement = (
        INSERTS[session.get_bind().dialect.name](ModelRow)
        .values(name=model, latest=1, created_at=now(), updated_at=now())
        .on_conflict_do_update(
            index_elements=[ModelRow.name],
            set_={"latest": ModelRow.latest + 1, "updated_at": now()},
        )
        .returning(ModelRow.id, ModelRow.latest)
    )
    model_id, number = session.execute(statement).one()
    return model_id, number


def _insert_version(
    session: Session, job_id: str, model_id: int, number: int, columns: Mapping[str, Any]
) -> int:
    statement = (
        INSERTS[session.get_bind().dialect.name](VersionRow)
        .values(job_id=job_id, model_id=model_id, number=number, created_at=now(), **columns)
        .on_conflict_do_nothing(index_elements=[VersionRow.job_id])
        .returning(VersionRow.id)
    )
    version_id: int | None = session.scalar(statement)
    if version_id is None:
        raise LeaseLost(f"The job {job_id!r} has made its version already.")
    return version_id


def _columns(draft: VersionDraft, tree: Tree) -> dict[str, Any]:
    return {
        "task": draft.task,
        "target": draft.target,
        "attributes": [
            asdict(attribute) | {"values": list(attribute.values)} for attribute in draft.attributes
        ],
        "ignored": list(draft.ignored),
        "params": dict(draft.params),
        "metrics": dict(draft.metrics),
        "n_rows": draft.n_rows,
        "alpha": draft.alpha,
        "group_costs": dict(draft.group_costs),
        **_sizes(served(tree, draft.alpha)),
    }


def _sizes(tree: Tree) -> dict[str, int]:
    return {
        "n_nodes": int(tree.is_reached.sum()),
        "n_leaves": int((tree.is_reached & tree.is_leaf).sum()),
        "depth": int(tree.depth[tree.is_reached].max()),
    }


def _missing(session: Session, model: str, number: int | None, alias: str | None) -> NotFound:
    if session.scalar(select(ModelRow.id).where(ModelRow.name == model)) is None:
        return no_model(session, model)
    if alias is not None:
        return NotFound(f"The model {model!r} has no alias {alias!r}.")
    return NotFound(f"The model {model!r} has no version {number}.")


def _versions(session: Session, rows: Sequence[Any]) -> list[Version]:
    """The versions of these rows; classes and aliases come with one query for all of them."""
    ids = [row.VersionRow.id for row in rows]
    classes = _grouped(
        session.execute(
            select(ClassRow.version_id, ClassRow.name)
            .where(ClassRow.version_id.in_(ids))
            .order_by(ClassRow.version_id, ClassRow.class_id)
        )
    )
    aliases = _grouped(
        session.execute(
            select(AliasRow.version_id, AliasRow.name)
            .where(AliasRow.version_id.in_(ids))
            .order_by(AliasRow.name)
        )
    )
    return [_version(row.VersionRow, row.name, classes, aliases) for row in rows]


def _grouped(pairs: Iterable[Any]) -> dict[int, list[str]]:
    groups: dict[int, list[str]] = defaultdict(list)
    for version_id, name in pairs:
        groups[version_id].append(name)
    return groups


def _version(
    row: VersionRow, model: str, classes: dict[int, list[str]], aliases: dict[int, list[str]]
) -> Version:
    return Version(
        id=row.id,
        model=model,
        number=row.number,
        task=row.task,
        target=row.target,
        classes=tuple(classes[row.id]),
        attributes=tuple(_attribute(**given) for given in row.attributes),
        ignored=tuple(row.ignored),
        params=row.params,
        metrics=row.metrics,
        n_rows=row.n_rows,
        n_nodes=row.n_nodes,
        n_leaves=row.n_leaves,
        depth=row.depth,
        alpha=row.alpha,
        group_costs=row.group_costs,
        job_id=row.job_id,
        created_at=row.created_at,
        aliases=tuple(aliases[row.id]),
    )


def _attribute(name: str, kind: str, values: Sequence[str], **more: Any) -> Attribute:
    return Attribute(name, Kind(kind), tuple(values), **more)
