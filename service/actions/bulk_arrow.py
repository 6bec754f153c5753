"""Arrow IPC streams in bulk: columns in, columns out, and no look at single values.

Imported when the first such request comes: Arrow takes its time and its memory.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from service.actions.bulk import PLACE, Asked, Block, check_names, encoded, nothing
from service.actions.bulk_columns import WARNINGS, Columns
from service.actions.flat import CLASS, UNKNOWN
from service.errors import Fault, InvalidData, pointer
from service.files.arrow_columns import listed, named, numbers, numbers_of, texts_of
from service.files.arrow_stream import open_batches
from service.files.records import Ingestion
from service.storage.records import Version
from service.tree.attribute import Kind
from service.tree.table import Table

AT_ONCE = 4  # times as many rows as others: they take little time, and most of it without the GIL


def read_arrow(chunks: Iterator[bytes], asked: Asked, order: Ingestion) -> Iterator[Block]:
    """The rows, a block at a time; InvalidData names row and attribute."""
    names, batches = open_batches(chunks, order.max_bytes)
    _check(asked, names)
    categories = {
        each.name: pa.array(each.values, pa.string())
        for each in asked.ready.loaded.version.attributes
        if each.kind != Kind.NUMERIC
    }
    n_rows, most_rows = 0, AT_ONCE * asked.most_rows
    for batch in batches:
        for start in range(0, batch.num_rows, most_rows):
            part = batch.slice(start, most_rows)
            columns = dict(zip(names, part.columns, strict=True))
            raw = _raw(asked, columns, categories)
            yield encoded(asked, Table(raw, part.num_rows, PLACE, first_row=n_rows))
            n_rows += part.num_rows


def _check(asked: Asked, names: list[str]) -> None:
    check_names(asked, names)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        faults = [Fault(pointer("columns", name), "stands there twice") for name in twice]
        raise InvalidData("some columns stand there twice", faults)


def _raw(
    asked: Asked, columns: Mapping[str, Any], categories: Mapping[str, Any]
) -> dict[str, Sequence[Any]]:
    return {
        each.name: numbers_of(columns[each.name])
        if each.kind == Kind.NUMERIC
        else texts_of(columns[each.name], categories[each.name])
        for each in asked.ready.loaded.version.attributes
        if each.name in columns
    }


def write_arrow(asked: Asked, blocks: Iterator[Block]) -> Iterator[bytes]:
    """A record batch for each block."""
    columns, version = Columns(asked), asked.ready.loaded.version
    first = next(blocks, None)
    batch = _batch(columns, first or nothing(asked), version)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        if first is not None:
            stream.write_batch(batch)
        for block in blocks:
            yield _taken(sink)
            stream.write_batch(_batch(columns, block, version))
    yield _taken(sink)


def _taken(sink: io.BytesIO) -> bytes:
    written = sink.getvalue()
    sink.seek(0)
    sink.truncate()
    return written


def _batch(columns: Columns, block: Block, version: Version) -> Any:
    names = [each.name for each in version.attributes]

    def array(name: str, told: Any) -> Any:
        if name == CLASS:
            return named(told, version.classes)
        return listed(told, names, len(block)) if name in (UNKNOWN, WARNINGS) else numbers(told)

    return pa.record_batch({name: array(name, told) for name, told in columns.of(block).items()})
