"""Keeping warm: what warm models mean is loaded by each web process before anybody asks for it.

It is looked for once a second, so that a version that was trained, or that an alias was moved to,
is soon there too. Each version is tried once: what was given up for others is loaded by whoever
asks for it next, as it is with all models.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread
from time import monotonic, sleep

from service.actions.memory import Memory
from service.errors import NotFound, Unavailable
from service.storage.engine import Store
from service.storage.models import WarmVersion, warm_versions
from service.storage.records import VersionKey

PAUSE = 1.0  # seconds between two looks
NO_ROOM = "There is no room left for it in the cache (BOUGH_CACHE_BYTES)."
BROKEN = "It cannot be loaded; the log says why."
LATE = "It is still being loaded."

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Cold:
    """A version of a warm model that is not in memory, and why."""

    model: str
    version: int
    detail: str


class Warmth:
    """The versions that warm models mean, and which of them are not in memory."""

    def __init__(
        self, store: Store, memory: Memory, patience: float, clock: Callable[[], float] = monotonic
    ) -> None:
        self._store = store
        self._memory = memory
        self._patience = patience
        self._clock = clock
        self._began: float | None = None
        self._is_done = False  # with all that was warm at the start
        self._is_in_trouble = False
        self._wanted: tuple[WarmVersion, ...] = ()
        self._tried: dict[VersionKey, str] = {}  # why a version is not in memory; empty: it is

    def start(self) -> None:
        """From now on, look after warm models beside the requests."""
        self.begin()
        Thread(target=self._go_on, name="warmth", daemon=True).start()

    def begin(self) -> None:
        """From now on, warm models are waited for."""
        self._began = self._clock()

    @property
    def is_awaited(self) -> bool:
        """Whether requests had better wait; not for longer than our patience."""
        if self._began is None or self._is_done:
            return False
        return self._clock() - self._began < self._patience

    @property
    def cold(self) -> tuple[Cold, ...]:
        """The versions of warm models that were not loaded."""
        told = ((each, self._tried.get(each.key, LATE)) for each in self._wanted)
        return tuple(Cold(each.model, each.number, detail) for each, detail in told if detail)

    def _go_on(self) -> None:
        while True:
            self.look()
            sleep(PAUSE)

    def look(self) -> None:
        """Load what is wanted now and was not tried before."""
        try:
            self._load_all()
        except Exception as error:
            if not self._is_in_trouble:
                log.warning("warm models not looked after", exc_info=error)
            self._is_in_trouble = True
        else:
            self._is_in_trouble, self._is_done = False, True

    def _load_all(self) -> None:
        with self._store.reading() as session:
            wanted = warm_versions(session)
        keys = {each.key for each in wanted}
        self._tried = {key: told for key, told in self._tried.items() if key in keys}
        self._wanted = wanted
        for each in wanted:
            if each.key not in self._tried:
                self._tried[each.key] = self._load(each)

    def _load(self, wanted: WarmVersion) -> str:
        """Why the version is not in memory; nothing if it is, or if there is no such version."""
        fields = {"model": wanted.model, "version": wanted.number}
        try:
            has_room = self._memory.take_in(wanted.key)
        except Unavailable:
            raise  # another time
        except NotFound:
            return ""
        except Exception:
            log.exception("warm model not loaded", extra=fields)
            return BROKEN
        if not has_room:
            log.warning("no room for a warm model", extra=fields)
        return "" if has_room else NO_ROOM
