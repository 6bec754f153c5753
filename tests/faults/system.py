"""The whole service on one database: web, workers, and the points at which they may be hit."""

import json
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from service.storage.engine import Store, open_store
from tests.faults.fleet import WEB, Fleet, processes_with
from tests.postgres import Postgres
from tests.server import free_port
from tests.textbook import melons

SETTINGS = {
    "lease_seconds": "1.5",
    "heartbeat_seconds": "0.2",
    "poll_seconds": "0.05",
    "web_threads": "8",
    "read_seconds": "5",
}
ROWS = melons("2.0-missing")
UNDER_WAY = ("queued", "running")
WEB_AND_ONE = (WEB, "worker-0")
WEB_AND_THREE = (*WEB_AND_ONE, "worker-1", "worker-2")


@dataclass(frozen=True)
class System:
    """A running service, seen from outside."""

    fleet: Fleet
    store: Store
    points: Path
    log: Path
    address: str
    postgres: Postgres | None  # the server of its database, if that may be stopped

    def arm(self, point: str, signal_name: str = "SIGKILL") -> None:
        """Have the next process that passes the point send itself a signal."""
        for old in self.points.glob(f"{point}.*"):
            old.unlink()
        draft = self.points / f".{point}"
        draft.write_text(signal_name)
        draft.rename(self.points / point)  # whole or not at all

    def disarm(self, point: str) -> None:
        (self.points / point).unlink(missing_ok=True)

    def hit(self, point: str) -> int | None:
        """The process that passed the point since it was armed."""
        return next((int(path.suffix[1:]) for path in self.points.glob(f"{point}.*")), None)

    def wait_for_hit(self, point: str) -> int:
        return self.wait_for(lambda: self.hit(point), f"nobody passed {point}")

    def send(self, order: dict[str, Any], key: str | None = None) -> httpx.Response | None:
        """The answer to an order; None if whoever should answer is gone."""
        headers = {} if key is None else {"Idempotency-Key": key}
        try:
            return httpx.post(f"{self.address}/train", json=order, headers=headers, timeout=60)
        except httpx.TransportError:
            return None

    def ordered(self, model: str, **changes: Any) -> dict[str, Any]:
        """A job that was accepted."""
        answer = self.send(an_order(model, **changes))
        assert answer is not None, self.told()
        assert 202 == answer.status_code, answer.text
        return answer.json()

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self.address + path, timeout=60)

    def job(self, job_id: str) -> dict[str, Any]:
        return self.get(f"/jobs/{job_id}").raise_for_status().json()

    def ended(self, job_id: str, seconds: float = 30) -> dict[str, Any]:
        """The job once it has ended."""

        def found() -> dict[str, Any] | None:
            job = self.job(job_id)
            return None if job["state"] in UNDER_WAY else job

        return self.wait_for(found, "the job did not end", seconds)

    def wait_for(self, find: Callable[[], Any], otherwise: str, seconds: float = 30) -> Any:
        """What is found as soon as there is something; else the log tells why there is not."""
        try:
            return wait_for(find, otherwise, seconds)
        except AssertionError as error:
            error.add_note(self.told())
            raise

    def lines(self, message: str) -> list[dict[str, Any]]:
        """What was logged with this message."""
        logged = (line for line in self.log.read_text().splitlines() if message in line)
        return [line for line in map(json.loads, logged) if line["message"] == message]

    def told(self) -> str:
        """The end of the log, without the requests that were answered."""
        lines = self.log.read_text().splitlines()
        return "\n".join([line[:1000] for line in lines if '"status":20' not in line][-20:])

    def processes(self) -> dict[int, str]:
        """Every process that belongs to it."""
        return processes_with("BOUGH_POINTS", str(self.points))


@contextmanager
def running(
    directory: Path,
    url: str,
    names: Sequence[str] = WEB_AND_ONE,
    postgres: Postgres | None = None,
    **settings: str,
) -> Iterator[System]:
    """A service that is ready; its processes are started again whenever they end."""
    points, log, port = directory / "points", directory / "log", free_port()
    points.mkdir()
    given = SETTINGS | settings | {"port": str(port), "data": str(directory), "database_url": url}
    variables = {f"BOUGH_{name.upper()}": value for name, value in given.items()}
    fleet = Fleet(variables | {"BOUGH_POINTS": str(points)}, log)
    system = System(fleet, open_store(url), points, log, f"http://127.0.0.1:{port}", postgres)
    try:
        for name in names:
            fleet.start(name)
        system.wait_for(lambda: _is_ready(system, names), "the service is not ready")
        yield system
    finally:
        codes = fleet.stop()
        system.store.dispose()
    # 0, or it was about to be started again and could not say so yet
    assert {0, -signal.SIGTERM} >= set(codes.values()), f"{codes}: {system.told()}"
    wait_for(lambda: not system.processes(), f"left behind: {system.processes()}")


def _is_ready(system: System, names: Sequence[str]) -> bool:
    n_workers = len({*names} - {WEB})
    if len(system.lines("worker started")) < n_workers:
        return False
    try:
        return WEB not in names or system.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


def an_order(model: str, **changes: Any) -> dict[str, Any]:
    """An order to train a tree of 21 nodes, which takes some hundredths of a second."""
    order = {"model": model, "target": "好瓜", "data": {"rows": ROWS}, "params": {"preset": "id3"}}
    return order | changes


def a_name() -> str:
    return uuid4().hex[:8]


def wait_for(find: Callable[[], Any], otherwise: str, seconds: float = 30) -> Any:
    """What is found as soon as there is something."""
    deadline = time.monotonic() + seconds
    while not (found := find()):
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.02)
    return found
