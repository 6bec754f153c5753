"""The whole product as a process: gunicorn and a worker, as `bough run` starts them."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx


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


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait_until_ready(client: httpx.Client, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if client.get("/readyz").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)
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
