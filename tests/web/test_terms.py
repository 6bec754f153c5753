"""The terms of an order over HTTP: its key, its priority, its limits."""

from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.settings import Settings
from service.storage.engine import Store
from service.web import create_app
from tests.web.conftest import MELONS, an_order
from tests.web.test_jobs import claimed
from tests.web.test_problems import problem


def sent(client: FlaskClient, key: str, **changes: Any) -> TestResponse:
    return client.post("/train", json=an_order(**changes), headers={"Idempotency-Key": key})


def test_the_same_order_under_the_same_key_is_the_same_job(client: FlaskClient) -> None:
    first, again = sent(client, "k"), sent(client, "k", priority=0)

    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json == again.json
    assert first.headers["Location"] == again.headers["Location"]
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize(
    "change",
    [{"priority": 1}, {"limits": {"seconds": 5}}, {"data": {"rows": MELONS[:-1]}}, {"model": "m"}],
    ids=lambda change: next(iter(change)),
)
def test_another_order_under_the_same_key_is_refused(
    client: FlaskClient, change: dict[str, Any]
) -> None:
    sent(client, "k")

    told = problem(sent(client, "k", **change), 422)

    assert told["type"] == "/problems/idempotency-key-reused"


@pytest.mark.parametrize("key", ["", "two words", "ключ", "x" * 256])
def test_a_key_is_visible_ascii(client: FlaskClient, key: str) -> None:
    told = problem(sent(client, key), 422)

    assert [each["parameter"] for each in told["errors"]] == ["Idempotency-Key"]


def test_a_key_is_not_used_up_by_an_order_that_is_refused_or_only_checked(
    client: FlaskClient,
) -> None:
    problem(sent(client, "k", target="nothing"), 422)
    checked = client.post(
        "/train?validate_only=true", json=an_order(), headers={"Idempotency-Key": "k"}
    )

    assert checked.status_code == 200
    assert "Idempotent-Replayed" not in sent(client, "k", priority=3).headers


def test_a_job_tells_its_priority_and_waits_accordingly(client: FlaskClient, store: Store) -> None:
    client.post("/train", json=an_order(model="later"))
    urgent = client.post("/train", json=an_order(model="sooner", priority=7)).json
    assert urgent is not None

    assert urgent["priority"] == 7
    assert claimed(store).job_id == urgent["id"]


@pytest.mark.parametrize("priority", [101, -101, 0.5, "high", None])
def test_a_priority_is_a_whole_number_within_bounds(client: FlaskClient, priority: object) -> None:
    told = problem(client.post("/train", json=an_order(priority=priority)), 422)

    assert [each["pointer"] for each in told["errors"]] == ["/priority"]


def test_limits_are_kept_below_those_of_the_service(store: Store) -> None:
    client = create_app(Settings(job_seconds=60, job_memory_bytes=1000), store).test_client()

    def asked(**limits: object) -> TestResponse:
        return client.post("/train", json=an_order(limits=limits))

    told = problem(asked(seconds=60.5, memory_bytes=1001), 422)
    assert [each["pointer"] for each in told["errors"]] == [
        "/limits/seconds",
        "/limits/memory_bytes",
    ]
    assert "at most 60" in told["errors"][0]["detail"]
    assert asked(seconds=60, memory_bytes=1000).status_code == 202
    assert asked(seconds=0.5).status_code == 202
    for bad in ({"seconds": 0}, {"memory_bytes": 0}, {"memory_bytes": 1.5}, {"hours": 1}):
        problem(asked(**bad), 422)
    assert claimed(store).limits.seconds == 60


def test_where_the_service_has_no_limit_an_order_may_set_any(store: Store) -> None:
    client = create_app(Settings(job_seconds=0), store).test_client()
    limits = {"seconds": 1e9, "memory_bytes": 2**50}

    assert client.post("/train", json=an_order(limits=limits)).status_code == 202
