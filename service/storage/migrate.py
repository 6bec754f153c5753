"""Takes a database to the newest schema; many processes may try at once, one does it."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from service.errors import Conflict
from service.storage.engine import Store, answering

DIRECTORY = Path(__file__).parents[2] / "migrations"
LOCK = 0x626F756768  # "bough": the number of our advisory lock on PostgreSQL


def upgrade(store: Store, revision: str = "head") -> None:
    """Take the database to a revision, waiting for whoever is already doing so."""
    if revision == "head" and is_current(store):
        return
    with answering(), _locked(store) as connection:
        _check_known(_revision(connection))
        command.upgrade(_config(connection), revision)


def downgrade(store: Store, revision: str) -> None:
    """Take the database back to an earlier revision; what only later ones hold is lost."""
    with answering(), _locked(store) as connection:
        command.downgrade(_config(connection), revision)


def current(store: Store) -> str | None:
    """The revision of the database, None if it is empty."""
    with answering(), store.engine.connect() as connection:
        return _revision(connection)


def is_current(store: Store) -> bool:
    """Whether the database has the schema that this release works with."""
    return current(store) == _scripts().get_current_head()


@contextmanager
def _locked(store: Store) -> Iterator[Connection]:
    if store.engine.dialect.name == "sqlite":
        with store.engine.execution_options(is_writing=True).connect() as connection:
            yield from _without_foreign_keys(connection)
    else:
        with store.engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
            yield connection


def _without_foreign_keys(connection: Connection) -> Iterator[Connection]:
    # To alter a table SQLite drops the old one, and a cascade would then empty its children.
    # The pragma does nothing inside a transaction, hence the driver's own connection.
    driver = connection.connection.cursor()
    driver.execute("PRAGMA foreign_keys = OFF")
    try:
        with connection.begin():
            yield connection
    finally:
        driver.execute("PRAGMA foreign_keys = ON")
        driver.close()


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _check_known(revision: str | None) -> None:
    known = {script.revision for script in _scripts().walk_revisions()}
    if revision is not None and revision not in known:
        raise Conflict(f"The database is at revision {revision}, which a newer release has made.")


def _config(connection: Connection | None = None) -> Config:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(DIRECTORY).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


@cache
def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())
