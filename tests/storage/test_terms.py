"""Keys, priorities and the order of a model's jobs."""

import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from service.errors import KeyReused
from service.storage import jobs
from service.storage.engine import Store, open_store
from service.storage.migrate import upgrade
from service.storage.records import Job, Key, Limits, NewJob, Terms
from tests.postgres import Postgres
from tests.race import race
from tests.storage.test_jobs import PROBLEM, claim_all, claimed, claimed_or_none

KEYED = Terms(key=Key("my order", "a digest"))


def test_a_key_makes_one_job(store: Store) -> None:
    first, again, other = ordered(store, KEYED), ordered(store, KEYED), ordered(store)

    assert first == again
    assert other.id != first.id


def test_a_key_names_one_order_only(store: Store) -> None:
    ordered(store, KEYED)

    with pytest.raises(KeyReused, match="another order"):
        ordered(store, Terms(key=Key("my order", "another digest")))


@pytest.mark.usefixtures("fork_server")
def test_processes_that_send_the_same_order_at_once_make_one_job(
    store: Store, database_url: str
) -> None:
    assert 1 == len(set(race(order_at, database_url, 4)))

    with store.reading() as session:
        assert 1 == len(jobs.list_jobs(session, limit=9).items)


def order_at(url: str) -> str:
    store = open_store(url)
    job = ordered(store, KEYED)
    store.dispose()
    return job.id


def test_a_higher_priority_is_claimed_first_and_then_the_older_job(store: Store) -> None:
    names = {"low": -1, "first": 0, "second": 0, "high": 100}
    for name, priority in names.items():
        ordered(store, Terms(priority=priority), name)

    assert ["high", "first", "second", "low"] == [claimed(store).model for _ in names]


def test_a_claim_carries_the_limits_of_its_job(store: Store) -> None:
    limits = Limits(1.5, 5_000_000_000)
    ordered(store, Terms(limits=limits))

    assert limits == claimed(store).limits


def test_of_a_model_one_job_runs_at_a_time_in_the_order_of_the_orders(store: Store) -> None:
    first, second, urgent = ordered(store), ordered(store), ordered(store, Terms(priority=1))

    for job in (urgent, first, second):
        claim = claimed(store)
        assert job.id == claim.job_id
        assert claimed_or_none(store) is None
        with store.writing() as session:
            jobs.cancelled(session, claim)


def test_a_job_that_waits_to_be_tried_again_keeps_its_place_in_its_model(store: Store) -> None:
    ordered(store)
    claim = claimed(store)
    ordered(store)
    with store.writing() as session:
        jobs.fail(session, claim, PROBLEM, retry=True)

    assert claimed_or_none(store) is None
    ordered(store, model="pumpkins")
    assert "pumpkins" == claimed(store).model


@pytest.mark.usefixtures("fork_server")
def test_workers_that_race_start_one_job_of_each_model(store: Store, database_url: str) -> None:
    models = {ordered(store, model=f"model {n % 5}").id: n % 5 for n in range(40)}

    claims = race(claim_all, database_url, 4)

    assert Counter(range(5)) == Counter(models[job_id] for each in claims for job_id in each)


def test_two_workers_that_do_not_see_each_other_yet_do_not_start_the_same_model(
    postgres_store: Store,
) -> None:
    plain = ordered(postgres_store)
    with ThreadPoolExecutor(1) as pool:
        with postgres_store.writing() as session:
            claim = jobs.claim(session, "first", 30)
            ordered(postgres_store, Terms(priority=1))
            other = pool.submit(claimed_or_none, postgres_store)
            with pytest.raises(TimeoutError):
                other.result(0.3)  # it waits for the index to tell
        assert other.result(10) is None

    assert claim is not None
    assert plain.id == claim.job_id


@pytest.fixture
def postgres_store(postgres: Postgres) -> Iterator[Store]:
    """Where two can write at once."""
    name = f"bough_terms_{os.getpid()}"
    store = open_store(postgres.create(name))
    upgrade(store)
    yield store
    store.dispose()
    postgres.drop(name)


def ordered(store: Store, terms: Terms = jobs.NO_TERMS, model: str = "melons") -> Job:
    with store.writing() as session:
        return jobs.submit(session, uuid4().hex, NewJob(model, b"body"), 3, terms)
