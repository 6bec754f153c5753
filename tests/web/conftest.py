"""An app over a database of its own, and models in it without a worker having trained them."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service.actions.submit import check
from service.actions.train import train
from service.settings import Settings
from service.storage.engine import Store, open_store
from service.storage.versions import save_version
from service.web import create_app
from service.web.order import read_order
from service.web.train_schemas import TrainSchema

MELONS: list[dict[str, Any]] = [
    {"colour": "green", "density": 0.697, "ripe": "yes"},
    {"colour": "black", "density": 0.774, "ripe": "yes"},
    {"colour": "black", "density": 0.634, "ripe": "yes"},
    {"colour": "black", "density": 0.243, "ripe": "no"},
    {"colour": "white", "density": 0.245, "ripe": "no"},
    {"colour": "white", "density": None, "ripe": "no"},
]
HOUSES: list[dict[str, Any]] = [
    {"rooms": rooms, "place": place, "price": 10.0 * rooms + (25 if place == "sea" else 0) + noise}
    for rooms in (2, 3, 5, 8)
    for place, noise in (("sea", 0.5), ("town", 1.5), ("wood", 2.5))
]
# webhook_private: or else each test of the contract would look names up in the network
# max_streams: or else each would read the events of a job for as long as a stream may last
SETTINGS = Settings(
    max_body_bytes=200_000,
    max_predict_rows=200,
    max_explain_rows=5,
    max_streams=0,
    webhook_private=True,
)


def an_order(**changes: Any) -> dict[str, Any]:
    """The body that trains the melons, with some fields changed."""
    plain = {"params": {"preset": "id3"}, "evaluation": {"method": "none"}}
    return {"model": "melons", "target": "ripe", "data": {"rows": MELONS}} | plain | changes


def trained(store: Store, **changes: Any) -> int:
    """The number of the version that such an order makes."""
    request = read_order(TrainSchema().load(an_order(**changes)), SETTINGS.max_train_cells)
    result = train(check(request), SETTINGS.max_nodes, lambda *_: None)
    with store.writing() as session:
        return save_version(session, str(uuid4()), result.draft, result.tree)


@pytest.fixture
def app(store: Store, tmp_path: Path) -> Flask:
    return create_app(replace(SETTINGS, data=tmp_path), store)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def melons(store: Store) -> str:
    """The name of a model with one version."""
    trained(store)
    return "melons"


@pytest.fixture
def houses(store: Store) -> str:
    """The name of a model that predicts a number."""
    trained(store, **a_house_order())
    return "houses"


def a_house_order(**changes: Any) -> dict[str, Any]:
    """What makes the order to train the melons one to train the houses."""
    params = {"preset": "cart", "min_weight": 2, "standard_errors": 0}
    order = {"model": "houses", "target": "price", "data": {"rows": HOUSES}, "params": params}
    return order | changes


@pytest.fixture(scope="session")
def melon_client(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FlaskClient]:
    """A client of one service with the melons, for all tests that change nothing in it."""
    path = tmp_path_factory.mktemp("melons") / "bough.db"
    shutil.copy(sqlite_template, path)
    store = open_store(f"sqlite:///{path}")
    trained(store)
    yield create_app(replace(SETTINGS, data=path.parent), store).test_client()
    store.dispose()


@pytest.fixture
def client_of(tmp_path: Path) -> Callable[[Store], FlaskClient]:
    """What makes a client of an app over a store."""
    return lambda store: create_app(replace(SETTINGS, data=tmp_path), store).test_client()
