"""What is said of a model that is not there."""

from sqlalchemy import select

from service.errors import MOST_NAMES, NotFound, hint
from service.storage.engine import Session
from service.storage.tables import ModelRow


def no_model(session: Session, name: str) -> NotFound:
    """The error that says so, and which of the latest models may be meant."""
    latest = select(ModelRow.name).order_by(ModelRow.updated_at.desc()).limit(MOST_NAMES)
    return NotFound(f"There is no model {name!r}{hint(name, session.scalars(latest)) or '.'}")
