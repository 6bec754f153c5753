"""Reading a file of any format, in two passes: look what its columns are, then write them.

Neither pass holds more than some batches of rows, whatever the size of the file.
"""

import re
from collections.abc import Callable
from contextlib import closing
from typing import Any, BinaryIO

import pyarrow as pa

from service.errors import InvalidFile, LimitReached
from service.files.reading.csv_file import open_csv
from service.files.reading.inferring import Found, find_columns, refuse_faults, warnings
from service.files.reading.look import Look, joined, nulls_only
from service.files.reading.names import check_asked
from service.files.reading.ndjson_file import open_ndjson
from service.files.reading.parquet_file import open_parquet
from service.files.reading.summarise import summarise
from service.files.reading.table_file import TableFile
from service.files.reading.tally import Tally, new_tallies
from service.files.reading.unpack import BOM, Unpacked
from service.files.reading.writing import writing
from service.files.records import Ingested, Ingestion

OPENERS: dict[str, Callable[[BinaryIO, Ingestion], TableFile]] = {
    "csv": open_csv,
    "ndjson": open_ndjson,
    "parquet": open_parquet,
}
PARQUET = b"PAR1"
FOREIGN = {
    b"\x89PNG": "a PNG image",
    b"PK\x03\x04": "a ZIP archive, as spreadsheets are too",
    b"%PDF": "a PDF document",
    b"\x28\xb5\x2f\xfd": "packed with zstd; only gzip is unpacked",
    b"\xff\xfe": "UTF-16; save it as UTF-8",
    b"\xfe\xff": "UTF-16; save it as UTF-8",
}
JSON_ARRAY = re.compile(rb"\s*\[\s*\{")


def ingest(source: BinaryIO, target: BinaryIO, order: Ingestion) -> Ingested:
    """What the source holds, which stands as Parquet in the target then."""
    file = open_table(source, order)
    looks, n_rows = _look(file, order)
    check_asked(looks, order)
    columns = find_columns(looks, order)
    refuse_faults(file, columns)
    odd = warnings(file, columns, order)
    first_line = file.first_line
    tallies = _write(file, target, columns)
    return Ingested(
        format=file.format,
        n_rows=n_rows,
        columns=summarise(columns, tallies, order),
        warnings=odd,
        first_line=first_line,
    )


def open_table(source: BinaryIO, order: Ingestion) -> TableFile:
    """The file, of the format that was named or that it looks like."""
    with Unpacked(source, order.max_bytes) as unpacked:
        head = unpacked.read(1024)
        is_packed = unpacked.is_packed
    for magic, what in FOREIGN.items():
        if head.startswith(magic):
            raise InvalidFile(f"The file is {what}.")
    format_ = order.format or _looks_like(head)
    if is_packed and (format_ == "parquet" or head.startswith(PARQUET)):
        raise InvalidFile("A Parquet file must not be packed again: send it without gzip.")
    return OPENERS[format_](source, order)


def _looks_like(head: bytes) -> str:
    if head.startswith(PARQUET):
        return "parquet"
    text = head.removeprefix(BOM)
    if JSON_ARRAY.match(text):
        raise InvalidFile("The file is a JSON array; send NDJSON, one object a line.")
    return "ndjson" if text.lstrip().startswith(b"{") else "csv"


def _look(file: TableFile, order: Ingestion) -> tuple[dict[str, Look], int]:
    """What each column is like, in order of first appearance, and how many rows there are."""
    looks: dict[str, Look] = {}
    n_rows = 0
    with closing(file.batches()) as batches:
        for batch in batches:
            for name, cells in batch.cells.items():
                before = looks.get(name) or nulls_only(n_rows)
                looks[name] = joined(before, file.look(cells))
            n_rows += batch.n_rows
            _check_cells(n_rows * len(looks), order)
    if not n_rows:
        raise InvalidFile("The file has no rows.")
    if not looks:
        raise InvalidFile("The file has no columns.")
    return looks, n_rows


def _check_cells(n_cells: int, order: Ingestion) -> None:
    if n_cells > order.max_cells:
        raise LimitReached(
            f"The file has more than {order.max_cells} cells, rows times columns; that is the"
            " limit (BOUGH_MAX_DATASET_CELLS)."
        )


def _write(file: TableFile, target: BinaryIO, columns: tuple[Found, ...]) -> dict[str, Tally]:
    tallies = new_tallies([column.name for column in columns])
    with writing(target, columns) as writer, closing(file.batches()) as batches:
        for batch in batches:
            arrays = {}
            for column in columns:
                arrays[column.name] = array = _converted(file, batch, column)
                tallies[column.name].add(array)
            writer.add(arrays)
    return tallies


def _converted(file: TableFile, batch: Any, column: Found) -> Any:
    cells = batch.cells.get(column.name)
    if cells is None:  # it first appears later
        return pa.nulls(batch.n_rows, column.type)
    return file.convert(cells, column.type)
