"""Small requests beside large ones: how long one row takes while somebody posts very many."""

import statistics
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench.data import Rows
from bench.serving import bodies
from bench.serving.cells import CELLS, rows_of
from bench.serving.load import Shot, Turn, fire
from bench.serving.ours import Wishes, serving
from bench.serving.processes import Server, ask
from bench.serving.scenes import lay_out
from bench.serving.steady import PACE, walk
from bench.serving.table import Pace
from bench.serving.verdicts import Verdict, at_most, left_open

WHERE = "crowded"
CELL = CELLS["d15-numeric-1-0"]
N_LARGE = 200_000
N_CONNECTIONS = 4
TIMES = 5.0  # the limit


@dataclass(frozen=True)
class Look:
    """How long one row took, in seconds, and how often it failed."""

    p50: float
    p99: float
    failed: int


@dataclass(frozen=True)
class Round:
    """In peace, and beside large bodies."""

    quiet: Look
    crowded: Look
    large: Turn


def measure(wishes: Wishes, pace: Pace, directory: Path) -> list[Verdict]:
    """Whether the p99 beside large bodies is within so many times the quiet one."""
    (stage,) = lay_out([CELL], [bodies.OURS], directory)
    small = replace(stage.shot(CELL, bodies.OURS), n_connections=N_CONNECTIONS)
    large = Shot("/predict", bodies.JSON, (write_large(directory),))
    variables = wishes.variables | {"BOUGH_MAX_PREDICT_ROWS": str(N_LARGE)}
    verdicts: list[Verdict] = []
    with serving(stage.data, variables) as server:
        status, answer = ask(server.port, large)
        if status != 200:
            raise RuntimeError(f"{N_LARGE:,} rows were answered {status}: {answer[:300]!r}")
        for name, look in LOOKS.items():
            rounds = []
            for _ in range(pace.n_rounds):
                rounds.append(held(server, look, (small, large), pace.seconds))
                print_round(name, rounds[-1])
            verdicts += judged(name, rounds)
    return verdicts


def over_and_over(port: int, shot: Shot, seconds: int) -> Look:
    """By wrk."""
    turn = fire(port, shot, seconds)
    return Look(turn.p50, turn.p99, turn.n_failed)


def steadily(port: int, shot: Shot, seconds: int) -> Look:
    """At a steady pace."""
    walked = walk(port, shot, seconds)
    return Look(walked.percentile(50), walked.percentile(99), len(walked.failures))


LOOKS: dict[str, Callable[[int, Shot, int], Look]] = {
    f"wrk, {N_CONNECTIONS} connections": over_and_over,
    f"{PACE} requests/s": steadily,
}


def write_large(directory: Path) -> Path:
    """A body of very many rows."""
    asked = rows_of(CELL.scene)[1]
    values = np.resize(asked.values, (N_LARGE, asked.values.shape[1]))
    file = directory / "large"
    file.write_bytes(bodies.named_rows(CELL.scene.name, Rows(asked.schema, values, asked.target)))
    return file


def held(
    server: Server, look: Callable[[int, Shot, int], Look], shots: tuple[Shot, Shot], seconds: int
) -> Round:
    """A turn in peace, then one while a client posts one large body after the other."""
    small, large = shots
    quiet = look(server.port, small, seconds)
    with ThreadPoolExecutor(1) as other:
        # it begins with, and ends after, what is measured
        posting = other.submit(fire, server.port, large, seconds + 1)
        crowded = look(server.port, small, seconds)
    server.settle()
    return Round(quiet, crowded, posting.result())


def print_round(name: str, each: Round) -> None:
    """One line."""
    beside = f"beside {each.large.requests} large bodies {told(each.crowded)}"
    print(f"one row, {name}: quiet {told(each.quiet)}; {beside}", flush=True)


def told(look: Look) -> str:
    """How long it took."""
    return f"p50 {1e3 * look.p50:.2f} ms, p99 {1e3 * look.p99:.2f} ms"


def judged(name: str, rounds: list[Round]) -> list[Verdict]:
    """The median of the ratios, and what failed."""
    what = f"p99 of one row beside {N_LARGE:,} rows by the quiet one, {name}"
    times = statistics.median(each.crowded.p99 / each.quiet.p99 for each in rounds)
    verdict = at_most(WHERE, what, times, TIMES)
    if sum(each.large.requests for each in rounds) == 0:
        verdict = left_open(WHERE, what, "none was done", f"<= {TIMES:g}")
    failed = sum(each.quiet.failed + each.crowded.failed + each.large.n_failed for each in rounds)
    return [verdict, at_most(WHERE, f"requests that failed, {name}", failed, 0)]
