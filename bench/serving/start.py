"""How soon the service answers, and how much memory a worker and a model take."""

import statistics
from dataclasses import replace
from pathlib import Path

from bench.serving.bodies import JSON
from bench.serving.load import Shot, fire
from bench.serving.ours import Wishes, serving
from bench.serving.processes import Server, ask
from bench.serving.stores import array_bytes, store_of, write_questions
from bench.serving.verdicts import Verdict, at_most

N_MODELS = 10
N_GROWTH = 100  # models, as one alone is lost in the noise
N_STARTS = 5
SECONDS, MEGABYTES, TIMES = 2.0, 120.0, 3.0  # the limits
WHERE = "start"


def measure(wishes: Wishes, directory: Path) -> list[Verdict]:
    """What of the limits of a start and of memory holds."""
    return [*started(wishes, directory), grown(wishes, directory)]


def started(wishes: Wishes, directory: Path) -> list[Verdict]:
    """The seconds to the first answer, and the memory when each worker knows all models."""
    data = store_of(N_MODELS)
    files = write_questions(directory, range(N_MODELS), n_rows=1)
    shot = Shot("/predict", JSON, tuple(files), n_connections=8)
    seconds, memory, has_numba = [], 0, False
    for _ in range(N_STARTS + 1):
        with serving(data, wishes.variables, shot) as server:
            seconds.append(server.cold_start)
            fire(server.port, shot, 1)
            memory = max(memory, server.resident[0])
            has_numba = has_numba or imports_numba(server)
    print(f"seconds to the first answer: {', '.join(f'{each:.2f}' for each in seconds)}")
    what = f"seconds to the first answer, {N_MODELS} models, median of {N_STARTS} starts"
    return [
        at_most(WHERE, what, statistics.median(seconds[1:]), SECONDS),
        at_most(WHERE, f"MB of the largest worker, {N_MODELS} models", memory / 1e6, MEGABYTES),
        at_most(WHERE, "workers that have numba or llvmlite", float(has_numba), 0),
    ]


def imports_numba(server: Server) -> bool:
    """Whether any of the processes has the compiler in memory."""
    maps = [Path(f"/proc/{pid}/maps").read_text() for pid in server.pids]
    return any(name in text for text in maps for name in ("llvmlite", "/numba/"))


def grown(wishes: Wishes, directory: Path) -> Verdict:
    """By how much a worker grows for each model, by what the model's arrays take."""
    data = store_of(N_GROWTH)
    first, others = range(N_MODELS), range(N_MODELS, N_GROWTH)
    alone = replace(wishes, n_workers=1)
    with serving(data, alone.variables) as server:
        before = after_asking(server, directory, first)
        growth = after_asking(server, directory, others) - before
    arrays = sum(array_bytes(data, others))
    n = len(others)
    print(f"{growth / n / 1e3:.0f} kB a model, of which arrays {arrays / n / 1e3:.0f} kB")
    return at_most(WHERE, f"growth by arrays, mean of {n} models", growth / arrays, TIMES)


def after_asking(server: Server, directory: Path, numbers: range) -> int:
    """The memory of the worker when each model was asked, for one row and for a hundred."""
    for n_rows in (1, 100):
        for file in write_questions(directory, numbers, n_rows):
            status, answer = ask(server.port, Shot("/predict", JSON, (file,)))
            if status != 200:
                raise RuntimeError(f"{file.name}: {answer!r}")
    return server.resident[0]
