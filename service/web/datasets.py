"""The datasets: tables that are uploaded once and trained on many times."""

import binascii
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from flask import request, url_for
from werkzeug.exceptions import UnsupportedMediaType

from service.actions.sweep import discard
from service.actions.upload import Spooled, asked, spooled, upload
from service.errors import Fault, InvalidData, NotFound
from service.files.place import open_place
from service.files.records import Ingestion
from service.settings import Settings
from service.storage import datasets
from service.storage.records import StoredDataset
from service.tree.summary import ColumnSummary
from service.web.blueprint import Blueprint
from service.web.bodies import body_chunks
from service.web.components import DATASET_IN_PATH
from service.web.context import context
from service.web.cursor import read_page
from service.web.dataset_schemas import DatasetHeadSchema, DatasetSchema, UploadQuerySchema
from service.web.problems import InvalidParameters
from service.web.schemas import PageQuerySchema, page_of

FORMATS: dict[str, str | None] = {
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    "application/csv": "csv",
    "application/x-ndjson": "ndjson",
    "application/ndjson": "ndjson",
    "application/jsonl": "ndjson",
    "application/vnd.apache.parquet": "parquet",
    "application/octet-stream": None,  # its first bytes tell
    "application/gzip": None,
    "application/x-www-form-urlencoded": None,  # curl says so unless it is told what it sends
    "text/plain": None,
    "": None,
}
BINARY = {"type": "string", "format": "binary"}
SENT = {
    kind: {"schema": BINARY}
    for kind in ("application/x-ndjson", "text/csv", "application/vnd.apache.parquet")
}
DIGEST = "Content-Digest"
DIGEST_IN_HEADER = {
    "name": DIGEST,
    "in": "header",
    "description": "`sha-256=:<base64>:` of the body (RFC 9530); if it is not, it is refused.",
    "schema": {"type": "string"},
}

blp = Blueprint("datasets", __name__, description="Upload tables, to train on them many times.")


@blp.route("/datasets", methods=["POST"], parameters=[DIGEST_IN_HEADER])
@blp.documented(requestBody={"required": True, "content": SENT})
@blp.arguments(UploadQuerySchema, location="query")
@blp.response(
    201,
    DatasetSchema,
    headers={"Location": {"schema": {"type": "string"}, "description": "Its address."}},
)
@blp.fails(400, 413, 415, 422)
def upload_dataset(query: Mapping[str, Any]) -> Any:
    """Upload a table: CSV, NDJSON or Parquet, the first two also gzipped.

    The body is the file itself. Its columns are looked at and told; what cannot be read is refused
    by line and column. An empty field is null.
    """
    settings = context().settings
    order = _ingestion(query, settings)
    digest = _read_digest()
    chunks = body_chunks(settings.max_dataset_bytes)
    with (
        context().places.moving(request.content_length),
        spooled(chunks, open_place(settings)) as sent,
    ):
        _check_digest(sent, digest)
        kept = upload(context().store, settings, sent, query.get("name"), order)
    return told(kept), 201, {"Location": url_for("datasets.get_dataset", dataset_id=kept.id)}


@blp.route("/datasets")
@blp.arguments(PageQuerySchema, location="query")
@blp.response(200, page_of(DatasetHeadSchema))
@blp.fails(422)
def list_datasets(query: Mapping[str, Any]) -> Any:
    """List datasets, the newest first."""
    with context().store.reading() as session:
        page = read_page(
            lambda after: datasets.list_datasets(session, after=after, limit=query["limit"]),
            "datasets",
            query.get("cursor"),
        )
    return page | {"items": [_head(each) for each in page["items"]]}


@blp.route("/datasets/<dataset_id>", parameters=[DATASET_IN_PATH])
@blp.response(200, DatasetSchema)
@blp.fails(404)
def get_dataset(dataset_id: str) -> Any:
    """Get a dataset: what is known of its columns."""
    with context().store.reading() as session:
        return told(datasets.fetch_dataset(session, dataset_id))


@blp.route("/datasets/<dataset_id>", methods=["DELETE"], parameters=[DATASET_IN_PATH])
@blp.response(204, description="It is gone.")
@blp.fails(404, 409)
def delete_dataset(dataset_id: str) -> None:
    """Delete a dataset that no job needs; the models trained on it stay."""
    discard(context().store, dataset_id)


def find_dataset(dataset_id: str, pointer: str) -> StoredDataset:
    """The dataset that a body names at this pointer."""
    try:
        if "\0" in dataset_id:  # PostgreSQL cannot even be asked for it
            raise NotFound("There is no such dataset.")
        with context().store.reading() as session:
            return datasets.fetch_dataset(session, dataset_id)
    except NotFound as error:
        raise InvalidData(str(error), [Fault(pointer, str(error))]) from None


def told(dataset: StoredDataset) -> dict[str, Any]:
    """The dataset as the API tells it."""
    return _head(dataset) | {
        "columns": [_column(each, dataset.n_rows) for each in dataset.columns],
        "warnings": [asdict(each) for each in dataset.warnings],
    }


def _head(dataset: datasets.DatasetHead | StoredDataset) -> dict[str, Any]:
    return {
        "id": dataset.id,
        "name": dataset.name,
        "format": dataset.format,
        "rows": dataset.n_rows,
        "bytes": dataset.n_bytes,
        "checksum": f"sha256:{dataset.checksum}",
        "created_at": dataset.created_at,
        "links": {"self": url_for("datasets.get_dataset", dataset_id=dataset.id)},
    }


def _column(column: ColumnSummary, n_rows: int) -> dict[str, Any]:
    values = column.values
    counted = values and [{"value": value, "rows": rows} for value, rows in values.items()]
    return {
        **asdict(column),
        "null_rate": column.nulls / n_rows,
        "more_distinct": not column.is_exact,
        "constant": column.is_constant,
        "identifier": column.is_identifier,
        "values": counted,
    }


def _ingestion(query: Mapping[str, Any], settings: Settings) -> Ingestion:
    if request.mimetype not in FORMATS:
        kinds = "text/csv, application/x-ndjson or application/vnd.apache.parquet"
        raise UnsupportedMediaType(f"The body must be the file itself, as {kinds}.")
    if request.headers.get("Content-Encoding", "identity") not in ("identity", "gzip"):
        raise UnsupportedMediaType("The body may be gzipped; another encoding cannot be read.")
    given = {name: value for name, value in query.items() if name != "name"}
    given.setdefault("format", FORMATS[request.mimetype])
    if request.mimetype == "text/tab-separated-values":
        given.setdefault("delimiter", "\t")
    return asked(settings, given)


def _read_digest() -> bytes | None:
    """The SHA-256 that the body is said to have; digests of other kinds are passed over."""
    for part in request.headers.get(DIGEST, "").split(","):
        name, _, value = part.strip().partition("=")
        if name.lower() != "sha-256":
            continue
        try:
            digest = b64decode(value.strip().strip(":"), validate=True)
        except binascii.Error:
            digest = b""
        if len(digest) != sha256().digest_size:
            detail = "must be sha-256=:<base64 of 32 bytes>:"
            raise InvalidParameters(f"The header {DIGEST} cannot be used.", [Fault(DIGEST, detail)])
        return digest
    return None


def _check_digest(sent: Spooled, digest: bytes | None) -> None:
    if digest is not None and digest.hex() != sent.checksum:
        detail = "is not that of the body that arrived; send it again"
        raise InvalidParameters(f"The {DIGEST} {detail}.", [Fault(DIGEST, detail)])
