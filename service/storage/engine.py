"""The store: one database, opened for reading or for writing, a transaction at a time."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import uniform
from typing import Any

import orjson
import psycopg
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy import exc as sql
from sqlalchemy.orm import Session

from service.errors import BoughError, NoRoom, Unavailable

__all__ = ["Session", "Store", "open_store"]

DIALECTS = ("sqlite", "postgresql")
PATIENCE = 30.0  # seconds that SQLite may wait for a lock
PAUSES = (0.0005, 0.004)  # seconds between two looks at a lock: so many that nobody keeps step
SHARED_FULL = sqlite3.SQLITE_IOERR_SHMSIZE  # no room for what the connections share
# A machine that is switched off says nothing: without limits either side would wait for hours.
TO_SERVER: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
# What the server does about us, so that nothing stays locked by a process that hangs.
TO_US = {
    "tcp_keepalives_idle": "30s",
    "tcp_keepalives_interval": "10s",
    "tcp_keepalives_count": "3",
    "idle_in_transaction_session_timeout": "120s",
}
# The last of them ended our connection because we were silent for too long.
AWAY = (psycopg.OperationalError, psycopg.errors.IdleInTransactionSessionTimeout)


@dataclass(frozen=True)
class Store:
    """The database; each use of `reading` or `writing` is one transaction."""

    engine: Engine

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that sees one moment of the database and changes nothing."""
        with _one_transaction(self.engine.execution_options(**self._snapshot)) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A session that is committed at the end, or rolled back if anything is raised."""
        try:
            with _one_transaction(self.engine.execution_options(is_writing=True)) as session:
                session.connection()  # who gets the session has waited for his turn already
                yield session
        except NoRoom:
            _make_room(self.engine)
            raise

    @property
    def place(self) -> str:
        """Where the data is kept, fit to be shown: a path, or a URL without its password."""
        url = self.engine.url
        if url.get_backend_name() == "sqlite":
            return str(Path(url.database or ":memory:").absolute())
        return url.render_as_string(hide_password=True)

    def dispose(self) -> None:
        """Close the connections that wait to be used again."""
        self.engine.dispose()

    def forget(self) -> None:
        """Leave the connections to the process that this one was forked from, and open others."""
        self.engine.dispose(close=False)

    @property
    def _snapshot(self) -> dict[str, Any]:
        # In WAL mode a SQLite transaction is such a snapshot by itself.
        if self.engine.dialect.name == "sqlite":
            return {}
        return {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}


def open_store(url: str) -> Store:
    """The store at this URL; nothing is connected yet, but a SQLite file has its directory."""
    try:
        parsed = make_url(url)
    except sql.ArgumentError:
        raise ValueError("The database URL cannot be read.") from None
    if parsed.get_backend_name() not in DIALECTS:
        raise ValueError(f"{parsed.get_backend_name()} is no database we know: {DIALECTS}")
    return Store(_open_sqlite(parsed) if parsed.get_backend_name() == "sqlite" else _open(parsed))


def _open(url: URL) -> Engine:
    limits = {name: value for name, value in TO_SERVER.items() if name not in url.query}
    engine = _create(url, pool_pre_ping=True, connect_args=limits)
    event.listen(engine, "connect", _limit)
    return engine


def _limit(connection: "psycopg.Connection[Any]", _record: object) -> None:
    # Not as options of the connection, which a pooler between us would refuse.
    settings = ", ".join(f"set_config('{name}', '{value}', false)" for name, value in TO_US.items())
    connection.autocommit = True
    connection.execute(f"SELECT {settings}")
    connection.autocommit = False


def _open_sqlite(url: URL) -> Engine:
    if url.database and url.database != ":memory:":
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    engine = _create(url)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _create(url: URL, **options: Any) -> Engine:
    # hide_parameters: what is saved must not reach a log by way of an error message.
    return create_engine(
        url,
        hide_parameters=True,
        json_serializer=_to_json,
        json_deserializer=orjson.loads,
        **options,
    )


def _to_json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY).decode()


def _prepare(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves, and which one
    # SQLite's patience does not hold here: of several that open a new file at the same moment,
    # all but one are refused at once.
    _when_free(lambda: connection.execute("PRAGMA journal_mode = WAL"))
    _wait_at_most(connection, PATIENCE)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")


def _wait_at_most(connection: sqlite3.Connection, seconds: float) -> None:
    connection.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}")


def _begin(connection: Connection) -> None:
    # Reading first and asking for the write lock later fails at once when two do it: a writer
    # takes the lock at the start, where it can wait.
    if not connection.get_execution_options().get("is_writing", False):
        connection.exec_driver_sql("BEGIN")
        return
    # SQLite looks ever more seldom, in the end ten times a second: whoever has waited longest would
    # lose to whoever has just come, and with it the lease of a job.
    driver: Any = connection.connection.driver_connection
    _wait_at_most(driver, 0)
    try:
        _when_free(lambda: driver.execute("BEGIN IMMEDIATE"))  # SQLAlchemy takes long to fail
    finally:
        _wait_at_most(driver, PATIENCE)


def _when_free(act: Callable[[], object]) -> None:
    """Does what others may be in the way of, as soon as they are not."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            act()
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(uniform(*PAUSES))
        else:
            return


def _make_room(engine: Engine) -> None:
    """Have SQLite move what is committed out of its log, whose room can then be used again."""
    if engine.dialect.name != "sqlite":
        return
    # It does so by itself after 1,000 pages; but where the log cannot grow, it never gets there.
    with suppress(sqlite3.Error, sql.DBAPIError), closing(engine.raw_connection()) as connection:
        connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)")


@contextmanager
def _one_transaction(engine: Engine) -> Iterator[Session]:
    with answering(), Session(engine) as session, session.begin():
        yield session


@contextmanager
def answering() -> Iterator[None]:
    """A block in which a database that does not answer is Unavailable; other errors stay."""
    try:
        yield
    except sql.TimeoutError as error:
        raise Unavailable("All connections to the database are in use.") from error
    except (*AWAY, sqlite3.OperationalError, sql.DBAPIError) as error:
        # of the driver itself, which saves in bulk and waits for its turn, or by way of SQLAlchemy
        if not _is_away(error):
            raise
        raise _unavailable(_original(error)) from error
    except sql.StatementError as error:
        if isinstance(error.orig, BoughError):  # a value was refused on its way into a statement
            raise error.orig from None
        raise


def _original(error: Exception) -> BaseException | None:
    return error.orig if isinstance(error, sql.DBAPIError) else error


def _is_away(error: Exception) -> bool:
    """Whether the database is to blame (gone, locked, full) and not the statement."""
    original = _original(error)
    if isinstance(original, sqlite3.OperationalError):
        # SQLite calls a misspelt statement "operational" too; only the code tells them apart.
        return _code(original) != sqlite3.SQLITE_ERROR
    if isinstance(error, sql.DBAPIError) and error.connection_invalidated:
        return True
    return isinstance(error, sql.OperationalError) or isinstance(original, AWAY)


def _unavailable(error: BaseException | None) -> Unavailable:
    if isinstance(error, sqlite3.OperationalError):
        is_full = _code(error) == sqlite3.SQLITE_FULL or _whole_code(error) == SHARED_FULL
    else:
        is_full = isinstance(error, psycopg.errors.DiskFull)
    if is_full:
        return NoRoom("There is no room left on the disk of the database.")
    return Unavailable("The database does not answer.")


def _code(error: sqlite3.OperationalError) -> int:
    return _whole_code(error) & 0xFF  # the upper bits tell more than we ask


def _whole_code(error: sqlite3.OperationalError) -> int:
    # what Python's own module finds wrong has none
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
