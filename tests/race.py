"""Processes that do the same thing at the same moment."""

from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from typing import TypeVar

CONTEXT = get_context("forkserver")
Result = TypeVar("Result")


def race(act: Callable[[str], Result], url: str, n_processes: int) -> list[Result]:
    """What each process got from the act, which must be a function of a module."""
    barrier, results = CONTEXT.Barrier(n_processes), CONTEXT.SimpleQueue()
    racers = [
        CONTEXT.Process(target=_run, args=(act, url, barrier, results)) for _ in range(n_processes)
    ]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(60)
    assert [0] * n_processes == [racer.exitcode for racer in racers]
    return [results.get() for _ in racers]


def _run(
    act: Callable[[str], Result], url: str, barrier: Barrier, results: SimpleQueue[Result]
) -> None:
    barrier.wait(60)
    results.put(act(url))
