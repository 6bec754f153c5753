"""Orders to train: what no single field can say is checked here, then they are requests."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from service.actions.train import TrainRequest
from service.errors import Fault, InvalidData, pointer
from service.tree.attribute import Kind
from service.tree.encode import MOST_FAULTS, Declaration
from service.tree.params import resolve
from service.tree.table import Table, table_of_columns, table_of_rows
from service.tree.training import MOST_CLASSES, Plan


def read_order(order: Mapping[str, Any], max_cells: int) -> TrainRequest:
    """The request that an order makes, once its parts fit each other."""
    faults = list(_contradictions(order))
    if faults:
        raise InvalidData("Some fields contradict each other.", faults[:MOST_FAULTS])
    params = dict(order["params"])
    preset = params.pop("preset")
    plan = Plan(
        target=order["target"],
        declared=tuple(_declaration(each) for each in order["attributes"]),
        classes=tuple(order["classes"]) if "classes" in order else None,
        weight=order.get("weight"),
    )
    table = _table(order["data"], max_cells)
    _check_size(table, plan, max_cells)
    return TrainRequest(order["model"], plan, table, preset, resolve(preset, params))


def _declaration(given: Mapping[str, Any]) -> Declaration:
    values = tuple(given["values"]) if "values" in given else None
    return Declaration(given["name"], given.get("kind"), values)


def _table(data: Mapping[str, Any], max_cells: int) -> Table:
    if "rows" in data:
        table = table_of_rows(data["rows"], ("data", "rows"), max_cells)
    else:
        table = table_of_columns(data["columns"], ("data", "columns"), max_cells)
    faults = [
        Fault(_first_place(table, name), "the name holds the character U+0000")
        for name in table.columns
        if "\0" in name
    ]
    if faults:
        raise InvalidData("Some columns have names that cannot be kept.", faults[:MOST_FAULTS])
    return table


def _check_size(table: Table, plan: Plan, max_cells: int) -> None:
    # A declared column takes its place in memory also where no row has it.
    n_columns = len({*table.columns, *(each.name for each in plan.declared)})
    if table.n_rows * n_columns > max_cells:
        detail = f"{table.n_rows} rows of {n_columns} columns are more than {max_cells} values"
        raise InvalidData(detail, [Fault("/attributes", detail)])


def _first_place(table: Table, name: str) -> str:
    """The pointer to where a column first stands."""
    if not table.rows:
        return pointer(*table.place, name)
    return table.pointer(next(row for row, sent in enumerate(table.rows) if name in sent), name)


def _contradictions(order: Mapping[str, Any]) -> Iterator[Fault]:
    yield from _of_data(order["data"])
    yield from _of_columns(order)
    for number, each in enumerate(order["attributes"]):
        place = pointer("attributes", number, "values")
        yield from _repeated(each.get("values", ()), place)
        if "values" in each and each.get("kind") == Kind.NUMERIC:
            yield Fault(place, "a numeric attribute has no values; its kind says numeric")
    if "classes" in order:
        yield from _repeated(order["classes"], "/classes")
        if not 2 <= len(order["classes"]) <= MOST_CLASSES:
            yield Fault("/classes", f"must be 2 to {MOST_CLASSES} classes")


def _of_data(data: Mapping[str, Any]) -> Iterator[Fault]:
    for name in data:
        if name not in ("rows", "columns"):
            yield Fault(pointer("data", name), "Unknown field.")
    if ("rows" in data) == ("columns" in data):
        yield Fault("/data", "must have exactly one of rows and columns")


def _of_columns(order: Mapping[str, Any]) -> Iterator[Fault]:
    """Columns that are said to be two things, each of the two being named."""
    target, weight = order["target"], order.get("weight")
    if target == weight:
        yield Fault("/target", f"{target!r} is also the weight")
        yield Fault("/weight", f"{target!r} is also the target")
    first: dict[str, int] = {}
    for number, each in enumerate(order["attributes"]):
        name, place = each["name"], pointer("attributes", number, "name")
        for role, column in (("target", target), ("weight", weight)):
            if name == column:
                yield Fault(place, f"{name!r} is the {role}, so it is no attribute")
                yield Fault(f"/{role}", f"{name!r} is declared as an attribute")
        if name in first:
            yield Fault(place, f"{name!r} is declared before, at /attributes/{first[name]}")
        first.setdefault(name, number)


def _repeated(values: Any, place: str) -> Iterator[Fault]:
    repeated = [text for text, times in Counter(values).items() if times > 1]
    if repeated:
        yield Fault(place, f"{repeated[0]!r} stands there more than once")
