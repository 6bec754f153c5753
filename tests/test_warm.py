"""Cold starts: kernels are compiled ahead, loaded before there are jobs, and unknown to the web."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from service.cli.processes import WORKER
from service.settings import Settings
from service.tree.sources import ROOT as ROOT_OF_KERNELS
from tests.faults.fleet import processes_with
from tests.jobs.random_jobs import kernels_had_and_got
from tests.jobs.test_worker import wait_until
from tests.race import race
from tests.server import ended, running

ROOT = Path(__file__).parents[1]
MELONS = json.loads((ROOT / "examples" / "melons.json").read_text())
NUMBA = re.compile(r"numba|llvmlite")


def test_warming_a_second_time_finds_everything_compiled() -> None:
    assert "The kernels are compiled" in warmed()
    assert "The kernels are compiled already" in warmed()


def test_the_place_of_the_kernels_is_a_setting(tmp_path: Path) -> None:
    assert {"NUMBA_CACHE_DIR": str(ROOT_OF_KERNELS)} == Settings().kernel_variables
    assert {"NUMBA_CACHE_DIR": "/x"} == Settings(kernel_cache="/x").kernel_variables


def test_what_other_sources_were_compiled_to_is_found_out_by_its_name(tmp_path: Path) -> None:
    for name in ("kernels-0123", "kernels.txt", "else"):
        (tmp_path / name).mkdir()
    ask = "from service.tree.kernels.cache import former; print(*former())"
    variables = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    told = subprocess.check_output([sys.executable, "-c", ask], cwd=ROOT, env=variables, text=True)

    assert f"{tmp_path}/kernels-0123\n" == told


@pytest.mark.usefixtures("fork_server")
def test_a_job_finds_all_kernels_loaded_whatever_it_is() -> None:
    ((had, got),) = race(kernels_had_and_got, "", 1)

    assert had > 0
    assert 0 == got


def test_the_first_training_waits_for_no_compiler_and_the_web_has_no_numba(tmp_path: Path) -> None:
    warmed()

    with running(tmp_path) as client:
        job = ended(client, client.post("/train", json=MELONS).json())
        client.post("/predict", json={"model": "melons", "rows": [{"texture": None}] * 100})
        having = processes_having_numba(client)

    assert "succeeded" == job["state"]
    assert "kernels" not in (tmp_path / "log").read_text()
    assert any("forkserver" in called for called in having)
    assert not any("gunicorn" in called for called in having)


def test_a_worker_that_still_compiles_can_be_stopped(tmp_path: Path) -> None:
    with compiling_worker(tmp_path) as worker:
        wait_until(lambda: "forkserver" in " ".join(processes_of(tmp_path)))
        worker.terminate()

        assert 0 == worker.wait(5)


def warmed() -> str:
    """What `bough warm` says."""
    command = [sys.executable, "-m", "service.cli", "warm"]
    return subprocess.check_output(command, cwd=ROOT, text=True)


def processes_having_numba(client: httpx.Client) -> list[str]:
    """How the processes of a service were called that have loaded numba."""
    found = processes_with("BOUGH_PORT", str(client.base_url.port))
    return [
        called
        for pid, called in found.items()
        if NUMBA.search(Path(f"/proc/{pid}/maps").read_text())
    ]


def processes_of(data: Path) -> list[str]:
    return list(processes_with("BOUGH_DATA", str(data)).values())


@contextmanager
def compiling_worker(data: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A worker that finds no kernel compiled; all that it has started is gone in the end."""
    told = {"BOUGH_DATA": str(data), "BOUGH_KERNEL_CACHE": str(data / "kernels")}
    with subprocess.Popen(
        [sys.executable, *WORKER], cwd=ROOT, env=os.environ | told, process_group=0
    ) as worker:
        try:
            yield worker
        finally:
            with suppress(ProcessLookupError):
                os.killpg(worker.pid, signal.SIGKILL)
