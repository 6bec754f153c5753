"""Raw values by column, as they were sent, and how to point at one of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from service.errors import Fault, InvalidData, LineFault, pointer

DATASET = ("data", "dataset")  # the place of a table that was uploaded before


@dataclass(frozen=True)
class Table:
    """Columns of raw values of equal length; None is null."""

    columns: Mapping[str, Sequence[Any]]
    n_rows: int
    place: tuple[str, ...]  # where it stood in the request: ("rows",) or ("data", "columns")
    rows: Sequence[Mapping[str, Any]] = ()  # as they were sent, if by row
    first_line: int | None = None  # of the file of a dataset, where each row is one line
    first_row: int = 0  # of this part of a dataset, or of a stream of rows
    lines: Sequence[int] = ()  # on which each row began, where it was a line of what was sent

    def fault(self, row: int, name: str, detail: str) -> Fault:
        """A fault of one value: where it stood in the request, or in the file of a dataset."""
        if self.place[-1] == DATASET[-1]:
            return Fault(pointer(*self.place), f"{self._spot(row)}, column {name!r}: {detail}")
        number = self.first_row + row
        parts = (name, number) if self.place[-1] == "columns" else (number, name)
        place = pointer(*self.place, *parts)
        return LineFault(place, detail, self.lines[row]) if self.lines else Fault(place, detail)

    def _spot(self, row: int) -> str:
        if self.first_line is None:
            return f"row {self.first_row + row} (from 0)"
        return f"line {self.first_line + self.first_row + row}"

    def column(self, name: str) -> Sequence[Any]:
        """The values of a column; one that was not sent is all null."""
        return self.columns.get(name) or (None,) * self.n_rows


def table_of_rows(rows: object, place: tuple[str, ...], max_cells: int) -> Table:
    """The table of a list of objects; a key that a row does not have is null there."""
    if not isinstance(rows, list):
        raise _misplaced(place, "must be a list of objects")
    faults = [
        Fault(pointer(*place, number), "must be an object")
        for number, row in enumerate(rows)
        if not isinstance(row, dict)
    ]
    if faults:
        raise InvalidData("some rows are not objects", faults[:100])
    names = list(dict.fromkeys(chain.from_iterable(rows)))
    _check_size(len(rows), len(names), place, max_cells)
    columns = {name: [row.get(name) for row in rows] for name in names}
    return Table(columns, len(rows), place, rows)


def table_of_columns(columns: object, place: tuple[str, ...], max_cells: int) -> Table:
    """The table of an object of lists, which must be equally long."""
    if not isinstance(columns, dict):
        raise _misplaced(place, "must be an object of lists")
    faults = [
        Fault(pointer(*place, name), "must be a list")
        for name, values in columns.items()
        if not isinstance(values, list)
    ]
    if faults:
        raise InvalidData("some columns are not lists", faults[:100])
    n_rows = max(map(len, columns.values()), default=0)
    _check_size(n_rows, len(columns), place, max_cells)
    faults = [
        Fault(pointer(*place, name), f"has {len(values)} values where others have {n_rows}")
        for name, values in columns.items()
        if len(values) != n_rows
    ]
    if faults:
        raise InvalidData("the columns are not equally long", faults[:100])
    return Table(columns, n_rows, place)


def _misplaced(place: tuple[str, ...], detail: str) -> InvalidData:
    return InvalidData(f"{place[-1]} {detail}", [Fault(pointer(*place), detail)])


def _check_size(n_rows: int, n_columns: int, place: tuple[str, ...], max_cells: int) -> None:
    if n_rows * n_columns > max_cells:
        detail = f"{n_rows} rows of {n_columns} columns are more than {max_cells} values"
        raise InvalidData(detail, [Fault(pointer(*place), detail)])
