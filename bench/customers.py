"""Customers who order trainings one after the other, and do not give up before each has ended."""

import random
import time
from collections import Counter
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Any
from uuid import uuid4

import httpx

from tests.faults.system import UNDER_WAY, System, an_order

PAUSE = 0.05
PATIENCE = 60.0  # seconds after which a job is given up for lost


class Customers:
    """Threads that order as long as they may; what they were answered is counted."""

    def __init__(self, system: System, n_customers: int, n_models: int, seed: int) -> None:
        self._system = system
        self._models = [f"model-{number}" for number in range(n_models)]
        self._is_over = Event()
        self._lock = Lock()
        self.answers: Counter[str] = Counter()
        self.keys: dict[str, str] = {}  # and the job that each was answered
        self.waiting: set[str] = set()  # jobs that have not ended yet
        self.complaints: list[str] = []
        self._threads = [
            Thread(target=self._order_on_and_on, args=[random.Random(f"{seed} {number}")])
            for number in range(n_customers)
        ]
        for thread in self._threads:
            thread.start()

    def leave(self) -> None:
        """Order nothing more, and wait for what was ordered."""
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def cancel(self, chance: random.Random) -> bool:
        """Whether some job was there to be cancelled."""
        with self._lock:
            waiting = sorted(self.waiting)
        if not waiting:
            return False
        self._ask("POST", f"/jobs/{chance.choice(waiting)}/cancel", {200, 202, 409})
        return True

    def _order_on_and_on(self, chance: random.Random) -> None:
        while not self._is_over.is_set():
            key = uuid4().hex
            order = an_order(chance.choice(self._models))
            while (answer := self._ask("POST", "/train", {202}, order, key)) is None:
                time.sleep(PAUSE)
            self._wait_for(self._noted(key, answer))

    def _noted(self, key: str, job: dict[str, Any]) -> str:
        with self._lock:
            self.keys[key] = job["id"]
            self.waiting.add(job["id"])
        return str(job["id"])

    def _wait_for(self, job_id: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            job = self._ask("GET", f"/jobs/{job_id}", {200})
            if job is not None and job["state"] not in UNDER_WAY:
                break
            time.sleep(PAUSE)
        else:
            self.complaints.append(f"{job_id} did not end within {PATIENCE:g} seconds")
        with self._lock:
            self.waiting.discard(job_id)

    def _ask(
        self, method: str, path: str, good: set[int], body: Any = None, key: str | None = None
    ) -> dict[str, Any] | None:
        """The answer; None if there was none, or the service asked to come back later."""
        headers = {} if key is None else {"Idempotency-Key": key}
        answer = None
        with suppress(httpx.TransportError):
            answer = httpx.request(
                method, self._system.address + path, json=body, headers=headers, timeout=60
            )
        with self._lock:
            self.answers["none" if answer is None else str(answer.status_code)] += 1
        if answer is None:
            return None
        if answer.status_code == 503 and "Retry-After" in answer.headers:
            return None
        if answer.status_code not in good:
            self.complaints.append(f"{method} {path}: {answer.status_code} {answer.text}")
            return None
        return dict(answer.json())
