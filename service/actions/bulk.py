"""Bulk: very many rows, some at a time, from any form into any form.

Whoever reads makes blocks of what is sent, whoever writes makes bytes of blocks; no more than one
block is ever there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from service.actions.ready import Ready
from service.errors import Fault, LineFault, pointer
from service.tree.arrays import Floats
from service.tree.encode import raise_faults
from service.tree.few import WEIGHTED
from service.tree.inputs import encode_inputs, no_attribute, stranger, taken_as_null
from service.tree.table import Table

ROWS = 4_096  # of a block at the most: enough to be fast, few enough to leave others their turn
CELLS = 500_000  # likewise, where rows are very wide
PLACE = ("rows",)  # where faults say that the rows stood, whatever the form


@dataclass(frozen=True)
class Asked:
    """Whom rows are put to, and how."""

    ready: Ready
    missing: str = WEIGHTED
    is_strict: bool = False

    @property
    def is_usual(self) -> bool:
        """Whether a row that knows its way to a leaf is told what the leaf says, and no more."""
        return self.missing == WEIGHTED and self.ready.form is not None

    @property
    def most_rows(self) -> int:
        """How many rows a block may have."""
        return max(1, min(ROWS, CELLS // len(self.ready.loaded.version.attributes)))


@dataclass(frozen=True)
class Block:
    """Some rows as numbers (row, attribute), NaN for null."""

    values: Floats
    place: Table  # where they stood, without their values
    strangers: Mapping[str, Sequence[int]] = field(default_factory=dict)  # the rows, by attribute

    def __len__(self) -> int:
        return len(self.values)

    def warning(self, row: int, name: str) -> Fault:
        """What is told of a value that no category has."""
        return taken_as_null(stranger(self.place, row, name))


def check_names(asked: Asked, names: Iterable[str], line: int | None = None) -> None:
    """InvalidData if there are names that the version does not know; they stand on this line."""
    loaded = asked.ready.loaded
    attributes = [each.name for each in loaded.version.attributes]
    known = {*attributes, *loaded.not_inputs}
    faults = (_foreign(name, line, attributes) for name in names if name not in known)
    raise_faults(faults, "some columns are unknown")


def _foreign(name: str, line: int | None, attributes: Iterable[str]) -> Fault:
    place, detail = pointer("columns", name), no_attribute(name, attributes)
    return Fault(place, detail) if line is None else LineFault(place, detail, line)


def encoded(asked: Asked, table: Table) -> Block:
    """The block that a table is; InvalidData names what cannot be used."""
    loaded = asked.ready.loaded
    inputs = encode_inputs(loaded.compiled, table, loaded.not_inputs, strict=asked.is_strict)
    return Block(inputs.values, replace(table, columns={}, rows=()), inputs.stranger_rows)


def parted(asked: Asked, block: Block) -> Iterator[Block]:
    """The same rows in blocks that are not too large."""
    for start in range(0, len(block), asked.most_rows):
        values = block.values[start : start + asked.most_rows]
        rows = range(start, start + len(values))
        strangers = {
            name: [row - start for row in found if row in rows]
            for name, found in block.strangers.items()
        }
        place = replace(block.place, first_row=block.place.first_row + start, n_rows=len(values))
        yield Block(values, place, {name: found for name, found in strangers.items() if found})


def nothing(asked: Asked) -> Block:
    """No rows."""
    return Block(np.empty((0, len(asked.ready.loaded.version.attributes))), Table({}, 0, PLACE))
