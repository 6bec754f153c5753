"""Health, version, contract and documentation."""

import re
from pathlib import Path

import yaml
from flask.testing import FlaskClient

from service import __version__
from service.settings import Settings
from service.storage.engine import Store, open_store
from service.web import create_app, openapi_yaml
from tests.web.test_problems import problem


def test_the_service_tells_that_it_lives_that_it_is_ready_and_which_it_is(
    client: FlaskClient,
) -> None:
    version = client.get("/version").json
    assert version is not None

    assert client.get("/livez").json == {"status": "alive"}
    assert client.get("/readyz").json == {"status": "ready"}
    assert (version["name"], version["version"]) == ("bough", __version__)
    assert version["schema"]


def test_it_is_alive_but_not_ready_before_the_database_is_migrated(empty_url: str) -> None:
    store = open_store(empty_url)
    client = create_app(Settings(), store).test_client()

    assert client.get("/livez").status_code == 200
    problem(client.get("/readyz"), 503)
    store.dispose()


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
