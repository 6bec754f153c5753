"""What runs in the child: it trains, tells how far it is, and sends the result."""

import logging
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any, TypeAlias

from service.actions.train import Report, Trained
from service.errors import BoughError
from service.jobs.problems import refused
from service.logs import configure_logging
from service.storage.records import Progress

REPORT_SECONDS = 0.2  # at most so often, since the parent needs far less
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Done:
    """The training succeeded."""

    trained: Trained


@dataclass(frozen=True)
class Refused:
    """The training will never succeed."""

    problem: dict[str, Any]


@dataclass(frozen=True)
class Broken:
    """An error nobody foresaw; of its text nothing is told, it may hold values of the data."""

    kind: str


Ending: TypeAlias = Done | Refused | Broken
Entry: TypeAlias = Callable[[bytes, int, Report], Trained]


@dataclass(frozen=True)
class Order:
    """What a child is to do; `entry` is a function of a module, so that it can be sent."""

    entry: Entry
    body: bytes
    max_nodes: int
    log_level: str


def run(order: Order, pipe: "Connection[Any, Any]") -> None:
    """Train, and send Progress and in the end an Ending through the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    Thread(target=_die_with_parent, daemon=True).start()
    configure_logging(order.log_level)
    pipe.send(_ending(order, _reporter(pipe)))


def _ending(order: Order, report: Report) -> Ending:
    try:
        return Done(order.entry(order.body, order.max_nodes, report))
    except BoughError as error:
        return Refused(refused(error))
    except Exception as error:
        logger.exception("training broke")
        return Broken(type(error).__name__)


def _reporter(pipe: "Connection[Any, Any]") -> Report:
    last = -REPORT_SECONDS

    def report(stage: str, fraction: float, nodes: int) -> None:
        nonlocal last
        if time.monotonic() - last >= REPORT_SECONDS:
            last = time.monotonic()
            pipe.send(Progress(float(fraction), stage, int(nodes)))

    return report


def _die_with_parent() -> None:
    # A signal at the parent's death would not do: we are forked by the fork server, not by it.
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
