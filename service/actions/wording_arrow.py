"""Wording in Arrow: what is told of rows as a stream of one batch, which native code lays out.

Imported when the first such request comes: Arrow takes its time and its memory.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from service.actions.bulk_columns import WARNINGS
from service.actions.flat import CLASS, UNKNOWN, flat_names
from service.actions.reading_arrow import END
from service.actions.wording import FEW, MOST_BYTES, ROOM, Texts, laid_out
from service.files.arrow_columns import NOTHING
from service.storage.records import Version
from service.tree.arrays import Floats
from service.tree.kernels.shapes import MET
from service.tree.native import Native, address_of
from service.tree.tell import Told

MOST_CLASSES = 127  # whose numbers take a byte each
WORD = 8  # bytes, at whose multiples each part begins
INDICES, LISTS = pa.dictionary(pa.int8(), pa.string()), pa.list_(pa.string())
LEAVES, CERTAIN = "leaves", "certain"
TYPES = {
    CLASS: INDICES, LEAVES: pa.int64(), UNKNOWN: LISTS, CERTAIN: pa.bool_(), WARNINGS: LISTS,
}  # fmt: skip


class Head(NamedTuple):
    """What all streams of a version begin with, and what is in them."""

    text: bytes
    schema: Any
    classes: Any  # the dictionary


def worded_in_arrow(version: Version, kernel: Native, weight: Floats, told: Told) -> bytes | None:
    """The stream; None where some rows have no answer, or there is very much to write."""
    if len(version.classes) > MOST_CLASSES or not told.leaves.all() or not _is_finite(told):
        return None
    names = _names(tuple(each.name for each in version.attributes))
    n_met = int(np.bitwise_count(told.marks[:, MET:].view(np.uint64)).sum())
    n_letters = n_met * int(np.diff(names.starts).max()) + len(ROOM)
    if n_letters > MOST_BYTES:
        return None
    head = _head(tuple(flat_names(version)[1:]), version.classes)
    batch = _batch(head, _laid(names, kernel, np.ascontiguousarray(weight), told, n_met, n_letters))
    return b"".join((head.text, batch.serialize(), END))


def _is_finite(told: Told) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(told.numbers.sum()))


@lru_cache(maxsize=64)
def _names(names: tuple[str, ...]) -> Texts:
    return laid_out(name.encode() for name in names)


@lru_cache(maxsize=64)
def _head(names: tuple[str, ...], classes: tuple[str, ...]) -> Head:
    """What Arrow writes before the first batch of these columns."""
    schema = pa.schema([(name, TYPES.get(name, pa.float64())) for name in (*names, WARNINGS)])
    dictionary, sink = pa.array(classes, pa.string()), pa.BufferOutputStream()
    empty = [pa.array([], field.type) for field in schema]
    if CLASS in names:
        indices = pa.array([], pa.int8())
        empty[0] = pa.DictionaryArray.from_arrays(indices, dictionary)
    batch = pa.record_batch(empty, schema=schema)
    with pa.ipc.new_stream(sink, schema) as stream:
        stream.write_batch(batch)
    written = sink.getvalue().to_pybytes()
    return Head(written[: -len(END) - batch.serialize().size], schema, dictionary)


class Laid(NamedTuple):
    """The parts of a batch, as buffers of Arrow."""

    n_rows: int
    n_met: int
    floats: list[Any]  # by column
    leaves: Any
    lists: Any
    ends: Any
    classes: Any
    certain: Any
    letters: Any


def _laid(
    names: Texts, kernel: Native, weight: Floats, told: Told, n_met: int, n_letters: int
) -> Laid:
    """What is told, part by part, all in one piece of memory."""
    n_rows, width = told.numbers.shape
    sizes = [8 * n_rows] * (width + 1)
    sizes += [4 * (n_rows + 1), 4 * (n_met + 1), n_rows, (n_rows + 7) // 8, n_letters]
    starts = [0, *accumulate(-(-size // WORD) * WORD for size in sizes)]
    room = np.empty(starts[-1], dtype=np.uint8)
    at = address_of(room)
    leaves, lists, ends, classes, certain, letters = (at + start for start in starts[width:-1])
    write = kernel if n_rows <= FEW else kernel.at_length
    write(
        *names.arguments, len(names.starts) - 1, address_of(weight), len(weight),
        address_of(told.numbers), width, address_of(told.marks), told.marks.shape[1], n_rows,
        at, classes, leaves, certain, lists, ends, n_met, letters, n_letters,
    )  # fmt: skip
    whole, ends_at = pa.py_buffer(room), starts[width + 2]
    sizes[-1] = int(room[ends_at : ends_at + sizes[width + 2]].view(np.int32)[-1])
    parts = [whole.slice(start, size) for start, size in zip(starts, sizes, strict=False)]
    return Laid(n_rows, n_met, parts[:width], *parts[width:])


def _batch(head: Head, laid: Laid) -> Any:
    """The batch of these parts, none of which is copied."""
    n_rows, floats = laid.n_rows, iter(laid.floats)
    no_lists = pa.py_buffer(bytes(4 * (n_rows + 1)))
    unknown = NOTHING
    if laid.n_met:
        unknown = _made(pa.string(), laid.n_met, [None, laid.ends, laid.letters])
    special: dict[str, Callable[[], Any]] = {
        LEAVES: lambda: _made(pa.int64(), n_rows, [None, laid.leaves]),
        UNKNOWN: lambda: _made(LISTS, n_rows, [None, laid.lists], [unknown]),
        CERTAIN: lambda: _made(pa.bool_(), n_rows, [None, laid.certain]),
        WARNINGS: lambda: _made(LISTS, n_rows, [None, no_lists], [NOTHING]),
        CLASS: lambda: pa.DictionaryArray.from_buffers(
            INDICES, n_rows, [None, laid.classes], head.classes, 0
        ),
    }
    arrays = [
        special[name]() if name in special else _made(pa.float64(), n_rows, [None, next(floats)])
        for name in head.schema.names
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=head.schema)


def _made(type_: Any, length: int, buffers: list[Any], children: list[Any] | None = None) -> Any:
    return pa.Array.from_buffers(type_, length, buffers, 0, children=children)
