"""Files as bytes, read in this process; what comes of them as plain values."""

import csv
import gzip
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.errors import BoughError, InvalidFile, Misfit
from service.files.reading.ingest import ingest
from service.files.records import Ingested, Ingestion
from service.tree.summary import ColumnSummary

AMPLE = {"max_bytes": 200_000_000, "max_cells": 10_000_000, "max_columns": 2_000}


def order(**wishes: Any) -> Ingestion:
    return Ingestion(**AMPLE | wishes)


def read(data: bytes, **wishes: Any) -> tuple[Ingested, pa.Table]:
    """What is told of the file, and the table that was written."""
    target = io.BytesIO()
    found = ingest(io.BytesIO(data), target, order(**wishes))
    return found, pq.read_table(target)


def columns(data: bytes, **wishes: Any) -> dict[str, list[Any]]:
    """The values of each column."""
    return read(data, **wishes)[1].to_pydict()


def types(data: bytes, **wishes: Any) -> dict[str, str]:
    """The type of each column as it is kept."""
    return {each.name: str(each.type) for each in read(data, **wishes)[1].schema}


def summary(data: bytes, **wishes: Any) -> ColumnSummary:
    """What is told of the first column."""
    return read(data, **wishes)[0].columns[0]


def warnings(data: bytes, **wishes: Any) -> tuple[Misfit, ...]:
    return read(data, **wishes)[0].warnings


def refused(data: bytes, why: type[BoughError] = InvalidFile, **wishes: Any) -> Any:
    """The error by which the file is refused."""
    with pytest.raises(why) as raised:
        read(data, **wishes)
    assert raised.type is why
    return raised.value


def places(error: InvalidFile) -> list[tuple[int | None, str | None]]:
    """Line and column of each misfit."""
    return [(each.line, each.column) for each in error.misfits]


def as_csv(names: Sequence[str], rows: Sequence[Sequence[str]], **dialect: Any) -> bytes:
    target = io.StringIO(newline="")
    writer = csv.writer(target, **dialect)
    writer.writerow(names)
    writer.writerows(rows)
    return target.getvalue().encode()


def as_ndjson(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def as_parquet(given: Mapping[str, Any], **options: Any) -> bytes:
    target = io.BytesIO()
    pq.write_table(pa.table(dict(given)), target, **options)
    return target.getvalue()


def packed(data: bytes) -> bytes:
    return gzip.compress(data, 1, mtime=0)
