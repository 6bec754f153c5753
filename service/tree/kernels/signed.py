"""Signatures of kernels that processes without numba call: whole numbers and bare addresses."""

from collections.abc import Callable
from typing import Any

from numba import from_dtype, types

from service.tree.kernels.shapes import NODE

WHOLE = types.int64
INTS, FLOATS = types.CPointer(WHOLE), types.CPointer(types.float64)
NODES, LETTERS = types.CPointer(from_dtype(NODE)), types.CPointer(types.uint8)
WIDE, HALVES = types.CPointer(types.uint64), types.CPointer(types.int32)


def signed(*arguments: Any) -> Callable[[Any], Any]:
    """What marks a function that is compiled ahead, for arguments of these types."""

    def mark(function: Any) -> Any:
        function.signature = types.void(*arguments)
        return function

    return mark
