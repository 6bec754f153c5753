"""A worker as a process of its own, with one of our trainings in the place of the real one."""

import sys

from service.jobs.attend import prepare
from service.jobs.stop import stop_on_signals
from service.jobs.worker import Worker, work
from service.logs import configure_logging
from service.settings import read_settings
from service.storage.engine import open_store
from tests.jobs.entries import ENTRIES

QUICK = {
    "BOUGH_LEASE_SECONDS": "2",
    "BOUGH_HEARTBEAT_SECONDS": "0.2",
    "BOUGH_POLL_SECONDS": "0.1",
    "BOUGH_WEBHOOK_PRIVATE": "true",
}


def main(url: str, entry: str) -> None:
    stop = stop_on_signals()
    configure_logging("INFO")
    prepare("tests.jobs.entries")
    store = open_store(url)
    work(Worker(store, read_settings(QUICK), stop, "a process", ENTRIES[entry]))
    store.dispose()


if __name__ == "__main__":
    main(*sys.argv[1:])
