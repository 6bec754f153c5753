"""Orders to train: what no single field can say is checked here, then they are requests."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from service.actions.request import EvaluationPlan, TrainRequest, source_of
from service.errors import Fault, InvalidData, pointer
from service.storage.records import StoredDataset
from service.tree.attribute import Kind
from service.tree.encode import IGNORED, MOST_FAULTS, Declaration
from service.tree.outline import task_of
from service.tree.params import resolve
from service.tree.table import DATASET, Table, table_of_columns, table_of_rows
from service.tree.target import CLASSIFICATION, MOST_CLASSES, REGRESSION, infer_task
from service.tree.training import Plan
from service.web.fields import unknown_field

WAYS = ("rows", "columns", "dataset")  # in which data may be given
# The parts of presets that are others where a number is predicted.
FOR_NUMBERS = {preset: {"criterion": "squared_error"} for preset in ("cart", "rpart")}


def read_order(
    order: Mapping[str, Any], max_cells: int, dataset: StoredDataset | None = None
) -> TrainRequest:
    """The request that an order makes, once its parts fit each other."""
    faults = list(islice(_contradictions(order), MOST_FAULTS))
    if faults:
        raise InvalidData("Some fields contradict each other.", faults)
    plan = _plan(order)
    if dataset is None:
        table = _table(order["data"], max_cells)
        _check_size(table, plan, max_cells)
    else:
        table = Table({}, dataset.n_rows, DATASET, first_line=dataset.first_line)
    task = _task(table, plan, dataset)
    overrides = {name: value for name, value in order["params"].items() if name != "preset"}
    preset = order["params"]["preset"]
    return TrainRequest(
        model=order["model"],
        plan=plan,
        table=table,
        preset=preset,
        params=resolve(preset, _of_task(task, preset) | overrides),
        overrides=overrides,
        evaluation=EvaluationPlan(**order["evaluation"]),
        source=source_of(dataset) if dataset else None,
    )


def _plan(order: Mapping[str, Any]) -> Plan:
    return Plan(
        target=order["target"],
        declared=tuple(_declaration(each) for each in order["attributes"]),
        classes=tuple(order["classes"]) if "classes" in order else None,
        weight=order.get("weight"),
        task=order.get("task"),
        group_costs=order["groups"],
        class_weights=order["class_weights"],
        validation_rows=tuple(order["validation_rows"]),
    )


def _declaration(given: Mapping[str, Any]) -> Declaration:
    values = {"values": tuple(given["values"])} if "values" in given else {}
    return Declaration(**{**given, **values})


def _task(table: Table, plan: Plan, dataset: StoredDataset | None) -> str:
    if dataset is None:
        return plan.task or infer_task(table, plan.target, plan.classes)
    targets = [task_of(each, plan) for each in dataset.columns if each.name == plan.target]
    return targets[0] if targets else CLASSIFICATION  # that it is not there is told later


def _of_task(task: str, preset: str) -> dict[str, str]:
    """The parts of a preset that are others for a number than for classes."""
    return FOR_NUMBERS.get(preset, {}) if task == REGRESSION else {}


def _table(data: Mapping[str, Any], max_cells: int) -> Table:
    if "rows" in data:
        table = table_of_rows(data["rows"], ("data", "rows"), max_cells)
    else:
        table = table_of_columns(data["columns"], ("data", "columns"), max_cells)
    detail = "the name holds the character U+0000"
    faults = [_misnamed(table, name, detail) for name in table.columns if "\0" in name]
    if faults:
        raise InvalidData("Some columns have names that cannot be kept.", faults[:MOST_FAULTS])
    return table


def _check_size(table: Table, plan: Plan, max_cells: int) -> None:
    # A declared column takes its place in memory also where no row has it.
    n_columns = len({*table.columns, *(each.name for each in plan.declared)})
    if table.n_rows * n_columns > max_cells:
        detail = f"{table.n_rows} rows of {n_columns} columns are more than {max_cells} values"
        raise InvalidData(detail, [Fault("/attributes", detail)])


def _misnamed(table: Table, name: str, detail: str) -> Fault:
    """The fault of a column, where it first stands."""
    if not table.rows:
        return Fault(pointer(*table.place, name), detail)
    first = next(row for row, sent in enumerate(table.rows) if name in sent)
    return table.fault(first, name, detail)


def _contradictions(order: Mapping[str, Any]) -> Iterator[Fault]:
    yield from _of_data(order["data"])
    yield from _of_columns(order)
    for number, each in enumerate(order["attributes"]):
        yield from _of_declaration(each, ("attributes", number))
    yield from _of_groups(order)
    yield from _of_evaluation(order["evaluation"])
    if "classes" in order:
        yield from _of_classes(order)
    yield from _repeated(order["validation_rows"], "/validation_rows")


def _of_declaration(given: Mapping[str, Any], at: tuple[str, int]) -> Iterator[Fault]:
    kind = given.get("kind")
    yield from _repeated(given.get("values", ()), pointer(*at, "values"))
    if "values" in given and kind == Kind.NUMERIC:
        yield Fault(
            pointer(*at, "values"), "a numeric attribute has no values; its kind says numeric"
        )
    if not given.get("values") and kind == Kind.ORDINAL:
        yield Fault(pointer(*at, "kind"), "an ordinal attribute needs its values, in their order")
    for name in ("cost", "group"):
        if name in given and kind == IGNORED:
            yield Fault(pointer(*at, name), f"an ignored column has no {name}; its kind says so")


def _of_groups(order: Mapping[str, Any]) -> Iterator[Fault]:
    used = set()
    for number, each in enumerate(order["attributes"]):
        if "group" in each:
            used.add(each["group"])
            if each["group"] not in order["groups"]:
                place = pointer("attributes", number, "group")
                yield Fault(place, f"{each['group']!r} is not among the groups")
    for group in order["groups"]:
        if group not in used:
            yield Fault(pointer("groups", group), f"no attribute is in the group {group!r}")


def _of_evaluation(given: Mapping[str, Any]) -> Iterator[Fault]:
    for name, method in (("folds", "cross_validation"), ("fraction", "hold_out")):
        if name in given and given["method"] != method:
            detail = f"{name} is for method = {method}, but method is {given['method']}"
            yield Fault(pointer("evaluation", name), detail)


def _of_classes(order: Mapping[str, Any]) -> Iterator[Fault]:
    yield from _repeated(order["classes"], "/classes")
    if not 2 <= len(order["classes"]) <= MOST_CLASSES:
        yield Fault("/classes", f"must be 2 to {MOST_CLASSES} classes")
    if order.get("task") == REGRESSION:
        yield Fault("/classes", "a regression has no classes; the task says regression")
        yield Fault("/task", "a regression has no classes, but classes are given")


def _of_data(data: Mapping[str, Any]) -> Iterator[Fault]:
    for name in data:
        if name not in WAYS:
            yield Fault(pointer("data", name), unknown_field(name, WAYS))
    if sum(name in data for name in WAYS) != 1:
        yield Fault("/data", "must have exactly one of rows, columns and dataset")
    if not isinstance(data.get("dataset", ""), str):
        yield Fault("/data/dataset", "must be the id of a dataset")


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
