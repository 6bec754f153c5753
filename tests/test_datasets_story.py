"""A file is uploaded once, trained on, and scored: over real HTTP, on both databases."""

import csv
import gzip
import io
import time
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import httpx
import pytest

from tests.postgres import Postgres
from tests.server import ended, running
from tests.textbook import melons

MODEL = "西瓜"
ROWS: list[dict[str, Any]] = [
    {"编号": f"0{number}", **row} for number, row in enumerate(melons("2.0-missing"))
]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def client(
    request: pytest.FixtureRequest, postgres: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    data = tmp_path_factory.mktemp("datasets")
    url = postgres.create("datasets") if request.param == "postgresql" else ""
    with running(data, url, datasets=f"file://{data}/shared", poll_seconds="0.1") as client:
        yield client


@pytest.fixture(scope="module")
def dataset(client: httpx.Client) -> dict[str, Any]:
    answer = client.post("/datasets?name=melons", content=gzip.compress(as_csv(ROWS)))
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"/datasets/{answer.json()['id']}"
    told: dict[str, Any] = answer.json()
    return told


@pytest.fixture(scope="module")
def version(client: httpx.Client, dataset: dict[str, Any]) -> dict[str, Any]:
    job = client.post("/train", json=an_order({"dataset": dataset["id"]})).json()
    assert (job["kind"], job["dataset"]) == ("train", dataset["id"])
    job = ended(client, job)
    assert (job["state"], job["progress"]["rows"]) == ("succeeded", len(ROWS)), job
    told: dict[str, Any] = client.get(job["links"]["version"]).json()
    return told


def test_an_upload_is_told_by_its_columns(client: httpx.Client, dataset: dict[str, Any]) -> None:
    number, colour, *_, target = dataset["columns"]

    assert (dataset["rows"], dataset["format"]) == (len(ROWS), "csv")
    assert (number["name"], number["kind"], number["distinct"]) == (
        "编号",
        "categorical",
        len(ROWS),
    )
    known = [row["色泽"] for row in ROWS if row["色泽"] is not None]
    assert colour["nulls"] == len(ROWS) - len(known)
    assert {each["value"]: each["rows"] for each in colour["values"]} == {
        value: known.count(value) for value in known
    }
    assert [each["value"] for each in target["values"]] == ["是", "否"]
    assert client.get(dataset["links"]["self"]).json() == dataset
    (listed,) = client.get("/datasets").json()["items"]
    assert (listed["id"], "columns" in listed) == (dataset["id"], False)


def test_a_tree_of_a_dataset_is_that_of_its_rows(
    client: httpx.Client, version: dict[str, Any]
) -> None:
    order = an_order({"rows": ROWS}) | {"model": "inline"}
    inline = client.get(ended(client, client.post("/train", json=order).json())["links"]["version"])

    assert inline.json()["attributes"] == version["attributes"]
    assert nodes_of(client, "inline") == nodes_of(client, MODEL)


@pytest.mark.usefixtures("version")
def test_a_dataset_is_scored_as_predict_answers(
    client: httpx.Client, dataset: dict[str, Any]
) -> None:
    order = {"dataset": dataset["id"], "keep": ["编号"]}
    answer = client.post(f"/models/{MODEL}/batch-predict", json=order)
    job = ended(client, answer.json())
    assert (answer.status_code, job["state"], job["version"]) == (202, "succeeded", 1), job
    result = client.get(job["links"]["result"])
    lines = list(csv.DictReader(io.StringIO(result.text)))

    inputs = [{name: row[name] for name in row if name not in ("编号", "好瓜")} for row in ROWS]
    said = client.post("/predict", json={"model": MODEL, "rows": inputs}).json()["predictions"]
    assert [(row["编号"], each["class"]) for row, each in zip(ROWS, said, strict=True)] == [
        (line["编号"], line["class"]) for line in lines
    ]
    for each, line in zip(said, lines, strict=True):
        assert each["probabilities"]["是"] == float(line["probabilities.是"])
    assert result.headers["content-type"] == "text/csv; charset=utf-8"
    assert result.headers["etag"] == f'"{sha256(result.content).hexdigest()}"'


@pytest.mark.usefixtures("version")
def test_a_dataset_is_deleted_when_no_job_needs_it(client: httpx.Client) -> None:
    body = as_csv(ROWS)
    digest = b64encode(sha256(body).digest()).decode()
    headers = {"content-type": "text/csv", "content-digest": f"sha-256=:{digest}:"}
    own = client.post("/datasets", content=body, headers=headers).json()
    job = client.post(f"/models/{MODEL}/batch-predict", json={"dataset": own["id"]}).json()
    while client.delete(own["links"]["self"]).status_code == 409:
        time.sleep(0.02)

    assert client.get(own["links"]["self"]).status_code == 404
    assert ended(client, job)["state"] == "succeeded"
    again = client.post("/train", json=an_order({"dataset": own["id"]}))
    assert (again.status_code, again.json()["errors"][0]["pointer"]) == (422, "/data/dataset")


def an_order(data: dict[str, Any]) -> dict[str, Any]:
    return {
        "model": MODEL,
        "target": "好瓜",
        "data": data,
        "attributes": [{"name": "编号", "kind": "ignored"}],
        "params": {"preset": "id3"},
        "evaluation": {"method": "none"},
    }


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def nodes_of(client: httpx.Client, model: str) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = client.get(f"/models/{model}/versions/1/nodes").json()["items"]
    return told
