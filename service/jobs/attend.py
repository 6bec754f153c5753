"""Attending to a child: read what it tells, renew the lease, know how it ended."""

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from threading import Event, Thread
from typing import Any, TypeAlias

from service.errors import LeaseLost
from service.jobs.child import Broken, Done, Ending, Order, Refused, run
from service.jobs.stop import Stop
from service.storage.records import Progress

# The fork server imports these once; a child then starts within milliseconds.
PRELOAD = (
    "numpy",
    "service.actions.train",
    "service.actions.scoring",
    "service.jobs.child",
    "service.jobs.warmed",
)
CONTEXT = multiprocessing.get_context("forkserver")
SHORT_WHILE = 0.02  # seconds


@dataclass(frozen=True)
class Child:
    """A training that is under way."""

    process: ForkServerProcess
    pipe: "Connection[Any, Any]"


@dataclass(frozen=True)
class Patience:
    """How long to wait: for the next renewal of the lease, and for the end."""

    heartbeat_seconds: float
    job_seconds: float = inf


@dataclass(frozen=True)
class Crashed:
    """The child is gone without a word."""

    exit_code: int | None


@dataclass(frozen=True)
class TimedOut:
    """The training takes longer than it may."""

    seconds: float


@dataclass(frozen=True)
class Cancelled:
    """Somebody asked to cancel the job."""


@dataclass(frozen=True)
class Stopped:
    """The worker is to stop."""


Outcome: TypeAlias = Ending | Crashed | TimedOut | Cancelled | Stopped
Renew: TypeAlias = Callable[[Progress], bool]  # whether to cancel


def prepare(*modules: str) -> None:
    """Start the fork server and wait for it, so that no lease runs while it imports."""
    CONTEXT.set_forkserver_preload([*PRELOAD, *modules])
    first = CONTEXT.Process(target=time.monotonic)  # anything: it starts once the server is ready
    first.start()
    first.join()


def is_prepared(stop: Stop) -> bool:
    """Whether the fork server is ready; False if we are to stop before, as it may take long.

    It has kernels to compile if they are not kept.
    """
    ready = Event()

    def get_ready() -> None:
        prepare()
        ready.set()

    thread = Thread(target=get_ready, name="fork server", daemon=True)
    thread.start()
    while thread.is_alive():
        if stop.wait(SHORT_WHILE):
            return False
    if not ready.is_set():
        raise RuntimeError("the fork server did not start")
    return True


@contextmanager
def started(order: Order) -> Iterator[Child]:
    """A child at work, which is gone at the end of the block."""
    ours, its = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=run, args=(order, its), name="training", daemon=True)
    process.start()
    its.close()  # so that its death is the end of the pipe
    try:
        yield Child(process, ours)
    finally:
        process.kill()
        process.join()
        process.close()
        ours.close()


def follow(child: Child, renew: Renew, patience: Patience, stop: Stop) -> Outcome:
    """How the training ended; until then the lease is renewed at every heartbeat."""
    progress = Progress(stage="starting")
    end = time.monotonic() + patience.job_seconds
    due = time.monotonic() + patience.heartbeat_seconds
    while not stop.is_set:
        ready = wait([child.pipe, stop.fileno()], max(0.0, min(due, end) - time.monotonic()))
        if child.pipe in ready:
            message = _receive(child)
            if not isinstance(message, Progress):
                return message
            progress = message
        if time.monotonic() >= due:
            if renew(progress):
                return Cancelled()
            due = time.monotonic() + patience.heartbeat_seconds
        if time.monotonic() >= end:
            return TimedOut(patience.job_seconds)
    return Stopped()


@contextmanager
def renewed(renew: Callable[[], object], heartbeat_seconds: float) -> Iterator[None]:
    """A block in which the lease is renewed by a thread, as we ourselves are busy."""
    done = Event()

    def keep() -> None:
        while not done.wait(heartbeat_seconds):
            try:
                renew()
            except LeaseLost:  # or the job has just been finished
                return

    thread = Thread(target=keep, name="lease")
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _receive(child: Child) -> Progress | Done | Refused | Broken | Crashed:
    try:
        message: Progress | Ending = child.pipe.recv()
    except (EOFError, OSError):
        child.process.join()
        return Crashed(child.process.exitcode)
    return message
