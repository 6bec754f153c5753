"""Orders that name a webhook."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from service.settings import Settings
from service.storage.engine import Store
from service.web import create_app
from tests.web.conftest import an_order
from tests.web.test_problems import problem

SECRET = "a well kept word"


def a_webhook(url: str, **changes: Any) -> dict[str, Any]:
    return an_order(webhook={"url": url, "secret": SECRET} | changes)


def test_a_job_tells_how_its_webhook_fares_but_not_its_secret(client: FlaskClient) -> None:
    answer = client.post("/train", json=a_webhook("https://example.com/hook?a=b"))
    assert answer.json is not None
    known = client.get(f"/jobs/{answer.json['id']}")
    assert known.json is not None

    assert answer.status_code == 202
    assert known.json["webhook"] == {"state": "pending", "attempts": 0, "last_error": None}
    assert SECRET not in known.text + answer.text + client.get("/jobs").text


def test_a_job_without_a_webhook_has_none(client: FlaskClient) -> None:
    answer = client.post("/train", json=an_order()).json
    assert answer is not None

    assert answer["webhook"] is None


def test_another_webhook_makes_another_order(client: FlaskClient) -> None:
    key = {"Idempotency-Key": "k"}
    order = a_webhook("https://example.com/")
    client.post("/train", json=order, headers=key)

    assert client.post("/train", json=order, headers=key).status_code == 202
    problem(client.post("/train", json=a_webhook("https://example.org/"), headers=key), 422)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/", "file:///etc/passwd", "example.com", "http://", "http://:80/",
        "http://me:word@example.com/", "http://example.com:99999/", "http://example.com:0/",
        "http://[::1/", "http://example.com/a b", "http://example.com/\r\nX: y", "http://münchen/",
        "http://" + "x" * 2000, "http://example.com/\n",
    ],
)  # fmt: skip
def test_a_webhook_has_an_address_that_can_be_called(client: FlaskClient, url: str) -> None:
    told = problem(client.post("/train", json=a_webhook(url)), 422)

    assert {each["pointer"] for each in told["errors"]} == {"/webhook/url"}


@pytest.mark.parametrize("secret", ["", None, 5, "x" * 1001])
def test_a_webhook_has_a_secret(client: FlaskClient, secret: object) -> None:
    order = a_webhook("https://example.com/", secret=secret)
    told = problem(client.post("/train", json=order), 422)

    assert {each["pointer"] for each in told["errors"]} == {"/webhook/secret"}


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "169.254.169.254", "10.1.2.3", "[::1]", "2130706433"]
)
def test_a_webhook_into_the_private_network_is_refused(store: Store, host: str) -> None:
    client = create_app(Settings(), store).test_client()

    told = problem(client.post("/train", json=a_webhook(f"http://{host}/")), 422)

    assert "not public" in told["errors"][0]["detail"]
