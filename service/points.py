"""Named points in the life of a job, at which a test may end or stop this process.

With BOUGH_POINTS set to a directory, a process that passes a point takes the file of that name
away, if there is one, and sends itself the signal that is written in it: each file acts once, and
is left under the name of the point, a dot and the process that took it. In earnest nothing
happens.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path

WEB = (
    "web-checked",  # the order is sound, nothing is written
    "web-placed",  # the job is written, but not yet committed
    "web-committed",  # nobody was answered yet
)
WORKER = (
    "worker-claimed",
    "worker-read",
    "worker-started",  # the child is at work
    "worker-received",  # the child has ended, and told how
    "worker-versioned",  # in the transaction that saves: the version is there, its nodes are not
    "worker-saved",  # in it: the nodes too, but the job still runs
    "worker-finished",  # in it: the job has succeeded, but nothing is committed
    "worker-committed",
)
CHILD = (
    "child-encode",
    "child-grow",
    "child-evaluate",
    "child-sending",
)
POINTS = WEB + WORKER + CHILD

_armed = os.environ.get("BOUGH_POINTS")


def passing(point: str) -> None:
    """Ends or stops this process if that was asked for."""
    if not _armed:
        return
    path = Path(_armed) / point
    with suppress(FileNotFoundError):  # not armed, or another process was faster
        taken = path.rename(path.with_name(f"{point}.{os.getpid()}"))
        # To this thread: a signal to the process might reach it some steps later.
        signal.raise_signal(signal.Signals[taken.read_text().strip()])
