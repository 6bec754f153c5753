"""What is odd in a table to train on: no fault, but seldom meant."""

from collections.abc import Iterator

from service.errors import Fault
from service.tree.attribute import Kind
from service.tree.columns import Numbers, Texts
from service.tree.dataset import Dataset
from service.tree.encode import is_number
from service.tree.table import Table
from service.tree.training import Plan

MANY = 20  # rows from which on a column of all different categories looks like an identifier


def oddities(table: Table, plan: Plan, data: Dataset) -> Iterator[Fault]:
    """The oddities of the columns whose kind was not declared, each where it first shows."""
    declared = {each.name for each in plan.declared if each.kind is not None}
    for attribute in data.attributes:
        if attribute.name in declared or attribute.kind == Kind.NUMERIC:
            continue
        yield from _mixed(table, attribute.name)
        if len(attribute.values) == table.n_rows >= MANY:
            detail = f"every row has another {attribute.name!r}: it looks like an identifier"
            yield table.fault(0, attribute.name, detail)


def _mixed(table: Table, name: str) -> Iterator[Fault]:
    """A column of numbers in which something else stands is a column of categories."""
    column = table.column(name)
    if isinstance(column, Numbers | Texts):
        return  # a dataset has told of it when it was uploaded
    known = [row for row, value in enumerate(column) if value is not None]
    strangers = [row for row in known if not is_number(column[row])]
    if not strangers or 2 * len(strangers) > len(known):
        return
    detail = f"is no number, so that all of {name!r} are taken for categories; declare its kind"
    yield table.fault(strangers[0], name, detail)
