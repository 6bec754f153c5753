"""The faults of a soak: each finds somebody and harms him."""

import random
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench.customers import Customers
from service.points import CHILD, WEB, WORKER
from tests.faults.fleet import send
from tests.faults.system import SETTINGS, WEB_AND_THREE, System

LEASE = float(SETTINGS["lease_seconds"])
PATIENCE = 8.0  # seconds in which somebody should pass a point
WORKERS = WEB_AND_THREE[1:]


@dataclass(frozen=True)
class Scene:
    """Whom the faults can befall, and the chance that chooses."""

    system: System
    customers: Customers
    chance: random.Random


@dataclass(frozen=True)
class Fault:
    """What is done, how often compared to others, and where it can be."""

    harm: Callable[[Scene], bool]  # whether there was somebody to harm
    weight: float = 1.0
    fits: Callable[[Scene], bool] = lambda _scene: True


def at_a_point(points: tuple[str, ...]) -> Callable[[Scene], bool]:
    """Kills whoever passes one of the points next."""

    def harm(scene: Scene) -> bool:
        return _hit(scene, scene.chance.choice(points), "SIGKILL") is not None

    return harm


def any_worker(number: signal.Signals) -> Callable[[Scene], bool]:
    """Sends a signal to one of the workers at any moment."""

    def harm(scene: Scene) -> bool:
        time.sleep(scene.chance.uniform(0, 0.3))
        send(scene.system.fleet.pid(scene.chance.choice(WORKERS)), number)
        return True

    return harm


def any_child(scene: Scene) -> bool:
    """Kills a training at any moment."""
    return _kill_one_of(scene, lambda: _trainings(scene.system))


def any_web(scene: Scene) -> bool:
    """Kills the web server at any moment: the process that answers, or the one above it."""
    return _kill_one_of(scene, lambda: _called(scene.system, "gunicorn"))


def any_fork_server(scene: Scene) -> bool:
    """Kills the process that trainings are forked from."""
    return _kill_one_of(scene, lambda: _fork_servers(scene.system))


def stand_still(scene: Scene) -> bool:
    """Stops a worker at a point for longer than its lease."""
    stopped = _hit(scene, scene.chance.choice(WORKER), "SIGSTOP")
    if stopped is None:
        return False
    time.sleep(LEASE * scene.chance.uniform(0.8, 2.0))
    send(stopped, signal.SIGCONT)
    return True


def cancel(scene: Scene) -> bool:
    """Cancels a job that waits or runs."""
    return scene.customers.cancel(scene.chance)


def restart_database(scene: Scene) -> bool:
    """Takes PostgreSQL away for a while."""
    assert scene.system.postgres is not None
    scene.system.postgres.stop()
    time.sleep(scene.chance.uniform(0, 2 * LEASE))
    scene.system.postgres.start()
    return True


def may_stop_database(scene: Scene) -> bool:
    """Whether the database is a server of ours."""
    return scene.system.postgres is not None


FAULTS: Mapping[str, Fault] = {
    "worker killed at a point": Fault(at_a_point(WORKER), 3),
    "child killed at a point": Fault(at_a_point(CHILD), 2),
    "web killed at a point": Fault(at_a_point(WEB), 2),
    "worker killed at any moment": Fault(any_worker(signal.SIGKILL), 2),
    "child killed at any moment": Fault(any_child),
    "web killed at any moment": Fault(any_web),
    "fork server killed": Fault(any_fork_server, 0.5),
    "worker stands still": Fault(stand_still, 2),
    "worker told to stop": Fault(any_worker(signal.SIGTERM)),
    "job cancelled": Fault(cancel),
    "database restarted": Fault(restart_database, 1.5, may_stop_database),
}


def leftovers(system: System) -> list[str]:
    """Trainings that go on though no job is under way."""
    deadline = time.monotonic() + 5
    while (left := _trainings(system)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return [f"process {pid} trains on for nobody" for pid in left]


def _hit(scene: Scene, point: str, signal_name: str) -> int | None:
    scene.system.arm(point, signal_name)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if (pid := scene.system.hit(point)) is not None:
            return pid
        time.sleep(0.01)
    scene.system.disarm(point)
    return scene.system.hit(point)


def _kill_one_of(scene: Scene, find: Callable[[], list[int]]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if found := find():
            send(scene.chance.choice(found), signal.SIGKILL)
            return True
    return False


def _called(system: System, part: str) -> list[int]:
    return sorted(pid for pid, called in system.processes().items() if part in called)


def _fork_servers(system: System) -> list[int]:
    workers = set(_called(system, "service.jobs "))
    return [pid for pid in _called(system, "forkserver") if _parent(pid) in workers]


def _trainings(system: System) -> list[int]:
    """Children of fork servers, and those that have lost theirs; they all look alike."""
    workers = set(_called(system, "service.jobs "))
    return [pid for pid in _called(system, "forkserver") if _parent(pid) not in workers]


def _parent(pid: int) -> int | None:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return None
