"""Our service: run whole to train in it, or served alone to be measured."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from bench.data import Rows
from bench.peers.places import ROOT
from bench.serving.bodies import columns_of
from bench.serving.load import Shot
from bench.serving.processes import Launch, Server, running
from tests.server import free_port

READY = Shot("/readyz")
PRESET = "gini"
PATIENCE = 1800.0  # seconds; kernels may have to be compiled first


@dataclass(frozen=True)
class Wishes:
    """How servers are to run."""

    n_workers: int = 2
    worker_class: str = ""  # empty: as our configuration has it
    n_threads: int = 4

    @property
    def variables(self) -> dict[str, str]:
        """The same for us, the floor, and whoever else runs under gunicorn."""
        told = {
            "BOUGH_WEB_WORKERS": str(self.n_workers),
            "BOUGH_WEB_THREADS": str(self.n_threads),
            "PYTHONDONTWRITEBYTECODE": "",  # or every start would compile
        }
        if not self.worker_class:
            return told
        # with more than one thread gunicorn would make gthread of sync
        n_threads = 1 if self.worker_class == "sync" else self.n_threads
        words = f"--worker-class {self.worker_class} --threads {n_threads}"
        return told | {"GUNICORN_CMD_ARGS": words}


def command_to(what: str, port: int, data: Path) -> list[str]:
    """The command that runs or serves."""
    words = ["-m", "service.cli", what, "--port", str(port), "--data", str(data)]
    return [sys.executable, *words]


@contextmanager
def serving(
    data: Path, variables: Mapping[str, str], first: Shot = READY, *, what: str = "serve"
) -> Iterator[Server]:
    """A block in which our service runs on some data, and has answered."""
    data.mkdir(exist_ok=True)
    port = free_port()
    launch = Launch(command_to(what, port, data), variables, ROOT)
    with running(launch, port, first, data / f"{what}.log") as server:
        yield server


@contextmanager
def training(data: Path, variables: Mapping[str, str] | None = None) -> Iterator[httpx.Client]:
    """A client of a service that trains too."""
    with serving(data, variables or {}, what="run") as server:
        address = f"http://127.0.0.1:{server.port}"
        with httpx.Client(base_url=address, timeout=120) as client:
            yield client


def order(model: str, rows: Rows, **params: Any) -> dict[str, Any]:
    """An order to train."""
    target = [f"k{number}" for number in rows.target.tolist()]
    return {
        "model": model,
        "target": "y",
        "data": {"columns": columns_of(rows) | {"y": target}},
        "params": {"preset": PRESET, **params},
        "evaluation": {"method": "none"},
    }
