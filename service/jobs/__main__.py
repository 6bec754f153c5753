"""One worker in a process of its own, set up by the environment: `python -m service.jobs`."""

import os
import socket

from service.jobs.attend import is_prepared
from service.jobs.stop import stop_on_signals
from service.jobs.worker import Worker, work
from service.logs import configure_logging
from service.settings import read_settings
from service.storage.engine import open_store


def main() -> None:
    """Work until SIGTERM or Ctrl-C."""
    stop = stop_on_signals()
    settings = read_settings(os.environ)
    configure_logging(settings.log_level)
    os.environ.update(settings.kernel_variables)  # for the fork server, which loads the kernels
    if not is_prepared(stop):
        return
    store = open_store(settings.url)
    work(Worker(store, settings, stop, owner=f"{socket.gethostname()}:{os.getpid()}"))
    store.dispose()


if __name__ == "__main__":
    main()
