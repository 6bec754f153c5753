"""Loading: a version with its compiled tree."""

from dataclasses import dataclass

from service.storage import nodes
from service.storage.engine import Session
from service.storage.records import Version
from service.tree.compiled import CompiledTree, compile_tree
from service.tree.native import Natives
from service.tree.params import params_of
from service.tree.tell import Teller, make_teller


@dataclass(frozen=True)
class Loaded:
    """A version that is ready to answer."""

    version: Version
    compiled: CompiledTree
    teller: Teller | None = None  # by what rows are told sooner, where there are natives

    @property
    def natives(self) -> Natives | None:
        """The kernels that there are, if there are any."""
        return None if self.teller is None else self.teller.natives

    @property
    def not_inputs(self) -> tuple[str, ...]:
        """Columns that may stand in a row to predict without meaning anything."""
        return (*self.version.ignored, self.version.target)


def load_at(
    session: Session, version: Version, alpha: float | None, natives: Natives | None = None
) -> Loaded:
    """The version with its tree, as that is at an alpha of its sequence if it has one."""
    tree = nodes.served(nodes.load_tree(session, version), alpha)
    params = params_of(version.params)
    compiled = compile_tree(tree, version.attributes, version.classes, params)
    teller = None if natives is None else make_teller(compiled, natives)
    return Loaded(version, compiled, teller)
