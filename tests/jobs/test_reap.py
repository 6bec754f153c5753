"""A lease may run out at any moment, also while a worker looks for those that have."""

from typing import Any

import pytest
from sqlalchemy import event, text

from service.storage import jobs
from service.storage.engine import Store
from service.storage.records import JobState
from tests.jobs.test_worker import fetched, submitted

EXPIRE = "UPDATE jobs SET lease_until = '2000-01-01'"


@pytest.mark.parametrize("n_statements", [0, 1, 2, 3])
@pytest.mark.parametrize("is_cancelled", [False, True])
def test_a_job_in_its_last_attempt_never_waits_for_another(
    store: Store, n_statements: int, *, is_cancelled: bool
) -> None:
    job = submitted(store, max_attempts=1)
    with store.writing() as session:
        jobs.claim(session, "somebody who is gone", 60)
        session.execute(text("UPDATE jobs SET cancel_requested = :it"), {"it": is_cancelled})
    with store.writing() as session:
        expire_after(store, n_statements)
        jobs.reap(session)

    assert JobState.QUEUED is not fetched(store, job).state
    with store.writing() as session:
        jobs.reap(session)
    ended = JobState.CANCELLED if is_cancelled else JobState.FAILED
    assert (ended, 1) == (fetched(store, job).state, fetched(store, job).attempt)


def expire_after(store: Store, n_statements: int) -> None:
    """Have the lease run out when so many statements have been executed."""
    n_seen = 0

    def expire(connection: Any, *_: object) -> None:
        nonlocal n_seen
        if n_seen == n_statements:
            connection.connection.cursor().execute(EXPIRE)
        n_seen += 1

    event.listen(store.engine, "before_cursor_execute", expire)
