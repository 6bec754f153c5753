"""Many jobs, many workers, many clients: each job once, and nobody is turned away."""

import json
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from service.settings import Settings
from service.storage.engine import Store
from service.web import create_app
from tests import server
from tests.conftest import TEMPLATE
from tests.faults.checks import violations
from tests.faults.crowd import crowd
from tests.faults.fleet import send
from tests.faults.system import SETTINGS, System, a_name, an_order, running
from tests.postgres import Postgres

N_JOBS, N_MODELS = 200, 40
LEASE = float(SETTINGS["lease_seconds"])
CROWD_SECONDS = 10.0
FOUR = ("ahead-0", "ahead-1", "behind-0", "behind-1")  # workers whose clocks differ by ten hours


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def workers(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[System]:
    directory = tmp_path_factory.mktemp("workers")
    if request.param == "sqlite":
        path = shutil.copy(request.getfixturevalue("sqlite_template"), directory / "bough.db")
        with running(directory, f"sqlite:///{path}", FOUR, poll_seconds="0.2") as system:
            yield system
        return
    postgres: Postgres = request.getfixturevalue("postgres")
    name = f"{TEMPLATE}_{directory.name}"
    with running(
        directory, postgres.create(name, template=TEMPLATE), FOUR, poll_seconds="0.2"
    ) as system:
        yield system
    postgres.drop(name)


def test_a_lease_is_judged_by_the_clock_of_the_database_alone(workers: System) -> None:
    workers.arm("child-grow", "SIGSTOP")
    (job,) = placed(workers.store, [a_name()])
    child = workers.wait_for_hit("child-grow")
    time.sleep(2 * LEASE)  # workers with other clocks look at it all the while
    send(child, signal.SIGCONT)

    workers.wait_for(lambda: 0 == n_under_way(workers.store), "it did not end")
    assert [(job, 1)] == attempts(workers.store)
    assert [] == violations(workers.store)


def test_each_of_200_jobs_is_done_exactly_once_by_four_workers(workers: System) -> None:
    ordered = placed(workers.store, [f"model-{number % N_MODELS}" for number in range(N_JOBS)])

    workers.wait_for(lambda: 0 == n_under_way(workers.store), "they did not end", seconds=90)

    tried = dict(attempts(workers.store))
    assert {job: 1 for job in ordered} == {job: tried[job] for job in ordered}
    claimed = [line["job"] for line in workers.lines("job claimed") if line["job"] in ordered]
    assert sorted(ordered) == sorted(claimed)
    assert [] == violations(workers.store)


def test_twenty_clients_are_all_served_on_sqlite(tmp_path: Path) -> None:
    with server.running(tmp_path) as client:
        tally = crowd(str(client.base_url), 20, CROWD_SECONDS)

    assert {200, 202} == set(tally.statuses), tally.statuses
    logged = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [] == [line for line in logged if line["level"] != "INFO"]


def placed(store: Store, models: list[str]) -> list[str]:
    """The ids of the jobs that were ordered."""
    client = create_app(Settings(), store).test_client()
    orders = [an_order(model, evaluation={"method": "none"}) for model in models]
    return [client.post("/train", json=order).json["id"] for order in orders]


def n_under_way(store: Store) -> int:
    with store.reading() as session:
        return int(session.scalar(text("SELECT count(*) FROM jobs WHERE finished_at IS NULL")))


def attempts(store: Store) -> list[tuple[str, int]]:
    with store.reading() as session:
        return [
            (job, tried) for job, tried in session.execute(text("SELECT id, attempt FROM jobs"))
        ]
