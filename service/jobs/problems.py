"""What a failed job tells: a problem in the form of RFC 9457, named as web names them."""

import signal
from dataclasses import asdict
from typing import Any

from service.errors import BoughError, InvalidData, LimitReached, NotFound, Unavailable

REFUSALS: dict[type[BoughError], tuple[str, str]] = {
    InvalidData: ("invalid-data", "The data cannot be used"),
    LimitReached: ("limit-reached", "A limit is reached"),
    NotFound: ("not-found", "Not found"),
    Unavailable: ("unavailable", "Not available at the moment"),
    BoughError: ("refused", "The training was refused"),
}


def refused(error: BoughError) -> dict[str, Any]:
    """The problem of a training that will never succeed."""
    slug, title = next(REFUSALS[each] for each in type(error).__mro__ if each in REFUSALS)
    told = _problem(slug, title, str(error))
    if isinstance(error, InvalidData) and error.faults:
        told["errors"] = [asdict(fault) for fault in error.faults]
    return told


def out_of_memory(memory_bytes: int) -> dict[str, Any]:
    """The problem of a training that needs more memory than it may take."""
    detail = (
        f"The training needs more than the {memory_bytes} bytes of memory it may take. Allow more "
        "(limits.memory_bytes, BOUGH_JOB_MEMORY_BYTES), or train on fewer rows or columns."
    )
    return _problem("limit-reached", "A limit is reached", detail)


def timed_out(seconds: float) -> dict[str, Any]:
    """The problem of a training that takes longer than it may."""
    detail = (
        f"The training was ended after the {seconds:g} seconds it may take. Allow more "
        "(limits.seconds, BOUGH_JOB_SECONDS), or train on fewer rows, a smaller depth, or without "
        "cross-validation."
    )
    return _problem("limit-reached", "A limit is reached", detail)


def no_room() -> dict[str, Any]:
    """The problem of a training whose result found no room in the database."""
    detail = (
        "There was no room left on the disk of the database to save the result; nothing of it was "
        "kept. Make room there, and send the order again."
    )
    return _problem("no-room", "No room on the disk", detail)


def broken(kind: str) -> dict[str, Any]:
    """The problem of a training that ended in an error nobody foresaw."""
    detail = f"An error in the service ({kind}) ended the training; the log has more."
    if kind == MemoryError.__name__:
        detail = "The training needs more memory than the machine has; train on fewer rows."
    return _problem("internal-error", "Something broke", detail)


def crashed(exit_code: int | None) -> dict[str, Any]:
    """The problem of a training whose process is gone without a word."""
    if exit_code == -signal.SIGKILL:
        detail = "The training was killed; perhaps it needs too much memory."
    elif exit_code is not None and exit_code < 0:
        detail = f"The training was ended by signal {-exit_code}."
    else:
        detail = f"The training ended by itself with code {exit_code}."
    return _problem("interrupted", "The training was interrupted", detail)


def _problem(slug: str, title: str, detail: str) -> dict[str, Any]:
    return {"type": f"/problems/{slug}", "title": title, "detail": detail}
