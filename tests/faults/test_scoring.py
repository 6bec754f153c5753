"""Scorings and uploads that are hit: one result, whole, and no file that nobody knows."""

import csv
import io
import signal
from pathlib import Path
from typing import Any

import httpx

from service.actions.sweep import sweep
from service.settings import Settings
from service.storage.datasets import list_datasets
from tests.faults.fleet import send
from tests.faults.system import ROWS, System, a_name

SECONDS = 30


def test_a_scoring_whose_child_is_killed_with_its_file_in_hand_ends_as_one_result(
    system: System,
) -> None:
    model, dataset = trained(system), uploaded(system)
    system.arm("child-scored")

    job = system.ended(scoring(system, model, dataset))

    assert ("succeeded", 2) == (job["state"], job["attempt"])
    assert len(ROWS) + 1 == len(system.get(job["links"]["result"]).text.splitlines())
    assert_no_other_files(system)


def test_a_scoring_that_was_lost_leaves_no_file_and_changes_no_result(system: System) -> None:
    model, dataset = trained(system), uploaded(system)
    system.arm("worker-received", "SIGSTOP")  # its file is written, but not yet kept
    ordered = scoring(system, model, dataset)
    worker = system.wait_for_hit("worker-received")

    job = system.ended(ordered)
    before = system.get(job["links"]["result"]).text
    fenced = len(system.lines("job lost to another worker"))
    sweep(system.store, settings(system))
    send(worker, signal.SIGCONT)
    system.wait_for(
        lambda: len(system.lines("job lost to another worker")) > fenced, "it was not fenced off"
    )

    assert ("succeeded", 2) == (job["state"], job["attempt"])
    assert before == system.get(job["links"]["result"]).text
    assert_no_other_files(system)


def test_an_upload_whose_web_server_is_killed_is_not_there(system: System) -> None:
    for point in ("dataset-announced", "dataset-written"):
        n_before = n_datasets(system)
        system.arm(point)
        try:
            answer = httpx.post(f"{system.address}/datasets", content=as_csv(), timeout=SECONDS)
        except httpx.TransportError:
            answer = None
        assert answer is None
        system.wait_for_hit(point)
        system.wait_for(lambda: is_up(system), "the web server did not come back")
        assert n_before == n_datasets(system)


def is_up(system: System) -> bool:
    try:
        return system.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


def n_datasets(system: System) -> int:
    with system.store.reading() as session:
        return len(list_datasets(session, limit=1000).items)


def trained(system: System) -> str:
    job = system.ended(system.ordered(a_name())["id"])
    assert "succeeded" == job["state"]
    model: str = job["model"]
    return model


def uploaded(system: System) -> str:
    answer = httpx.post(f"{system.address}/datasets", content=as_csv(), timeout=SECONDS)
    assert 201 == answer.status_code, answer.text
    dataset: str = answer.json()["id"]
    return dataset


def scoring(system: System, model: str, dataset: str) -> str:
    address = f"{system.address}/models/{model}/batch-predict"
    answer = httpx.post(address, json={"dataset": dataset}, timeout=SECONDS)
    assert 202 == answer.status_code, answer.text
    job: str = answer.json()["id"]
    return job


def as_csv() -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(ROWS[0]))
    writer.writeheader()
    writer.writerows(ROWS)
    return text.getvalue().encode()


def settings(system: System) -> Settings:
    return Settings(data=system.log.parent)


def assert_no_other_files(system: System) -> None:
    """Every file in the place is one that the database knows as whole."""

    def strays() -> list[Any]:
        sweep(system.store, settings(system))
        with system.store.reading() as session:
            known = {name for (name,) in session.connection().exec_driver_sql(KEPT).all()}
        place = Path(settings(system).datasets_uri)
        return sorted({path.name for path in place.iterdir()} - known)

    system.wait_for(lambda: not strays(), f"left behind: {strays()}")


KEPT = "SELECT name FROM files WHERE state <> 'doomed'"
