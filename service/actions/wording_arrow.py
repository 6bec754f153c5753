"""Wording in Arrow: what is told of rows as a stream of one batch, which native code lays out.

Imported when the first such request comes: Arrow takes its time and its memory.
"""

from functools import lru_cache
from itertools import accumulate, chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from service.actions.bulk_columns import WARNINGS
from service.actions.flat import CLASS, UNKNOWN, flat_names
from service.actions.load import Loaded
from service.actions.reading_arrow import END
from service.actions.wording import FEW, MOST_BYTES, ROOM, Texts, laid_out
from service.files.arrow_columns import NOTHING
from service.storage.records import Version
from service.tree.arrays import Floats, Ints
from service.tree.compiled import CompiledTree
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
ENDS, NO_ENDS = " ends", " no ends"  # of the texts in the lists, which are parts too

# The names of all columns, and the classes: what all streams of a version have in common.
Kind: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]


class Sheet(NamedTuple):
    """Where the parts of a batch begin; the letters of its lists come in between in the end."""

    starts: dict[str, int]
    floats: Ints  # likewise of the columns of numbers, counted in words
    ends: dict[str, int]  # of all parts
    n_bytes: int  # of all but letters

    @property
    def letters(self) -> int:
        """Where these will come in."""
        return self.ends[ENDS]

    def classes(self, n_more: int) -> int:
        """Where the numbers of classes begin; so far behind all parts if nobody is to read them."""
        return self.starts.get(CLASS, self.n_bytes + n_more)


def worded_in_arrow(version: Version, kernel: Native, weight: Floats, told: Told) -> bytes | None:
    """The stream; None where some rows have no answer, or there is very much to write."""
    if len(version.classes) > MOST_CLASSES or not told.leaves.all():
        return None
    if told.is_regression and not _is_finite(told.numbers):
        return None
    names = _names(tuple(each.name for each in version.attributes))
    n_met = int(np.bitwise_count(told.marks[:, MET:].view(np.uint64)).sum())
    most_letters = n_met * names.longest + len(ROOM)
    if most_letters > MOST_BYTES:
        return None
    kind = _kind(version)
    sheet = _sheet(kind[0], len(told.marks), n_met)
    room = _laid(names, kernel, np.ascontiguousarray(weight), told, sheet, most_letters)
    n_letters = int(room[sheet.letters - WORD : sheet.letters].view(np.int32)[n_met & 1])
    metadata = _metadata(kind, len(told.marks), n_met, n_letters)
    body, letters = memoryview(room)[: sheet.n_bytes], memoryview(room)[sheet.n_bytes :]
    return b"".join((
        _head(kind), metadata, body[: sheet.letters], letters[:n_letters],
        bytes(-n_letters % WORD), body[sheet.letters :], END,
    ))  # fmt: skip


def leaves_in_arrow(loaded: Loaded, kernel: Native, leaves: Ints) -> memoryview | None:
    """The same of rows that all know the way to a leaf, in one piece.

    Nothing is unknown to them, so that it is known ahead where everything will stand.
    """
    version, compiled = loaded.version, loaded.compiled
    told, variance = compiled.probabilities, compiled.tree.variance
    is_odd = not version.classes and not _is_finite(told[leaves], variance[leaves])
    if is_odd or len(version.classes) > MOST_CLASSES:
        return None
    kind, n_rows = _kind(version), len(leaves)
    sheet, start = _sheet(kind[0], n_rows, 0), _start(kind, n_rows)
    room = _framed(start, sheet, n_rows)
    _lay_leaves(compiled, kernel, leaves, sheet, address_of(room) + len(start))
    stream: memoryview = room.data[: len(start) + sheet.n_bytes + len(END)]
    return stream


def _framed(start: bytes, sheet: Sheet, n_rows: int) -> Any:
    """A stream with nothing in its parts yet, and behind it room for what is in no part."""
    end = len(start) + sheet.n_bytes
    room = np.empty(end + len(END) + n_rows, dtype=np.uint8)
    room.data[: len(start)], room.data[end : end + len(END)] = start, END
    body = room[len(start) : end]
    _clear(body, sheet)
    body[sheet.starts[UNKNOWN] : sheet.letters] = 0
    return room


def _lay_leaves(
    compiled: CompiledTree, kernel: Native, leaves: Ints, sheet: Sheet, body: int
) -> None:
    """Writes what leaves tell of rows into the parts of the body at an address."""
    tree, n_rows = compiled.tree, len(leaves)
    floats = (compiled.probabilities, tree.variance, tree.weight)
    told, variance, weight = (np.ascontiguousarray(each) for each in floats)
    write = kernel if n_rows <= FEW else kernel.at_length
    write(
        address_of(told), address_of(variance), address_of(weight), *told.shape,
        int(tree.is_regression), address_of(leaves), n_rows, body, sheet.n_bytes // WORD,
        address_of(sheet.floats), body + sheet.classes(len(END)),
        body + sheet.starts[LEAVES], body + sheet.starts[CERTAIN],
    )  # fmt: skip


def _is_finite(*numbers: Floats) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return all(bool(np.isfinite(each.sum())) for each in numbers)


def _kind(version: Version) -> Kind:
    return (*flat_names(version)[1:], WARNINGS), version.classes


class Names(NamedTuple):
    """The names of attributes, as a kernel takes them."""

    texts: Texts
    longest: int


@lru_cache(maxsize=64)
def _names(names: tuple[str, ...]) -> Names:
    texts = laid_out(name.encode() for name in names)
    return Names(texts, int(np.diff(texts.starts).max()))


@lru_cache(maxsize=64)
def _sheet(names: tuple[str, ...], n_rows: int, n_met: int) -> Sheet:
    """How the body of a batch is laid out."""
    sizes = dict(chain.from_iterable(_parts(name, n_rows, n_met) for name in names))
    ends = [*accumulate(-(-size // WORD) * WORD for size in sizes.values())]
    starts = dict(zip(sizes, [0, *ends], strict=False))
    floats = [starts[name] // WORD for name in names if name not in TYPES]
    by_part = dict(zip(sizes, ends, strict=True))
    return Sheet(starts, np.array(floats, dtype=np.int64), by_part, ends[-1])


def _parts(name: str, n_rows: int, n_met: int) -> list[tuple[str, int]]:
    """The parts of a column, but for letters, and how many bytes each has."""
    list_bytes = 4 * (n_rows + 1)
    sizes = {CLASS: n_rows, CERTAIN: (n_rows + 7) // 8, UNKNOWN: list_bytes, WARNINGS: list_bytes}
    more = {UNKNOWN: [(ENDS, 4 * (n_met + 1))], WARNINGS: [(NO_ENDS, 4)]}
    return [(name, sizes.get(name, 8 * n_rows)), *more.get(name, [])]


def _laid(
    names: Names, kernel: Native, weight: Floats, told: Told, sheet: Sheet, most_letters: int
) -> Any:
    """The parts, and behind them the letters and what is in no part, in one piece of memory."""
    n_rows, width = told.numbers.shape
    room = np.empty(sheet.n_bytes + most_letters + n_rows, dtype=np.uint8)
    _clear(room, sheet)
    at, letters = address_of(room), address_of(room) + sheet.n_bytes
    classes = at + sheet.classes(most_letters)
    leaves, certain, lists, ends = (
        at + sheet.starts[part] for part in (LEAVES, CERTAIN, UNKNOWN, ENDS)
    )
    write = kernel if n_rows <= FEW else kernel.at_length
    write(
        *names.texts.arguments, len(names.texts.starts) - 1, address_of(weight), len(weight),
        address_of(told.numbers), width, address_of(told.marks), told.marks.shape[1], n_rows,
        at, sheet.n_bytes // WORD, address_of(sheet.floats), classes, leaves, certain, lists, ends,
        sheet.letters - sheet.starts[ENDS], letters, most_letters,
    )  # fmt: skip
    return room


def _clear(room: Any, sheet: Sheet) -> None:
    """Writes zeros where nobody else writes; or what lay there before would be told."""
    for end in sheet.ends.values():
        room[end - WORD : end] = 0
    room[sheet.starts[WARNINGS] : sheet.n_bytes] = 0


@lru_cache(maxsize=64)
def _start(kind: Kind, n_rows: int) -> bytes:
    """What Arrow writes before the body of the only batch, if nothing is unknown."""
    return _head(kind) + _metadata(kind, n_rows, 0, 0)


@lru_cache(maxsize=64)
def _head(kind: Kind) -> bytes:
    """What Arrow writes before the first batch of a kind."""
    batch, sink = _empty(kind, 0, 0, 0), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    written: bytes = sink.getvalue().to_pybytes()
    return written[: -len(END) - batch.serialize().size]


@lru_cache(maxsize=256)
def _metadata(kind: Kind, n_rows: int, n_met: int, n_letters: int) -> bytes:
    """What Arrow writes before the body of a batch, which tells where what is in it."""
    written = _empty(kind, n_rows, n_met, n_letters).serialize()
    sheet = _sheet(kind[0], n_rows, n_met)
    n_body = sheet.n_bytes + -(-n_letters // WORD) * WORD
    return bytes(written[: written.size - n_body])


def _empty(kind: Kind, n_rows: int, n_met: int, n_letters: int) -> Any:
    """A batch of a kind that tells nothing, with so many letters in the lists of its last row."""
    room = pa.py_buffer(bytes(max(8 * n_rows, n_letters)))
    texts = _made(pa.string(), n_met, [None, _rising(n_met, n_letters), room[:n_letters]])
    lists = {
        UNKNOWN: ([None, _rising(n_rows, n_met)], [texts]),
        WARNINGS: ([None, _rising(n_rows, 0)], [NOTHING]),
    }
    arrays = []
    for name in kind[0]:
        (_, n_bytes), *_ = _parts(name, n_rows, n_met)
        type_ = TYPES.get(name, pa.float64())
        buffers, children = lists.get(name, ([None, room[:n_bytes]], None))
        if name == CLASS:
            classes = pa.array(kind[1], pa.string())
            made = pa.DictionaryArray.from_buffers(type_, n_rows, buffers, classes, 0)
        else:
            made = _made(type_, n_rows, buffers, children)
        arrays.append(made)
    return pa.RecordBatch.from_arrays(arrays, names=kind[0])


def _rising(n: int, last: int) -> Any:
    """Where so many texts or lists end, if only the last has anything in it."""
    ends = np.zeros(n + 1, dtype=np.int32)
    ends[-1] = last if n else 0
    return pa.py_buffer(ends)


def _made(type_: Any, length: int, buffers: list[Any], children: list[Any] | None = None) -> Any:
    return pa.Array.from_buffers(type_, length, buffers, 0, children=children)
