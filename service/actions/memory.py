"""The memory of a web process: versions that are ready to answer, and which of them names mean."""

from collections.abc import Callable
from dataclasses import replace
from time import monotonic

from service.actions.cache import TreeCache
from service.actions.load import Loaded, load_at
from service.actions.names import Names, Selected
from service.actions.ready import Ready, make_ready
from service.actions.select import Selection, fetch_selected, find_selected, read_selection
from service.errors import NotFound
from service.storage.engine import Session, Store
from service.storage.records import Version, VersionKey
from service.storage.versions import fetch_version_by_id
from service.tree.native import Natives


class Memory:
    """What is known of a store without asking it."""

    def __init__(
        self,
        store: Store,
        max_bytes: int,
        clock: Callable[[], float] = monotonic,
        natives: Natives | None = None,
    ) -> None:
        self._store = store
        self._natives = natives
        self.names = Names(clock)
        self.cache: TreeCache[Ready] = TreeCache(max_bytes)

    def fresh(self, selected: Selected) -> Ready | None:
        """The version that is meant, if that is known and it is ready; the store is not asked."""
        key = self.names.fresh(selected)
        return None if key is None else self.cache.peek(key)

    def find(self, selected: Selected) -> Ready:
        """The version that is meant, ready to answer; NotFound says what there is not."""
        key = self.names.find(selected, lambda: self._ask(selected))
        return self.cache.get(key, lambda: self._load(key))

    def load(self, session: Session, selection: Selection) -> Loaded:
        """The version that is selected as the store has it now, its tree from here."""
        version = fetch_selected(session, selection)
        ready = self.cache.get(key_of(version), lambda: self._ready(session, version))
        return replace(ready.loaded, version=version)

    def take_in(self, key: VersionKey) -> bool:
        """Whether a version is ready now, loaded ahead if there is room left for it."""
        return self.cache.add(key, lambda: self._load(key))

    def _ask(self, selected: Selected) -> VersionKey:
        with self._store.reading() as session:
            return find_selected(session, read_selection(*selected))

    def _load(self, key: VersionKey) -> Ready:
        with self._store.reading() as session:
            version = fetch_version_by_id(session, key[0])
            if key_of(version) != key:
                raise NotFound("The version is gone.")
            return self._ready(session, version)

    def _ready(self, session: Session, version: Version) -> Ready:
        return make_ready(load_at(session, version, version.alpha, self._natives))


def key_of(version: Version) -> VersionKey:
    """By what a version is kept."""
    return version.id, version.job_id
