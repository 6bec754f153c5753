"""What a process that meets strange data may take, and when it must end."""

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux


def be_told_of_death(number: int) -> None:
    """Have this process get a signal should its parent be killed; only Linux does so."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_DEATH_SIGNAL, number)


def die_with(parent: int) -> None:
    """Have this process end with its parent, or now, if it is too late for that."""
    be_told_of_death(signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("there is nobody to read for")


def leave_no_trace() -> None:
    """Have a crash leave no image of the memory behind: it would hold the data."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@contextmanager
def bounded(memory_bytes: int) -> Iterator[None]:
    """A block that gets no more memory; after it there is enough again to tell of it."""
    if not memory_bytes:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = address_space() + memory_bytes
    allowed = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([most, *allowed]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def address_space() -> int:
    """How many bytes of addresses this process has, of which imports alone take hundreds of MB."""
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[0]) * resource.getpagesize() if pages.exists() else 0
