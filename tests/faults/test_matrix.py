"""Whoever is killed, and wherever: the job ends once, as one whole version or one clear failure.

Real processes, real signals, both databases; service/points.py has the points.
"""

import signal

import pytest
from sqlalchemy import text

from service.points import CHILD, POINTS, WEB, WORKER
from tests.faults.checks import is_free, violations
from tests.faults.fleet import is_running, send
from tests.faults.system import System, a_name, an_order

IN_TRANSACTION = ("worker-versioned", "worker-saved", "worker-finished")


def test_a_job_passes_every_point(system: System) -> None:
    for point in POINTS:
        system.arm(point, "SIGCONT")  # which does nothing to whoever runs

    system.ended(system.ordered(a_name())["id"])

    assert [] == [point for point in POINTS if system.hit(point) is None]


def assert_killed(system: System, point: str) -> None:
    """Whoever passed the point is gone, as soon as the system has taken it away."""
    killed = system.wait_for_hit(point)
    system.wait_for(lambda: not is_running(killed), f"{killed} was not killed")


@pytest.mark.parametrize("point", sorted({*WORKER} - {*IN_TRANSACTION}))
def test_a_killed_worker_leaves_one_version(system: System, point: str) -> None:
    model = a_name()
    system.arm(point)

    job = system.ended(system.ordered(model)["id"])

    assert_killed(system, point)
    attempts = 1 if point == "worker-committed" else 2
    assert ("succeeded", attempts, 1) == (job["state"], job["attempt"], job["version"])
    assert_sound(system, model)


@pytest.mark.parametrize("point", IN_TRANSACTION)
def test_what_a_killed_worker_has_half_written_is_seen_by_nobody(
    system: System, point: str
) -> None:
    model = a_name()
    system.arm(point, "SIGSTOP")
    ordered = system.ordered(model)["id"]

    worker = system.wait_for_hit(point)
    seen = system.job(ordered)
    assert ("running", None) == (seen["state"], seen["version"])
    assert 404 == system.get(f"/models/{model}").status_code
    assert 0 == count(system, "SELECT count(*) FROM versions WHERE job_id = :id", id=ordered)
    send(worker, signal.SIGKILL)

    job = system.ended(ordered)
    assert ("succeeded", 2, 1) == (job["state"], job["attempt"], job["version"])
    assert_sound(system, model)


@pytest.mark.parametrize("point", CHILD)
def test_a_killed_child_leaves_one_version(system: System, point: str) -> None:
    model = a_name()
    system.arm(point)

    job = system.ended(system.ordered(model)["id"])

    assert_killed(system, point)
    assert ("succeeded", 2, 1) == (job["state"], job["attempt"], job["version"])
    assert_sound(system, model)


@pytest.mark.parametrize("point", WEB)
def test_a_killed_web_server_has_placed_the_job_or_not_and_the_key_finds_out(
    system: System, point: str
) -> None:
    model, key = a_name(), a_name()
    system.arm(point)

    assert system.send(an_order(model), key) is None

    assert_killed(system, point)
    assert (1 if point == "web-committed" else 0) == n_jobs(system, model)
    again = system.send(an_order(model), key)
    assert again is not None
    assert (202, "true" if point == "web-committed" else None) == (
        again.status_code,
        again.headers.get("Idempotent-Replayed"),
    )
    job = system.ended(again.json()["id"])
    assert ("succeeded", 1, 1) == (job["state"], job["attempt"], n_jobs(system, model))
    assert_sound(system, model)


def test_a_job_that_takes_every_worker_with_it_ends_as_failed_and_says_so(system: System) -> None:
    point = "worker-finished"
    system.arm(point)
    ordered = system.ordered(a_name())["id"]
    for _ in range(3):
        system.wait_for_hit(point)
        system.arm(point)

    job = system.ended(ordered)
    system.disarm(point)

    assert ("failed", 3, None) == (job["state"], job["attempt"], job["version"])
    assert "/problems/interrupted" == job["error"]["type"]
    assert "The worker was lost in every attempt" in job["error"]["detail"]
    assert_sound(system, job["model"])


def n_jobs(system: System, model: str) -> int:
    return count(system, "SELECT count(*) FROM jobs WHERE model = :model", model=model)


def count(system: System, question: str, **values: str) -> int:
    with system.store.reading() as session:
        return int(session.scalar(text(question), values))


def assert_sound(system: System, model: str) -> None:
    """Nothing is left locked or half done; the next job on the same model succeeds at once."""
    system.wait_for(lambda: is_free(system.store), "somebody holds a lock", seconds=3)
    following = system.ended(system.ordered(model)["id"])
    assert ("succeeded", 1) == (following["state"], following["attempt"])
    assert [] == violations(system.store)
