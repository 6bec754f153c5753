"""The tables of files beside the database, and of the datasets that they hold."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, CheckConstraint, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from service.storage.records import FileState
from service.storage.tables import Name, Row

IS_FILE_STATE = f"state IN ({', '.join(repr(state.value) for state in FileState)})"


class FileRow(Row):
    """A file beside the database; it is known here before it is written and until it is gone."""

    __tablename__ = "files"
    __table_args__ = (CheckConstraint(IS_FILE_STATE, name="state"),)

    name: Mapped[str] = mapped_column(Name, primary_key=True)
    state: Mapped[str] = mapped_column(index=True)
    format: Mapped[str]
    n_bytes: Mapped[int | None] = mapped_column(BigInteger)
    checksum: Mapped[str | None]  # SHA-256 of the file
    job_id: Mapped[str | None] = mapped_column(Name, index=True)  # whose result it is
    lease_token: Mapped[str | None]  # of the claim under which it is written
    created_at: Mapped[datetime]


class DatasetRow(Row):
    """An uploaded table: what is known of its columns, and the file that holds it."""

    __tablename__ = "datasets"
    __table_args__ = (Index(None, "created_at", "id"),)

    id: Mapped[str] = mapped_column(Name, primary_key=True)
    name: Mapped[str | None]
    file: Mapped[str] = mapped_column(Name, ForeignKey("files.name"), unique=True)
    format: Mapped[str]  # in which it was sent
    n_rows: Mapped[int] = mapped_column(BigInteger)
    columns: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    warnings: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    first_line: Mapped[int | None]  # of the first row; NULL: lines are not rows
    n_bytes: Mapped[int] = mapped_column(BigInteger)  # as sent
    checksum: Mapped[str]  # SHA-256 of what was sent
    created_at: Mapped[datetime]
