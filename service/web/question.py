"""Rows to predict or to explain: read by hand, since there may be very many of them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from service.actions.select import Selection, read_selection
from service.errors import Fault, InvalidData, pointer
from service.tree.encode import MOST_FAULTS, is_number
from service.tree.route import STRATEGIES
from service.tree.table import Table, table_of_columns, table_of_rows
from service.web.fields import MOST, unknown_field
from service.web.names import SELECTED_RULE, is_selected

LAYOUTS = ("rows", "columns")
STRATEGY_NAMES = tuple(STRATEGIES)
DEFAULT_STRATEGY = "weighted"
FIELDS = frozenset({"version", "rows", "columns", "strict", "missing"})


@dataclass(frozen=True)
class Limits:
    """How much may be asked at once."""

    rows: int
    cells: int


@dataclass(frozen=True)
class Question:
    """Rows, and the version that is asked about them."""

    selection: Selection
    table: Table
    missing: str
    is_strict: bool
    is_by_column: bool


def read_question(
    body: Mapping[str, Any], limits: Limits, *, name: str | None, also: frozenset[str]
) -> Question:
    """The question that a body asks; the model's name stands in it if it is not given here."""
    fields = FIELDS | also | (frozenset() if name else {"model"})
    others = [each for each in body if each != "model"] if name else body  # it is a misfit there
    faults = [*unknown_fields(others, fields), *_misfits(body, named=name is not None)]
    if faults:
        raise InvalidData("Some fields cannot be used.", faults[:MOST_FAULTS])
    version = int(body["version"]) if "version" in body else None
    return Question(
        selection=read_selection(name or body["model"], version),
        table=read_table(body, limits),
        missing=body.get("missing", DEFAULT_STRATEGY),
        is_strict=body.get("strict", False),
        is_by_column=body.get("layout") == "columns",
    )


def unknown_fields(body: Iterable[str], fields: frozenset[str]) -> Iterator[Fault]:
    """The first of the fields that nobody knows."""
    known = sorted(fields)
    for name in islice((name for name in body if name not in fields), MOST_FAULTS):
        yield Fault(pointer(name), unknown_field(name, known))


def _misfits(body: Mapping[str, Any], *, named: bool) -> Iterator[Fault]:
    if named and "model" in body:
        yield Fault("/model", "is in the address already; leave it out here")
    if not named and not _is_selected(body.get("model")):
        yield Fault("/model", SELECTED_RULE)
    if "version" in body and not _is_version(body["version"]):
        yield Fault("/version", "must be the number of a version")
    if body.get("layout", "rows") not in LAYOUTS:
        yield Fault("/layout", "must be rows or columns")
    if not isinstance(body.get("strict", False), bool):
        yield Fault("/strict", "must be true or false")
    if body.get("missing", DEFAULT_STRATEGY) not in STRATEGY_NAMES:
        yield Fault("/missing", f"must be one of {', '.join(STRATEGY_NAMES)}")
    yield from table_faults(body)


def table_faults(body: Mapping[str, Any]) -> Iterator[Fault]:
    """What is wrong with a body that is to hold one table."""
    if ("rows" in body) == ("columns" in body):
        yield Fault("", "must have exactly one of rows and columns")


def _is_selected(model: object) -> bool:
    return isinstance(model, str) and is_selected(model)


def _is_version(version: Any) -> bool:
    return is_number(version) and 1 <= version <= MOST and version == int(version)


def read_table(body: Mapping[str, Any], limits: Limits) -> Table:
    """The table of a body, which has either rows or columns."""
    if "rows" in body:
        rows = body["rows"]
        if isinstance(rows, list):  # counted before anything is made of them
            _check_count(len(rows), "/rows", limits.rows)
        return table_of_rows(rows, ("rows",), limits.cells)
    table = table_of_columns(body["columns"], ("columns",), limits.cells)
    _check_count(table.n_rows, "/columns", limits.rows)
    return table


def _check_count(n_rows: int, place: str, most: int) -> None:
    if n_rows > most:
        detail = f"{n_rows} rows are more than the {most} that can be asked at once"
        raise InvalidData(detail, [Fault(place, detail)])
