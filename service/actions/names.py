"""Which version a name means, known from memory for less than a second."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import TypeAlias

from service.errors import NotFound, Unavailable
from service.storage.records import VersionKey

SECONDS = 0.8  # that a name may be out of date, so that answers are no more than a second behind
PAUSE = 0.1  # seconds after a failure in which nobody tries again
MOST = 10_000  # names kept; each takes some hundred bytes
Selected: TypeAlias = tuple[str, int | None]  # `name` or `name@alias`, and a version's number


@dataclass(frozen=True)
class Known:
    """The version that a name meant at a time."""

    version: VersionKey
    at: float


class Names:
    """The versions that names mean; whoever comes first after a while asks, the others wait."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._known: dict[Selected, Known] = {}
        self._asking = Lock()
        self._away: tuple[float, str] | None = None  # when asking last failed, and how

    def fresh(self, selected: Selected) -> VersionKey | None:
        """The version that is meant, if that was asked not long ago."""
        known, now = self._known.get(selected), self._clock()
        return known.version if known is not None and now - known.at < SECONDS else None

    def find(self, selected: Selected, ask: Callable[[], VersionKey]) -> VersionKey:
        """The version that is meant, asked for if nobody did a moment ago."""
        came = self._clock()
        with self._asking:
            at = self._clock()  # what is true when we ask may not be when we are answered
            known = self._known.get(selected)
            if known is not None and (known.at >= came or at - known.at < SECONDS):
                return known.version
            if self._away is not None and came < self._away[0] + PAUSE:
                raise Unavailable(self._away[1])  # or all who wait would try, one after the other
            self._keep(selected, Known(self._ask(selected, ask), at))
            return self._known[selected].version

    def _ask(self, selected: Selected, ask: Callable[[], VersionKey]) -> VersionKey:
        try:
            return ask()
        except NotFound:
            self._known.pop(selected, None)
            raise
        except Unavailable as error:
            self._away = (self._clock(), str(error))
            raise

    def _keep(self, selected: Selected, known: Known) -> None:
        if len(self._known) >= MOST:
            self._known = {}
        self._known[selected] = known

    def forget(self, model: str) -> None:
        """Have what is known of a model asked for again: here something has changed about it."""
        with self._asking:
            self._known = {
                selected: known
                for selected, known in self._known.items()
                if selected[0].partition("@")[0] != model
            }
