"""The disk of the database is full while a tree is saved: a story on a small disk of its own.

    unshare --mount python -m tests.faults.full_disk sqlite|postgresql <empty directory>

It mounts that disk, so it wants a mount namespace to do so in; test_full_disk.py sees to that.
"""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text

from tests.conftest import migrate
from tests.faults.checks import is_free, violations
from tests.faults.fleet import send
from tests.faults.system import System, an_order, running
from tests.postgres import home_of, started_own, unprivileged_user

SIZE = "24m"  # an empty PostgreSQL database alone takes 8
SLACK = 1 << 18  # too little for the tree, enough to tell of it
N_ROWS = 2000


def main(engine: str, directory: Path) -> None:
    """Nothing, if all goes as it should."""
    with small_disk() as disk, database(engine, directory, disk) as url:
        migrate(url)
        with running(directory, url, heartbeat_seconds="0.5") as system:
            tell(system, disk / "ballast")


@contextmanager
def small_disk() -> Iterator[Path]:
    """A directory that holds no more than that, open to the user PostgreSQL runs as."""
    user = unprivileged_user()
    disk = home_of(user)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", disk], check=True)
    if user:
        os.chown(disk, user.pw_uid, user.pw_gid)
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)
        disk.rmdir()


@contextmanager
def database(engine: str, directory: Path, disk: Path) -> Iterator[str]:
    """The URL of a database that lies on the disk."""
    if engine == "sqlite":
        yield f"sqlite:///{disk / 'bough.db'}"
        return
    with started_own(directory) as postgres:
        administration = create_engine(postgres.url("postgres"), isolation_level="AUTOCOMMIT")
        with administration.connect() as connection:
            connection.execute(text(f"CREATE TABLESPACE small LOCATION '{disk}'"))
            connection.execute(text("CREATE DATABASE bough TABLESPACE small"))
        administration.dispose()
        yield postgres.url("bough")


def tell(system: System, ballast: Path) -> None:
    """The disk fills up while a tree is grown, stays full for a while, and gets room again."""
    system.arm("child-grow", "SIGSTOP")
    ordered = system.ordered("big", **big())["id"]
    child = system.wait_for_hit("child-grow")
    fill(ballast)

    refused = system.send(an_order("other", **big()))
    assert refused is not None
    assert (503, "/problems/unavailable") == (refused.status_code, refused.json()["type"])
    assert "no room" in refused.json()["detail"]
    assert int(refused.headers["Retry-After"]) > 0
    os.truncate(ballast, ballast.stat().st_size - SLACK)
    send(child, signal.SIGCONT)

    job = system.ended(ordered)
    assert ("failed", 1, None) == (job["state"], job["attempt"], job["version"]), job
    assert "/problems/no-room" == job["error"]["type"]
    assert "no room left on the disk" in job["error"]["detail"]
    assert 404 == system.get("/models/big").status_code
    system.wait_for(lambda: is_free(system.store), "somebody holds a lock")
    assert [] == violations(system.store)

    ballast.unlink()
    following = system.ended(system.ordered("big", **big())["id"])
    assert ("succeeded", 1, 1) == (following["state"], following["attempt"], following["version"])
    survives_when_room_is_made(system, ballast)
    assert [] == violations(system.store)


def survives_when_room_is_made(system: System, ballast: Path) -> None:
    """A disk that is full for a moment only costs nothing."""
    system.arm("child-grow", "SIGSTOP")
    ordered = system.ordered("big", **big())["id"]
    child = system.wait_for_hit("child-grow")
    fill(ballast)
    silent = n_outages(system)
    send(child, signal.SIGCONT)
    system.wait_for(lambda: n_outages(system) > silent, "there is room")
    ballast.unlink()

    job = system.ended(ordered)
    assert ("succeeded", 1, 2) == (job["state"], job["attempt"], job["version"]), job


def n_outages(system: System) -> int:
    return len(system.lines("the database does not answer"))


def big() -> dict[str, Any]:
    """Columns of chance, out of which grows a large tree; each node tells a long name."""
    chance = random.Random(0)
    columns: dict[str, list[Any]] = {
        letter * 500: [chance.randrange(N_ROWS) for _ in range(N_ROWS)] for letter in "abc"
    }
    columns["ripe"] = [chance.choice(["yes", "no"]) for _ in range(N_ROWS)]
    return {"target": "ripe", "data": {"columns": columns}, "evaluation": {"method": "none"}}


def fill(ballast: Path) -> None:
    """Take all the room there is."""
    with ballast.open("ab", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            with suppress(OSError):
                while True:
                    file.write(bytes(size))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
