"""What can be told of a column of raw values at a glance."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ColumnSummary:
    """A column of a table: what its values are, and what is odd about them.

    `distinct` is counted up to a bound; where there are more, it is that bound and `is_exact` is
    false. `values` tells how many rows have each category, in order of first appearance; None
    where there are too many to be told.
    """

    name: str
    kind: str  # numeric or categorical
    nulls: int
    distinct: int
    is_exact: bool = True
    is_constant: bool = False
    is_identifier: bool = False  # every known value is another one
    minimum: float | None = None
    maximum: float | None = None
    mean: float | None = None
    values: dict[str, int] | None = None
    first_null: int | None = None  # the first row, from 0, without a value
    first_text: int | None = None  # the first row, from 0, whose value is no number
    is_fractional: bool = False  # some value is no whole number
