"""The errors of the domain. What they mean over HTTP is decided in web, and only there."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong in what was sent: where it stands (a JSON pointer) and why."""

    pointer: str
    detail: str


def pointer(*parts: str | int) -> str:
    """The JSON pointer (RFC 6901) to the value reached through these parts."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


class BoughError(Exception):
    """Anything the service refuses or cannot do, told in a sentence."""


class InvalidData(BoughError):
    """What was sent cannot be used; the faults say where and why."""

    def __init__(self, detail: str, faults: Iterable[Fault] = ()) -> None:
        super().__init__(detail)
        self.faults = tuple(faults)


class NotFound(BoughError):
    """There is no such thing here."""


class Conflict(BoughError):
    """The thing is in a state that does not allow this."""


class KeyReused(BoughError):
    """The key of an order was used before, for another order."""


class Unavailable(BoughError):
    """The database does not answer at the moment; the same request may succeed later."""


class LeaseLost(BoughError):
    """The job is no longer ours: another worker took it, or it was cancelled."""


class LimitReached(BoughError):
    """The work would grow beyond a limit that the service keeps."""
