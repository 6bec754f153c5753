"""A turn: wrk asks a server for some seconds, over and over."""

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from bench.serving.places import wrk

SCRIPT = Path(__file__).with_name("wrk.lua")
PATIENCE = 120  # seconds that an answer may take


@dataclass(frozen=True)
class Shot:
    """What is sent, in turn, from files; without any the address is only looked at."""

    path: str
    headers: dict[str, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    n_connections: int = 1


@dataclass(frozen=True)
class Turn:
    """How it went; times in seconds."""

    requests: int
    seconds: float
    p50: float
    p99: float
    refused: int
    broken: int
    late: int

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds

    @property
    def n_failed(self) -> int:
        """Requests that were not answered, or not as they should be."""
        return self.refused + self.broken + self.late

    @property
    def trouble(self) -> str:
        """Why the numbers tell nothing; empty if they do."""
        if self.requests == 0:
            return "no answer in time"
        if self.n_failed:
            return f"{self.refused} refused, {self.broken} broken, {self.late} late"
        return ""


def fire(port: int, shot: Shot, seconds: int) -> Turn:
    """So many seconds of requests."""
    words = [wrk(), "--threads=1", f"--connections={shot.n_connections}", f"--duration={seconds}s"]
    words += [f"--timeout={PATIENCE}s", f"--script={SCRIPT}", f"http://127.0.0.1:{port}", "--"]
    words += [shot.path, str(len(shot.files)), *map(str, shot.files)]
    words += [word for header in shot.headers.items() for word in header]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    line = next(line for line in told.splitlines() if line.startswith("turn "))
    return Turn(**json.loads(line.removeprefix("turn ")))
