"""Things kept in memory by key, within a number of bytes.

What is kept of a version never changes, so nothing here is ever out of date; what was not used for
longest goes.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, Protocol, TypeVar


class Sized(Protocol):
    """Whatever knows about how much memory it takes."""

    @property
    def n_bytes(self) -> int:
        """That many bytes."""
        ...


Kept = TypeVar("Kept", bound=Sized)


class TreeCache(Generic[Kept]):
    """Trees by version, the least recently used given up first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._trees: OrderedDict[Hashable, Kept] = OrderedDict()
        self._lock = Lock()
        self._loading = Lock()

    def peek(self, key: Hashable) -> Kept | None:
        """The tree of a version if it is here."""
        with self._lock:
            tree = self._trees.get(key)
            if tree is not None:
                self._trees.move_to_end(key)
            return tree

    def get(self, key: Hashable, load: Callable[[], Kept]) -> Kept:
        """The tree of a version, loaded if it is not here; one is kept even if it is too large."""
        tree = self.peek(key)
        if tree is not None:
            return tree
        # One at a time: who asks for the same tree need not load it again, and who asks for others
        # does not need the memory of several loads at once.
        with self._loading:
            tree = self.peek(key)
            if tree is None:
                tree = load()
                self._keep(key, tree)
        return tree

    def add(self, key: Hashable, load: Callable[[], Kept]) -> bool:
        """Whether the tree of a version is here, loaded if need be; none is given up for it."""
        with self._loading:
            if self.peek(key) is not None:
                return True
            tree = load()
            has_room = not self._trees or self._bytes + tree.n_bytes <= self._max_bytes
            if has_room:
                self._keep(key, tree)
            return has_room

    def _keep(self, key: Hashable, tree: Kept) -> None:
        with self._lock:
            self._trees[key] = tree
            self._bytes += tree.n_bytes
            while self._bytes > self._max_bytes and len(self._trees) > 1:
                _, dropped = self._trees.popitem(last=False)
                self._bytes -= dropped.n_bytes

    @property
    def n_bytes(self) -> int:
        """How much the kept trees take."""
        return self._bytes
