"""Native code: kernels that were compiled ahead, for processes that have no numba.

`bough warm` writes the machine code of each such kernel into a file. Here it is mapped into memory,
where all processes share it, and called with whole numbers and the addresses of arrays. It runs on
every x86-64 processor under Linux; elsewhere there is none, and numpy takes its time.
"""

import ctypes
import mmap
import platform
import struct
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from service.tree.sources import directory

MAGIC = b"BOUGH 1\n"
HEAD = struct.Struct("<8sQQ")  # the magic, where the function begins, and how much it takes
IS_KNOWN = (sys.platform, platform.machine()) == ("linux", "x86_64")
# Where a kernel leaves its result and its error, of which it has neither.
RESULTS = ctypes.create_string_buffer(64)
RESULT = ctypes.addressof(RESULTS)


class Native:
    """A kernel that can be called; what it is given must be as its signature says."""

    def __init__(self, code: mmap.mmap) -> None:
        magic, start, n_arguments = HEAD.unpack_from(code)
        if magic != MAGIC:
            raise ValueError("this is no kernel")
        self._code = code  # stays there for as long as this does
        address = np.frombuffer(code, dtype=np.uint8).ctypes.data + start
        types = (ctypes.c_int, *[ctypes.c_int64] * (n_arguments + 2))
        self._letting_go = ctypes.CFUNCTYPE(*types)(address)
        self._holding = ctypes.PYFUNCTYPE(*types)(address)

    def __call__(self, *arguments: int) -> None:
        """Calls it; other threads of Python wait."""
        self._holding(RESULT, RESULT, *arguments)

    def at_length(self, *arguments: int) -> None:
        """Calls it, while others go on: for what takes longer than to wait for one's turn again."""
        self._letting_go(RESULT, RESULT, *arguments)


def file_of(name: str, root: Path) -> Path:
    """Where the code of a kernel is kept."""
    return directory(root) / "x86_64" / name


class Natives(NamedTuple):
    """All kernels that there are."""

    tell_rows: Native
    write_rows: Native


def find_natives(root: Path) -> Natives | None:
    """The kernels; None where they were not compiled, or cannot be used here."""
    if not IS_KNOWN:
        return None
    try:
        return Natives(*(_mapped(file_of(name, root)) for name in Natives._fields))
    except (OSError, ValueError, struct.error):  # nothing may be run there, or it is half a file
        return None


def _mapped(path: Path) -> Native:
    with path.open("rb") as file:
        access = mmap.PROT_READ | mmap.PROT_EXEC
        return Native(mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=access))
