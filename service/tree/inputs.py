"""Rows to predict, as numbers: what is wrong is named, what is strange counts as null."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from service.errors import Fault, InvalidData, pointer
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
    n_strangers: Mapping[str, int]  # by attribute, where there are any


def encode_inputs(
    compiled: CompiledTree, table: Table, ignored: Collection[str], *, strict: bool
) -> Inputs:
    """The rows as the router wants them; if strict, a category never declared is a fault."""
    faults = list(islice(_foreign(compiled, table, ignored), MOST_FAULTS))
    strangers: list[Fault] = []
    counts: dict[str, int] = {}
    values = np.full((table.n_rows, len(compiled.attributes)), np.nan, order="F")
    for number, attribute in enumerate(compiled.attributes):
        if attribute.name not in table.columns:
            continue
        try:
            values[:, number] = _encode(compiled, table, number, strangers, counts)
        except InvalidData as error:
            faults.extend(error.faults)
    if strict:
        faults.extend(strangers)
    if faults:
        raise InvalidData("some values cannot be used", faults[:MOST_FAULTS])
    taken = (replace(each, detail=f"{each.detail}; it is taken as null") for each in strangers)
    return Inputs(values, tuple(islice(taken, MOST_FAULTS)), counts)


def _encode(
    compiled: CompiledTree,
    table: Table,
    number: int,
    strangers: list[Fault],
    counts: dict[str, int],
) -> Floats:
    attribute = compiled.attributes[number]
    if attribute.kind == Kind.NUMERIC:
        return encode_numbers(table, attribute.name)
    encoded, rows = encode_categories(table, attribute.name, compiled.codes[number])
    if rows:
        counts[attribute.name] = len(rows)
    for row in rows[:MOST_FAULTS]:
        detail = f"is no category of {attribute.name!r}"
        strangers.append(table.fault(row, attribute.name, detail))
    return encoded


def _foreign(compiled: CompiledTree, table: Table, ignored: Collection[str]) -> Iterator[Fault]:
    """The columns that the model does not have, each named where it first stands."""
    names = {attribute.name for attribute in compiled.attributes} | set(ignored)
    for name in table.columns:
        if name in names:
            continue
        detail = f"the model has no attribute {name!r}"
        if not table.rows:
            yield Fault(pointer(*table.place, name), detail)
        yield from (
            table.fault(row, name, detail) for row, sent in enumerate(table.rows) if name in sent
        )
