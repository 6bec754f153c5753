"""The errors of the domain. What they mean over HTTP is decided in web, and only there."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice

MOST_NAMES, MOST_LETTERS = 200, 100  # that are looked at for a hint, which must not take long


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong in what was sent: where it stands (a JSON pointer) and why."""

    pointer: str
    detail: str


@dataclass(frozen=True)
class LineFault(Fault):
    """One that stands on a line of what was sent."""

    line: int  # from 1


def pointer(*parts: str | int) -> str:
    """The JSON pointer (RFC 6901) to the value reached through these parts."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def hint(name: str, known: Iterable[str]) -> str:
    """The end of a sentence on a name that nobody knows: which one may be meant, or nothing."""
    if len(name) > MOST_LETTERS:
        return ""
    looked_at = [each for each in islice(known, MOST_NAMES) if len(each) <= MOST_LETTERS]
    near = get_close_matches(name, looked_at, 1)
    return f"; is {near[0]!r} meant?" if near else ""


class BoughError(Exception):
    """Anything the service refuses or cannot do, told in a sentence."""


class InvalidData(BoughError):
    """What was sent cannot be used; the faults say where and why."""

    def __init__(self, detail: str, faults: Iterable[Fault] = ()) -> None:
        super().__init__(detail)
        self.faults = tuple(faults)


@dataclass(frozen=True)
class Misfit:
    """One thing that is wrong or odd in a file: on which line, in which column, and why."""

    line: int | None  # from 1; None: it is no matter of one line
    column: str | None
    detail: str


class InvalidFile(BoughError):
    """A file that was sent cannot be used; the misfits say where and why."""

    def __init__(self, detail: str, misfits: Iterable[Misfit] = ()) -> None:
        super().__init__(detail)
        self.misfits = tuple(misfits)


class NotFound(BoughError):
    """There is no such thing here."""


class Conflict(BoughError):
    """The thing is in a state that does not allow this."""


class KeyReused(BoughError):
    """The key of an order was used before, for another order."""


class Unavailable(BoughError):
    """The database does not answer at the moment; the same request may succeed later."""


class NotReady(Unavailable):
    """The service has just begun and is not ready yet, which is no fault of anything."""


class LeaseLost(BoughError):
    """The job is no longer ours: another worker took it, or it was cancelled."""


class NoRoom(Unavailable):
    """There is no room left on the disk."""


class LimitReached(BoughError):
    """The work would grow beyond a limit that the service keeps."""
