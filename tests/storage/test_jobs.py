import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from service.errors import Conflict, InvalidData, LeaseLost, NotFound
from service.storage import jobs
from service.storage.engine import Store, open_store
from service.storage.records import Claim, Job, JobState, NewJob, Progress
from service.storage.versions import list_versions
from tests.race import race
from tests.storage.trees import saved

PROBLEM = {"type": "about:blank", "title": "Too bad", "detail": "It did not work."}


def test_a_submitted_job_waits_with_its_input(store: Store) -> None:
    job = submitted(store)

    assert (JobState.QUEUED, Progress(), 0, 3) == (
        job.state,
        job.progress,
        job.attempt,
        job.max_attempts,
    )
    assert (None, None, None, None) == (job.started_at, job.finished_at, job.error, job.version)
    assert abs(datetime.now(UTC) - job.created_at) < timedelta(minutes=1)
    assert job.created_at.tzinfo is UTC
    with store.reading() as session:
        assert b"body" == jobs.fetch_input(session, job.id)


def test_the_oldest_job_is_claimed_first_and_only_once(store: Store) -> None:
    first, second = submitted(store, "a"), submitted(store, "b")

    claims = [claimed(store), claimed(store)]

    assert [first.id, second.id] == [claim.job_id for claim in claims]
    assert claimed_or_none(store) is None
    running = fetched(store, first.id)
    assert (JobState.RUNNING, 1) == (running.state, running.attempt)
    assert running.started_at >= running.created_at


def test_a_renewal_tells_the_progress_and_whether_to_cancel(store: Store) -> None:
    job, claim = submitted(store), claimed(store)

    with store.writing() as session:
        assert jobs.renew(session, claim, Progress(0.5, "grow", 12), 30) is False
        assert jobs.cancel(session, job.id).cancel_requested
        assert jobs.renew(session, claim, Progress(0.6, "grow", 14), 30) is True
        jobs.cancelled(session, claim)

    ended = fetched(store, job.id)
    assert (JobState.CANCELLED, Progress(0.6, "grow", 14)) == (ended.state, ended.progress)
    assert_input_is_gone(store, job.id)


def test_a_waiting_job_is_cancelled_at_once(store: Store) -> None:
    job = submitted(store)

    with store.writing() as session:
        cancelled = jobs.cancel(session, job.id)

    assert cancelled.state is JobState.CANCELLED
    assert cancelled.finished_at is not None
    assert claimed_or_none(store) is None
    assert_input_is_gone(store, job.id)


def test_what_has_ended_cannot_be_cancelled(store: Store) -> None:
    job = submitted(store)

    with store.writing() as session:
        jobs.cancel(session, job.id)
    with pytest.raises(Conflict, match="cancelled"), store.writing() as session:
        jobs.cancel(session, job.id)
    with pytest.raises(NotFound), store.writing() as session:
        jobs.cancel(session, "nothing")


def test_a_finished_job_names_its_version_and_drops_its_input(store: Store) -> None:
    job, claim = submitted(store), claimed(store)

    with store.writing() as session:
        jobs.finish(session, claim, saved(session, job.id))

    ended = fetched(store, job.id)
    assert (JobState.SUCCEEDED, 1, 1.0) == (ended.state, ended.version, ended.progress.fraction)
    assert ended.finished_at >= ended.started_at
    assert_input_is_gone(store, job.id)


def test_a_worker_that_lost_its_lease_can_change_nothing(store: Store) -> None:
    job, late = submitted(store), claimed(store, lease_seconds=0)
    assert 1 == reaped(store)
    owner = claimed(store)

    for verb in VERBS.values():
        with pytest.raises(LeaseLost), store.writing() as session:
            verb(session, late)

    assert (JobState.RUNNING, 2) == (fetched(store, job.id).state, owner.attempt)


def test_a_result_is_kept_once_even_if_two_workers_have_one(store: Store) -> None:
    job, late = submitted(store), claimed(store, lease_seconds=0)
    reaped(store)
    owner = claimed(store)

    with store.writing() as session:
        jobs.finish(session, owner, saved(session, job.id))
    for claim in (late, owner):
        with pytest.raises(LeaseLost), store.writing() as session:
            jobs.finish(session, claim, saved(session, job.id))

    with store.reading() as session:
        assert [1] == [
            version.number for version in list_versions(session, "melons", None, 9).items
        ]


def test_nothing_is_saved_when_the_lease_was_lost_in_the_meantime(store: Store) -> None:
    job, late = submitted(store), claimed(store, lease_seconds=0)
    reaped(store)

    with pytest.raises(LeaseLost), store.writing() as session:
        jobs.finish(session, late, saved(session, job.id))

    with store.reading() as session, pytest.raises(NotFound):
        list_versions(session, "melons", None, 9)


def test_a_lost_job_is_tried_again_until_its_attempts_are_used_up(store: Store) -> None:
    job = submitted(store, max_attempts=2)

    for attempt in (1, 2):
        assert attempt == claimed(store, lease_seconds=0).attempt
        assert 1 == reaped(store)

    ended = fetched(store, job.id)
    assert (JobState.FAILED, 2) == (ended.state, ended.attempt)
    assert "lost" in ended.error["detail"]
    assert_input_is_gone(store, job.id)


def test_a_lost_job_that_was_to_be_cancelled_is_cancelled(store: Store) -> None:
    job = submitted(store)
    claimed(store, lease_seconds=0)
    with store.writing() as session:
        jobs.cancel(session, job.id)

    assert 1 == reaped(store)
    assert JobState.CANCELLED is fetched(store, job.id).state


def test_a_job_whose_lease_runs_is_left_alone(store: Store) -> None:
    submitted(store)
    claimed(store)

    assert 0 == reaped(store)


def test_a_job_given_back_has_not_been_tried(store: Store) -> None:
    job, claim = submitted(store), claimed(store)

    with store.writing() as session:
        jobs.release(session, claim)

    waiting = fetched(store, job.id)
    assert (JobState.QUEUED, 0, None) == (waiting.state, waiting.attempt, waiting.started_at)
    assert 1 == claimed(store).attempt


@pytest.mark.parametrize("verb", ["release", "retry"])
def test_a_job_that_goes_back_although_it_was_to_be_cancelled_is_cancelled(
    store: Store, verb: str
) -> None:
    job, claim = submitted(store), claimed(store)

    with store.writing() as session:
        jobs.cancel(session, job.id)
        VERBS[verb](session, claim)

    assert JobState.CANCELLED is fetched(store, job.id).state
    assert_input_is_gone(store, job.id)


def test_a_crash_is_tried_again_a_little_later(store: Store) -> None:
    job, claim = submitted(store), claimed(store)

    with store.writing() as session:
        jobs.fail(session, claim, PROBLEM, retry=True)

    assert JobState.QUEUED is fetched(store, job.id).state
    assert claimed_or_none(store) is None
    time.sleep(jobs.RETRY_SECONDS + 0.1)
    assert 2 == claimed(store).attempt


@pytest.mark.parametrize(("retry", "max_attempts"), [(False, 3), (True, 1)])
def test_a_failure_that_is_final_keeps_its_problem(
    store: Store, *, retry: bool, max_attempts: int
) -> None:
    job, claim = submitted(store, max_attempts=max_attempts), claimed(store)

    with store.writing() as session:
        jobs.fail(session, claim, PROBLEM, retry=retry)

    ended = fetched(store, job.id)
    assert (JobState.FAILED, PROBLEM) == (ended.state, ended.error)
    assert_input_is_gone(store, job.id)


def test_jobs_are_listed_page_by_page_the_newest_first(store: Store) -> None:
    ids = [submitted(store, model=model).id for model in ("a", "b", "a", "a")]
    with store.writing() as session:  # all at once: now only the id tells them apart
        ids += sorted(jobs.submit(session, uuid4().hex, NewJob("a", b""), 3).id for _ in range(3))
        jobs.cancel(session, ids[0])

    listed = listed_ids(store)
    assert set(ids) == set(listed)
    assert ids[:4] == listed[:-5:-1]
    assert [ids[1]] == listed_ids(store, model="b")
    assert [ids[0]] == listed_ids(store, state=JobState.CANCELLED)
    assert [] == listed_ids(store, model="b", state=JobState.RUNNING)


@pytest.mark.parametrize("position", [("yesterday", "a"), ("2026-01-01T00:00:00", "a"), (1, "a")])
def test_a_position_of_another_list_is_refused(store: Store, position: tuple[str, str]) -> None:
    with store.reading() as session, pytest.raises(InvalidData):
        jobs.list_jobs(session, after=position, limit=2)


@pytest.mark.usefixtures("fork_server")
def test_no_job_is_claimed_twice_by_processes_that_race(store: Store, database_url: str) -> None:
    ids = [submitted(store, f"model {number}").id for number in range(120)]

    claims = race(claim_all, database_url, 4)

    assert Counter(ids) == Counter(job_id for each in claims for job_id in each)


def claim_all(url: str) -> list[str]:
    store = open_store(url)
    ids = []
    while claim := claimed_or_none(store):
        ids.append(claim.job_id)
    store.dispose()
    return ids


def submitted(store: Store, model: str = "melons", max_attempts: int = 3) -> Job:
    with store.writing() as session:
        return jobs.submit(session, uuid4().hex, NewJob(model, b"body"), max_attempts)


def claimed_or_none(store: Store, lease_seconds: float = 30) -> Claim | None:
    with store.writing() as session:
        return jobs.claim(session, "somebody", lease_seconds)


def claimed(store: Store, lease_seconds: float = 30) -> Claim:
    claim = claimed_or_none(store, lease_seconds)
    assert claim is not None
    time.sleep(0 if lease_seconds else 0.01)  # a lease of no time has then run out
    return claim


def reaped(store: Store) -> int:
    with store.writing() as session:
        return jobs.reap(session)


def fetched(store: Store, job_id: str) -> Job:
    with store.reading() as session:
        return jobs.fetch_job(session, job_id)


def assert_input_is_gone(store: Store, job_id: str) -> None:
    with store.reading() as session, pytest.raises(NotFound):
        jobs.fetch_input(session, job_id)


def listed_ids(store: Store, **filters: object) -> list[str]:
    ids, after = [], None
    while True:
        with store.reading() as session:
            page = jobs.list_jobs(session, **filters, after=after, limit=2)
        ids += [job.id for job in page.items]
        after = page.next
        if after is None:
            return ids


VERBS = {
    "renew": lambda session, claim: jobs.renew(session, claim, Progress(), 30),
    "finish": lambda session, claim: jobs.finish(session, claim, 1),
    "fail": lambda session, claim: jobs.fail(session, claim, PROBLEM, retry=False),
    "retry": lambda session, claim: jobs.fail(session, claim, PROBLEM, retry=True),
    "release": jobs.release,
    "cancelled": jobs.cancelled,
}
