"""Datasets: uploaded tables, each a row here and a file beside the database."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, delete, insert, select
from sqlalchemy.orm import Session

from service.errors import Conflict, Misfit, NotFound
from service.storage import files
from service.storage.clock import now
from service.storage.file_tables import DatasetRow, FileRow
from service.storage.job_tables import JobRow
from service.storage.paging import Order, paged, to_page
from service.storage.records import (
    UNDER_WAY,
    DatasetDraft,
    Page,
    Position,
    StoredDataset,
    StoredFile,
)
from service.tree.summary import ColumnSummary

NEWEST_FIRST = Order((DatasetRow.created_at, DatasetRow.id), descending=True)


@dataclass(frozen=True, kw_only=True)
class DatasetHead:
    """A dataset without what is known of its columns, which may be long."""

    id: str
    name: str | None
    format: str
    n_rows: int
    n_bytes: int
    checksum: str
    created_at: datetime


def save_dataset(
    session: Session, dataset_id: str, draft: DatasetDraft, file: StoredFile
) -> StoredDataset:
    """The dataset that was kept; its file is whole, and was announced before."""
    files.settle(session, file)
    session.execute(
        insert(DatasetRow).values(
            id=dataset_id,
            name=draft.name,
            file=file.name,
            format=draft.format,
            n_rows=draft.n_rows,
            columns=[asdict(column) for column in draft.columns],
            warnings=[asdict(warning) for warning in draft.warnings],
            first_line=draft.first_line,
            n_bytes=draft.n_bytes,
            checksum=draft.checksum,
            created_at=now(),
        )
    )
    return fetch_dataset(session, dataset_id)


def fetch_dataset(session: Session, dataset_id: str) -> StoredDataset:
    """The dataset with this id."""
    found = session.execute(_selected().where(DatasetRow.id == dataset_id)).first()
    if found is None:
        raise _absent(dataset_id)
    return _dataset(*found)


def hold(session: Session, dataset_id: str) -> None:
    """Have the dataset not deleted until this transaction has ended; NotFound if it is gone."""
    # FOR SHARE: many orders may hold it at once, and a deletion waits for all of them.
    kept = select(DatasetRow.id).where(DatasetRow.id == dataset_id).with_for_update(read=True)
    if session.scalar(kept) is None:
        raise _absent(dataset_id)


def list_datasets(
    session: Session, *, after: Position | None = None, limit: int
) -> Page[DatasetHead]:
    """One page of the datasets, the newest first."""
    heads = select(*(getattr(DatasetRow, each.name) for each in fields(DatasetHead)))
    rows = session.execute(paged(heads, NEWEST_FIRST, after, limit)).all()
    return to_page(rows, limit, _heads, lambda each: (each.created_at.isoformat(), each.id))


def delete_dataset(session: Session, dataset_id: str) -> None:
    """Delete a dataset, whose file nobody needs then; Conflict while a job needs it."""
    kept = select(DatasetRow.file).where(DatasetRow.id == dataset_id).with_for_update()
    file = session.scalar(kept)
    if file is None:
        raise _absent(dataset_id)
    needed_by = session.scalar(
        select(JobRow.id)
        .where(
            JobRow.dataset_id == dataset_id,
            JobRow.state.in_(UNDER_WAY),
        )
        .order_by(JobRow.created_at)
        .limit(1)
    )
    if needed_by is not None:
        raise Conflict(f"The job {needed_by!r} needs the dataset; wait for it, or cancel it.")
    session.execute(delete(DatasetRow).where(DatasetRow.id == dataset_id))
    files.doom(session, file)


def _absent(dataset_id: str) -> NotFound:
    return NotFound(f"There is no dataset {dataset_id!r}.")


def _selected() -> Select[DatasetRow, FileRow]:
    return select(DatasetRow, FileRow).join(FileRow, FileRow.name == DatasetRow.file)


def _heads(rows: Sequence[Row[*tuple[Any, ...]]]) -> list[DatasetHead]:
    return [DatasetHead(**row._mapping) for row in rows]


def _dataset(row: DatasetRow, file: FileRow) -> StoredDataset:
    return StoredDataset(
        id=row.id,
        name=row.name,
        file=files.to_file(file),
        format=row.format,
        n_rows=row.n_rows,
        columns=tuple(ColumnSummary(**column) for column in row.columns),
        warnings=tuple(Misfit(**warning) for warning in row.warnings),
        first_line=row.first_line,
        n_bytes=row.n_bytes,
        checksum=row.checksum,
        created_at=row.created_at,
    )
