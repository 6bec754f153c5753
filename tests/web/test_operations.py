"""Health, version, contract and documentation."""

import logging
import re
from pathlib import Path

import pytest
import yaml
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import text

from service import __version__
from service.actions.keep_warm import BROKEN
from service.settings import Settings
from service.storage.engine import Store, open_store
from service.web import create_app, openapi_yaml
from service.web.context import EXTENSION
from tests.web.test_problems import pointers, problem


def test_the_service_tells_that_it_lives_that_it_is_ready_and_which_it_is(
    client: FlaskClient,
) -> None:
    version = client.get("/version").json
    assert version is not None

    assert client.get("/livez").json == {"status": "alive"}
    assert client.get("/readyz").json == {"status": "ready", "cold": []}
    assert (version["name"], version["version"]) == ("bough", __version__)
    assert version["schema"]


def test_it_is_alive_but_not_ready_before_the_database_is_migrated(empty_url: str) -> None:
    store = open_store(empty_url)
    client = create_app(Settings(), store).test_client()

    assert client.get("/livez").status_code == 200
    problem(client.get("/readyz"), 503)
    store.dispose()


def test_it_is_ready_when_the_models_marked_warm_are_loaded(
    app: Flask, client: FlaskClient, melons: str
) -> None:
    marked = client.patch(f"/models/{melons}", json={"warm": True})
    warmth = app.extensions[EXTENSION].warmth
    warmth.begin()
    answer = client.get("/readyz")

    assert marked.json == client.get(f"/models/{melons}").json
    assert marked.json["warm"] is True
    assert "Warm models are being loaded" in problem(answer, 503)["detail"]
    assert answer.headers["Retry-After"] == "1"
    warmth.look()
    assert client.get("/readyz").json == {"status": "ready", "cold": []}


def test_to_be_asked_too_early_is_nothing_to_warn_of(
    app: Flask, client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    app.extensions[EXTENSION].warmth.begin()
    caplog.set_level(logging.INFO)

    problem(client.get("/readyz"), 503)
    assert "not ready" in [record.message for record in caplog.records]
    assert {record.levelno for record in caplog.records} == {logging.INFO}


def test_a_model_that_cannot_be_loaded_does_not_keep_it_from_being_ready(
    app: Flask, client: FlaskClient, melons: str, store: Store
) -> None:
    client.patch(f"/models/{melons}", json={"warm": True})
    with store.writing() as session:
        session.execute(text("DELETE FROM nodes"))
    warmth = app.extensions[EXTENSION].warmth
    warmth.begin()
    warmth.look()

    (cold,) = client.get("/readyz").json["cold"]
    assert cold == {"model": melons, "version": 1, "detail": BROKEN}


def test_only_what_is_said_of_a_model_changes(client: FlaskClient, melons: str) -> None:
    before = client.get(f"/models/{melons}").json

    assert client.patch(f"/models/{melons}", json={}).json == before
    problem(client.patch("/models/pears", json={"warm": True}), 404)
    assert pointers(client.patch(f"/models/{melons}", json={"warm": 1})) == ["/warm"]
    assert pointers(client.patch(f"/models/{melons}", json={"name": "x"})) == ["/name"]


def test_every_address_of_the_index_is_there(client: FlaskClient) -> None:
    index = client.get("/").json
    assert index is not None

    for address in index["links"].values():
        with client.get(address) as answer:
            assert answer.status_code in (200, 405), address


def test_an_app_and_its_contract_need_no_database(tmp_path: Path) -> None:
    store = Store(open_store(f"sqlite:///{tmp_path / 'bough.db'}").engine)
    text = openapi_yaml(create_app(Settings(), store))

    assert not (tmp_path / "bough.db").exists()
    assert text == openapi_yaml(create_app(Settings(), store))
    assert yaml.safe_load(text)["openapi"] == "3.1.0"


def test_the_contract_is_served(client: FlaskClient) -> None:
    answer = client.get("/openapi.yaml")

    assert answer.content_type == "application/yaml"
    assert yaml.safe_load(answer.text)["info"]["title"] == "Bough"


def test_the_documentation_is_all_our_own(client: FlaskClient) -> None:
    with client.get("/docs") as page:
        asked = re.findall(r'(?:src|href)="([^"]+)"', page.text)
        policy = page.headers["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert len(asked) == 5
    for address in asked:
        with client.get(f"/{address}") as answer:
            assert answer.status_code == 200
            assert answer.data


def test_no_other_file_is_served(client: FlaskClient) -> None:
    for file in ("docs.html", "swagger-ui.js", "..%2fapp.py", "../app.py"):
        problem(client.get(f"/docs/{file}"), 404)
