"""Fields that take what JSON says at its word: "1" is no number and 1 is not true."""

import re
from collections.abc import Iterable
from itertools import chain
from typing import Any

from marshmallow import ValidationError, fields, validate

from service.errors import hint
from service.tree.attribute import category_text
from service.tree.encode import is_category, is_number
from service.web.names import NAME, NAME_RULE, is_name

MOST = 2**31 - 1  # what a column for whole numbers can hold on every database
UNKNOWN = "Unknown field."
NO_NUL = "^[^\\u0000]*$"


def unknown_field(name: str, known: Iterable[str]) -> str:
    """What is said of a field that nobody knows, as marshmallow says it, and which may be meant."""
    return UNKNOWN.removesuffix(".") + (hint(name, known) or ".")


def _documented(options: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """The options of a field with more metadata, over which its own has precedence."""
    return options | {"metadata": metadata | dict(options.get("metadata", {}))}


class Text(fields.String):
    """Any text without U+0000, which PostgreSQL cannot keep."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**_documented(options, pattern=NO_NUL))

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> str:
        text: str = super()._deserialize(value, attr, data, **kwargs)
        if "\0" in text:
            raise ValidationError("holds the character U+0000")
        return text


class Name(fields.String):
    """The name of a model."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**_documented(options, pattern=NAME))

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> str:
        text: str = super()._deserialize(value, attr, data, **kwargs)
        if not is_name(text):
            raise ValidationError(NAME_RULE)
        return text


class Number(fields.Float):
    """A JSON number."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> float:  # noqa: ARG002
        if not is_number(value):
            raise ValidationError("must be a number")
        return float(value)


class Whole(fields.Integer):
    """A JSON number without a fraction: 3.0 is one."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> int:  # noqa: ARG002
        if not is_number(value) or value != int(value):
            raise ValidationError("must be a whole number")
        return int(value)


class Digits(fields.Integer):
    """A whole number in an address: digits only."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> int:  # noqa: ARG002
        # int() alone takes "1_000" and digits of other scripts
        if not re.fullmatch(r"-?[0-9]{1,19}", value):
            raise ValidationError("must be a whole number")
        return int(value)


class Flag(fields.Boolean):
    """`true` or `false` in an address."""

    def __init__(self, **options: Any) -> None:
        super().__init__(truthy={"true"}, falsy={"false"}, **options)


class Truth(fields.Boolean):
    """`true` or `false` in a body."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> bool:  # noqa: ARG002
        if not isinstance(value, bool):
            raise ValidationError("must be true or false")
        return value


class Decimal(fields.Float):
    """A number in an address."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> float:  # noqa: ARG002
        # float() alone takes "nan", "inf", "1_000" and white space
        if not re.fullmatch(r"-?[0-9]{1,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,3})?", value):
            raise ValidationError("must be a number")
        return float(value)


class ByName(fields.Dict):
    """Numbers by name, none of them below 0."""

    def __init__(self, **options: Any) -> None:
        numbers = Number(validate=validate.Range(min=0))
        super().__init__(keys=Text(), values=numbers, load_default=dict, **options)

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> dict[str, float]:
        try:
            found: dict[str, float] = super()._deserialize(  # type: ignore[no-untyped-call]
                value, attr, data, **kwargs
            )
        except ValidationError as error:
            if isinstance(error.messages, list):
                raise
            # marshmallow tells apart whether key or value is wrong; a pointer leads to the name
            told = {name: [*chain(*each.values())] for name, each in error.messages.items()}
            raise ValidationError(told) from None
        return found


class Category(fields.Field[str]):
    """A category or class: a string, number, true or false; kept as its text."""

    def __init__(self, **options: Any) -> None:
        kinds = ["string", "number", "boolean"]
        super().__init__(**_documented(options, type=kinds, pattern=NO_NUL))

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> str:  # noqa: ARG002
        if not is_category(value):
            raise ValidationError("must be a string, a number, true or false")
        text = category_text(value)
        if "\0" in text:
            raise ValidationError("holds the character U+0000")
        return text


class Moment(fields.DateTime):
    """A moment in UTC, as RFC 3339 with Z."""

    def _serialize(self, value: Any, attr: Any, obj: Any, **kwargs: Any) -> str | None:  # noqa: ARG002
        return None if value is None else value.isoformat().replace("+00:00", "Z")
