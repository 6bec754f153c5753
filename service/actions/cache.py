"""Compiled trees kept in memory by version id, within a number of bytes.

A version never changes, so nothing here is ever out of date; what was not used for longest goes.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from service.tree.compiled import CompiledTree


class TreeCache:
    """Compiled trees by version id, the least recently used given up first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._trees: OrderedDict[int, CompiledTree] = OrderedDict()
        self._lock = Lock()

    def get(self, version_id: int, load: Callable[[], CompiledTree]) -> CompiledTree:
        """The tree of a version, loaded if it is not here; one is kept even if it is too large."""
        with self._lock:
            if version_id in self._trees:
                self._trees.move_to_end(version_id)
                return self._trees[version_id]
        tree = load()
        with self._lock:
            self._keep(version_id, tree)
        return tree

    def _keep(self, version_id: int, tree: CompiledTree) -> None:
        if version_id in self._trees:  # another thread was faster
            return
        self._trees[version_id] = tree
        self._bytes += tree.n_bytes
        while self._bytes > self._max_bytes and len(self._trees) > 1:
            _, dropped = self._trees.popitem(last=False)
            self._bytes -= dropped.n_bytes

    @property
    def n_bytes(self) -> int:
        """How much the kept trees take."""
        return self._bytes
