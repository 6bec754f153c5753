"""Trainings in real processes that take more time or memory than they may."""

from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from service.settings import Settings
from service.storage import jobs
from service.storage.engine import Store
from service.storage.records import Job, JobState, Limits, NewJob, Terms
from tests.jobs import entries
from tests.jobs.test_worker import SETTINGS, assert_no_process_left, wait_for, working

SMALL, LARGE = 50_000_000, 1_000_000_000


@pytest.mark.usefixtures("fork_server")
@pytest.mark.parametrize(
    ("limits", "settings"),
    [
        (Limits(seconds=0.3), SETTINGS),
        (Limits(), replace(SETTINGS, job_seconds=0.3)),
        (Limits(seconds=60), replace(SETTINGS, job_seconds=0.3)),  # it was lowered meanwhile
    ],
    ids=["order", "setting", "both"],
)
def test_a_training_that_takes_too_long_is_ended_and_not_tried_again(
    sqlite_store: Store, tmp_path: Path, limits: Limits, settings: Settings
) -> None:
    job = limited(sqlite_store, limits, bytes(tmp_path / "held"))

    with working(sqlite_store, entries.held, settings):
        ended = wait_for(sqlite_store, job, JobState.FAILED)

    assert (1, "/problems/limit-reached") == (ended.attempt, ended.error["type"])
    assert "0.3 seconds" in ended.error["detail"]
    assert "BOUGH_JOB_SECONDS" in ended.error["detail"]
    assert_no_process_left(tmp_path / "held")


@pytest.mark.usefixtures("fork_server")
def test_a_training_that_takes_too_much_memory_is_ended_and_its_worker_goes_on(
    store: Store,
) -> None:
    greedy = limited(store, Limits(memory_bytes=SMALL), b"%d" % LARGE)
    modest = limited(store, Limits(memory_bytes=SMALL), b"%d" % (SMALL // 10))

    with working(store, entries.take_memory):
        ended = wait_for(store, greedy, JobState.FAILED)
        wait_for(store, modest, JobState.SUCCEEDED)

    assert (1, "/problems/limit-reached") == (ended.attempt, ended.error["type"])
    assert f"{SMALL} bytes" in ended.error["detail"]
    assert "BOUGH_JOB_MEMORY_BYTES" in ended.error["detail"]


@pytest.mark.usefixtures("fork_server")
def test_a_result_is_told_even_if_it_is_larger_than_what_is_left_of_the_limit(
    sqlite_store: Store,
) -> None:
    settings = replace(SETTINGS, job_memory_bytes=SMALL)
    job = limited(sqlite_store, Limits(), b"%d" % (SMALL // 2))

    with working(sqlite_store, entries.take_memory, settings):
        wait_for(sqlite_store, job, JobState.SUCCEEDED)


@pytest.mark.usefixtures("fork_server")
def test_a_machine_without_memory_is_tried_again(sqlite_store: Store) -> None:
    job = limited(sqlite_store, Limits(), b"%d" % 2**60, max_attempts=2)

    with working(sqlite_store, entries.take_memory):
        ended = wait_for(sqlite_store, job, JobState.FAILED)

    assert 2 == ended.attempt
    assert "than the machine has" in ended.error["detail"]


def limited(store: Store, limits: Limits, body: bytes, max_attempts: int = 3) -> Job:
    with store.writing() as session:
        return jobs.submit(
            session, uuid4().hex, NewJob("melons", body), max_attempts, Terms(limits=limits)
        )
