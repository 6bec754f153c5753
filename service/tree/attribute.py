"""An attribute is one input column: numeric, or categorical with its categories in order."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What the values of an attribute are."""

    NUMERIC = "numeric"
    CATEGORICAL = "categorical"


@dataclass(frozen=True)
class Attribute:
    """One input column; `values` are its categories in order, none for a numeric attribute."""

    name: str
    kind: Kind
    values: tuple[str, ...] = ()


def category_text(value: str | float) -> str:
    """The text by which a raw value is a category: 1 and 1.0 are the same one, true is "true"."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return repr(value)
