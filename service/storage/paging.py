"""Keyset pagination: the next page starts after the last item, however many came in between."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar, TypeVarTuple

from sqlalchemy import ColumnElement, Integer, Select, literal, tuple_
from sqlalchemy.orm import InstrumentedAttribute

from service.errors import InvalidData
from service.storage.clock import Instant
from service.storage.records import LARGEST, Item, Page, Position

Raw = TypeVar("Raw")
Columns = TypeVarTuple("Columns")


@dataclass(frozen=True)
class Order:
    """The columns that put a list into one order, the last of them different for each item."""

    columns: tuple[InstrumentedAttribute[Any], ...]
    descending: bool = False


def paged(
    statement: Select[*Columns], order: Order, after: Position | None, limit: int
) -> Select[*Columns]:
    """The statement for one page, with one row more that tells whether another page follows."""
    columns = [column.desc() if order.descending else column.asc() for column in order.columns]
    if after is not None:
        statement = statement.where(_beyond(order, after))
    return statement.order_by(*columns).limit(limit + 1)


def to_page(
    rows: Sequence[Raw],
    limit: int,
    make: Callable[[Sequence[Raw]], Sequence[Item]],
    position: Callable[[Item], Position],
) -> Page[Item]:
    """The page of these rows; `make` turns rows into items."""
    items = tuple(make(rows[:limit]))
    return Page(items, position(items[-1]) if len(rows) > limit else None)


def _beyond(order: Order, after: Position) -> ColumnElement[bool]:
    try:
        values = [_value(*pair) for pair in zip(order.columns, after, strict=True)]
    except ValueError:
        raise InvalidData("This position belongs to another list.") from None
    here, given = tuple_(*order.columns), tuple_(*values)
    return here < given if order.descending else here > given


def _value(column: InstrumentedAttribute[Any], value: str | int) -> ColumnElement[Any]:
    """The value as the column would hold it; ValueError if it could not."""
    if isinstance(value, str) and isinstance(column.type, Instant):
        return literal(_moment(value), column.type)
    kind = int if isinstance(column.type, Integer) else str
    if type(value) is not kind or (isinstance(value, int) and abs(value) > LARGEST):
        raise ValueError
    return literal(value, column.type)


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError
    return moment
