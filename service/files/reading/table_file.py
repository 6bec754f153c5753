"""What the formats have in common: rows in batches, and the line that a row stands on."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from service.files.reading.look import Look


@dataclass(frozen=True)
class Batch:
    """Some rows: per column its cells, in the format's own form; an absent column is null."""

    n_rows: int
    cells: Mapping[str, Any]


class TableFile(Protocol):
    """A file whose rows can be read again and again."""

    @property
    def format(self) -> str:
        """Its format: csv, ndjson or parquet."""

    @property
    def first_line(self) -> int | None:
        """The line of the first row if each row is one line; told once all batches were read."""

    def batches(self) -> Generator[Batch, None, None]:
        """All rows, from the first one on."""

    def look(self, cells: Any) -> Look:
        """What some cells tell of their column."""

    def convert(self, cells: Any, type_: Any) -> Any:
        """Cells as an array of this type, which the look at them has found to fit."""

    def lines_of(self, rows: Sequence[int]) -> Mapping[int, int]:
        """On which lines these rows begin; none where there are no lines."""
