"""The names of the columns: each is there, once, and can be kept."""

from collections.abc import Iterable, Sequence

from service.errors import InvalidFile, LimitReached, Misfit
from service.files.reading.look import told
from service.files.records import Ingestion

LONGEST_NAME = 1000  # characters


def check_names(names: Sequence[str], order: Ingestion, line: int | None = None) -> None:
    """Refuse names that cannot stand for columns; `line` is where they stand, if on one."""
    if not names:
        raise InvalidFile("The file has no columns.")
    check_count(len(names), order)
    for place, name in enumerate(names, start=1):
        check_name(name, f"column {place}", line)
    if len(set(names)) < len(names):
        raise _twice(names, line)


def check_count(n_columns: int, order: Ingestion) -> None:
    """Refuse more columns than there may be."""
    if n_columns > order.max_columns:
        raise LimitReached(
            f"The file has more than {order.max_columns} columns; that is the limit"
            " (BOUGH_MAX_DATASET_COLUMNS)."
        )


def check_name(name: str, place: str, line: int | None) -> None:
    """Refuse one name that cannot stand for a column."""
    if not name:
        raise _refused(f"The name of {place} is empty.", line)
    if "\0" in name:
        raise _refused(f"The name of {place} holds the character U+0000.", line)
    if len(name) > LONGEST_NAME:
        raise _refused(f"The name of {place} has more than {LONGEST_NAME} characters.", line)


def check_asked(names: Iterable[str], order: Ingestion) -> None:
    """Refuse an order about columns that are not there, or that contradicts itself."""
    there = set(names)
    for asked in ("numeric", "categorical"):
        for name in getattr(order, asked):
            if name not in there:
                raise InvalidFile(
                    f"There is no column {told(name)}, which is named as {asked}.",
                    [Misfit(None, name, "is not in the file")],
                )
    for name in order.numeric:
        if name in order.categorical:
            raise InvalidFile(f"The column {told(name)} is named as numeric and as categorical.")


def _twice(names: Sequence[str], line: int | None) -> InvalidFile:
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names, start=1):
        places.setdefault(name, []).append(place)
    name, found = next(each for each in places.items() if len(each[1]) > 1)
    listed = ", ".join(map(str, found[:10])) + (" ..." if len(found) > 10 else "")
    detail = f"{len(found)} columns have the same name {told(name)}: columns {listed}."
    return InvalidFile(detail, [Misfit(line, name, f"is the name of columns {listed}")])


def _refused(detail: str, line: int | None) -> InvalidFile:
    return InvalidFile(detail, [Misfit(line, None, detail)])
