"""Processes of the service that are killed, and started again as a supervisor would do it."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread

from service.cli import GUNICORN, WORKER
from service.confine import SET_DEATH_SIGNAL

WEB = "web"
HOURS = 3600
# What a process runs by the first part of its name.
COMMANDS: Mapping[str, Sequence[str]] = {
    WEB: GUNICORN,
    "worker": WORKER,
    "ahead": ("-m", "tests.faults.wrong_clock", str(5 * HOURS)),
    "behind": ("-m", "tests.faults.wrong_clock", str(-5 * HOURS)),
}
STEP = 0.02  # seconds between two looks at the processes
PRCTL = ctypes.CDLL(None).prctl  # found now: between fork and exec it would be too late to look


class Fleet:
    """Processes by name, of which each is started again when it has ended."""

    def __init__(self, variables: Mapping[str, str], log: Path) -> None:
        self._environment = os.environ | variables
        self._log = log
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = Lock()
        self._is_ending = False
        self._is_over = Event()
        self.starts = 0
        self._watcher = Thread(target=self._watch, name="supervisor")
        self._watcher.start()

    def start(self, name: str) -> None:
        """Have a process of this name, from now on."""
        with self._lock:
            self._processes[name] = self._started(name)

    def pid(self, name: str) -> int:
        """The process of this name, as long as it lives."""
        with self._lock:
            return self._processes[name].pid

    def stop(self) -> dict[str, int]:
        """How each process ended that was told to stop; none is started again."""
        with self._lock:
            self._is_ending = True
        for process in self._processes.values():
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGCONT)
        try:
            return {name: process.wait(30) for name, process in self._processes.items()}
        finally:
            for process in self._processes.values():
                process.kill()
                process.wait()
            # Not before: the system ends a process when the thread has ended that started it.
            self._is_over.set()
            self._watcher.join()

    def _watch(self) -> None:
        while not self._is_over.wait(STEP):
            with self._lock:
                ended = [name for name, it in self._processes.items() if it.poll() is not None]
                for name in ended if not self._is_ending else ():
                    self._processes[name] = self._started(name)

    def _started(self, name: str) -> "subprocess.Popen[bytes]":
        self.starts += 1
        command = COMMANDS[name.partition("-")[0]]
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, *command],
                env=self._environment,
                stdout=log,
                stderr=log,
                process_group=0,  # Ctrl-C is for the tests
                preexec_fn=_die_with_tests,
            )


def _die_with_tests() -> None:
    PRCTL(SET_DEATH_SIGNAL, signal.SIGKILL)


def processes_with(variable: str, value: str) -> dict[int, str]:
    """The processes that have this in their environment, and how each was called."""
    wanted = f"{variable}={value}".encode()
    found = {}
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is not ours
            if wanted in (directory / "environ").read_bytes().split(b"\0"):
                called = (directory / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(directory.name)] = called.decode(errors="replace")
    return found


def is_running(pid: int) -> bool:
    """Whether there is such a process, and it is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def send(pid: int, number: int) -> None:
    """Send a signal, if there is still somebody to get it."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
