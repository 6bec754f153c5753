"""Loading: a version with its compiled tree, from memory where it is there."""

from dataclasses import dataclass

from service.actions.cache import TreeCache
from service.actions.select import Selection, fetch_selected
from service.storage import nodes
from service.storage.engine import Session
from service.storage.records import Version
from service.tree.compiled import CompiledTree, compile_tree
from service.tree.params import params_of


@dataclass(frozen=True)
class Loaded:
    """A version that is ready to answer."""

    version: Version
    compiled: CompiledTree

    @property
    def not_inputs(self) -> tuple[str, ...]:
        """Columns that may stand in a row to predict without meaning anything."""
        return (*self.version.ignored, self.version.target)


def load(session: Session, cache: TreeCache, selection: Selection) -> Loaded:
    """The version that is selected, ready to answer."""
    version = fetch_selected(session, selection)
    compiled = cache.get(version.id, lambda: _compile(session, version, version.alpha))
    return Loaded(version, compiled)


def load_at(session: Session, version: Version, alpha: float | None) -> Loaded:
    """The version as it would be at another alpha of its sequence; it is not kept in memory."""
    return Loaded(version, _compile(session, version, alpha))


def _compile(session: Session, version: Version, alpha: float | None) -> CompiledTree:
    tree = nodes.served(nodes.load_tree(session, version), alpha)
    params = params_of(version.params)
    return compile_tree(tree, version.attributes, version.classes, params)
