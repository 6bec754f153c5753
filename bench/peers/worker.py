"""The process of one contender: it gets the data once and fits whenever it is told to.

A line on standard input is an order to fit; the answer is a line of JSON after the word `answer`.
The seconds are those of the fit alone; what is over soon is done again for a while, since whoever
has just been woken is slow, and the median counts. The memory is how far the resident set rose
above what it was with the data in place, in bytes.
"""

import ctypes
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.data import HELD, TRAINING, Rows, load

WARM_UP = slice(200)  # rows; code is loaded and compiled before the clock runs
A_WHILE = 0.3  # seconds
Settings = dict[str, Any]


@dataclass(frozen=True)
class Peer:
    """How a library is used."""

    prepare: Callable[[Rows, Settings], Callable[[], Any]]  # what is to be timed; makes a model
    n_nodes: Callable[[Any], int]
    predict: Callable[[Any, Rows], Any]  # per row the number of the class, or y


def serve(peer: Peer) -> None:
    """Answers until standard input ends."""
    directory = Path(sys.argv[1])
    settings = {name: json.loads(value) for name, value in (w.split("=") for w in sys.argv[2:])}
    rows, held = load(directory, TRAINING), load(directory, HELD)
    peer.prepare(rows.some(WARM_UP), settings)()
    fit = peer.prepare(rows, settings)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed would hide as much of the peak
    before = resident("VmRSS")
    judged: dict[str, float] = {}
    say("ready", {})
    for _ in sys.stdin:
        Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here on
        seconds, model = [], None
        while sum(seconds) < A_WHILE:
            model = None
            started = time.perf_counter()
            model = fit()
            seconds.append(time.perf_counter() - started)
        memory = max(0, resident("VmHWM") - before)
        judged = judged or _judged(peer, model, held)
        say("answer", {"seconds": statistics.median(seconds), "memory": memory, **judged})


def _judged(peer: Peer, model: Any, held: Rows) -> dict[str, float]:
    """The size of the tree, and its accuracy on rows it has not seen; in regression R squared."""
    predicted = peer.predict(model, held)
    if held.schema.n_classes:
        accuracy = np.mean(predicted == held.target)
    else:
        accuracy = 1 - np.mean((predicted - held.target) ** 2) / np.var(held.target)
    return {"nodes": peer.n_nodes(model), "accuracy": float(accuracy)}


def resident(what: str) -> int:
    """The resident set of this process in bytes: VmRSS as it is, VmHWM its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(what)).split()[1]) * 1024


def say(word: str, told: dict[str, float]) -> None:
    """Writes a line that is meant for whoever gives the orders."""
    print(word, json.dumps(told), flush=True)
