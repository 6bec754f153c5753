"""Trainings that do as they are told: each stands in for the real one in a child process."""

import os
import signal
import time
from pathlib import Path

from service.actions.results import Report, Trained
from service.errors import Fault, InvalidData, LimitReached
from service.storage.records import Progress
from tests.storage.trees import a_draft, a_tree


def quick(body: bytes, max_nodes: int, report: Report) -> Trained:
    report(Progress(0.5, "grow", max_nodes, 9))
    return Trained(a_draft(), a_tree(int(body or b"9")))


def held(body: bytes, max_nodes: int, report: Report) -> Trained:
    """Names its process in the file of that path, and waits until there is one ending in .go."""
    path = Path(body.decode())
    with path.open("a") as started:
        started.write(f"{os.getpid()}\n")
    while not path.with_suffix(".go").exists():
        report(Progress(0.5, "grow", 7, 9))
        time.sleep(0.02)
    return Trained(a_draft(), a_tree())


def crash_once(body: bytes, max_nodes: int, report: Report) -> Trained:
    path = Path(body.decode())
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return quick(b"", max_nodes, report)


def refuse(body: bytes, max_nodes: int, report: Report) -> Trained:
    raise InvalidData("The target has one class only.", [Fault("/target", "one class")])


def outgrow(body: bytes, max_nodes: int, report: Report) -> Trained:
    raise LimitReached(f"The tree would have more than {max_nodes} nodes.")


def kill(body: bytes, max_nodes: int, report: Report) -> Trained:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def leave(body: bytes, max_nodes: int, report: Report) -> Trained:
    os._exit(3)


def segfault(body: bytes, max_nodes: int, report: Report) -> Trained:
    os.kill(os.getpid(), signal.SIGSEGV)
    raise AssertionError


def stumble(body: bytes, max_nodes: int, report: Report) -> Trained:
    raise KeyError("a secret value")


def unkeepable(body: bytes, max_nodes: int, report: Report) -> Trained:
    """A result under a name that no database keeps."""
    return Trained(a_draft("a\0b"), a_tree())


def take_memory(body: bytes, max_nodes: int, report: Report) -> Trained:
    taken = bytearray(int(body))
    return quick(b"9" if taken else b"", max_nodes, report)


ENTRIES = {
    function.__name__: function
    for function in (
        quick,
        held,
        crash_once,
        refuse,
        outgrow,
        kill,
        leave,
        segfault,
        stumble,
        unkeepable,
        take_memory,
    )
}
