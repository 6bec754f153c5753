"""Models: names under which versions are kept."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import InstrumentedAttribute, Session

from service.errors import NotFound
from service.storage.paging import Order, paged, to_page
from service.storage.records import Model, Page, Position
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
        raise NotFound(f"There is no model {name!r}.")
    return _models(session, [row])[0]


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
        )
        for row in rows
    ]
