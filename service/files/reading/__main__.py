"""One file is read in a process of its own: `python -m service.files.reading SOURCE TARGET`.

Both are numbers of open files. The errand comes as JSON on stdin, the outcome goes to stdout.
"""

import os
import sys
import traceback

import pyarrow as pa

from service.confine import bounded, die_with, leave_no_trace
from service.errors import InvalidFile, LimitReached, NoRoom
from service.files.reading.ingest import ingest
from service.files.reading.outcome import (
    Broken,
    Errand,
    Outcome,
    OutOfMemory,
    dump_outcome,
    load_errand,
)


def main() -> None:
    """Read the file, and tell what came of it."""
    errand = load_errand(sys.stdin.buffer.read())
    die_with(errand.parent)
    leave_no_trace()
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)  # each thread takes addresses, which are counted
    source, target = map(int, sys.argv[1:])
    outcome = run(errand, source, target)
    sys.stdout.buffer.write(dump_outcome(outcome))
    sys.stdout.flush()
    os._exit(0)  # at once: a thread of Arrow's may still wait to read on, and would break the end


def run(errand: Errand, source: int, target: int) -> Outcome:
    """What came of the errand."""
    try:
        with bounded(errand.memory_bytes):
            return ingest(os.fdopen(source, "rb"), os.fdopen(target, "wb"), errand.order)
    except (InvalidFile, LimitReached, NoRoom) as error:
        return error
    except MemoryError:
        return OutOfMemory()
    except Exception as error:  # noqa: BLE001
        return Broken(type(error).__name__, _trace(error))


def _trace(error: BaseException) -> tuple[str, ...]:
    frames = traceback.extract_tb(error.__traceback__)
    return tuple(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames)


if __name__ == "__main__":
    main()
