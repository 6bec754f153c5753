"""What would be trained on, told from the summaries of a dataset's columns alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from service.errors import Fault, hint, pointer
from service.tree.attribute import Attribute, Kind
from service.tree.encode import IGNORED, Declaration, raise_faults
from service.tree.summary import ColumnSummary
from service.tree.table import DATASET, Table
from service.tree.target import CLASSIFICATION, FEW_NUMBERS, MOST_CLASSES, REGRESSION
from service.tree.training import Plan, inputs_of


@dataclass(frozen=True)
class Outline:
    """The shape of what would be trained on."""

    attributes: tuple[Attribute, ...]
    classes: tuple[str, ...]
    is_regression: bool
    n_rows: int


def outline(table: Table, columns: Sequence[ColumnSummary], plan: Plan) -> Outline:
    """What would be trained on; InvalidData names what cannot be used.

    The table tells the size and the lines; its values are not looked at.
    """
    named = {column.name: column for column in columns}
    raise_faults(_absent(named, plan), "some declared columns are not there")
    inputs = list(inputs_of(named, plan))
    raise_faults(_misfits(table, named, plan, inputs))
    is_regression = task_of(named[plan.target], plan) == REGRESSION
    attributes = tuple(_attribute(named[each.name], each) for each in inputs)
    classes = () if is_regression else plan.classes or tuple(named[plan.target].values or ())
    return Outline(attributes, classes, is_regression, table.n_rows)


def identifiers(columns: Sequence[ColumnSummary], told: Outline) -> Iterator[Fault]:
    """The inputs of which every row has another value: they tell nothing of other rows."""
    inputs = {each.name for each in told.attributes}
    for column in columns:
        if column.is_identifier and column.name in inputs:
            detail = f"every row has another {column.name!r}: it looks like an identifier"
            yield Fault(pointer(*DATASET), f"{detail}; declare it as {IGNORED}")


def task_of(target: ColumnSummary, plan: Plan) -> str:
    """What is trained: as it was said, else what the target looks like."""
    if plan.task is not None:
        return plan.task
    if plan.classes is not None or target.kind != Kind.NUMERIC:
        return CLASSIFICATION
    is_few = target.is_exact and target.distinct <= FEW_NUMBERS
    return CLASSIFICATION if is_few and not target.is_fractional else REGRESSION


def _attribute(column: ColumnSummary, declared: Declaration) -> Attribute:
    inferred = column.kind if declared.values is None else Kind.CATEGORICAL
    kind = Kind(declared.kind or inferred)
    values = declared.values or ()
    if kind != Kind.NUMERIC and declared.values is None:
        values = tuple(column.values or ())
    return Attribute(declared.name, kind, values, declared.cost, declared.group)


def _absent(named: Mapping[str, ColumnSummary], plan: Plan) -> Iterator[Fault]:
    wanted = [(pointer("attributes", n, "name"), e.name) for n, e in enumerate(plan.declared)]
    wanted += [("/target", plan.target)]
    wanted += [("/weight", plan.weight)] if plan.weight is not None else []
    for place, name in wanted:
        if name not in named:
            yield Fault(place, f"the dataset has no column {name!r}{hint(name, named)}")


def _misfits(
    table: Table,
    named: Mapping[str, ColumnSummary],
    plan: Plan,
    inputs: Sequence[Declaration],
) -> Iterator[Fault]:
    if not inputs:
        yield Fault(pointer(*DATASET), "there is no column to learn from")
    for each in inputs:
        yield from _of_input(table, named[each.name], each)
    yield from _of_target(table, named[plan.target], plan)
    if plan.weight is not None:
        yield from _of_weight(table, named[plan.weight])


def _of_input(table: Table, column: ColumnSummary, declared: Declaration) -> Iterator[Fault]:
    is_numeric = declared.kind == Kind.NUMERIC or (
        declared.kind is None and declared.values is None and column.kind == Kind.NUMERIC
    )
    if is_numeric and column.kind != Kind.NUMERIC and column.first_text is not None:
        yield table.fault(column.first_text, column.name, "must be a number")
    if not is_numeric and declared.values is None and not column.is_exact:
        detail = (
            f"the column {column.name!r} has more than {column.distinct} categories; "
            f"declare it as {IGNORED}, or name its values"
        )
        yield Fault(pointer(*DATASET), detail)


def _of_target(table: Table, column: ColumnSummary, plan: Plan) -> Iterator[Fault]:
    if column.first_null is not None:
        what = "number" if task_of(column, plan) == REGRESSION else "class"
        detail = f"is null: a row to train on needs a {what}"
        yield table.fault(column.first_null, column.name, detail)
        return
    if task_of(column, plan) == REGRESSION:
        if column.kind != Kind.NUMERIC and column.first_text is not None:
            yield table.fault(column.first_text, column.name, "must be a number")
    elif plan.classes is None:
        if column.distinct < 2:
            detail = f"the target {column.name!r} has fewer than two classes: nothing to learn"
            yield Fault("/target", detail)
        if column.distinct > MOST_CLASSES:
            detail = f"the target {column.name!r} has more than {MOST_CLASSES} classes"
            yield Fault("/target", detail)


def _of_weight(table: Table, column: ColumnSummary) -> Iterator[Fault]:
    detail = "must be a weight: a number, not below 0"
    if column.kind != Kind.NUMERIC and column.first_text is not None:
        yield table.fault(column.first_text, column.name, detail)
    elif column.first_null is not None:
        yield table.fault(column.first_null, column.name, detail)
    elif column.minimum is not None and column.minimum < 0:
        yield Fault("/weight", f"the column {column.name!r} has values below 0")
