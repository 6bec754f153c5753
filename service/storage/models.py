"""Models: names under which versions are kept."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from service.storage.clock import now
from service.storage.missing import no_model
from service.storage.paging import Order, paged, to_page
from service.storage.records import Model, Page, Position, VersionKey
from service.storage.tables import AliasRow, ModelRow, VersionRow

KEYS: dict[str, InstrumentedAttribute[object]] = {
    "name": ModelRow.name,
    "created_at": ModelRow.created_at,
    "updated_at": ModelRow.updated_at,
}
ORDERS = {
    f"{sign}{name}": Order((key, ModelRow.name), descending=sign == "-")
    for name, key in KEYS.items()
    for sign in ("", "-")
}


@dataclass(frozen=True)
class WarmVersion:
    """A version of a warm model that is its newest, or has an alias."""

    key: VersionKey
    model: str
    number: int


def list_models(
    session: Session,
    *,
    name_contains: str | None = None,
    task: str | None = None,
    order_by: str = "name",
    after: Position | None = None,
    limit: int,
) -> Page[Model]:
    """One page of the models, in one of ORDERS; the task is that of their newest version."""
    statement = select(ModelRow)
    if name_contains is not None:
        statement = statement.where(ModelRow.name.icontains(name_contains, autoescape=True))
    if task is not None:
        newest = VersionRow.number == ModelRow.latest
        statement = statement.join(VersionRow, (VersionRow.model_id == ModelRow.id) & newest)
        statement = statement.where(VersionRow.task == task)
    rows = session.scalars(paged(statement, ORDERS[order_by], after, limit)).all()
    return to_page(
        rows,
        limit,
        lambda some: _models(session, some),
        lambda model: _position(model, order_by.removeprefix("-")),
    )


def fetch_model(session: Session, name: str) -> Model:
    """The model with this name."""
    row = session.scalar(select(ModelRow).where(ModelRow.name == name))
    if row is None:
        raise no_model(session, name)
    return _models(session, [row])[0]


def set_warm(session: Session, name: str, *, warm: bool) -> None:
    """Have the model loaded ahead by each web process, or no longer."""
    session.execute(
        update(ModelRow)
        .where(ModelRow.name == name, ModelRow.warm != warm)
        .values(warm=warm, updated_at=now())
        .execution_options(synchronize_session=False)
    )


def warm_versions(session: Session) -> tuple[WarmVersion, ...]:
    """What is to be loaded ahead: of each warm model the newest version, and those with aliases."""
    others = aliased(VersionRow)
    newest = select(func.max(others.number)).where(others.model_id == ModelRow.id)
    with_alias = VersionRow.id.in_(select(AliasRow.version_id))
    rows = session.execute(
        select(VersionRow.id, VersionRow.job_id, ModelRow.name, VersionRow.number)
        .join(ModelRow, VersionRow.model_id == ModelRow.id)
        .where(ModelRow.warm, or_(VersionRow.number == newest.scalar_subquery(), with_alias))
        .order_by(ModelRow.name, VersionRow.number.desc())
    )
    return tuple(WarmVersion((row.id, row.job_id), row.name, row.number) for row in rows)


def _position(model: Model, key: str) -> Position:
    return (model.name if key == "name" else getattr(model, key).isoformat(), model.name)


def _models(session: Session, rows: Sequence[ModelRow]) -> list[Model]:
    aliases: dict[int, dict[str, int]] = {row.id: {} for row in rows}
    named = session.execute(
        select(AliasRow.model_id, AliasRow.name, VersionRow.number)
        .join(VersionRow, VersionRow.id == AliasRow.version_id)
        .where(AliasRow.model_id.in_(aliases))
        .order_by(AliasRow.name)
    )
    for model_id, alias, number in named:
        aliases[model_id][alias] = number
    return [
        Model(
            name=row.name,
            created_at=row.created_at,
            updated_at=row.updated_at,
            latest=row.latest,
            aliases=aliases[row.id],
            warm=row.warm,
        )
        for row in rows
    ]
