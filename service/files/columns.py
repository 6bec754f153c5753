"""The columns of a kept dataset, read from its file one at a time."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from service.tree.columns import Numbers, Texts
from service.tree.table import DATASET, Table


class Columns(Mapping[str, Sequence[Any]]):
    """Columns by name; only the one that was asked for last is in memory."""

    def __init__(self, opened: BinaryIO) -> None:
        # without pre-buffering, which would hold the whole file
        self._file = pq.ParquetFile(opened, pre_buffer=False)
        self._names = self._file.schema_arrow.names
        self._last: tuple[str, Sequence[Any]] | None = None

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __getitem__(self, name: str) -> Sequence[Any]:
        """The column of this name."""
        if self._last is None or self._last[0] != name:
            if name not in self._names:
                raise KeyError(name)
            self._last = None  # so that two are never there at the same time
            self._last = name, to_column(self._read(name))
        return self._last[1]

    @property
    def n_rows(self) -> int:
        """How many rows each column has."""
        return int(self._file.metadata.num_rows)

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[dict[str, Any]]:
        """Columns as Arrow arrays, some rows at a time."""
        for batch in self._file.iter_batches(n_rows, columns=list(names)):
            yield dict(zip(batch.schema.names, batch.columns, strict=True))

    def _read(self, name: str) -> Any:
        return self._file.read(columns=[name], use_threads=False).column(0)


def dataset_table(opened: BinaryIO, first_line: int | None) -> Table:
    """The table of a kept dataset, whose columns are read when they are asked for."""
    columns = Columns(opened)
    return Table(columns, columns.n_rows, DATASET, first_line=first_line)


def to_column(read: Any) -> Numbers | Texts:
    """A column of Arrow values as numbers or as texts."""
    if pa.types.is_integer(read.type) or pa.types.is_floating(read.type):
        return Numbers(_floats(read))
    encoded = read.cast(pa.string()).dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    return Texts(tuple(encoded.dictionary.to_pylist()), codes.astype(np.int64))


def _floats(read: Any) -> Any:
    chunks = read.chunks if isinstance(read, pa.ChunkedArray) else [read]
    values = np.empty(len(read))
    start = 0
    for chunk in chunks:  # cast by chunk, so that the column is not there twice
        part = chunk.cast(pa.float64()).to_numpy(zero_copy_only=False)
        values[start : start + len(part)] = part
        start += len(part)
    return values
