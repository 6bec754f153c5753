"""Faults by chance, one after the other, while jobs are in flight; then everything is checked.

    .venv/bin/python -m bench.soak --runs 500 --engine both
    .venv/bin/python -m bench.soak --clients

A run is one fault: somebody is killed at a named point or at any moment, stands still for longer
than the lease, is told to stop, a job is cancelled, the database is restarted. Whoever is killed
is started again. With --clients nobody is harmed: 20 clients at SQLite for a minute.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import text

from bench.customers import Customers
from bench.harm import FAULTS, Scene, leftovers
from tests import server
from tests.conftest import migrate
from tests.faults.checks import is_free, violations
from tests.faults.crowd import crowd
from tests.faults.system import WEB_AND_THREE, System, running
from tests.postgres import Postgres, started_own

PACE = 0.8  # seconds that a run takes at least, so that whoever was killed can start again
N_CUSTOMERS, N_MODELS = 6, 8
MINUTE = 60.0


@dataclass(frozen=True)
class Report:
    """What happened on one engine."""

    faults: Counter[str]
    jobs: Counter[str]
    seconds: float
    violations: list[str]


def main() -> None:
    """Prints a table; ends with 1 if anything is not as it must be."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak")
    parser.add_argument("--runs", type=int, default=500, help="in all")
    parser.add_argument("--engine", choices=["sqlite", "postgresql", "both"], default="both")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clients", action="store_true", help="20 clients for a minute instead")
    options = parser.parse_args()
    if options.clients:
        sys.exit(0 if serve_a_minute() else 1)
    both = ["sqlite", "postgresql"]
    engines = both if options.engine == "both" else [options.engine]
    reports = {
        engine: soak(engine, options.runs // len(engines), options.seed) for engine in engines
    }
    print_table(reports)
    found = [line for report in reports.values() for line in report.violations]
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(1 if found else 0)


def soak(engine: str, n_runs: int, seed: int) -> Report:
    """So many faults on a service of its own."""
    began, chance = time.monotonic(), random.Random(f"{seed} {engine}")
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        with database(engine, directory) as (url, postgres):
            migrate(url)
            with running(directory, url, WEB_AND_THREE, postgres) as system:
                customers = Customers(system, N_CUSTOMERS, N_MODELS, seed)
                scene = Scene(system, customers, chance)
                faults = harm(scene, n_runs)
                customers.leave()
                found = checked(scene)
                jobs = counted(scene)
    return Report(faults, jobs, time.monotonic() - began, [f"{engine}: {each}" for each in found])


@contextmanager
def database(engine: str, directory: Path) -> Iterator[tuple[str, Postgres | None]]:
    """The URL of an empty database, and the server that may be restarted."""
    if engine == "sqlite":
        yield f"sqlite:///{directory / 'bough.db'}", None
        return
    with started_own(directory) as postgres:
        yield postgres.create("bough"), postgres


def harm(scene: Scene, n_runs: int) -> Counter[str]:
    """How often each fault was done; one that finds nobody to harm is chosen anew."""
    done: Counter[str] = Counter()
    able = {name: fault for name, fault in FAULTS.items() if fault.fits(scene)}
    weights = [fault.weight for fault in able.values()]
    while done.total() < n_runs:
        began = time.monotonic()
        (name,) = scene.chance.choices(list(able), weights)
        if able[name].harm(scene):
            done[name] += 1
            if done.total() % 50 == 0:
                print(f"{done.total()} of {n_runs} runs", file=sys.stderr, flush=True)
        time.sleep(max(0.0, began + PACE - time.monotonic()))
    return done


def checked(scene: Scene) -> list[str]:
    """What is not as it must be, now that everything has come to rest."""
    system, customers = scene.system, scene.customers
    system.wait_for(lambda: is_free(system.store), "somebody holds a lock")
    found = violations(system.store) + customers.complaints + leftovers(system)
    ordered = {row for (row,) in _ask(system, "SELECT id FROM jobs")}
    if ordered != set(customers.keys.values()) or len(ordered) != len(customers.keys):
        found.append(f"{len(customers.keys)} orders made {len(ordered)} jobs")
    early = "SELECT id FROM jobs WHERE state = 'failed' AND attempt < max_attempts"
    found += [f"{job} failed before its last attempt" for (job,) in _ask(system, early)]
    if system.postgres is None and customers.answers["503"]:
        found.append(f"{customers.answers['503']} times 503, though the database was there")
    return found


def counted(scene: Scene) -> Counter[str]:
    system, answers = scene.system, scene.customers.answers
    told: Counter[str] = Counter(
        {state: n for state, n in _ask(system, "SELECT state, count(*) FROM jobs GROUP BY state")}
    )
    told["jobs"] = told.total()
    told["attempts begun"] = len(system.lines("job claimed"))
    told["owners fenced off"] = len(system.lines("job lost to another worker"))
    told["processes started"] = system.fleet.starts
    told["requests"] = answers.total()
    told["answered 503"] = answers["503"]
    told["not answered"] = answers["none"]
    return told


def _ask(system: System, question: str) -> list[tuple[str, int]]:
    with system.store.reading() as session:
        return [tuple(row) for row in session.execute(text(question))]


def print_table(reports: dict[str, Report]) -> None:
    """One column an engine."""
    print(f"{'':32}" + "".join(f"{engine:>12}" for engine in reports))
    for name in FAULTS:
        print_line(name, [report.faults[name] for report in reports.values()])
    print_line("runs", [report.faults.total() for report in reports.values()])
    for name in (
        *("jobs", "attempts begun", "succeeded", "failed", "cancelled", "owners fenced off"),
        *("processes started", "requests", "answered 503", "not answered"),
    ):
        print_line(name, [report.jobs[name] for report in reports.values()])
    print_line("violations", [len(report.violations) for report in reports.values()])
    print_line("seconds", [round(report.seconds) for report in reports.values()])


def print_line(name: str, numbers: list[int]) -> None:
    """A row of the table."""
    print(f"{name:32}" + "".join(f"{number:12}" for number in numbers))


def serve_a_minute() -> bool:
    """Whether 20 clients at SQLite were all served."""
    with tempfile.TemporaryDirectory() as place, server.running(Path(place)) as client:
        tally = crowd(str(client.base_url), 20, MINUTE)
    statuses = ", ".join(f"{n} x {status}" for status, n in sorted(tally.statuses.items()))
    print(f"20 clients, {MINUTE:g} s, SQLite: {len(tally.seconds)} requests: {statuses}")
    p50, p99 = (1000 * tally.percentile(percent) for percent in (50, 99))
    print(f"p50 {p50:.0f} ms, p99 {p99:.0f} ms")
    return all(status < 500 for status in tally.statuses)


if __name__ == "__main__":
    main()
