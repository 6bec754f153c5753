"""Kernels that processes without numba call: functions of whole numbers and bare addresses."""

from collections.abc import Callable
from typing import Any

from service.tree.kernels.ahead_arrow import read_arrow, write_arrow
from service.tree.kernels.ahead_columns import write_columns
from service.tree.kernels.ahead_leaves import find_leaves, write_arrow_leaves
from service.tree.kernels.ahead_read import read_columns, read_rows
from service.tree.kernels.ahead_tell import tell_rows
from service.tree.kernels.ahead_write import write_rows, write_unknown

_ALL: tuple[Any, ...] = (
    tell_rows, find_leaves, write_rows, write_unknown, write_columns, write_arrow,
    write_arrow_leaves, read_rows, read_columns, read_arrow,
)  # fmt: skip

# by name, with the types of arguments
AHEAD: dict[str, tuple[Callable[..., None], Any]] = {
    each.__name__: (each, each.signature) for each in _ALL
}
