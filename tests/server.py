"""The whole product as a process, as `bough run` starts it; or the web server alone."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from service.cli import GUNICORN


@contextmanager
def running(data: Path, database_url: str = "", **settings: str) -> Iterator[httpx.Client]:
    """A client of a service of our own, ready to answer; it is stopped at the end."""
    port = free_port()
    command = [sys.executable, "-m", "service.cli", "run", "--port", str(port), "--data", str(data)]
    told = {f"BOUGH_{name.upper()}": value for name, value in settings.items()}
    variables = os.environ | told | {"BOUGH_DATABASE_URL": database_url}
    with (
        (data / "log").open("w") as log,
        subprocess.Popen(command, env=variables, stderr=log) as it,
    ):
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
                _wait_until_ready(client, it, data / "log")
                yield client
        finally:
            it.send_signal(signal.SIGINT)
            assert it.wait(timeout=20) == 0, (data / "log").read_text()


@dataclass(frozen=True)
class Web:
    """A web server that is ready."""

    port: int
    process: "subprocess.Popen[bytes]"

    @property
    def workers(self) -> list[int]:
        """Its processes that answer, the oldest first."""
        return children_of(self.process.pid)

    def client(self) -> httpx.Client:
        """Somebody who asks it."""
        return httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=30)


@contextmanager
def serving(place: Path, database_url: str, **settings: str) -> Iterator[Web]:
    """A web server on a migrated database, which logs into the directory; stopped at the end."""
    place.mkdir(exist_ok=True)
    port, log = free_port(), place / "log"
    given = settings | {"port": str(port), "data": str(place), "database_url": database_url}
    variables = {f"BOUGH_{name.upper()}": value for name, value in given.items()}
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, *GUNICORN], env=os.environ | variables, stderr=file, process_group=0
        )
    with process:
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
                _wait_until_ready(client, process, log)
            yield Web(port, process)
        finally:
            process.terminate()
            assert process.wait(timeout=20) == 0, log.read_text()


def children_of(pid: int) -> list[int]:
    """The processes that a process has started, the oldest first."""
    told = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return sorted(map(int, told.split()))


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait_until_ready(client: httpx.Client, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(httpx.TransportError):
            if client.get("/readyz").status_code == 200:
                return
        time.sleep(0.02)
    raise AssertionError(f"the service did not become ready:\n{log.read_text()}")


def ended(client: httpx.Client, job: dict[str, Any], seconds: float = 60) -> dict[str, Any]:
    """The job once it has ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        job = client.get(f"/jobs/{job['id']}").json()
        if job["state"] not in ("queued", "running"):
            return job
        time.sleep(0.05)
    raise AssertionError(f"the job did not end: {job}")
