"""Having an uploaded file read by a process of its own.

Whatever a file does to those who read it, this process goes on, and needs neither the memory for it
nor the libraries.
"""

import logging
import os
import subprocess
import sys
from typing import BinaryIO

from service.errors import InvalidFile, LimitReached
from service.files.reading.outcome import (
    Broken,
    Errand,
    Outcome,
    OutOfMemory,
    dump_errand,
    load_outcome,
)
from service.files.records import Ingested, Ingestion

# -P: what lies in the current directory must not be taken for one of our modules.
READER = ("-P", "-m", "service.files.reading")
# Of our environment the reader gets no more than it needs to start: there are secrets in it.
NEEDED = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "LANG", "LC_ALL")
# Addresses are what is limited. So none are reserved in advance, and what is freed is given back:
# Arrow asks for as much as a whole block for each of its columns.
SPARING = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "1048576",
    "OPENBLAS_NUM_THREADS": "1",
}
BROKE_DOWN = "The file cannot be read: its reader broke down."

logger = logging.getLogger(__name__)


def read_upload(
    source: BinaryIO, target: BinaryIO, order: Ingestion, seconds: float, memory_bytes: int
) -> Ingested:
    """What the source holds, which stands as Parquet in the target then; 0 is no limit."""
    outcome = _outcome(source, target, Errand(order, os.getpid(), memory_bytes), seconds)
    match outcome:
        case Ingested():
            return outcome
        case OutOfMemory():
            raise LimitReached(
                f"The file takes more than {memory_bytes} bytes of memory to read; that is the"
                " limit (BOUGH_INGEST_MEMORY_BYTES)."
            )
        case Broken(kind, trace):
            logger.error("reading a file broke", extra={"exception": kind, "trace": trace})
            raise InvalidFile(BROKE_DOWN)
        case _:
            raise outcome


def _outcome(source: BinaryIO, target: BinaryIO, errand: Errand, seconds: float) -> Outcome:
    files = source.fileno(), target.fileno()
    with subprocess.Popen(
        [sys.executable, *READER, *map(str, files)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # what a library says of the data must not come into a log
        pass_fds=files,
        env={name: os.environ[name] for name in NEEDED if name in os.environ} | SPARING,
    ) as child:
        try:
            sent, _ = child.communicate(dump_errand(errand), timeout=seconds or None)
        except subprocess.TimeoutExpired:
            raise LimitReached(
                f"The file takes more than {seconds:g} seconds to read; that is the limit"
                " (BOUGH_INGEST_SECONDS)."
            ) from None
        finally:
            child.kill()  # which does nothing once it has ended
    outcome = load_outcome(sent)
    if outcome is None:  # it was not able to say a last word
        logger.error("the reader of a file crashed", extra={"exit_code": child.returncode})
        raise InvalidFile(BROKE_DOWN)
    return outcome
