"""Workers as processes of their own, killed and stopped in the middle of a training."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from service.storage.engine import Store
from service.storage.records import JobState
from service.storage.versions import list_versions
from tests.jobs.test_worker import fetched, is_alive, submitted, wait_for, wait_until

ROOT = Path(__file__).parents[2]


def test_a_job_whose_worker_is_killed_is_taken_up_again_and_ends_as_one_version(
    store: Store, database_url: str, tmp_path: Path
) -> None:
    held = tmp_path / "held"
    job = submitted(store, bytes(held))
    with worker_process(database_url) as first:
        wait_until(held.exists)
        first.kill()
        wait_until(lambda: not is_alive(held), seconds=5)  # the child goes with its parent
    with worker_process(database_url):
        wait_until(lambda: 2 == len(held.read_text().split()))
        held.with_suffix(".go").touch()
        ended = wait_for(store, job, JobState.SUCCEEDED)

    assert (2, 1) == (ended.attempt, ended.version)
    with store.reading() as session:
        assert 1 == len(list_versions(session, "melons", None, 9).items)


def test_a_worker_told_to_stop_hands_its_job_back_and_leaves(
    store: Store, database_url: str, tmp_path: Path
) -> None:
    held = tmp_path / "held"
    job = submitted(store, bytes(held))
    with worker_process(database_url) as worker:
        wait_until(held.exists)
        worker.terminate()
        assert 0 == worker.wait(5)

    waiting = fetched(store, job)
    assert (JobState.QUEUED, 0) == (waiting.state, waiting.attempt)
    assert not is_alive(held)


def test_a_worker_without_work_leaves_on_ctrl_c(sqlite_store: Store) -> None:
    job = submitted(sqlite_store)
    with worker_process(str(sqlite_store.engine.url), "quick") as worker:
        wait_for(sqlite_store, job, JobState.SUCCEEDED)
        worker.send_signal(signal.SIGINT)
        assert 0 == worker.wait(5)


@contextmanager
def worker_process(url: str, entry: str = "held") -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-m", "tests.jobs.work", url, entry]
    with subprocess.Popen(command, cwd=ROOT) as worker:
        try:
            yield worker
        finally:
            worker.terminate()
