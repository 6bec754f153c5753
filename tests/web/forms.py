"""The same rows in every form, and the answers of every form as JSON has them."""

import csv
import io
from typing import Any

import orjson
import pyarrow as pa
from flask.testing import FlaskClient

Row = dict[str, Any]
NDJSON, CSV, ARROW = "application/x-ndjson", "text/csv", "application/vnd.apache.arrow.stream"


def as_ndjson(rows: list[Row]) -> bytes:
    return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)


def as_csv(rows: list[Row], names: list[str]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, names)
    writer.writeheader()
    writer.writerows(rows)
    # a row of nulls in one column would be a blank line
    return text.getvalue().replace("\r\n\r\n", '\r\n""\r\n').encode()


def as_arrow(rows: list[Row], names: list[str], *, encoded: bool = False, size: int = 3) -> bytes:
    columns = {name: column([row.get(name) for row in rows]) for name in names}
    if encoded:
        columns = {name: each.dictionary_encode() for name, each in columns.items()}
    table, sink = pa.table(columns), io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table, max_chunksize=size)
    return sink.getvalue()


def column(values: list[Any]) -> pa.Array:
    """What is all numbers as numbers, what is all truths as such, else texts."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds <= {int, float} or kinds == {bool}:
        return pa.array(values)
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def from_ndjson(body: bytes) -> list[Row]:
    return [orjson.loads(line) for line in body.splitlines()]


def from_arrow(body: bytes) -> list[Row]:
    return [nested(row) for row in pa.ipc.open_stream(body).read_all().to_pylist()]


def from_csv(body: bytes) -> list[Row]:
    return [
        nested(dict(map(field, row.items()))) for row in csv.DictReader(io.StringIO(body.decode()))
    ]


def field(item: tuple[str, str]) -> tuple[str, Any]:
    name, text = item
    if name in ("unknown", "warnings"):
        return name, text.split(";") if text else []
    if name == "class":
        return name, text or None
    return name, orjson.loads(text) if text else None


def nested(flat: Row) -> Row:
    """A flat answer as JSON has it, but for its warnings."""
    told: Row = {name: value for name, value in flat.items() if "." not in name}
    has_answer = flat["leaves"] > 0
    for name, value in flat.items():
        kind, _, of = name.partition(".")
        if kind == "probabilities":
            told.setdefault(kind, {})[of] = value
        if kind == "bounds":
            of, _, end = of.rpartition(".")
            pair = told.setdefault(kind, {} if of else [None, None])
            pair = pair.setdefault(of, [None, None]) if of else pair
            pair[0 if end == "lowest" else 1] = value
    if not has_answer:
        told |= {name: None for name in ("probabilities", "bounds") if name in told}
    return told


READ = {NDJSON: from_ndjson, CSV: from_csv, ARROW: from_arrow}


def forms(rows: list[Row], names: list[str]) -> list[tuple[str, bytes]]:
    """The rows in all forms that are not JSON."""
    return [
        (NDJSON, as_ndjson(rows)),
        (CSV, as_csv(rows, names)),
        (ARROW, as_arrow(rows, names)),
        (ARROW, as_arrow(rows, names, encoded=True)),
    ]


def ask(client: FlaskClient, model: str, rows: list[Row], **fields: Any) -> Any:
    answer = client.post(f"/models/{model}/predict", json={"rows": rows} | fields)
    assert answer.status_code == 200, answer.text
    return answer.json


def put(client: FlaskClient, model: str, body: bytes, kind: str, wanted: str, **query: str) -> Any:
    answer = client.post(
        f"/models/{model}/predict",
        data=body, content_type=kind, headers={"Accept": wanted}, query_string=query,
    )  # fmt: skip
    assert (answer.status_code, answer.mimetype) == (200, wanted), answer.text
    return answer


def without_lines(answer: Row) -> Row:
    """An answer whose warnings tell no lines, as those to JSON."""
    warnings = answer.get("warnings", [])
    if not warnings or isinstance(warnings[0], str):
        return answer
    plain = [{name: each[name] for name in ("pointer", "detail")} for each in warnings]
    return answer | {"warnings": plain}


def without_warnings(answer: Row) -> Row:
    return {name: value for name, value in answer.items() if name != "warnings"}
