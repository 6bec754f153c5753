"""Many rows at once, by the way that each driver does fastest."""

from collections.abc import Iterable
from typing import Any, cast

import psycopg
from sqlalchemy import Table, select
from sqlalchemy.orm import Session

# Rows fetched at a time, fewer than wake the garbage collector: with 5,000 it took twice as long.
PART = 500


def insert_many(session: Session, table: Table, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert rows that have every column of the table, in its order."""
    connection = session.connection()
    names = ", ".join(column.name for column in table.c)
    if connection.dialect.name == "sqlite":
        statement = f"INSERT INTO {table.name} ({names}) VALUES ({', '.join('?' * len(table.c))})"
        if listed := list(rows):  # of none SQLAlchemy would make one statement without values
            connection.exec_driver_sql(statement, listed)
        return
    driver = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
    with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def fetch_columns(session: Session, table: Table, version_id: int) -> dict[str, list[Any]]:
    """The columns of a version's rows, in the order of their key."""
    wanted = [column for column in table.c if column.name != "version_id"]
    statement = select(*wanted).where(table.c.version_id == version_id)
    result = session.connection().execute(statement.order_by(*table.primary_key))
    columns: dict[str, list[Any]] = {column.name: [] for column in wanted}
    # The driver's own tuples: SQLAlchemy's rows would take as long again to make.
    while part := result.cursor.fetchmany(PART):
        for column, values in zip(columns.values(), zip(*part, strict=True), strict=True):
            column.extend(values)
    return columns
