"""Jobs that ended long ago are deleted; what they made, and what has not ended, stays."""

import time
from dataclasses import replace
from uuid import uuid4

import pytest

from service.errors import NotFound
from service.storage import deliveries, jobs
from service.storage.engine import Store
from service.storage.records import Job, Key, NewJob, Terms, Webhook
from service.storage.retention import BATCH, forget
from service.storage.versions import fetch_version
from tests.jobs import entries
from tests.jobs.test_worker import SETTINGS, fetched, submitted, wait_until, working
from tests.storage.test_jobs import claimed


def test_only_jobs_that_ended_before_are_deleted(store: Store) -> None:
    running, waiting = submitted(store), submitted(store)
    claimed(store)
    ended = cancelled(store)
    time.sleep(0.05)

    assert 0 == forgotten(store, 60)
    assert 1 == forgotten(store, 0.01)
    assert [running.id, waiting.id] == [fetched(store, job).id for job in (running, waiting)]
    with pytest.raises(NotFound):
        fetched(store, ended)


def test_a_job_whose_webhook_is_not_told_yet_is_kept(store: Store) -> None:
    cancelled(store, Terms(webhook=Webhook("https://example.com/", "secret")))
    time.sleep(0.05)
    assert 0 == forgotten(store, 0.01)

    with store.writing() as session:
        errand = deliveries.claim(session)
        assert errand is not None
        deliveries.delivered(session, errand)
    assert 1 == forgotten(store, 0.01)


def test_many_jobs_are_deleted_a_batch_at_a_time(sqlite_store: Store) -> None:
    for _ in range(BATCH + 1):
        cancelled(sqlite_store)
    time.sleep(0.05)

    assert [BATCH, 1, 0] == [forgotten(sqlite_store, 0.01) for _ in range(3)]


def test_a_key_is_free_again_with_its_job(store: Store) -> None:
    first = cancelled(store, Terms(key=Key("k", "a")))
    time.sleep(0.05)
    forgotten(store, 0.01)

    assert first.id != cancelled(store, Terms(key=Key("k", "b"))).id


@pytest.mark.usefixtures("fork_server")
def test_a_worker_deletes_them_and_keeps_the_versions(store: Store) -> None:
    job = submitted(store)

    with working(store, entries.quick, replace(SETTINGS, keep_jobs_seconds=0.1)):
        wait_until(lambda: is_gone(store, job))

    with store.reading() as session:
        assert job.id == fetch_version(session, "melons").job_id


def is_gone(store: Store, job: Job) -> bool:
    with store.reading() as session:
        return not jobs.list_jobs(session, model=job.model, limit=1).items


def cancelled(store: Store, terms: Terms = jobs.NO_TERMS) -> Job:
    with store.writing() as session:
        job = jobs.submit(session, uuid4().hex, NewJob("melons", b""), 3, terms)
        return jobs.cancel(session, job.id)


def forgotten(store: Store, keep_seconds: float) -> int:
    with store.writing() as session:
        return forget(session, keep_seconds)
