"""The same rows as each server takes them; a null is null everywhere."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from bench.data import Rows

JSON = {"Content-Type": "application/json"}
ARROW_TYPE = "application/vnd.apache.arrow.stream"


@dataclass(frozen=True)
class Form:
    """How rows are sent to a model."""

    name: str
    path: str  # {cell} and {model} stand for their names
    write: Callable[[str, Rows], bytes]
    headers: dict[str, str] = field(default_factory=lambda: JSON)


def columns_of(rows: Rows) -> dict[str, list[Any]]:
    """The values by column, categories by name."""
    named = zip(rows.schema.names, rows.schema.n_categories, strict=True)
    return {
        name: _names(rows.values[:, number]) if n else _numbers(rows.values[:, number])
        for number, (name, n) in enumerate(named)
    }


def _numbers(column: Any) -> list[float | None]:
    return [None if value != value else value for value in column.tolist()]


def _names(column: Any) -> list[str | None]:
    return [None if value != value else f"v{int(value)}" for value in column.tolist()]


def objects_of(rows: Rows) -> list[dict[str, Any]]:
    """The rows, each as an object."""
    columns = columns_of(rows)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def codes_of(rows: Rows) -> list[list[float | None]]:
    """The rows as a matrix of numbers: whoever asks has numbered the categories."""
    return [_numbers(row) for row in rows.values]


def _dumps(body: Any) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()


def named_rows(model: str, rows: Rows) -> bytes:
    """Rows for a model by name."""
    return _dumps({"model": model, "rows": objects_of(rows)})


def named_columns(model: str, rows: Rows) -> bytes:
    """Columns for a model by name, to be answered in columns."""
    return _dumps({"model": model, "columns": columns_of(rows), "layout": "columns"})


def arrow(_: str, rows: Rows) -> bytes:
    """One record batch as a stream; categories are texts."""
    batch = pa.record_batch(columns_of(rows))
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue()


def tensor(_: str, rows: Rows) -> bytes:
    """The inference protocol of KServe, version 2."""
    values = [value for row in codes_of(rows) for value in row]
    sent = {"name": "rows", "shape": np.shape(rows.values), "datatype": "FP64", "data": values}
    return _dumps({"inputs": [sent], "outputs": [{"name": "predict_proba"}]})


OURS = Form("rows", "/predict", named_rows)
FLOOR = Form("rows", "/{cell}", named_rows)
COLUMNS = Form("columns", "/predict", named_columns)
ARROW_BOTH_WAYS = {"Content-Type": ARROW_TYPE, "Accept": ARROW_TYPE}
ARROW = Form("arrow", "/models/{model}/predict", arrow, ARROW_BOTH_WAYS)
WIRE = Form("arrow", "/{cell}", arrow, ARROW_BOTH_WAYS)
OBJECTS = Form("objects", "/predict", lambda _, rows: _dumps({"rows": objects_of(rows)}))
MATRIX = Form("matrix", "/predict", lambda _, rows: _dumps({"rows": codes_of(rows)}))
INPUTS = Form("inputs", "/invocations", lambda _, rows: _dumps({"inputs": codes_of(rows)}))
TENSOR = Form("tensor", "/v2/models/tree/infer", tensor)
