"""Files beside the database. Each is known here before it is written and until it is gone.

So whatever dies in between leaves a row by which what it left can be found and removed.
"""

from collections.abc import Iterator

from sqlalchemy import ColumnElement, and_, delete, insert, or_, select, update
from sqlalchemy.orm import Session

from service.errors import NotFound
from service.storage.clock import after, now
from service.storage.file_tables import FileRow
from service.storage.job_tables import JobRow
from service.storage.records import Claim, FileState, JobState, StoredFile

FORGOTTEN = 3600.0  # seconds after which nobody is writing an upload any more
BATCH = 20


def announce(session: Session, name: str, format_: str, claim: Claim | None = None) -> None:
    """Note that a file of this name is going to be written, by a job if there is a claim."""
    session.execute(
        insert(FileRow).values(
            name=name,
            state=FileState.PENDING,
            format=format_,
            job_id=claim and claim.job_id,
            lease_token=claim and claim.token,
            created_at=now(),
        )
    )


def settle(session: Session, file: StoredFile) -> None:
    """Note that a file is whole; NotFound if it took so long that it was given up."""
    statement = (
        update(FileRow)
        .where(FileRow.name == file.name, FileRow.state == FileState.PENDING)
        .values(state=FileState.KEPT, n_bytes=file.n_bytes, checksum=file.checksum)
        .returning(FileRow.name)
    )
    if session.scalar(statement) is None:
        raise NotFound(f"The file {file.name!r} was given up.")


def doom(session: Session, name: str) -> None:
    """Note that nobody needs a file any more."""
    session.execute(update(FileRow).where(FileRow.name == name).values(state=FileState.DOOMED))


def fetch_result(session: Session, job_id: str) -> StoredFile:
    """The file that a job made."""
    row = session.scalar(
        select(FileRow).where(FileRow.job_id == job_id, FileRow.state == FileState.KEPT)
    )
    if row is None:
        raise NotFound(f"The job {job_id!r} has no result.")
    return to_file(row)


def list_unneeded(session: Session) -> list[str]:
    """Some of the files that nobody needs, from now on doomed: remove them, then `forget` them."""
    unneeded = (
        select(FileRow.name)
        .where(or_(*_reasons()))
        .limit(BATCH)
        .with_for_update(of=FileRow, skip_locked=True)
    )
    names = list(session.scalars(unneeded))
    for name in names:
        doom(session, name)
    return names


def forget(session: Session, name: str) -> None:
    """Note that a doomed file is gone."""
    session.execute(delete(FileRow).where(FileRow.name == name, FileRow.state == FileState.DOOMED))


def to_file(row: FileRow) -> StoredFile:
    """The record of a file that is whole."""
    return StoredFile(row.name, row.format, row.n_bytes or 0, row.checksum or "")


def _reasons() -> Iterator[ColumnElement[bool]]:
    yield FileRow.state == FileState.DOOMED
    of_job = FileRow.job_id.is_not(None)
    is_its = JobRow.id == FileRow.job_id
    written = select(JobRow.id).where(
        is_its, JobRow.state == JobState.RUNNING, JobRow.lease_token == FileRow.lease_token
    )
    pending = FileRow.state == FileState.PENDING
    yield and_(pending, of_job, ~written.exists())  # its writer was killed, or lost its lease
    yield and_(pending, ~of_job, FileRow.created_at < after(-FORGOTTEN))
    yield and_(of_job, ~select(JobRow.id).where(is_its).exists())  # the job was forgotten
