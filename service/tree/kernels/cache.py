"""Where compiled kernels are kept for the next process.

numba looks at the file of a kernel alone, not at those of the kernels it calls; so what is kept
lies in a directory of its own for each state of all of them. And numba refuses a directory that it
cannot write to, even to read from it; a process that cannot keep what it compiled does without.
"""

import fcntl
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numba
from llvmlite import binding
from numba.core.caching import CompileResultCacheImpl, FunctionCache, InTreeCacheLocator

from service.tree.sources import PREFIX, ROOT, directory, short

CONFIG: Any = numba.config  # whose names are made while it is imported
UNKEPT: list[OSError] = []  # why this process could not keep what it compiled


def root() -> Path:
    """Where all kernels are kept, which NUMBA_CACHE_DIR says."""
    return Path(CONFIG.CACHE_DIR or ROOT)


@cache
def place() -> Path:
    """The directory of what these sources become here."""
    return directory(root()) / _processor()


def former() -> Iterator[Path]:
    """The directories beside it of other sources and versions, which nobody needs here."""
    ours = place().parent
    if ours.parent.is_dir():
        yield from (each for each in ours.parent.glob(f"{PREFIX}*") if each != ours)


def _processor() -> str:
    """The processor that is compiled for: machines of several kinds may share the directory."""
    name = CONFIG.CPU_NAME or binding.get_host_cpu_name()
    features = CONFIG.CPU_FEATURES
    if features is None:
        features = binding.get_host_cpu_features().flatten()
    return f"{name}-{short(features)[:8]}"


class Locator(InTreeCacheLocator):
    """Says where one kernel is kept, be it to read or to write."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._cache_path = str(place() / py_func.__module__)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "Locator":
        """The locator of a function, without a look at whether it can write there."""
        return cls(py_func, py_file)


class Kept(CompileResultCacheImpl):
    """What numba asks for the place of a kernel."""

    _locator_classes = [Locator]  # noqa: RUF012 (numba has a list there)


class KernelCache(FunctionCache):
    """What is kept of one kernel; whatever is wrong with it, the kernel is compiled instead."""

    _impl_class = Kept

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel for arguments of these types; None if there is nothing to be had."""
        try:
            return super().load_overload(sig, target_context)
        except (OSError, EOFError, UnpicklingError):  # a power cut may leave half of a file
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep it if that can be done."""
        try:
            self._impl.locator.ensure_cache_path()
            # Two at a time might both take the next number for their file, for different types.
            with Path(self.cache_path, "lock").open("a") as guard:
                fcntl.flock(guard, fcntl.LOCK_EX)
                super().save_overload(sig, data)
        except OSError as error:
            UNKEPT.append(error)
