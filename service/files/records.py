"""How a file is to be read, and what was found in it."""

from dataclasses import dataclass

from service.errors import Misfit
from service.tree.summary import ColumnSummary


@dataclass(frozen=True, kw_only=True)
class Ingestion:
    """How a file is to be read; what is left open is inferred."""

    format: str | None = None  # csv, ndjson or parquet
    delimiter: str | None = None  # of CSV
    decimal: str = "."  # of numbers in CSV; or a comma
    nulls: tuple[str, ...] = ()  # what means null in CSV beside the empty field
    numeric: tuple[str, ...] = ()  # columns that must be numbers
    categorical: tuple[str, ...] = ()  # columns that are texts whatever they look like
    max_bytes: int  # when it is unpacked
    max_cells: int
    max_columns: int


@dataclass(frozen=True, kw_only=True)
class Ingested:
    """What was found in a file."""

    format: str
    n_rows: int
    columns: tuple[ColumnSummary, ...]
    warnings: tuple[Misfit, ...]
    first_line: int | None  # of the first row, where each row is one line
