"""A large dataset from upload to result, and the memory that each process needs for it.

    .venv/bin/python -m bench.large [--rows 1000000] [--columns 20]

A CSV with nulls is made, uploaded to a service of its own, trained on and scored. The memory is the
largest resident set that /proc tells of a process (VmHWM). Beside it stands what the learner alone
needs for the same arrays, in a process that is given nothing else.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.csv

from service.tree.attribute import Attribute, Kind
from service.tree.dataset import Dataset
from service.tree.learn import learn
from service.tree.params import resolve
from tests.server import ended, running

NULLS = 0.05
CATEGORIES = tuple(f"category {number}" for number in range(12))
PARAMS: dict[str, Any] = {"max_depth": 6}
PRESET = "gini"


def make(directory: Path, n_rows: int, n_columns: int) -> None:
    """The arrays, every fifth column of categories, and the same as a CSV file."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n_rows, n_columns)).round(4)
    for number in range(4, n_columns, 5):
        values[:, number] = rng.integers(len(CATEGORIES), size=n_rows)
    signal = values[:, 0] + values[:, 1] * (values[:, 4] > 5) + rng.normal(0, 0.5, n_rows)
    target = (signal > 0).astype(np.int64)
    values[rng.random(values.shape) < NULLS] = np.nan
    np.save(directory / "values.npy", np.asfortranarray(values))
    np.save(directory / "target.npy", target)
    columns = {f"c{number}": _column(values[:, number], number) for number in range(n_columns)}
    columns["y"] = pa.array(np.array(["no", "yes"])[target])
    with (directory / "large.csv").open("wb") as file:
        pyarrow.csv.write_csv(pa.table(columns), file)


def _column(values: Any, number: int) -> Any:
    if not _is_categorical(number):
        return pa.array(values, from_pandas=True)
    names = np.array([*CATEGORIES, None], dtype=object)
    return pa.array(names[np.nan_to_num(values, nan=-1).astype(int)])


def _is_categorical(number: int) -> bool:
    return number >= 4 and number % 5 == 4


def alone(directory: Path) -> None:
    """Trains on the arrays, and prints the largest resident set before and after."""
    values = np.load(directory / "values.npy")
    target = np.load(directory / "target.npy")
    attributes = tuple(
        Attribute(f"c{number}", Kind.CATEGORICAL, CATEGORIES)
        if _is_categorical(number)
        else Attribute(f"c{number}", Kind.NUMERIC)
        for number in range(values.shape[1])
    )
    data = Dataset(attributes, ("no", "yes"), values, target, np.ones(len(target)))
    before = _peak("self")
    learn(data, resolve(PRESET, PARAMS))
    print(before, _peak("self"))


def _peak(process: str) -> int:
    """The largest resident set of a process, in bytes."""
    status = Path(f"/proc/{process}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


@contextmanager
def watched() -> Iterator[dict[str, int]]:
    """A block in which the peaks of our processes are noted, by what they are."""
    peaks: dict[str, int] = {}
    done = Event()

    def watch() -> None:
        while not done.wait(0.02):
            for process in _descendants(os.getpid()):
                try:
                    words = Path(f"/proc/{process}/cmdline").read_bytes().decode().split("\0")
                    if (kind := _kind(words)) is not None:
                        peaks[kind] = max(peaks.get(kind, 0), _peak(process))
                except (OSError, StopIteration):
                    continue

    thread = Thread(target=watch)
    thread.start()
    try:
        yield peaks
    finally:
        done.set()
        thread.join()


def _descendants(process: int) -> list[str]:
    """The processes that we or our children have started."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[path.parent.name] = fields[1]
    found = [str(process)]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found[1:]


def _kind(words: list[str]) -> str | None:
    text = " ".join(words)
    kinds = {
        "service.gunicorn_conf": "web",
        "service.files": "reader of the upload",
        "multiprocessing.forkserver": "child of the worker",
        "service.jobs": "worker",
    }
    return next((kind for part, kind in kinds.items() if part in text), None)


@contextmanager
def _timed(what: str, times: dict[str, float]) -> Iterator[None]:
    began = time.monotonic()
    yield
    times[what] = time.monotonic() - began


def through(client: httpx.Client, directory: Path) -> dict[str, float]:
    """How many seconds each step takes; the job of each must succeed."""
    times: dict[str, float] = {}
    client.timeout = httpx.Timeout(600)
    with (directory / "large.csv").open("rb") as file, _timed("upload", times):
        answer = client.post("/datasets", content=file, headers={"content-type": "text/csv"})
        assert answer.status_code == 201, answer.text
    dataset = answer.json()["id"]
    order = {
        "model": "large",
        "target": "y",
        "data": {"dataset": dataset},
        "params": {"preset": PRESET, **PARAMS},
        "evaluation": {"method": "none"},
    }
    with _timed("train", times):
        _succeeded(client, client.post("/train", json=order))
    with _timed("batch-predict", times):
        job = _succeeded(
            client, client.post("/models/large/batch-predict", json={"dataset": dataset})
        )
    with _timed("download", times), client.stream("GET", job["links"]["result"]) as result:
        times["lines"] = sum(chunk.count(b"\n") for chunk in result.iter_bytes())
    return times


def _succeeded(client: httpx.Client, answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 202, answer.text
    job = ended(client, answer.json(), seconds=1800)
    assert job["state"] == "succeeded", job
    return job


def main() -> None:
    """Prints the seconds of each step and the peak of each process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--alone", type=Path)
    options = parser.parse_args()
    if options.alone:
        alone(options.alone)
        return
    cells = options.rows * options.columns
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        make(directory, options.rows, options.columns)
        size = (directory / "large.csv").stat().st_size
        print(f"{options.rows:,} x {options.columns}, {size / 1e6:.0f} MB of CSV")
        (directory / "data").mkdir()
        with watched() as peaks, running(directory / "data") as client:
            times = through(client, directory)
        command = [sys.executable, "-m", "bench.large", "--alone", name]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for step, seconds in times.items():
        print(f"{step:24}{seconds:12,.1f}" + (" s" if step != "lines" else ""))
    for kind, peak in peaks.items():
        print(f"{kind:24}{peak / 1e6:12,.0f} MB")
    _, learner = map(int, told.split())
    print(f"{'learner alone':24}{learner / 1e6:12,.0f} MB")
    beyond = (peaks["child of the worker"] - learner) / cells
    print(f"the child needs {beyond:.2f} bytes a cell beyond the learner alone")


if __name__ == "__main__":
    main()
