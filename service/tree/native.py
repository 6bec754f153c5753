"""Native code: kernels that were compiled ahead, for processes that have no numba.

`bough warm` writes the machine code of each such kernel into a file. Here it is mapped into memory,
where all processes share it, and called with whole numbers, the addresses of arrays, and bytes. It
runs on every x86-64 processor under Linux; elsewhere there is none, and numpy takes its time.
"""

import ctypes
import mmap
import platform
import struct
import sys
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from service.tree.sources import directory

MAGIC = b"BOUGH 1\n"
# The magic, length and checksum of the code, how many arguments it takes, and where it begins.
HEAD = struct.Struct("<8sQIIQ")
IS_KNOWN = (sys.platform, platform.machine()) == ("linux", "x86_64")
# Where a kernel leaves its result and its error, of which it has neither.
RESULTS = ctypes.create_string_buffer(64)
RESULT = ctypes.addressof(RESULTS)


class Native:
    """A kernel that can be called; what it is given must be as its signature says."""

    def __init__(self, file: mmap.mmap) -> None:
        n_arguments, start = checked(file)
        self._file = file  # stays there for as long as this does
        address = np.frombuffer(file, dtype=np.uint8).ctypes.data + HEAD.size + start
        # pointers, since whole numbers are passed as these in half the time
        types = (ctypes.c_int, *[ctypes.c_void_p] * (n_arguments + 2))
        self._letting_go = ctypes.CFUNCTYPE(*types)(address)
        self._holding = ctypes.PYFUNCTYPE(*types)(address)

    def __call__(self, *arguments: int | bytes) -> None:
        """Calls it; other threads of Python wait."""
        # it tells whether it has raised, which nothing can that refers to nothing outside
        self._holding(RESULT, RESULT, *arguments)

    def at_length(self, *arguments: int | bytes) -> None:
        """Calls it, while others go on: for what takes longer than to wait for one's turn again."""
        self._letting_go(RESULT, RESULT, *arguments)


def address_of(array: Any) -> int:
    """Where the items of an array lie."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):  # it may not be written to, is empty, or lies by column
        address: int = array.__array_interface__["data"][0]
        return address


def headed(code: bytes, start: int, n_arguments: int) -> bytes:
    """The file of some code that begins where it does."""
    return HEAD.pack(MAGIC, len(code), crc32(code), n_arguments, start) + code


def checked(file: bytes | mmap.mmap) -> tuple[int, int]:
    """How many arguments a kernel takes and where it begins; ValueError if it is not whole."""
    if len(file) < HEAD.size:
        raise ValueError("this is half a kernel")
    magic, n_bytes, checksum, n_arguments, start = HEAD.unpack_from(file)
    code = memoryview(file)[HEAD.size :]
    if magic != MAGIC or len(code) != n_bytes or crc32(code) != checksum:
        raise ValueError("this is no kernel, or not a whole one")
    return n_arguments, start


def files(root: Path) -> dict[str, Path]:
    """Where the code of each kernel is kept."""
    place = directory(root) / "x86_64"
    return {name: place / name for name in Natives._fields}


class Natives(NamedTuple):
    """All kernels that there are."""

    tell_rows: Native
    find_leaves: Native
    write_rows: Native
    write_unknown: Native
    write_columns: Native
    write_arrow: Native
    write_arrow_leaves: Native
    read_rows: Native
    read_columns: Native
    read_arrow: Native


def find_natives(root: Path) -> Natives | None:
    """The kernels; None where they were not compiled, or cannot be used here."""
    if not IS_KNOWN:
        return None
    try:
        return Natives(*map(_mapped, files(root).values()))
    except (OSError, ValueError):  # nothing may be run there, or it is half a file
        return None


def _mapped(path: Path) -> Native:
    with path.open("rb") as file:
        access = mmap.PROT_READ | mmap.PROT_EXEC
        return Native(mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=access))
