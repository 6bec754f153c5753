"""A worker in this process, with trainings that do as they are told."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread
from uuid import uuid4

import pytest

from service.jobs.stop import Stop
from service.jobs.worker import Worker, work
from service.settings import Settings
from service.storage import jobs
from service.storage.engine import Store, open_store
from service.storage.migrate import upgrade
from service.storage.records import Job, JobState, NewJob, Progress
from service.storage.versions import fetch_version
from tests.jobs import entries
from tests.postgres import Postgres, started_own

SETTINGS = Settings(lease_seconds=5, heartbeat_seconds=0.1, poll_seconds=0.1, max_nodes=1000)


pytestmark = pytest.mark.usefixtures("fork_server")


def test_a_job_ends_as_a_version_with_its_tree(store: Store) -> None:
    job = submitted(store, b"500")

    with working(store, entries.quick):
        ended = wait_for(store, job, JobState.SUCCEEDED)

    with store.reading() as session:
        version = fetch_version(session, "melons")
    assert (job.id, 1) == (version.job_id, version.number)
    assert version.n_nodes >= 500
    done = Progress(1.0, "done", version.n_nodes, version.n_rows)
    assert (1, done) == (ended.version, ended.progress)


def test_jobs_are_done_one_after_the_other(store: Store) -> None:
    ordered = [submitted(store) for _ in range(5)]

    with working(store, entries.quick):
        ended = [wait_for(store, job, JobState.SUCCEEDED) for job in ordered]

    assert [1, 2, 3, 4, 5] == [job.version for job in ended]


def test_progress_is_told_while_it_trains_and_a_cancel_ends_it(
    store: Store, tmp_path: Path
) -> None:
    job = submitted(store, bytes(tmp_path / "held"))

    with working(store, entries.held):
        wait_until(lambda: Progress(0.5, "grow", 7, 9) == fetched(store, job).progress)
        with store.writing() as session:
            jobs.cancel(session, job.id)
        wait_for(store, job, JobState.CANCELLED)

    assert_no_process_left(tmp_path / "held")


@pytest.mark.parametrize(
    ("entry", "slug", "detail"),
    [
        (entries.refuse, "invalid-data", "The target has one class only."),
        (entries.outgrow, "limit-reached", "The tree would have more than 1000 nodes."),
    ],
)
def test_what_can_never_succeed_fails_at_once_and_says_why(
    store: Store, entry: Callable[..., object], slug: str, detail: str
) -> None:
    job = submitted(store)

    with working(store, entry):
        ended = wait_for(store, job, JobState.FAILED)

    assert (1, f"/problems/{slug}", detail) == (
        ended.attempt,
        ended.error["type"],
        ended.error["detail"],
    )
    faults = [{"pointer": "/target", "detail": "one class"}] if slug == "invalid-data" else None
    assert faults == ended.error.get("errors")


@pytest.mark.parametrize(
    ("entry", "detail"),
    [
        (entries.kill, "memory"),
        (entries.segfault, "signal 11"),
        (entries.leave, "code 3"),
        (entries.stumble, "KeyError"),
    ],
)
def test_a_crash_takes_the_child_and_not_the_worker(
    sqlite_store: Store, entry: Callable[..., object], detail: str
) -> None:
    job = submitted(sqlite_store, max_attempts=1)

    with working(sqlite_store, entry):
        ended = wait_for(sqlite_store, job, JobState.FAILED)
        other = submitted(sqlite_store, max_attempts=1)
        wait_for(sqlite_store, other, JobState.FAILED)

    assert detail in ended.error["detail"]
    assert "secret" not in ended.error["detail"]


def test_a_job_that_crashed_is_tried_again(store: Store, tmp_path: Path) -> None:
    job = submitted(store, bytes(tmp_path / "crashed"))

    with working(store, entries.crash_once):
        ended = wait_for(store, job, JobState.SUCCEEDED)

    assert (2, 1) == (ended.attempt, ended.version)


def test_a_result_that_cannot_be_saved_fails_its_job_alone(store: Store) -> None:
    job = submitted(store, max_attempts=1)

    with working(store, entries.unkeepable):
        wait_for(store, job, JobState.FAILED)
        other = submitted(store, max_attempts=1)
        wait_for(store, other, JobState.FAILED)


def test_a_worker_whose_job_was_taken_ends_its_training(store: Store, tmp_path: Path) -> None:
    job = submitted(store, bytes(tmp_path / "held"))

    with working(store, entries.held):
        wait_until((tmp_path / "held").exists)
        with store.writing() as session:  # as if we had been away for longer than the lease
            session.execute(jobs.update(jobs.JobRow).values(lease_token="another"))
        wait_until(lambda: not is_alive(tmp_path / "held"))

    assert JobState.RUNNING is fetched(store, job).state


def test_a_saving_that_outlasts_the_lease_keeps_it(store: Store) -> None:
    job = submitted(store, b"100000")
    hasty = replace(SETTINGS, lease_seconds=1)

    with working(store, entries.quick, hasty), working(store, entries.quick, hasty):
        ended = wait_for(store, job, JobState.SUCCEEDED)

    assert (1, 1) == (ended.attempt, ended.version)


def test_a_worker_goes_on_when_the_database_was_away(
    own_postgres: Postgres, own_store: Store, tmp_path: Path
) -> None:
    job = submitted(own_store, bytes(tmp_path / "held"))

    with working(own_store, entries.held):
        wait_until((tmp_path / "held").exists)
        own_postgres.stop()
        time.sleep(0.3)
        (tmp_path / "held.go").touch()  # it ends while nobody can be told
        time.sleep(0.3)
        own_postgres.start()
        ended = wait_for(own_store, job, JobState.SUCCEEDED)
        own_postgres.stop()
        time.sleep(0.3)  # there is nothing to do, and nobody to ask
        own_postgres.start()
        other = submitted(own_store, bytes(tmp_path / "held"))
        other = wait_for(own_store, other, JobState.SUCCEEDED)

    assert (1, 1, 2) == (ended.attempt, ended.version, other.version)


def test_a_job_whose_lease_ran_out_while_the_database_was_away_stays_its_workers(
    own_postgres: Postgres, own_store: Store, tmp_path: Path
) -> None:
    job = submitted(own_store, bytes(tmp_path / "held"))
    hasty = replace(SETTINGS, lease_seconds=1)

    with working(own_store, entries.held, hasty), working(own_store, entries.held, hasty):
        wait_until((tmp_path / "held").exists)
        time.sleep(1.1)  # the other worker has been in contact for a lease
        own_postgres.stop()
        time.sleep(1.1)
        own_postgres.start()
        time.sleep(0.5)
        (tmp_path / "held.go").touch()
        ended = wait_for(own_store, job, JobState.SUCCEEDED)

    assert (1, 1) == (ended.attempt, ended.version)


def test_a_worker_can_be_stopped_while_the_database_is_away(
    own_postgres: Postgres, own_store: Store, tmp_path: Path
) -> None:
    submitted(own_store, bytes(tmp_path / "held"))

    with working(own_store, entries.held):
        wait_until((tmp_path / "held").exists)
        own_postgres.stop()

    assert not is_alive(tmp_path / "held")
    own_postgres.start()


@pytest.fixture(scope="module")
def own_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """A server that only these tests use, so that they may stop it."""
    with started_own(tmp_path_factory.mktemp("postgres")) as server:
        yield server


@pytest.fixture
def own_store(own_postgres: Postgres, tmp_path: Path) -> Iterator[Store]:
    store = open_store(own_postgres.create(tmp_path.name))
    upgrade(store)
    yield store
    store.dispose()


def test_no_value_of_the_data_is_logged(
    sqlite_store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    job = submitted(sqlite_store, b"a secret value", max_attempts=1)

    with working(sqlite_store, entries.stumble):
        wait_for(sqlite_store, job, JobState.FAILED)

    assert "job claimed" in caplog.messages
    assert "secret" not in caplog.text


@contextmanager
def working(
    store: Store, entry: Callable[..., object], settings: Settings = SETTINGS
) -> Iterator[None]:
    """A worker in a thread, stopped at the end."""
    worker = Worker(store, settings, Stop(), "a thread", entry)
    thread = Thread(target=work, args=[worker])
    thread.start()
    try:
        yield
    finally:
        worker.stop.set()
        thread.join(20)
    assert not thread.is_alive()


def submitted(store: Store, body: bytes = b"", max_attempts: int = 3) -> Job:
    with store.writing() as session:
        return jobs.submit(session, uuid4().hex, NewJob("melons", body), max_attempts)


def fetched(store: Store, job: Job) -> Job:
    with store.reading() as session:
        return jobs.fetch_job(session, job.id)


def wait_for(store: Store, job: Job, state: JobState) -> Job:
    wait_until(lambda: fetched(store, job).finished_at is not None)
    ended = fetched(store, job)
    assert state is ended.state, ended
    return ended


def wait_until(is_so: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.02)


def is_alive(started: Path) -> bool:
    """Whether one of the trainings that named themselves in this file still runs."""
    return any(Path("/proc", pid).exists() for pid in started.read_text().split())


def assert_no_process_left(started: Path) -> None:
    wait_until(lambda: not is_alive(started), seconds=5)
