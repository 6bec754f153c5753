"""Rows to predict, as numbers: what is wrong is named, what is strange counts as null."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from service.errors import Fault, InvalidData, hint, pointer
from service.tree.arrays import Floats
from service.tree.attribute import Kind
from service.tree.compiled import CompiledTree
from service.tree.encode import MOST_FAULTS, encode_categories, encode_numbers
from service.tree.table import Table


@dataclass(frozen=True)
class Inputs:
    """The rows as numbers (row, attribute), and the first of the values that no category has."""

    values: Floats
    strangers: tuple[Fault, ...]
    stranger_rows: Mapping[str, Sequence[int]]  # all of them, by attribute where there are any


def encode_inputs(
    compiled: CompiledTree, table: Table, ignored: Collection[str], *, strict: bool
) -> Inputs:
    """The rows as the router wants them; if strict, a category never declared is a fault."""
    faults = list(islice(_foreign(compiled, table, ignored), MOST_FAULTS))
    strangers: list[Fault] = []
    found: dict[str, Sequence[int]] = {}
    values = np.full((table.n_rows, len(compiled.attributes)), np.nan, order="F")
    for number, attribute in enumerate(compiled.attributes):
        if attribute.name not in table.columns:
            continue
        try:
            values[:, number] = _encode(compiled, table, number, strangers, found)
        except InvalidData as error:
            faults.extend(error.faults)
    if strict:
        faults.extend(strangers)
    if faults:
        raise InvalidData("some values cannot be used", faults[:MOST_FAULTS])
    return Inputs(values, tuple(map(taken_as_null, strangers[:MOST_FAULTS])), found)


def no_attribute(name: str, attributes: Iterable[str]) -> str:
    """What is said of a column that the model does not have."""
    return f"the model has no attribute {name!r}{hint(name, attributes)}"


def stranger(table: Table, row: int, name: str) -> Fault:
    """A value that no category has."""
    return table.fault(row, name, f"is no category of {name!r}")


def taken_as_null(stranger: Fault) -> Fault:
    """What is told of a stranger where that is no fault."""
    return replace(stranger, detail=f"{stranger.detail}; it is taken as null")


def _encode(
    compiled: CompiledTree,
    table: Table,
    number: int,
    strangers: list[Fault],
    found: dict[str, Sequence[int]],
) -> Floats:
    attribute = compiled.attributes[number]
    if attribute.kind == Kind.NUMERIC:
        return encode_numbers(table, attribute.name)
    encoded, rows = encode_categories(table, attribute.name, compiled.codes[number])
    if rows:
        found[attribute.name] = rows
    strangers.extend(stranger(table, row, attribute.name) for row in rows[:MOST_FAULTS])
    return encoded


def _foreign(compiled: CompiledTree, table: Table, ignored: Collection[str]) -> Iterator[Fault]:
    """The columns that the model does not have, each named where it first stands."""
    attributes = [attribute.name for attribute in compiled.attributes]
    names = {*attributes, *ignored}
    for name in table.columns:
        if name in names:
            continue
        detail = no_attribute(name, attributes)
        if not table.rows:
            yield Fault(pointer(*table.place, name), detail)
        yield from (
            table.fault(row, name, detail) for row, sent in enumerate(table.rows) if name in sent
        )
