"""Text that both databases can keep."""

from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator

from service.errors import InvalidData


class PlainText(TypeDecorator[str]):
    """Text without the NUL character, which PostgreSQL refuses; so we refuse it everywhere."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """The text as it is."""
        if value is not None and "\0" in value:
            raise InvalidData("A text must not contain the NUL character.")
        return value
