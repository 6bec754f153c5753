"""An alias that moves while clients ask two servers on one PostgreSQL."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import count
from math import inf
from pathlib import Path
from threading import Event

import httpx

from bench.serving.bodies import JSON, named_rows
from bench.serving.ours import PATIENCE, Wishes, order, serving, training
from bench.serving.stores import answered_version, rows_of
from bench.serving.verdicts import Verdict, at_least, at_most
from tests.clients import Answer, Move, age
from tests.postgres import started_own
from tests.server import ended

WHERE = "aliases"
MODEL, ALIAS = "moved", "champion"
N_CLIENTS = 8
PAUSE = 2.5  # seconds between two moves, so that a version that is too old shows
OLDEST = 1.0  # seconds, the limit
TIMEOUT = 30.0


@dataclass(frozen=True)
class Log:
    """What happened."""

    moves: list[Move] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def measure(wishes: Wishes, seconds: int, directory: Path) -> list[Verdict]:
    """Whether no request failed, and no answer came from a version that was too old."""
    with started_own(directory) as postgres, ExitStack() as stack:
        variables = wishes.variables | {"BOUGH_DATABASE_URL": postgres.create("bough")}
        with training(directory / "trained", variables) as client:
            train_two(client)
        ports = [
            stack.enter_context(serving(directory / name, variables)).port
            for name in ("one", "other")
        ]
        log = watched(ports, seconds)
    ages = [age(answer, log.moves) for answer in log.answers]
    print(f"{len(log.answers):,} answers, {len(log.moves)} moves, {sum(a > 0 for a in ages):,} old")
    print(*log.failures[:5], sep="\n", end="\n" if log.failures else "")
    n_requests, oldest = len(log.answers) + len(log.failures), max(ages, default=inf)
    return [
        at_most(WHERE, f"requests of {n_requests:,} that failed", len(log.failures), 0),
        at_most(WHERE, "seconds since the version of an answer was in use", oldest, OLDEST),
        at_least(WHERE, "moves of the alias", len(log.moves), 2),
    ]


def train_two(client: httpx.Client) -> None:
    """Two versions of one model, the alias at the first."""
    for number in range(2):
        sent = client.post("/train", json=order(MODEL, rows_of(number)[0], min_weight=1))
        job = ended(client, sent.raise_for_status().json(), PATIENCE)
        if job["state"] != "succeeded":
            raise RuntimeError(f"{MODEL} was not trained: {job['error']}")
    client.put(f"/models/{MODEL}/aliases/{ALIAS}", json={"version": 1}).raise_for_status()


def watched(ports: list[int], seconds: int) -> Log:
    """What happened while the clients asked and the alias moved."""
    log, over = Log(), Event()
    log.moves.append(Move(1, 0.0, 0.0))
    body = named_rows(f"{MODEL}@{ALIAS}", rows_of(0)[1].some(slice(1)))
    with ThreadPoolExecutor(N_CLIENTS) as pool:
        clients = [
            pool.submit(ask_on_and_on, ports[number % len(ports)], body, log, over)
            for number in range(N_CLIENTS)
        ]
        try:
            for number in moments(seconds):
                move(ports[number % len(ports)], 1 + number % 2, log)
        finally:
            over.set()
        for client in clients:
            client.result()
    return log


def moments(seconds: int) -> Iterator[int]:
    """Numbers, one after each pause, from one up to the end of the time."""
    end = time.monotonic() + seconds
    for number in count(1):
        time.sleep(PAUSE)
        if time.monotonic() > end:
            return
        yield number


def move(port: int, version: int, log: Log) -> None:
    """Leads the alias to a version."""
    address = f"http://127.0.0.1:{port}/models/{MODEL}/aliases/{ALIAS}"
    asked = time.monotonic()
    answer = httpx.put(address, json={"version": version}, timeout=TIMEOUT)
    if answer.is_success:
        log.moves.append(Move(version, asked, time.monotonic()))
    else:
        log.failures.append(f"the alias was not moved: {answer.status_code} {answer.text}")


def ask_on_and_on(port: int, body: bytes, log: Log, over: Event) -> None:
    """A client, which keeps its connection for as long as the server does."""
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    while not over.is_set():
        asked = time.monotonic()
        try:
            connection.request("POST", "/predict", body, JSON)
            response = connection.getresponse()
            told = response.read()
        except (OSError, HTTPException) as error:
            log.failures.append(repr(error))
            connection.close()
            continue
        if response.status == 200:
            log.answers.append(Answer(answered_version(told), asked, time.monotonic()))
        else:
            log.failures.append(f"{response.status}: {told[:200]!r}")
    connection.close()
