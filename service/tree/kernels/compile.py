"""How kernels are compiled: free of the interpreter's lock, and kept for the next process."""

from collections.abc import Callable
from typing import Any

from numba import njit

from service.tree.kernels.cache import KernelCache

KERNELS: list[Any] = []  # all there are, in the order of their definition


def _kept(compiled: Any) -> Callable[[Callable[..., Any]], Any]:
    """What makes a function a kernel: compiled when it is first called, unless that was kept."""

    def make(function: Callable[..., Any]) -> Any:
        made = compiled(function)
        if made is not function:  # as NUMBA_DISABLE_JIT would have it
            made._cache = KernelCache(function)
            KERNELS.append(made)
        return made

    return make


kernel = _kept(njit(nogil=True, error_model="numpy"))

# for what is called from one place and takes many arrays, whose passing on would cost more than
# the work itself
inlined = _kept(njit(nogil=True, error_model="numpy", forceinline=True))


def n_compiled() -> int:
    """How often this process had to compile a kernel, because it was not kept."""
    return sum(sum(each.stats.cache_misses.values()) for each in KERNELS)


def n_loaded() -> int:
    """How often this process found a kernel that was kept."""
    return sum(sum(each.stats.cache_hits.values()) for each in KERNELS)
