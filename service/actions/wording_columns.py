"""Wording by column: what is told of rows, as JSON, one column after the other."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt
import orjson

from service.actions.wording import (
    FEW,
    MOST_BYTES,
    NUMBER_BYTES,
    ROOM,
    Texts,
    Wording,
    laid_out,
    listed,
)
from service.storage.records import Version
from service.tree.arrays import Floats, Ints
from service.tree.kernels.shapes import (
    CERTAIN,
    CLASS,
    CLASSES,
    LEAST_TEN,
    LEAVES,
    MEMO_BITS,
    N_TENS,
    NOTHING,
)
from service.tree.native import Natives, address_of
from service.tree.tell import Told

FLOAT_BYTES = 25  # of the longest float, with its comma
TRUTH_BYTES = 6


@dataclass(frozen=True)
class ColumnWording:
    """The pieces of text before each column, and what is in it.

    Nothing is in that of what is unknown, which others write, and in the last, which ends them all.
    """

    pieces: Texts
    kinds: Ints  # by column
    classes: Texts  # with a comma behind each, and null

    @cached_property
    def arguments(self) -> tuple[int, ...]:
        """The pieces for the kernel."""
        n_pieces = len(self.pieces.starts) - 1
        return (*self.pieces.arguments, n_pieces, address_of(self.kinds))

    @cached_property
    def class_arguments(self) -> tuple[int, ...]:
        """The classes for the kernel, and what it writes floats by."""
        n_texts = len(self.classes.starts) - 1
        return (*self.classes.arguments, n_texts, address_of(tens()))

    @cached_property
    def row_bytes(self) -> int:
        """That a row takes at the most, without its class and what is unknown."""
        n_floats = int((self.kinds >= 0).sum())
        return n_floats * FLOAT_BYTES + NUMBER_BYTES + 1 + TRUTH_BYTES

    def class_bytes(self, told: Told) -> int:
        """That the classes of all rows take at the most."""
        lengths = np.diff(self.classes.starts)
        at_most = len(told.marks) * int(lengths.max())
        if at_most <= MOST_BYTES:
            return at_most
        # one may be longer than all memory has room for as often as there are rows
        return int(lengths.take(np.where(told.leaves > 0, told.marks[:, CLASS], -1)).sum())


def make_column_wording(version: Version) -> ColumnWording:
    """How a version puts its answers by column."""
    classes = [orjson.dumps(name) for name in version.classes]
    head = [(b'{"value":[', 0), (b'],"deviation":[', 1)]
    bounds = [(b',"bounds":{"lowest":[', 2), (b'],"highest":[', 3)]
    end = b"]}"
    if classes:
        head = [(b'{"class":[', CLASSES), (b'],"probabilities":{%b:[' % classes[0], 0)]
        head += [(b"],%b:[" % name, at) for at, name in enumerate(classes[1:], 1)]
        bounds, end = _class_bounds(classes), b"]}}"
    route = [(b"]}"[: 1 + bool(classes)] + b',"leaves":[', LEAVES), (b'],"unknown":', NOTHING)]
    columns = [*head, *route, *bounds, (end + b',"certain":[', CERTAIN), (b"]}", NOTHING)]
    return ColumnWording(
        laid_out(piece for piece, _ in columns),
        np.array([kind for _, kind in columns], dtype=np.int64),
        laid_out([*(name + b"," for name in classes), b"null,"]),
    )


def _class_bounds(classes: list[bytes]) -> list[tuple[bytes, int]]:
    bounds = []
    for at, name in enumerate(classes):
        before = b"]}," if at else b',"bounds":{'
        number = len(classes) + 2 * at
        bounds += [(before + name + b':{"lowest":[', number), (b'],"highest":[', number + 1)]
    return bounds


@cache
def tens() -> npt.NDArray[np.uint64]:
    """The upper 128 bits of powers of ten, rounded up, two by two."""
    wide = [_wide(power) for power in range(LEAST_TEN, LEAST_TEN + N_TENS)]
    halves = [half for bits in wide for half in (bits >> 64, bits & (1 << 64) - 1)]
    return np.array(halves, dtype=np.uint64)


def _wide(power: int) -> int:
    if power >= 0:
        whole: int = 10**power
        n_more = whole.bit_length() - 128
        return -(-whole >> n_more) if n_more > 0 else whole << -n_more
    part: int = 10**-power
    return -(-(1 << part.bit_length() + 127) // part)


def worded_by_column(
    wording: Wording, columns: ColumnWording, natives: Natives, weight: Floats, told: Told
) -> list[bytes | memoryview]:
    """The columns of some rows, in pieces of text; numbers of a tree have the deviation second."""
    page = Page(columns, natives, weight, told)
    unknown = listed(wording, natives.write_unknown, told)
    n_before = columns.kinds.tolist().index(NOTHING) + 1
    return [page.text(0, n_before), unknown, page.text(n_before, len(columns.kinds))]


class Page:
    """What is written on, and what is known of what was written before."""

    def __init__(
        self, columns: ColumnWording, natives: Natives, weight: Floats, told: Told
    ) -> None:
        n_rows, (n_numbers, n_marks) = len(told.marks), (told.numbers.shape[1], told.marks.shape[1])
        n_bytes = n_rows * columns.row_bytes + columns.class_bytes(told)
        n_bytes += int(columns.pieces.starts[-1]) + 2 * len(ROOM)
        self._columns = columns
        self._memo = np.zeros(2 << MEMO_BITS, dtype=np.uint64)
        self._out, self._end = np.empty(n_bytes, dtype=np.uint8), np.zeros(1, dtype=np.int64)
        weight = np.ascontiguousarray(weight)
        self._held = (weight, told)  # for as long as they are written
        self._arguments = (
            address_of(weight), len(weight), address_of(told.numbers), n_numbers,
            address_of(told.marks), n_marks, n_rows, address_of(self._memo),
            address_of(self._out), n_bytes, address_of(self._end),
        )  # fmt: skip
        kernel = natives.write_columns
        self._write = kernel if n_rows <= FEW else kernel.at_length

    def text(self, first: int, last: int) -> memoryview:
        """The columns from the first to before the last, which follow what was written before."""
        start, columns = int(self._end[0]), self._columns
        self._write(*columns.arguments, first, last, *columns.class_arguments, *self._arguments)
        return self._out[start : int(self._end[0])].data
