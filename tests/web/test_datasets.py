"""Uploads: what is odd is told, what cannot be used is refused by line and column."""

import gzip
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from flask.testing import FlaskClient

from service.actions.sweep import sweep
from service.errors import Unavailable
from service.settings import Settings
from service.storage.datasets import list_datasets
from service.storage.engine import Session, Store
from service.web import create_app
from service.web.context import EXTENSION
from tests.web.conftest import MELONS, SETTINGS, an_order, trained
from tests.web.test_problems import problem

CSV = b"colour,density,ripe\ngreen,0.697,yes\nblack,0.774,yes\nblack,,no\nwhite,0.245,no\n"


@pytest.fixture
def uploads(sqlite_store: Store, tmp_path: Path) -> FlaskClient:
    """A client on SQLite: what is refused never reaches the database."""
    settings = replace(SETTINGS, data=tmp_path, max_dataset_bytes=100_000, max_dataset_cells=5_000)
    return create_app(settings, sqlite_store).test_client()


def parquet(rows: list[dict[str, Any]]) -> bytes:
    file = BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()


def ndjson(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/csv", CSV),
        ("application/x-ndjson", gzip.compress(ndjson(MELONS))),
        ("application/vnd.apache.parquet", parquet(MELONS)),
    ],
)
def test_a_dataset_can_be_trained_on_whatever_its_format(
    client: FlaskClient, kind: str, body: bytes
) -> None:
    told = client.post("/datasets", data=body, content_type=kind)
    assert told.json is not None
    order = an_order(data={"dataset": told.json["id"]})
    preview = client.post("/train?validate_only=true", json=order)
    job = client.post("/train", json=order)

    assert (201, 200, 202) == (told.status_code, preview.status_code, job.status_code)
    assert preview.json is not None
    assert [("colour", "categorical"), ("density", "numeric")] == [
        (each["name"], each["kind"]) for each in preview.json["attributes"]
    ]
    assert ["yes", "no"] == preview.json["classes"]


# What is sent, and the line and a part of the sentence that are answered.
CORPUS: dict[str, tuple[bytes, int | None, str]] = {
    "truncated gzip": (gzip.compress(CSV)[:-12], None, "gzip"),
    "bad UTF-8": (CSV + b"gr\xfcn,0.5,no\n", 6, "UTF-8"),
    "ragged rows": (CSV + b"green,0.5\n", 6, "2"),
    "many columns": (b",".join(b"c%d" % n for n in range(10_000)) + b"\n", None, "columns"),
    "a number too large": (CSV + b"green,1e999,no\n", 6, "too large"),
    "a header twice": (b"a,b,a\n1,2,3\n", 1, "'a'"),
    "an empty name": (b"a,,c\n1,2,3\n", 1, "name"),
    "nothing": (b"", None, "empty"),
    "a header only": (b"a,b\n", None, "no rows"),
    "a quote left open": (b'a,b\n1,"2\n3,4\n', None, ""),
    "truncated Parquet": (parquet(MELONS)[:-20], None, ""),
    "nested Parquet": (parquet([{"a": [1, 2]}]), None, "'a'"),
    "nested JSON": (b'{"a": {"b": 1}}\n', 1, ""),
    "broken JSON": (b'{"a": 1}\n{"a": \n', 2, "JSON"),
    "a bomb": (gzip.compress(b"a,b\n" + b"1,2\n" * 100_000), None, "BOUGH_MAX_DATASET_BYTES"),
    "too many values": (b"a,b\n" + b"1,2\n" * 5_000, None, "BOUGH_MAX_DATASET_CELLS"),
    "UTF-16": (CSV.decode().encode("utf-16"), None, ""),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), None, ""),
    "NUL": (b"a,b\n1,x\0y\n", 2, "U+0000"),
}


@pytest.mark.parametrize("name", CORPUS)
def test_what_cannot_be_read_is_refused_with_a_sentence(uploads: FlaskClient, name: str) -> None:
    body, line, sentence = CORPUS[name]

    told = problem(uploads.post("/datasets", data=body), 422)

    assert told["type"] in ("/problems/invalid-file", "/problems/limit-reached")
    everything = " ".join([told["detail"], *(each["detail"] for each in told.get("errors", []))])
    assert sentence in everything
    if line is not None:
        assert line == told["errors"][0]["line"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"\xef\xbb\xbf" + CSV, ("colour", "categorical", 0)),
        (b"empty,y\n,a\n,b\n", ("empty", "categorical", 2)),
        (b"n,y\nNA,a\n1,b\n?,a\n", ("n", "numeric", 2)),
    ],
)
def test_what_is_only_odd_is_taken(
    uploads: FlaskClient, body: bytes, told: tuple[str, str, int]
) -> None:
    answer = uploads.post("/datasets?nulls=NA,?", data=body)

    assert 201 == answer.status_code
    assert answer.json is not None
    first = answer.json["columns"][0]
    assert told == (first["name"], first["kind"], first["nulls"])


@pytest.mark.parametrize(
    ("body", "order", "detail"),
    [
        (b"a,y\n1,x\n2,x\n", {}, "fewer than two classes"),
        (b"a,y\n1,x\n2,\n", {}, "line 3, column 'y': is null"),
        (b"a,y\n1,x\nold,z\n", {"attributes": [{"name": "a", "kind": "numeric"}]}, "line 3"),
        (b"y\nx\nz\n", {}, "no column to learn from"),
        (b"a,y\n1,x\n2,z\n", {"target": "b"}, "no column 'b'"),
        (b"a,y\n1,x\n2,z\n", {"weight": "b"}, "no column 'b'"),
        (b"a,y\n1,x\n2,z\n", {"class_weights": {"q": 2}}, "'q' is no class of the target"),
        (b"a,y\n1,x\n2,z\n", {"validation_rows": [2]}, "no row 2"),
    ],
)
def test_what_cannot_be_trained_on_is_refused_before_the_job(
    uploads: FlaskClient, body: bytes, order: dict[str, Any], detail: str
) -> None:
    dataset = uploads.post("/datasets", data=body).json
    assert dataset is not None
    order = {"target": "y", **order, "data": {"dataset": dataset["id"]}}
    if "validation_rows" in order:
        order["params"] = {"preset": "id3", "pruning": "reduced_error"}

    told = problem(uploads.post("/train", json=an_order(**order)), 422)

    assert detail in " ".join(each["detail"] for each in told["errors"])


def test_columns_that_must_be_numbers_name_each_line_that_is_not(uploads: FlaskClient) -> None:
    answer = uploads.post("/datasets?numeric=a", data=b"a,b\n1,x\nold,y\n2,z\nnew,x\n")

    errors = problem(answer, 422)["errors"]
    assert [(3, "a"), (5, "a")] == [(each["line"], each["column"]) for each in errors]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "application/json"}, 415),
        ({"content-type": "multipart/form-data; boundary=x"}, 415),
        ({"content-encoding": "br"}, 415),
        ({"content-digest": "sha-256=:AAAA:"}, 422),
        ({"content-digest": f"sha-256=:{b64encode(bytes(32)).decode()}:"}, 422),
        ({"content-digest": f"sha-256=:{b64encode(sha256(CSV).digest()).decode()}:"}, 201),
        ({"content-digest": "md5=:AAAA:"}, 201),
    ],
)
def test_what_the_headers_say_must_be_so(
    uploads: FlaskClient, headers: dict[str, str], status: int
) -> None:
    assert status == uploads.post("/datasets", data=CSV, headers=headers).status_code


def test_an_upload_beyond_the_limit_is_refused(uploads: FlaskClient) -> None:
    problem(uploads.post("/datasets", data=b"a,b\n" * 50_000), 413)


def test_of_a_dataset_that_is_deleted_no_file_is_left(
    client: FlaskClient, store: Store, tmp_path: Path
) -> None:
    dataset = client.post("/datasets", data=CSV).json
    assert dataset is not None
    assert 1 == len(list((tmp_path / "datasets").iterdir()))

    assert 204 == client.delete(f"/datasets/{dataset['id']}").status_code

    assert 1 == sweep(store, Settings(data=tmp_path))
    assert [] == list((tmp_path / "datasets").iterdir())
    problem(client.delete(f"/datasets/{dataset['id']}"), 404)


def test_a_job_that_trains_has_no_result(client: FlaskClient) -> None:
    job = client.post("/train", json=an_order()).json
    assert job is not None

    problem(client.get(f"/jobs/{job['id']}/result"), 404)


def test_a_scoring_that_waits_has_no_result_yet(client: FlaskClient, melons: str) -> None:
    dataset = client.post("/datasets", data=CSV).json
    assert dataset is not None
    order = {"dataset": dataset["id"]}
    first, second = (
        client.post(f"/models/{melons}/batch-predict", json=order, headers={"idempotency-key": "k"})
        for _ in range(2)
    )
    job = first.json
    assert job is not None

    assert (202, 202, job) == (first.status_code, second.status_code, second.json)
    assert ("batch_predict", 1, dataset["id"]) == (job["kind"], job["version"], job["dataset"])
    problem(client.get(f"/jobs/{job['id']}/result"), 409)
    problem(client.delete(f"/datasets/{dataset['id']}"), 409)


def test_the_same_order_is_the_same_job_also_when_there_is_a_newer_version(
    client: FlaskClient, store: Store, melons: str
) -> None:
    dataset = client.post("/datasets", data=CSV).json
    assert dataset is not None
    asked = {"json": {"dataset": dataset["id"]}, "headers": {"idempotency-key": "k"}}
    first = client.post(f"/models/{melons}/batch-predict", **asked)
    trained(store)

    again = client.post(f"/models/{melons}/batch-predict", **asked)

    assert first.json is not None
    assert (202, first.json) == (again.status_code, again.json)
    assert 1 == first.json["version"]


def test_large_files_leave_a_thread_for_the_others(uploads: FlaskClient) -> None:
    places = uploads.application.extensions[EXTENSION].places
    chunked: dict[str, Any] = {  # of a size that is not known
        "headers": {"transfer-encoding": "chunked"},
        "environ_overrides": {"wsgi.input_terminated": True},
    }
    with ExitStack() as held:
        for _ in range(SETTINGS.web_threads - 1):
            held.enter_context(places.moving(None))

        refused = uploads.post("/datasets", data=CSV, **chunked)
        assert "1" == refused.headers["Retry-After"]
        problem(refused, 503)
        assert 201 == uploads.post("/datasets", data=CSV).status_code

    taken = uploads.post("/datasets", data=CSV, **chunked)
    assert 201 == taken.status_code


def test_the_file_of_a_dataset_that_may_have_been_saved_stays(
    sqlite_store: Store, tmp_path: Path
) -> None:
    class Lost(Store):
        @contextmanager
        def writing(self) -> Iterator[Session]:
            with super().writing() as session:
                yield session
            with self.reading() as session:
                if list_datasets(session, limit=1).items:
                    raise Unavailable("The connection was lost after the commit.")

    app = create_app(replace(SETTINGS, data=tmp_path), Lost(sqlite_store.engine))

    problem(app.test_client().post("/datasets", data=CSV), 503)

    assert 1 == len(list((tmp_path / "datasets").iterdir()))


@pytest.mark.parametrize(
    ("order", "status", "pointer"),
    [
        ({"dataset": "nothing"}, 422, "/dataset"),
        ({"dataset": "a\0b"}, 422, "/dataset"),
        ({"keep": ["nothing"]}, 422, "/keep/0"),
        ({"format": "xlsx"}, 422, "/format"),
        ({"version": 9}, 404, None),
    ],
)
def test_an_order_to_score_is_checked(
    client: FlaskClient, melons: str, order: dict[str, Any], status: int, pointer: str | None
) -> None:
    dataset = client.post("/datasets", data=CSV).json
    assert dataset is not None

    answer = client.post(f"/models/{melons}/batch-predict", json={"dataset": dataset["id"]} | order)

    told = problem(answer, status)
    assert pointer == (told["errors"][0]["pointer"] if "errors" in told else None)
