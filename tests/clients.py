"""Clients that ask a web server on and on, and note what they were told and what went wrong."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from math import inf
from threading import Event

import orjson

JSON = {"Content-Type": "application/json"}
TIMEOUT = 30.0
PAUSE = 0.002  # seconds between two questions, or else the clients alone would be the load


@dataclass(frozen=True)
class Answer:
    """Which version answered, to a question that was asked and answered at these moments."""

    version: int
    asked: float
    answered: float


@dataclass(frozen=True)
class Move:
    """The alias was led to a version, at some moment between the two."""

    version: int
    asked: float
    answered: float


@dataclass(frozen=True)
class Told:
    """What clients were told, those that keep their connection and those that do not."""

    keeping: list[Answer] = field(default_factory=list)
    parting: list[Answer] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def answers(self) -> list[Answer]:
        """Of all of them."""
        return self.keeping + self.parting


@contextmanager
def asking(ports: Sequence[int], model: str, n_clients: int) -> Iterator[Told]:
    """A block in which clients ask for a row of nulls; every second pair keeps its connections."""
    told, is_over = Told(), Event()
    body = orjson.dumps({"model": model, "rows": [{}]})
    with ThreadPoolExecutor(n_clients) as pool:
        clients = [
            pool.submit(_ask, ports[n % len(ports)], body, n // len(ports) % 2 == 0, told, is_over)
            for n in range(n_clients)
        ]
        try:
            yield told
        finally:
            is_over.set()
        for client in clients:
            client.result()


def _ask(port: int, body: bytes, keeps: bool, told: Told, is_over: Event) -> None:  # noqa: FBT001
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    answers = told.keeping if keeps else told.parting
    while not is_over.wait(PAUSE):
        asked = time.monotonic()
        try:  # nothing is tried again: each failure is one that a caller would see
            connection.request("POST", "/predict", body, JSON)
            response = connection.getresponse()
            text = response.read()
        except (OSError, HTTPException) as error:
            told.failures.append(repr(error))
            connection.close()
            continue
        if response.status == 200:
            version = orjson.loads(text)["version"]
            answers.append(Answer(version, asked, time.monotonic()))
        else:
            told.failures.append(f"{response.status}: {text.decode()}")
        if not keeps:
            connection.close()
    connection.close()


def age(answer: Answer, moves: list[Move]) -> float:
    """For how many seconds its version had not been current when the answer was asked for."""
    ends = [each.answered for each in moves[1:]] + [inf]
    last = max(
        end
        for each, end in zip(moves, ends, strict=True)
        if each.version == answer.version and each.asked <= answer.answered
    )
    return max(0.0, answer.asked - last)
