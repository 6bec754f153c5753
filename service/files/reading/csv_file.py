"""A CSV file: Arrow splits it into texts, column by column."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import csv

from service.files.reading import csv_lines
from service.files.reading.csv_header import Header, read_header
from service.files.reading.csv_lines import LONGEST_RECORD, Layout
from service.files.reading.csv_stream import CsvStream
from service.files.reading.look import Look
from service.files.reading.table_file import Batch
from service.files.reading.texts import look_at_texts, pointed, texts_as
from service.files.reading.unpack import Unpacked
from service.files.records import Ingestion

BATCH_BYTES = 4 * 1024**2
BYTES_PER_COLUMN = 8 * 1024  # of a batch at least, as each column costs some time in each batch


class _NotClosed(Exception):
    """A quote is still open at the end."""


@dataclass
class CsvFile:
    """A CSV file with its header."""

    source: BinaryIO
    order: Ingestion
    header: Header
    first_line: int | None = None
    format: str = "csv"

    def batches(self) -> Generator[Batch, None, None]:
        """All rows as arrays of texts."""
        names, n_rows = self.header.layout.names, 0
        with closing(CsvStream(self.source, self.order, self.header)) as stream:
            least = max(BATCH_BYTES, BYTES_PER_COLUMN * len(names))
            for batch in _gathered(self._read(stream), least):
                n_rows += batch.num_rows
                yield Batch(batch.num_rows, dict(zip(names, batch.columns, strict=True)))
            is_aligned = stream.lines.count == 1 + n_rows
        self.first_line = 2 if is_aligned else None

    def look(self, cells: Any) -> Look:
        """What some texts tell of their column."""
        return look_at_texts(pointed(cells, self.order.decimal))

    def convert(self, cells: Any, type_: Any) -> Any:
        """The texts as an array of this type."""
        if pa.types.is_string(type_):
            return cells
        return texts_as(pointed(cells, self.order.decimal), type_)

    def lines_of(self, rows: Sequence[int]) -> Mapping[int, int]:
        """On which lines these rows begin."""
        if self.first_line is not None:
            return {row: self.first_line + row for row in rows}
        return csv_lines.lines_of(self.source, self.order.max_bytes, self.header.layout, rows)

    def _read(self, stream: CsvStream) -> Iterator[Any]:
        layout = self.header.layout
        try:
            reader = csv.open_csv(stream, *_options(layout, self.order.nulls))
            yield from _without_last(reader, stream.token)
        except (pa.ArrowInvalid, _NotClosed):
            stream.close()
            raise csv_lines.faults(self.source, self.order.max_bytes, layout) from None


def open_csv(source: BinaryIO, order: Ingestion) -> CsvFile:
    """The CSV file that the source is."""
    with Unpacked(source, order.max_bytes) as unpacked:
        head = unpacked.read(LONGEST_RECORD + 1)
    return CsvFile(source, order, read_header(head, order))


def _options(layout: Layout, nulls: Sequence[str]) -> tuple[Any, Any, Any]:
    places = [str(place) for place in range(len(layout.names))]
    return (
        # One thread, as batches are small and there may be other work on this machine. A record
        # that is longer than a block cannot be read.
        csv.ReadOptions(use_threads=False, block_size=LONGEST_RECORD, column_names=places),
        csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True),
        csv.ConvertOptions(
            column_types=dict.fromkeys(places, pa.string()),
            null_values=["", *nulls],
            strings_can_be_null=True,
        ),
    )


def _without_last(batches: Iterator[Any], token: str) -> Iterator[Any]:
    """The batches without the record that was put at the end."""
    held = None
    for batch in batches:
        if not batch.num_rows:
            continue
        if held is not None:
            yield held
        held = batch
    if held is None or held.column(0)[-1].as_py() != token:
        raise _NotClosed
    if held.num_rows > 1:
        yield held.slice(0, held.num_rows - 1)


def _gathered(batches: Iterator[Any], n_bytes: int) -> Iterator[Any]:
    """The rows in batches of at least so many bytes; the last one may have fewer."""
    held: list[Any] = []
    missing = n_bytes
    for batch in batches:
        held.append(batch)
        missing -= batch.nbytes
        if missing <= 0:
            yield pa.concat_batches(held)
            held, missing = [], n_bytes
    if held:
        yield pa.concat_batches(held)
