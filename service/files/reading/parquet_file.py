"""A Parquet file: its columns have types, which say whether they are numbers or texts."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from service.errors import InvalidFile, LimitReached, Misfit
from service.files.reading.look import Look, told
from service.files.reading.names import check_names
from service.files.reading.table_file import Batch
from service.files.reading.typed import array_as, is_text, is_usable, look_at_array, n_bytes_of
from service.files.records import Ingestion

BATCH_ROWS = 64 * 1024
BATCH_CELLS = 2_000_000
BATCH_BYTES = 16 * 1024**2
BUFFER_BYTES = 64 * 1024
MOST_IN_A_LIST = 10_000_000  # of the footer, so that a damaged one cannot ask for all memory


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file whose columns can all be used."""

    source: BinaryIO
    order: Ingestion
    names: tuple[str, ...]
    texts: tuple[str, ...]  # columns that are read as numbers of their distinct texts
    first_line: int | None = None
    format: str = "parquet"

    def batches(self) -> Generator[Batch, None, None]:
        """All rows as arrays of the file's own types."""
        n_rows = max(1, min(BATCH_ROWS, BATCH_CELLS // len(self.names)))
        n_bytes = 0
        for batch in _read(self.source, self.texts, n_rows):
            for name, array in zip(self.names, batch.columns, strict=True):
                _validate(name, array)
                n_bytes += n_bytes_of(array)
            if n_bytes > self.order.max_bytes:
                raise LimitReached(
                    f"The file has more than {self.order.max_bytes} bytes when it is unpacked;"
                    " that is the limit (BOUGH_MAX_DATASET_BYTES)."
                )
            for part in _parts(batch):
                yield Batch(part.num_rows, dict(zip(self.names, part.columns, strict=True)))

    def look(self, cells: Any) -> Look:
        """What some values tell of their column."""
        return look_at_array(cells)

    def convert(self, cells: Any, type_: Any) -> Any:
        """The values as an array of this type."""
        return array_as(cells, type_)

    def lines_of(self, rows: Sequence[int]) -> Mapping[int, int]:  # noqa: ARG002
        """Nothing, as there are no lines."""
        return {}


def open_parquet(source: BinaryIO, order: Ingestion) -> ParquetFile:
    """The Parquet file that the source is."""
    with _damage_told():
        schema = _opened(source).schema_arrow
        names = tuple(schema.names)
    check_names(names, order)
    unusable = [field for field in schema if not is_usable(field.type)]
    if unusable:
        listed = ", ".join(told(field.name) for field in unusable[:10])
        raise InvalidFile(
            f"Some columns have types that cannot be used: {listed}.",
            [Misfit(None, each.name, f"has the type {told(each.type)}") for each in unusable[:100]],
        )
    return ParquetFile(
        source, order, names, tuple(each.name for each in schema if is_text(each.type))
    )


def _opened(source: BinaryIO, texts: Sequence[str] = ()) -> Any:
    source.seek(0)
    return pq.ParquetFile(
        source,
        read_dictionary=list(texts),  # a text that is there a million times is unpacked once
        buffer_size=BUFFER_BYTES,  # otherwise all columns of a row group are read at once
        pre_buffer=False,
        page_checksum_verification=True,
        thrift_container_size_limit=MOST_IN_A_LIST,
        arrow_extensions_enabled=False,
    )


def _read(source: BinaryIO, texts: Sequence[str], n_rows: int) -> Iterator[Any]:
    with _damage_told():
        yield from _opened(source, texts).iter_batches(n_rows, use_threads=False)


@contextmanager
def _damage_told() -> Iterator[None]:
    """A block in which whatever Arrow cannot read is damaged."""
    try:
        yield
    except MemoryError:
        raise
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InvalidFile("The Parquet file is damaged, or some of it was lost.") from None


def _validate(name: str, array: Any) -> None:
    """Refuse texts that are not UTF-8, and whatever else would break us later."""
    try:
        array.validate(full=True)
        if pa.types.is_dictionary(array.type):
            array.dictionary.validate(full=True)
    except pa.ArrowInvalid:
        raise InvalidFile(
            f"The column {told(name)} is damaged, or its texts are not UTF-8.",
            [Misfit(None, name, "is damaged, or not UTF-8")],
        ) from None


def _parts(batch: Any) -> Iterator[Any]:
    """The rows in parts that are not too large when their texts stand for themselves."""
    if batch.num_rows <= 1 or sum(map(n_bytes_of, batch.columns)) <= BATCH_BYTES:
        yield batch
        return
    half = batch.num_rows // 2
    yield from _parts(batch.slice(0, half))
    yield from _parts(batch.slice(half))
