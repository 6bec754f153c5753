"""Times come from the database's clock only, so that many machines agree on a lease."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, Float, literal
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import FunctionElement
from sqlalchemy.types import TypeDecorator


class Instant(TypeDecorator[datetime]):
    """A moment, always given back as an aware datetime in UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The moment as the database keeps it: SQLite has no zones, there it is UTC."""
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """The moment in UTC, whatever the zone of the connection."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class After(FunctionElement[datetime]):
    """The moment that lies so many seconds after the database's now."""

    type = Instant()
    inherit_cache = True


def after(seconds: float) -> After:
    """The SQL expression for the moment in so many seconds."""
    return After(literal(seconds, Float))


def now() -> After:
    """The SQL expression for this moment; unlike CURRENT_TIMESTAMP it moves in a transaction."""
    return after(0.0)


@compiles(After, "postgresql")
def _after_on_postgresql(element: After, compiler: SQLCompiler, **kwargs: Any) -> str:
    seconds = compiler.process(element.clauses, **kwargs)
    return f"(clock_timestamp() + make_interval(secs => {seconds}))"


@compiles(After, "sqlite")
def _after_on_sqlite(element: After, compiler: SQLCompiler, **kwargs: Any) -> str:
    # Three digits of a second and three zeros: the very text that SQLAlchemy writes and compares.
    seconds = compiler.process(element.clauses, **kwargs)
    return f"strftime('%Y-%m-%d %H:%M:%f000', 'now', {seconds} || ' seconds')"
