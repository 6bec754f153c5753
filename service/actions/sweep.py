"""Sweeping: files that nobody needs are removed, then forgotten."""

from contextlib import suppress

from service.errors import BoughError
from service.files.place import open_place
from service.settings import Settings
from service.storage import files
from service.storage.datasets import delete_dataset
from service.storage.engine import Store


def sweep(store: Store, settings: Settings) -> int:
    """How many files were removed; some may be left for the next time."""
    with store.writing() as session:
        names = files.list_unneeded(session)
    place, n_removed = open_place(settings), 0
    for name in names:
        with suppress(BoughError):  # one that cannot be removed must not keep the others
            place.remove(name)
            with store.writing() as session:
                files.forget(session, name)
            n_removed += 1
    return n_removed


def discard(store: Store, dataset_id: str) -> None:
    """Delete a dataset; its file goes with the next sweep."""
    with store.writing() as session:
        delete_dataset(session, dataset_id)
