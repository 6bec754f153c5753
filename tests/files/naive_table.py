"""The rules by which columns are read, in plain Python: the definition, value by value."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isinf
from typing import Any

from service.tree.attribute import category_text
from service.tree.summary import ColumnSummary

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
WHOLE = re.compile(r"[+-]?[0-9]+")
LEADING_ZERO = re.compile(r"[+-]?0[0-9]")


@dataclass(frozen=True)
class Cell:
    """A value: its text if it is a category, its number if it can be one."""

    text: str
    number: float | None = None
    is_number: bool = False  # without being told


def csv_cell(text: str, nulls: Sequence[str] = ()) -> Cell | None:
    if text == "" or text in nulls:
        return None
    bare = text.strip(" \t")
    if not NUMBER.fullmatch(bare):
        return Cell(text)
    number = float(bare)
    is_code = LEADING_ZERO.match(bare) is not None
    is_long = WHOLE.fullmatch(bare) is not None and abs(int(bare)) > 2**53
    is_number = isinf(number) or not (is_code or is_long)
    return Cell(text, number, is_number)


def json_cell(value: Any) -> Cell | None:
    if value is None:
        return None
    if isinstance(value, str | bool):
        return Cell(category_text(value))
    return Cell(category_text(value), float(value), isinstance(value, float) or abs(value) <= 2**53)


def is_refused(cells: Sequence[Cell | None]) -> bool:
    """Whether a column of numbers has one that is too large."""
    return kind(cells) == "numeric" and any(cell and isinf(cell.number or 0) for cell in cells)


def kind(cells: Sequence[Cell | None]) -> str:
    known = [cell for cell in cells if cell]
    return "numeric" if known and all(cell.is_number for cell in known) else "categorical"


def values(cells: Sequence[Cell | None]) -> list[Any]:
    """The column as it is kept."""
    if kind(cells) == "categorical":
        return [cell and cell.text for cell in cells]
    numbers = [None if cell is None else cell.number for cell in cells]
    known = [number for number in numbers if number is not None]
    if all(number.is_integer() and abs(number) <= 2**53 for number in known):
        return [None if number is None else int(number) for number in numbers]
    return numbers


def summarised(name: str, cells: Sequence[Cell | None]) -> ColumnSummary:
    """What is told of the column, its mean excepted."""
    kept = values(cells)
    known = [value for value in kept if value is not None]
    is_numeric = kind(cells) == "numeric"
    counted = Counter(known)
    is_fractional = is_numeric and not all(float(value).is_integer() for value in known)
    most = 20 if is_numeric else 1000
    texts = [
        row for row, cell in enumerate(cells) if cell and not (cell.is_number and _finite(cell))
    ]
    return ColumnSummary(
        name=name,
        kind=kind(cells),
        nulls=len(kept) - len(known),
        distinct=len(counted),
        is_constant=len(counted) < 2,
        is_identifier=len(counted) == len(known) >= 20 and not is_fractional,
        minimum=min(known) if is_numeric else None,
        maximum=max(known) if is_numeric else None,
        values=None
        if len(counted) > most or is_fractional
        else {category_text(value): count for value, count in counted.items()},
        first_null=kept.index(None) if None in kept else None,
        first_text=None if is_numeric or not texts else texts[0],
        is_fractional=is_fractional,
    )


def _finite(cell: Cell) -> bool:
    return cell.number is not None and abs(cell.number) < inf


def naive_records(text: str, delimiter: str) -> tuple[list[tuple[int, list[str]]], bool]:
    """The records of a CSV text, each with the line it begins on; and whether a quote is open."""
    records, record, field = [], [], ""
    line = begin = 1
    is_fresh, is_open = True, False  # at the start of a field; between quotes
    characters = iter(re.findall(r"\r\n|(?s:.)", text + "\n"))
    held = next(characters, None)
    while held is not None:
        character, held = held, next(characters, None)
        is_end = character in ("\n", "\r", "\r\n")
        line += is_end
        if is_open and character == '"' and held == '"':
            field, held = field + '"', next(characters, None)
        elif is_open and character == '"':
            is_open = False
        elif is_open:
            field += character
        elif is_fresh and character == '"':
            is_fresh, is_open = False, True
        elif character == delimiter or is_end:
            was_blank = is_end and not record and is_fresh
            record, field, is_fresh = [*record, field], "", True
            if is_end:
                records += [] if was_blank else [(begin, record)]
                record, begin = [], line
        else:
            field, is_fresh = field + character, False
    return records, is_open
