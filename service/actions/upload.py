"""Uploading: what is sent is spooled, read by a process of its own, and kept."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Any, BinaryIO
from uuid import uuid4

from service.actions.describe import describe
from service.errors import BoughError, NoRoom, Unavailable
from service.files.child import read_upload
from service.files.place import Place, open_place, reachable
from service.files.records import Ingested, Ingestion
from service.points import passing
from service.settings import Settings
from service.storage import files
from service.storage.datasets import save_dataset
from service.storage.engine import Store
from service.storage.records import DatasetDraft, StoredDataset


@dataclass(frozen=True)
class Spooled:
    """All that was sent, in a file that is gone with this process."""

    file: BinaryIO
    n_bytes: int
    checksum: str


@contextmanager
def spooled(chunks: Iterable[bytes], place: Place) -> Iterator[Spooled]:
    """What is sent, in a file of this machine, as long as the block lasts."""
    with place.spooled() as file:
        digest = sha256()
        for chunk in chunks:
            digest.update(chunk)
            with reachable():
                file.write(chunk)
        with reachable():
            file.flush()
        yield Spooled(file, file.tell(), digest.hexdigest())


def asked(settings: Settings, wishes: Mapping[str, Any]) -> Ingestion:
    """How a file is to be read: as somebody wishes, within the limits of the service."""
    return Ingestion(
        **wishes,
        max_bytes=settings.max_dataset_bytes,
        max_cells=settings.max_dataset_cells,
        max_columns=settings.max_dataset_columns,
    )


def upload(
    store: Store, settings: Settings, sent: Spooled, name: str | None, order: Ingestion
) -> StoredDataset:
    """The dataset that was sent, once it is kept; InvalidFile names lines and columns."""
    place = open_place(settings)
    with place.spooled() as table:
        limits = settings.ingest_seconds, settings.ingest_memory_bytes
        found = read_upload(sent.file, table, order, *limits)
        return _keep(store, place, _draft(name, sent, found), table)


def _draft(name: str | None, sent: Spooled, found: Ingested) -> DatasetDraft:
    told = {field.name: getattr(found, field.name) for field in fields(found)}
    return DatasetDraft(name=name, n_bytes=sent.n_bytes, checksum=sent.checksum, **told)


def _keep(store: Store, place: Place, draft: DatasetDraft, table: BinaryIO) -> StoredDataset:
    dataset_id = str(uuid4())
    file = describe(f"{dataset_id}.parquet", "parquet", table)
    with store.writing() as session:
        files.announce(session, file.name, file.format)
    passing("dataset-announced")
    try:
        place.keep(file.name, table)
        passing("dataset-written")
        with store.writing() as session:
            kept = save_dataset(session, dataset_id, draft, file)
    except BoughError as error:
        # A database that went away may have committed: then the file is needed. A sweep will tell.
        is_unsure = isinstance(error, Unavailable) and not isinstance(error, NoRoom)
        if not is_unsure:
            with suppress(BoughError):  # the next sweep will do it
                place.remove(file.name)
        raise
    return kept
