"""Results as files: the parts of an answer, one after the other, in the format asked for."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO, Protocol

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

BETWEEN = ";"  # names in one field of CSV


class Part(Protocol):
    """The answer to some rows of a dataset."""

    @property
    def kept(self) -> Mapping[str, Any]:
        """Columns of the dataset that are repeated, as Arrow arrays."""

    def columns(self) -> Mapping[str, Any]:
        """The answers, a column each: an array, or a list of texts or of lists of texts."""

    def rows(self) -> Iterator[dict[str, Any]]:
        """The answers, an object each."""


def write_csv(target: BinaryIO, parts: Iterable[Part]) -> None:
    """Writes a header and a line for each row; null is an empty field."""
    _write(target, (_joined(_batch(part)) for part in parts), pa_csv.CSVWriter)


def write_parquet(target: BinaryIO, parts: Iterable[Part]) -> None:
    """Writes a row group for each part."""
    _write(target, map(_batch, parts), pq.ParquetWriter)


def write_ndjson(target: BinaryIO, parts: Iterable[Part]) -> None:
    """Writes an object on each line."""
    for part in parts:
        told = part.rows()
        for name, column in part.kept.items():
            told = _with(name, column.to_pylist(), told)
        target.writelines(orjson.dumps(each, option=orjson.OPT_APPEND_NEWLINE) for each in told)


def _with(
    name: str, values: Iterable[Any], told: Iterator[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    return (each | {name: value} for each, value in zip(told, values, strict=True))


WRITERS: dict[str, Callable[[BinaryIO, Iterable[Part]], None]] = {
    "csv": write_csv,
    "ndjson": write_ndjson,
    "parquet": write_parquet,
}


def _write(target: BinaryIO, batches: Iterable[Any], open_writer: Callable[..., Any]) -> None:
    writer = None
    for batch in batches:
        writer = writer or open_writer(target, batch.schema)
        writer.write_batch(batch)
    if writer is not None:
        writer.close()


def _batch(part: Part) -> Any:
    told = {name: _array(values) for name, values in part.columns().items()}
    named = {**told, **part.kept}
    return pa.RecordBatch.from_arrays(list(named.values()), names=list(named))


def _array(values: Any) -> Any:
    """The values as Arrow has them; NaN is null."""
    if isinstance(values, np.ndarray):
        return pa.array(values, from_pandas=True)
    holds_lists = any(isinstance(value, list) for value in values)
    return pa.array(values, pa.list_(pa.string()) if holds_lists else pa.string())


def _joined(batch: Any) -> Any:
    """The batch with texts in the place of lists of texts, which CSV does not have."""
    columns = [
        pc.binary_join(column, BETWEEN) if pa.types.is_list(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
