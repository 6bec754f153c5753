"""An attribute is one input column: numeric, ordinal or categorical."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What the values of an attribute are."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"  # categories in an order that means something
    CATEGORICAL = "categorical"


@dataclass(frozen=True)
class Attribute:
    """One input column; `values` are its categories in order, none for a numeric attribute.

    `cost` is what it costs to learn its value. Attributes of one group share a further cost,
    which is paid once on a path.
    """

    name: str
    kind: Kind
    values: tuple[str, ...] = ()
    cost: float = 1.0
    group: str | None = None


def category_text(value: str | float) -> str:
    """The text by which a raw value is a category: 1 and 1.0 are the same one, true is "true"."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return repr(value)
