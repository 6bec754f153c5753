"""A server as processes: started, timed until it answers, looked at, stopped with all of them."""

import os
import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from signal import SIGKILL, SIGTERM

from bench.serving.load import Shot
from tests.faults.fleet import is_running, processes_with, send

MARK = "BENCH_MARK"  # in the environment of each process of a server
TO_ANSWER, TO_STOP, TO_REST = 120.0, 10.0, 30.0  # seconds at most
GLANCE = 0.02
REST = 0.1  # seconds in which who is done takes no more than a tick of its processor
TICKS = 2


@dataclass(frozen=True)
class Launch:
    """How a server is started."""

    command: list[str]
    variables: Mapping[str, str]
    cwd: Path


@dataclass(frozen=True)
class Server:
    """A server that answers."""

    port: int
    mark: str
    process: subprocess.Popen[bytes]
    cold_start: float  # seconds from its start to its first answer

    @property
    def pids(self) -> list[int]:
        """Its processes."""
        return [pid for pid in processes_with(MARK, self.mark) if is_running(pid)]

    @property
    def resident(self) -> list[int]:
        """Bytes in memory of each process, the largest first."""
        return sorted((resident(pid) for pid in self.pids), reverse=True)

    def settle(self) -> None:
        """Comes back when it no longer works on what nobody waits for."""
        deadline = time.monotonic() + TO_REST
        before = self._ticks()
        while time.monotonic() < deadline:
            time.sleep(REST)
            now = self._ticks()
            if now - before < TICKS:
                return
            before = now

    def _ticks(self) -> int:
        return sum(map(ticks, self.pids))


@contextmanager
def running(launch: Launch, port: int, first: Shot, log: Path) -> Iterator[Server]:
    """A block in which a server runs that has answered its first request."""
    mark = uuid.uuid4().hex
    began = time.monotonic()
    with log.open("wb") as told:
        process = subprocess.Popen(
            launch.command,
            cwd=launch.cwd,
            env=os.environ | dict(launch.variables) | {MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=told,
            start_new_session=True,
        )
    try:
        _wait_for_an_answer(process, port, first, log)
        yield Server(port, mark, process, time.monotonic() - began)
    finally:
        stop(process, mark)


def stop(process: subprocess.Popen[bytes], mark: str) -> None:
    """Ends a server, by force if it does not by itself."""
    if process.poll() is None:
        process.send_signal(SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(TO_STOP)
    for pid in processes_with(MARK, mark):
        send(pid, SIGKILL)
    process.wait()


def ask(port: int, shot: Shot) -> tuple[int, bytes]:
    """The status and the answer to the first of the bodies."""
    method, body = ("POST", shot.files[0].read_bytes()) if shot.files else ("GET", None)
    connection = HTTPConnection("127.0.0.1", port, timeout=TO_ANSWER)
    try:
        connection.request(method, shot.path, body, shot.headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _wait_for_an_answer(process: subprocess.Popen[bytes], port: int, shot: Shot, log: Path) -> None:
    deadline, last = time.monotonic() + TO_ANSWER, "nothing"
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError, HTTPException):
            status, answer = ask(port, shot)
            if status == 200:
                return
            last = f"{status}: {answer[:200]!r}"
        time.sleep(GLANCE)
    told = log.read_text(errors="replace")[-1000:]
    raise Unanswered(f"answered {last}; its log ends with\n{told}")


class Unanswered(Exception):
    """A server that did not answer its first request."""


def resident(pid: int) -> int:
    """Bytes in memory of a process; 0 if it is gone."""
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        told = next((line for line in lines if line.startswith("VmRSS")), "VmRSS: 0")
        return int(told.split()[1]) * 1024
    return 0


def ticks(pid: int) -> int:
    """How long its processors have worked for a process, in hundredths of a second."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    return 0
