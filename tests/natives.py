"""The kernels that were compiled ahead, as web processes have them."""

from functools import cache

from service.settings import Settings
from service.tree.compiled import CompiledTree
from service.tree.native import Natives, find_natives
from service.tree.tell import Teller, make_teller


@cache
def natives() -> Natives:
    found = find_natives(Settings().kernel_root)
    assert found is not None, "run `.venv/bin/bough warm` first, on Linux on an x86-64 processor"
    return found


def teller_of(compiled: CompiledTree) -> Teller:
    return make_teller(compiled, natives())
