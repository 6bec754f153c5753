"""How kernels are compiled: free of the interpreter's lock, and kept for the next process."""

from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit, types

from service.tree.kernels.cache import KernelCache

KERNELS: list[Any] = []  # all there are, in the order of their definition


def _without_literals(template: Callable[..., Any], arguments: Any, named: Any) -> Any:
    """What a kernel that calls another asks of it; else it would be compiled anew for each number.

    Where a number stands in the call LLVM sees it as well.
    """
    return template(tuple(map(types.unliteral, arguments)), named)


def _kept(compiled: Any) -> Callable[[Callable[..., Any]], Any]:
    """What makes a function a kernel: compiled when it is first called, unless that was kept."""

    def make(function: Callable[..., Any]) -> Any:
        made = compiled(function)
        if made is not function:  # as NUMBA_DISABLE_JIT would have it
            made._cache = KernelCache(function)
            made.get_call_template = partial(_without_literals, made.get_call_template)
            KERNELS.append(made)
        return made

    return make


PLAIN: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

kernel = _kept(njit(**(PLAIN | {"_nrt": True})))

# for what makes no array: nobody counts who holds one, which is compiled and run sooner
LEAN = PLAIN | {"_nrt": False}
lean = _kept(njit(**LEAN))

# and for what is only about right: a product and the sum it goes into may be one step
rough = _kept(njit(**(LEAN | {"fastmath": {"contract"}})))

# and for what of this is called from one place with many arrays: passing them on would cost more
# than the work, and compiling it by itself as much again
inlined = _kept(njit(**(LEAN | {"inline": "always"})))


# for what web processes run (see `ahead`), where LLVM puts one into the other: it is compiled in a
# third of the time that way, as long as few kernels share such a function
merged = _kept(njit(**(LEAN | {"forceinline": True})))


def n_compiled() -> int:
    """How often this process had to compile a kernel, because it was not kept."""
    return sum(sum(each.stats.cache_misses.values()) for each in KERNELS)


def n_loaded() -> int:
    """How often this process found a kernel that was kept."""
    return sum(sum(each.stats.cache_hits.values()) for each in KERNELS)
