"""Jobs over HTTP: how they fare, and how they are cancelled."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from service.storage import jobs
from service.storage.clock import after
from service.storage.engine import Store
from service.storage.job_tables import JobRow
from service.storage.records import Claim
from tests.web.conftest import an_order
from tests.web.test_problems import problem


def submitted(client: FlaskClient, model: str = "melons") -> str:
    """The id of a new job."""
    job = client.post("/train", json=an_order(model=model)).json
    assert job is not None
    return str(job["id"])


def claimed(store: Store) -> Claim:
    """The oldest job, as if a worker had it."""
    with store.writing() as session:
        claim = jobs.claim(session, "a worker", 60)
    assert claim is not None
    return claim


def test_a_job_that_has_not_ended_is_to_be_asked_for_again(
    client: FlaskClient, store: Store
) -> None:
    path = f"/jobs/{submitted(client)}"
    waiting = client.get(path)
    claim = claimed(store)
    with store.writing() as session:
        error = {"title": "Out of memory", "detail": "It was too much.", "inner": "hidden"}
        jobs.fail(session, claim, error, retry=False)
    failed = client.get(path)
    assert failed.json is not None

    assert waiting.headers["Retry-After"] == "1"
    assert "Retry-After" not in failed.headers
    assert failed.json["state"] == "failed"
    assert failed.json["error"] == {"title": "Out of memory", "detail": "It was too much."}


def test_a_job_that_succeeded_links_to_its_version(client: FlaskClient, store: Store) -> None:
    job_id = submitted(client, model="西瓜")
    claim = claimed(store)
    with store.writing() as session:
        jobs.finish(session, claim, 7)
    job = client.get(f"/jobs/{job_id}").json
    assert job is not None

    assert job["version"] == 7
    assert job["links"] == {
        "self": f"/jobs/{job_id}",
        "version": "/models/%E8%A5%BF%E7%93%9C/versions/7",
    }


def test_a_job_tells_for_how_long_its_attempt_lasts_by_the_clock_of_the_database(
    client: FlaskClient, store: Store
) -> None:
    job_id = submitted(client)
    assert [None, None] == elapsed(client, job_id)
    claim = claimed(store)
    set_back(store, started_at=after(-90))
    assert [pytest.approx(90, abs=5)] * 2 == elapsed(client, job_id)
    with store.writing() as session:
        jobs.release(session, claim)
    assert [None, None] == elapsed(client, job_id)
    claim = claimed(store)
    with store.writing() as session:
        jobs.finish(session, claim, 1)
    set_back(store, started_at=after(-90), finished_at=after(-60))
    assert [pytest.approx(30, abs=0.1)] * 2 == elapsed(client, job_id)


def elapsed(client: FlaskClient, job_id: str) -> list[float | None]:
    """The seconds that the job has taken, as it tells them itself and as the list does."""
    job, page = client.get(f"/jobs/{job_id}").json, client.get("/jobs").json
    assert job is not None
    assert page is not None
    return [each["elapsed_seconds"] for each in (job, *page["items"])]


def set_back(store: Store, **moments: Any) -> None:
    """Put the start or the end of every job elsewhere."""
    with store.writing() as session:
        session.execute(jobs.update(JobRow).values(**moments))


def test_a_job_that_waits_is_cancelled_at_once_and_only_once(client: FlaskClient) -> None:
    path = f"/jobs/{submitted(client)}/cancel"
    answer = client.post(path)
    assert answer.json is not None

    assert (answer.status_code, answer.json["state"]) == (200, "cancelled")
    problem(client.post(path), 409)


def test_a_job_that_runs_is_told_to_stop(client: FlaskClient, store: Store) -> None:
    job_id = submitted(client)
    claimed(store)
    answer = client.post(f"/jobs/{job_id}/cancel")
    assert answer.json is not None

    assert (answer.status_code, answer.json["state"]) == (202, "running")
    assert answer.json["cancel_requested"]


def test_there_is_no_such_job(client: FlaskClient) -> None:
    problem(client.get("/jobs/none"), 404)
    problem(client.post("/jobs/none/cancel"), 404)
    problem(client.get("/jobs/%00"), 404)


def test_jobs_are_listed_newest_first_and_by_state_and_model(client: FlaskClient) -> None:
    first, second = submitted(client), submitted(client, model="pumpkins")
    client.post(f"/jobs/{first}/cancel")

    def listed(query: str) -> list[str]:
        page = client.get(f"/jobs?{query}").json
        assert page is not None
        return [job["id"] for job in page["items"]]

    assert listed("") == [second, first]
    assert listed("state=cancelled") == [first]
    assert listed("model=pumpkins") == [second]
    assert listed("model=pumpkins&state=cancelled") == []
    problem(client.get("/jobs?state=done"), 422)
    problem(client.get("/jobs?model=%00"), 422)
