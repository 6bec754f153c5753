"""Aliases: names for versions that can be moved; every move is kept."""

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from service.errors import NotFound
from service.storage.clock import now
from service.storage.missing import no_model
from service.storage.records import LARGEST, AliasMove
from service.storage.tables import AliasMoveRow, AliasRow, ModelRow, VersionRow


def put_alias(session: Session, model: str, alias: str, version: int) -> bool:
    """Whether the alias is new; from now on it names this version."""
    model_id = _locked(session, model)
    version_id = _version_id(session, model_id, model, version)
    key = {"model_id": model_id, "name": alias}
    before = session.scalar(select(AliasRow.version_id).filter_by(**key))
    if before == version_id:
        return False
    if before is None:
        session.execute(insert(AliasRow).values(**key, version_id=version_id))
    else:
        session.execute(update(AliasRow).filter_by(**key).values(version_id=version_id))
    _note(session, model_id, alias, version)
    return before is None


def delete_alias(session: Session, model: str, alias: str) -> None:
    """Remove the alias; its history stays."""
    model_id = _locked(session, model)
    removed = session.scalar(
        delete(AliasRow)
        .filter_by(model_id=model_id, name=alias)
        .returning(AliasRow.version_id)
        .execution_options(synchronize_session=False)
    )
    if removed is None:
        raise NotFound(f"The model {model!r} has no alias {alias!r}.")
    _note(session, model_id, alias, None)


def alias_history(session: Session, model: str, alias: str) -> tuple[AliasMove, ...]:
    """Every move of the alias, the newest first; also when it is gone."""
    moves = session.scalars(
        select(AliasMoveRow)
        .join(ModelRow, ModelRow.id == AliasMoveRow.model_id)
        .where(ModelRow.name == model, AliasMoveRow.alias == alias)
        .order_by(AliasMoveRow.id.desc())
    ).all()
    if not moves:
        raise NotFound(f"The model {model!r} never had an alias {alias!r}.")
    return tuple(AliasMove(move.alias, move.number, move.moved_at) for move in moves)


def _locked(session: Session, model: str) -> int:
    """The model's id; until the end of the transaction nobody else moves its aliases."""
    model_id = session.scalar(select(ModelRow.id).where(ModelRow.name == model).with_for_update())
    if model_id is None:
        raise no_model(session, model)
    return model_id


def _version_id(session: Session, model_id: int, model: str, number: int) -> int:
    statement = select(VersionRow.id).filter_by(model_id=model_id, number=min(number, LARGEST))
    found = session.scalar(statement)
    if found is None:
        raise NotFound(f"The model {model!r} has no version {number}.")
    return found


def _note(session: Session, model_id: int, alias: str, number: int | None) -> None:
    session.execute(
        insert(AliasMoveRow).values(model_id=model_id, alias=alias, number=number, moved_at=now())
    )
    session.execute(update(ModelRow).where(ModelRow.id == model_id).values(updated_at=now()))
