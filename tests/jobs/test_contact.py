"""Only a worker that has been in contact for one lease takes the leases of others for lost."""

import time
from pathlib import Path

import pytest

from service.errors import Unavailable
from service.jobs.contact import Contact
from service.storage import jobs
from service.storage.engine import Store
from service.storage.records import JobState
from tests.jobs import entries
from tests.jobs.test_worker import (
    SETTINGS,
    fetched,
    replace,
    submitted,
    wait_for,
    wait_until,
    working,
)


@pytest.mark.usefixtures("fork_server")
def test_a_worker_leaves_lost_jobs_alone_until_it_has_been_there_for_a_lease(store: Store) -> None:
    job = submitted(store)
    with store.writing() as session:
        jobs.claim(session, "somebody who is gone", 0)

    with working(store, entries.quick, replace(SETTINGS, lease_seconds=1)):
        time.sleep(0.6)
        assert JobState.RUNNING is fetched(store, job).state
        ended = wait_for(store, job, JobState.SUCCEEDED)

    assert 2 == ended.attempt


@pytest.mark.usefixtures("fork_server")
def test_a_lease_that_ran_out_while_all_waited_for_a_lock_is_not_taken_for_lost(
    sqlite_store: Store, tmp_path: Path
) -> None:
    job = submitted(sqlite_store, bytes(tmp_path / "held"))
    hasty = replace(SETTINGS, lease_seconds=1)

    with working(sqlite_store, entries.held, hasty), working(sqlite_store, entries.held, hasty):
        wait_until((tmp_path / "held").exists)
        time.sleep(1.2)  # the other worker has been in contact for a lease
        for _ in range(3):
            with sqlite_store.writing():
                time.sleep(1.2)  # nobody else can write, nor renew a lease
            time.sleep(0.3)
        (tmp_path / "held.go").touch()
        ended = wait_for(sqlite_store, job, JobState.SUCCEEDED)

    assert (1, 1) == (ended.attempt, ended.version)


def test_contact_begins_anew_when_the_database_was_away_or_nobody_asked_it() -> None:
    contact = Contact()
    assert not contact.lasts(0.2)

    keep(contact, 0.25)
    assert contact.lasts(0.2)

    contact.is_lost(Unavailable())
    assert not contact.lasts(0.2)

    keep(contact, 0.25)
    time.sleep(0.25)  # as if the process had been stopped
    assert not contact.lasts(0.2)


def keep(contact: Contact, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        contact.is_kept()
        time.sleep(0.02)
