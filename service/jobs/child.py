"""What runs in the child: it trains, tells how far it is, and sends the result."""

import logging
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pkgutil import resolve_name
from threading import Thread
from typing import Any, TypeAlias

from service.actions.results import Report, Scored, Trained
from service.confine import bounded
from service.errors import BoughError, Unavailable
from service.heap import keep_memory
from service.jobs.problems import out_of_memory, refused
from service.logs import configure_logging
from service.points import passing
from service.storage.records import Progress

REPORT_SECONDS = 0.2  # at most so often, since the parent needs far less
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Done:
    """It succeeded."""

    result: Trained | Scored


@dataclass(frozen=True)
class Refused:
    """It was refused, and will never succeed unless it may be tried again."""

    problem: dict[str, Any]
    may_retry: bool = False


@dataclass(frozen=True)
class Broken:
    """An error nobody foresaw; of its text nothing is told, it may hold values of the data."""

    kind: str


Ending: TypeAlias = Done | Refused | Broken
Entry: TypeAlias = Callable[[bytes, int, Report], Trained | Scored]


@dataclass(frozen=True)
class Order:
    """What a child is to do; `entry` is a function of a module, so that it can be sent."""

    entry: Entry
    body: bytes
    max_nodes: int
    log_level: str
    memory_bytes: int = 0  # beyond what the bare process takes; 0: any


def run(order: Order, pipe: "Connection[Any, Any]") -> None:
    """Train, and send Progress and in the end an Ending through the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    Thread(target=_die_with_parent, daemon=True).start()
    configure_logging(order.log_level)
    keep_memory()
    ending = _ending(order, make_reporter(pipe))
    passing("child-sending")
    pipe.send(ending)


def run_action(
    name: str, /, body: bytes, max_nodes: int, report: Report, **more: Any
) -> Trained | Scored:
    """What the action of this name makes, which nobody but the child imports.

    It takes numba, and so much time and memory that the worker does better without.
    """
    result: Trained | Scored = resolve_name(name)(body, max_nodes, report, **more)
    return result


def _ending(order: Order, report: Report) -> Ending:
    try:
        with bounded(order.memory_bytes):
            return Done(order.entry(order.body, order.max_nodes, report))
    except BoughError as error:
        return Refused(refused(error), isinstance(error, Unavailable))
    except MemoryError:
        if order.memory_bytes:
            return Refused(out_of_memory(order.memory_bytes))
        return Broken(MemoryError.__name__)  # of the machine: there may be more another time
    except Exception as error:
        logger.exception("training broke")
        return Broken(type(error).__name__)


def make_reporter(pipe: "Connection[Any, Any]") -> Report:
    """What sends progress through a pipe: a new stage at once, all else now and then."""
    last, sent = Progress(), 0.0

    def report(progress: Progress) -> None:
        nonlocal last, sent
        if progress.stage == last.stage and time.monotonic() - sent < REPORT_SECONDS:
            return
        # whoever watches has been promised that it only goes forward
        last = replace(progress, fraction=max(float(progress.fraction), last.fraction))
        sent = time.monotonic()
        pipe.send(last)

    return report


def _die_with_parent() -> None:
    # A signal at the parent's death would not do: we are forked by the fork server, not by it.
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
