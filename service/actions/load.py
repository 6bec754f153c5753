"""Loading: a version with its compiled tree."""

from dataclasses import dataclass
from functools import cached_property

from service.storage import nodes
from service.storage.engine import Session
from service.storage.records import Version
from service.tree.compiled import CompiledTree, compile_tree
from service.tree.params import params_of
from service.tree.reach import Reach, make_reach


@dataclass(frozen=True)
class Loaded:
    """A version that is ready to answer."""

    version: Version
    compiled: CompiledTree

    @cached_property
    def reach(self) -> Reach | None:
        """By what rows with nulls are answered faster; None where there is nothing like it."""
        return make_reach(self.compiled)

    @property
    def not_inputs(self) -> tuple[str, ...]:
        """Columns that may stand in a row to predict without meaning anything."""
        return (*self.version.ignored, self.version.target)


def load_at(session: Session, version: Version, alpha: float | None) -> Loaded:
    """The version with its tree, as that is at an alpha of its sequence if it has one."""
    tree = nodes.served(nodes.load_tree(session, version), alpha)
    params = params_of(version.params)
    return Loaded(version, compile_tree(tree, version.attributes, version.classes, params))
