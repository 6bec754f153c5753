"""A contest: every contender in a process of its own, told to fit in turn, round by round."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import Any

from bench.peers.places import ROOT, command_of

TO_BE_READY = 600.0  # seconds, for loading and warming up
LONG = 30.0  # seconds; who takes longer is asked only once
N_THREADS = 2


@dataclass(frozen=True)
class Contender:
    """A peer with settings."""

    name: str
    peer: str
    settings: dict[str, Any]
    waiting: str = (
        "passive"  # how OpenMP's threads wait; actively is faster on a quiet machine only
    )

    @property
    def criterion(self) -> str:
        """What it grows by; contenders of the same criterion are compared first."""
        return next((word for word in ("gini", "squared error") if word in self.name), "entropy")


@dataclass(frozen=True)
class Result:
    """What came of a contender: the median seconds of all rounds, or the reason for none."""

    contender: Contender
    seconds: float | None = None
    n_runs: int = 0
    memory: float | None = None  # bytes beyond the data, of the first fit
    nodes: float | None = None
    accuracy: float | None = None
    cap: float | None = None  # set if it took longer than that
    trouble: str = ""  # why there are no seconds


@dataclass(frozen=True)
class Entrant:
    """A contender's process, and what it has answered so far."""

    contender: Contender
    process: subprocess.Popen[str]
    answers: list[dict[str, float]] = field(default_factory=list)
    troubles: list[Result] = field(default_factory=list)

    @property
    def wants_more(self) -> bool:
        """Whether it is to be asked in the next round."""
        return not self.troubles and all(answer["seconds"] < LONG for answer in self.answers)

    @property
    def result(self) -> Result:
        """All answers as one."""
        if self.troubles:
            return self.troubles[0]
        first = self.answers[0]
        seconds = statistics.median(answer["seconds"] for answer in self.answers)
        return Result(
            self.contender,
            seconds,
            len(self.answers),
            memory=first["memory"],
            nodes=first["nodes"],
            accuracy=first["accuracy"],
        )


def hold(
    contenders: tuple[Contender, ...], directory: Path, n_rounds: int, cap: float
) -> list[Result]:
    """What came of each contender, in their order."""
    results = {
        contender.name: Result(contender, trouble="not there")
        for contender in contenders
        if command_of(contender.peer) is None
    }
    here = [contender for contender in contenders if contender.name not in results]
    with started(here, directory) as entrants:
        for entrant in entrants:
            _ask(entrant, "ready", TO_BE_READY)
        for _ in range(n_rounds):
            for entrant in entrants:
                if entrant.wants_more:
                    _ask(entrant, "answer", cap)
        results |= {entrant.contender.name: entrant.result for entrant in entrants}
    return [results[contender.name] for contender in contenders]


@contextmanager
def started(contenders: list[Contender], directory: Path) -> Iterator[list[Entrant]]:
    """A block in which the contenders' processes run."""
    entrants = [Entrant(contender, _start(contender, directory)) for contender in contenders]
    try:
        yield entrants
    finally:
        for entrant in entrants:
            entrant.process.kill()
            entrant.process.wait()


def _start(contender: Contender, directory: Path) -> subprocess.Popen[str]:
    command = command_of(contender.peer)
    assert command is not None
    words = [f"{name}={json.dumps(value)}" for name, value in contender.settings.items()]
    threads = {"OMP_NUM_THREADS": str(N_THREADS), "OMP_WAIT_POLICY": contender.waiting}
    return subprocess.Popen(
        [*command, str(directory), *words],
        cwd=ROOT,
        env=os.environ | threads,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _ask(entrant: Entrant, word: str, cap: float) -> None:
    """Adds an answer, or the trouble: too late, or dead."""
    began, process = time.monotonic(), entrant.process
    watch = Timer(cap, process.kill)
    watch.start()
    try:
        if word == "answer" and process.stdin is not None:
            process.stdin.write("fit\n")
            process.stdin.flush()
        told, last = _heard(process, word)
    except BrokenPipeError:
        told, last = None, "it has ended"
    finally:
        watch.cancel()
    if told is not None:
        entrant.answers.extend([told] if word == "answer" else [])
    elif word == "answer" and time.monotonic() - began >= cap:
        entrant.troubles.append(Result(entrant.contender, cap=cap, trouble=f"> {cap:g} s"))
    else:
        print(f"{entrant.contender.name}: {last}", file=sys.stderr, flush=True)
        entrant.troubles.append(Result(entrant.contender, trouble="failed"))


def _heard(process: subprocess.Popen[str], word: str) -> tuple[dict[str, float] | None, str]:
    """What follows the word, and the last line that was something else."""
    last = "it has ended"
    for line in process.stdout or ():
        if line.startswith(word + " "):
            return json.loads(line[len(word) :]), last
        last = line.strip() or last
    return None, last
