"""Writing columns as Parquet, some rows at a time."""

import errno
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import ceil
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from service.errors import NoRoom
from service.files.reading.inferring import Found

GROUP_ROWS = 64 * 1024
GROUP_BYTES = 32 * 1024**2


class Writer:
    """Gathers rows until there are enough for a row group."""

    def __init__(self, columns: Sequence[Found], writer: Any) -> None:
        self._columns = columns
        self._writer = writer
        self._held: list[Any] = []

    def add(self, arrays: Mapping[str, Any]) -> None:
        """Write these rows too."""
        self._held.append(pa.record_batch(list(arrays.values()), schema=schema_of(self._columns)))
        n_rows = sum(batch.num_rows for batch in self._held)
        if n_rows >= GROUP_ROWS or sum(batch.nbytes for batch in self._held) >= GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what was gathered."""
        if not self._held:
            return
        table = pa.Table.from_batches(self._held)
        n_groups = max(1, table.num_rows // GROUP_ROWS)
        self._writer.write_table(table, row_group_size=ceil(table.num_rows / n_groups))
        self._held = []


@contextmanager
def writing(target: BinaryIO, columns: Sequence[Found]) -> Iterator[Writer]:
    """A writer to the target, whose file is complete at the end of the block."""
    try:
        with pq.ParquetWriter(target, schema_of(columns), compression="zstd") as parquet:
            writer = Writer(columns, parquet)
            yield writer
            writer.flush()
        target.flush()
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoRoom("There is no room left to read the file.") from error
        raise


def schema_of(columns: Sequence[Found]) -> Any:
    """The columns as Arrow knows them."""
    return pa.schema([(each.name, each.type) for each in columns])
