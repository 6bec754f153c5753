"""PostgreSQL goes away and comes back: no job is lost, and whoever asks meanwhile is told so."""

import signal
import time
from collections.abc import Callable

import pytest
from sqlalchemy import text

from service.errors import Unavailable
from service.storage.bulk import insert_many
from service.storage.engine import Session, Store
from service.storage.nodes import NODES
from tests.faults.checks import violations
from tests.faults.fleet import send
from tests.faults.system import SETTINGS, System, a_name, an_order

LEASE = float(SETTINGS["lease_seconds"])

pytestmark = pytest.mark.parametrize("system", ["postgresql"], indirect=True)


@pytest.mark.parametrize("point", ["worker-claimed", "child-grow", "worker-saved"])
def test_a_job_survives_a_restart_of_the_database_in_its_first_attempt(
    system: System, point: str
) -> None:
    assert system.postgres is not None
    system.arm(point, "SIGSTOP")
    ordered = system.ordered(a_name())["id"]
    held = system.wait_for_hit(point)

    system.postgres.stop()
    for answer in (
        system.send(an_order(a_name())),
        system.get(f"/jobs/{ordered}"),
        system.get("/readyz"),
    ):
        assert answer is not None
        assert (503, "/problems/unavailable") == (answer.status_code, answer.json()["type"])
        assert int(answer.headers["Retry-After"]) > 0
    assert 200 == system.get("/livez").status_code
    send(held, signal.SIGCONT)
    system.postgres.start()

    job = system.ended(ordered)
    assert ("succeeded", 1, 1) == (job["state"], job["attempt"], job["version"])
    assert 200 == system.get("/readyz").status_code
    following = system.ended(system.ordered(job["model"])["id"])
    assert ("succeeded", 2) == (following["state"], following["version"])
    assert [] == violations(system.store)


def test_a_worker_that_stands_still_while_it_commits_does_not_stop_the_others(
    system: System,
) -> None:
    system.arm("worker-finished", "SIGSTOP")
    held = system.ordered(a_name())["id"]
    worker = system.wait_for_hit("worker-finished")
    time.sleep(LEASE + 0.5)  # whoever reaps comes upon the row that is locked

    other = system.ended(system.ordered(a_name())["id"], seconds=10)
    send(worker, signal.SIGCONT)

    assert ("succeeded", 1) == (other["state"], other["attempt"])
    job = system.ended(held)
    assert ("succeeded", 1) == (job["state"], job["attempt"])


@pytest.mark.parametrize(
    "go_on",
    [
        lambda session: session.execute(text("SELECT 1")),
        lambda session: insert_many(session, NODES, []),
    ],
    ids=["statement", "copy"],
)
def test_a_transaction_that_was_silent_for_too_long_is_over_and_its_locks_are_free(
    system: System, go_on: Callable[[Session], object]
) -> None:
    with pytest.raises(Unavailable):
        be_silent(system.store, go_on)


def be_silent(store: Store, go_on: Callable[[Session], object]) -> None:
    limit = "idle_in_transaction_session_timeout"
    with store.writing() as session:
        assert "2min" == session.scalar(text(f"SHOW {limit}"))
        session.execute(text(f"SET LOCAL {limit} = 50"))
        time.sleep(0.3)
        go_on(session)
