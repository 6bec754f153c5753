"""Requests at a steady pace, each timed from the moment it was due.

wrk sends the next request only when it was answered: while a server stands still there are few of
them, and a percentile hardly sees it. Whoever really asks does not wait for each other.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import count
from threading import Lock

from bench.serving.load import Shot

PACE = 100  # requests a second
N_CLIENTS = 16
TIMEOUT = 60.0


@dataclass(frozen=True)
class Walk:
    """What came of the requests."""

    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def percentile(self, percent: float) -> float:
        """The seconds than which so many percent were faster."""
        ordered = sorted(self.seconds)
        return ordered[min(int(len(ordered) * percent / 100), len(ordered) - 1)]


def walk(port: int, shot: Shot, seconds: int) -> Walk:
    """So many seconds of requests, with the bodies in turn."""
    walked, numbers, lock = Walk(), count(), Lock()
    began, n_requests = time.monotonic(), seconds * PACE
    bodies = [file.read_bytes() for file in shot.files]

    def client() -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
        while True:
            with lock:
                number = next(numbers)
            if number >= n_requests:
                return connection.close()
            due = began + number / PACE
            time.sleep(max(0.0, due - time.monotonic()))
            _ask(connection, shot, bodies[number % len(bodies)], due, walked)

    with ThreadPoolExecutor(N_CLIENTS) as pool:
        for each in [pool.submit(client) for _ in range(N_CLIENTS)]:
            each.result()
    return walked


def _ask(connection: HTTPConnection, shot: Shot, body: bytes, due: float, walked: Walk) -> None:
    """Adds the time of an answer, or what went wrong."""
    try:
        connection.request("POST", shot.path, body, shot.headers)
        response = connection.getresponse()
        told = response.read()
    except (OSError, HTTPException) as error:
        walked.failures.append(repr(error))
        connection.close()
        return
    walked.seconds.append(time.monotonic() - due)
    if response.status != 200:
        walked.failures.append(f"{response.status}: {told[:200]!r}")
