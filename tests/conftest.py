"""A migrated database for each test that wants one, on both engines; how hard hypothesis tries."""

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from service.jobs.attend import prepare
from service.storage.engine import Store, open_store
from service.storage.migrate import upgrade
from tests.postgres import Postgres, started

settings.register_profile("dev", max_examples=30, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

TEMPLATE = f"bough_template_{os.getpid()}"
# The files that take longest, so that no process is left alone with one of them at the end.
LONGEST = (
    "tests/faults/", "tests/jobs/test_processes.py", "tests/web/test_events.py",
    "tests/test_web_processes.py", "tests/test_cli", "tests/test_warm.py", "tests/jobs/",
    "tests/web/test_contract.py",
)  # fmt: skip
numbers = count()


class Schedule(LoadFileScheduling):  # type: ignore[misc] # which has no types
    """A file at a time; but of faults those on one engine, which share web and workers."""

    def _split_scope(self, nodeid: str) -> str:
        if not nodeid.startswith("tests/faults/"):
            return str(super()._split_scope(nodeid))
        return f"faults on {'postgresql' if 'postgresql' in nodeid else 'sqlite'}"


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Schedule:
    """Which tests go to which process."""
    return Schedule(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begins with what takes longest; who shares out tests to processes knows them by name."""
    twice = sorted(name for name, n in Counter(item.nodeid for item in items).items() if n > 1)
    if twice:
        raise pytest.UsageError(f"Of tests with the same name only one would be run: {twice}")
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


@pytest.fixture(scope="session")
def fork_server() -> None:
    """Where processes come from in milliseconds, with what they would import."""
    prepare("service.storage.migrate", "service.storage.jobs", "tests.jobs.entries")


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """A PostgreSQL server with a migrated database to copy."""
    with started(tmp_path_factory.mktemp("postgres")) as server:
        migrate(server.create(TEMPLATE))
        yield server
        server.drop(TEMPLATE)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file to copy."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a migrated database that is this test's own, once on each engine."""
    if request.param == "sqlite":
        path = tmp_path / "bough.db"
        shutil.copy(request.getfixturevalue("sqlite_template"), path)
        yield f"sqlite:///{path}"
        return
    server: Postgres = request.getfixturevalue("postgres")
    name = f"bough_{os.getpid()}_{next(numbers)}"
    yield server.create(name, template=TEMPLATE)
    server.drop(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without any table, once on each engine."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
        return
    server: Postgres = request.getfixturevalue("postgres")
    name = f"bough_empty_{os.getpid()}_{next(numbers)}"
    yield server.create(name)
    server.drop(name)


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    """A migrated, empty database of this test's own."""
    opened = open_store(database_url)
    yield opened
    opened.dispose()


@pytest.fixture
def sqlite_store(sqlite_template: Path, tmp_path: Path) -> Iterator[Store]:
    """The same on SQLite only, where the other engine would tell nothing new."""
    opened = open_store(f"sqlite:///{shutil.copy(sqlite_template, tmp_path / 'bough.db')}")
    yield opened
    opened.dispose()


def migrate(url: str) -> None:
    opened = open_store(url)
    upgrade(opened)
    opened.dispose()
