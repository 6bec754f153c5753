"""The store: one database, opened for reading or for writing, a transaction at a time."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import psycopg
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy import exc as sql
from sqlalchemy.orm import Session

from service.errors import BoughError, Unavailable

__all__ = ["Session", "Store", "open_store"]

DIALECTS = ("sqlite", "postgresql")
PATIENCE = 30.0  # seconds that SQLite may wait for a lock


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
        with _one_transaction(self.engine.execution_options(is_writing=True)) as session:
            yield session

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
    # A machine that is switched off answers nothing: without a limit we would wait for minutes.
    limit = {} if "connect_timeout" in url.query else {"connect_timeout": 5}
    return _create(url, pool_pre_ping=True, connect_args=limit)


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
    connection.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000:.0f}")
    _use_wal(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")


def _use_wal(connection: sqlite3.Connection) -> None:
    # The busy timeout does not hold here: of several that open a new file at the same moment,
    # all but one are refused at once, and have to try again.
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _begin(connection: Connection) -> None:
    # Reading first and asking for the write lock later fails at once when two do it: a writer
    # takes the lock at the start, where it can wait.
    is_writing = connection.get_execution_options().get("is_writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")


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
    except psycopg.OperationalError as error:  # bulk saving speaks to the driver itself
        raise Unavailable("The database does not answer.") from error
    except sql.DBAPIError as error:
        if not _is_away(error):
            raise
        raise Unavailable("The database does not answer.") from error
    except sql.StatementError as error:
        if isinstance(error.orig, BoughError):  # a value was refused on its way into a statement
            raise error.orig from None
        raise


def _is_away(error: sql.DBAPIError) -> bool:
    """Whether the database is to blame (gone, locked, full) and not the statement."""
    if isinstance(error.orig, sqlite3.OperationalError):
        # SQLite calls a misspelt statement "operational" too; only the code tells them apart.
        return _code(error.orig) != sqlite3.SQLITE_ERROR
    return error.connection_invalidated or isinstance(error, sql.OperationalError)


def _code(error: sqlite3.OperationalError) -> int:
    return error.sqlite_errorcode & 0xFF  # the upper bits tell more than we ask
