"""What is told of the columns of a file once all of it was seen."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from service.files.reading.inferring import Found, first_text
from service.files.reading.tally import MOST_DISTINCT, Tally
from service.files.records import Ingestion
from service.tree.attribute import Kind
from service.tree.summary import ColumnSummary

MOST_VALUES = 1_000  # that are told of a column
MOST_NUMBERS = 20  # likewise if they are numbers, which are of interest where they are classes
MOST_TOLD = 4_000_000  # characters of all values that are told, as they are kept in a database
PER_VALUE = 20  # characters that it takes to tell a value, beside its own
MANY = 20  # rows from which on a column of all different values looks like an identifier


def summarise(
    columns: Sequence[Found], tallies: Mapping[str, Tally], order: Ingestion
) -> tuple[ColumnSummary, ...]:
    """The summary of each column."""
    summaries = [_summary(each, tallies[each.name], order) for each in columns]
    return _within_measure(summaries)


def _summary(column: Found, tally: Tally, order: Ingestion) -> ColumnSummary:
    distinct, spread, look = tally.distinct, tally.spread, column.look
    has_numbers = spread.n_rows > 0
    return ColumnSummary(
        name=column.name,
        kind=column.kind.value,
        nulls=look.n_nulls,
        distinct=min(distinct.n_values, MOST_DISTINCT),
        is_exact=distinct.is_exact,
        is_constant=distinct.n_values < 2,
        # A guess where there are too many values to remember.
        is_identifier=distinct.is_all_different
        and look.n_known >= MANY
        and not (column.kind == Kind.NUMERIC and look.is_fractional),
        minimum=spread.minimum if has_numbers else None,
        maximum=spread.maximum if has_numbers else None,
        mean=spread.mean if has_numbers else None,
        values=_values(column, tally),
        first_null=look.first_null,
        first_text=first_text(column, order),
        is_fractional=column.kind == Kind.NUMERIC and look.is_fractional,
    )


def _values(column: Found, tally: Tally) -> dict[str, int] | None:
    distinct = tally.distinct
    if not distinct.is_exact:
        return None
    if column.kind == Kind.NUMERIC:
        is_told = distinct.n_values <= MOST_NUMBERS and not column.look.is_fractional
    else:
        is_told = distinct.n_values <= MOST_VALUES
    return distinct.told() if is_told else None


def _within_measure(summaries: Sequence[ColumnSummary]) -> tuple[ColumnSummary, ...]:
    """The summaries without the longest lists of values, if all of them are too long together."""
    lengths = {each.name: _length(each) for each in summaries}
    told: set[str] = set()
    left = MOST_TOLD
    for name in sorted(lengths, key=lengths.__getitem__):
        left -= lengths[name]
        if left < 0:
            break
        told.add(name)
    return tuple(each if each.name in told else replace(each, values=None) for each in summaries)


def _length(summary: ColumnSummary) -> int:
    return sum(len(text) + PER_VALUE for text in summary.values or ())
