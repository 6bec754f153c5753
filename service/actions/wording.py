"""Wording: what is told of rows, as JSON, without an object for each."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import orjson

from service.storage.records import Version
from service.tree.arrays import Ints
from service.tree.native import Native, address_of
from service.tree.tell import Told

MOST_BYTES = 1 << 23  # of text that is written at once, where rows have very many names
FEW_KNOWN = 100  # rows for which it does not pay to write the text of a leaf once
FEW = 1000  # rows for which it does not pay to let other threads go first
NUMBER_BYTES = 20  # of the longest whole number
UNSURE = b',"certain":false}'
ROOM = bytes(24)  # behind a text, since the kernel copies more letters than it needs

TextsOf: TypeAlias = Callable[[list[int]], list[bytes]]  # by leaf


@dataclass(frozen=True)
class Texts:
    """Some texts one after the other, and where each begins."""

    letters: npt.NDArray[np.uint8]
    starts: Ints

    @cached_property
    def arguments(self) -> tuple[int, int]:
        """The same for the kernel."""
        return address_of(self.letters), address_of(self.starts)


@dataclass(frozen=True)
class Leaves:
    """Texts of leaves, and for each row that knew the way to one the number of its text."""

    texts: Texts
    numbers: Ints

    @property
    def n_letters(self) -> int:
        """How many letters are written in all."""
        starts, numbers = self.texts.starts, self.numbers
        return int(starts[numbers + 1].sum() - starts[numbers].sum()) if len(numbers) else 0


@dataclass(frozen=True)
class Worded:
    """The texts of some rows, with a comma behind each, and where each ends."""

    text: bytes
    ends: Ints

    @property
    def rows(self) -> list[bytes]:
        """The text of each row."""
        return [self.text[start : end - 1] for start, end in pairwise([0, *self.ends.tolist()])]


@dataclass(frozen=True)
class Wording:
    """The pieces of text around what differs from row to row, and the names of the attributes.

    First the heads, of which a row has one: up to the first probability, by class.
    """

    pieces: Texts
    names: Texts
    n_heads: int
    n_before: int  # numbers that stand before the leaves
    n_after: int

    @cached_property
    def arguments(self) -> tuple[int, ...]:
        """The same for the kernel."""
        sizes = (len(self.pieces.starts) - 1, len(self.names.starts) - 1)
        addresses = (*self.pieces.arguments, *self.names.arguments)
        return (*addresses, *sizes, self.n_heads, self.n_before, self.n_after)

    @cached_property
    def list_bytes(self) -> int:
        """That a list of names takes at the most."""
        return int(self.names.starts[-1]) + len(self.names.starts) + 2

    @cached_property
    def row_bytes(self) -> int:
        """That a row takes at the most, beside its numbers."""
        n_letters = self.pieces.starts[-1] + self.names.starts[-1]
        return int(n_letters) + len(self.names.starts) + NUMBER_BYTES


def make_wording(version: Version) -> Wording:
    """How a version puts its answers."""
    names = laid_out(orjson.dumps(each.name) for each in version.attributes)
    if not version.classes:
        pieces = [b'{"value":', b',"deviation":', b',"leaves":', b',"unknown":[', b'],"bounds":[']
        return Wording(laid_out([*pieces, b",", b"]" + UNSURE]), names, 1, 2, 2)
    classes = [orjson.dumps(name) for name in version.classes]
    heads = [b'{"class":%b,"probabilities":{%b:' % (name, classes[0]) for name in classes]
    before = [*(b",%b:" % name for name in classes[1:]), b'},"leaves":']
    bounds = [b'],"bounds":{%b:[' % classes[0]]
    for name in classes[1:]:
        bounds += [b",", b"],%b:[" % name]
    pieces = [*heads, *before, b',"unknown":[', *bounds, b",", b"]}" + UNSURE]
    return Wording(laid_out(pieces), names, len(heads), len(classes), 2 * len(classes))


def laid_out(texts: Iterable[bytes]) -> Texts:
    """These texts, one after the other."""
    made = list(texts)
    starts = np.array([0, *accumulate(map(len, made))], dtype=np.int64)
    return Texts(np.frombuffer(b"".join(made) + ROOM, dtype=np.uint8), starts)


def _leaves(ends: Ints, texts_of: TextsOf) -> Leaves:
    """The texts of these leaves, to each of which a row knew the way."""
    if len(ends) <= FEW_KNOWN:
        return Leaves(laid_out(texts_of(ends.tolist())), np.arange(len(ends)))
    met, numbers = np.unique(ends, return_inverse=True)
    return Leaves(laid_out(texts_of(met.tolist())), numbers)


def worded(wording: Wording, kernel: Native, told: Told, texts_of: TextsOf) -> Iterator[Worded]:
    """The texts of rows, which all have an answer, some rows at a time."""
    n_rows = max(1, MOST_BYTES // wording.row_bytes)
    for start in range(0, len(told.marks), n_rows):
        yield _worded(wording, kernel, told.some(slice(start, start + n_rows)), texts_of)


def _worded(wording: Wording, kernel: Native, told: Told, texts_of: TextsOf) -> Worded:
    is_lost = told.ends < 0
    numbers, n_rows = told.numbers[is_lost], len(told.marks)
    leaves = _leaves(told.ends[~is_lost], texts_of)
    if told.is_regression:
        np.sqrt(numbers[:, 1], out=numbers[:, 1])
    tokens = orjson.dumps(numbers, option=orjson.OPT_SERIALIZE_NUMPY) + ROOM
    ends, n_letters = np.empty(n_rows, dtype=np.int64), len(tokens) + leaves.n_letters + n_rows
    out = np.empty(len(numbers) * wording.row_bytes + n_letters, dtype=np.uint8)
    write = kernel if n_rows <= FEW else kernel.at_length
    write(
        *wording.arguments, *leaves.texts.arguments, len(leaves.texts.starts) - 1,
        address_of(leaves.numbers), len(leaves.numbers), n_rows, address_of(told.marks),
        tokens, len(tokens), address_of(out), len(out), address_of(ends),
    )  # fmt: skip
    return Worded(out[: ends[-1]].tobytes(), ends)


def listed(wording: Wording, kernel: Native, told: Told) -> bytes:
    """A list for each row of the unknown attributes that mattered, one list of them all."""
    n_rows, marks = max(1, MOST_BYTES // wording.list_bytes), told.marks
    starts = range(0, len(marks), n_rows)
    texts = [_listed(wording, kernel, marks[start : start + n_rows]) for start in starts]
    return b"[" + b"".join(texts)[:-1] + b"]"


def _listed(wording: Wording, kernel: Native, marks: Ints) -> bytes:
    out, end = (
        np.empty(len(marks) * wording.list_bytes + len(ROOM), np.uint8),
        np.zeros(1, np.int64),
    )
    kernel.at_length(
        *wording.names.arguments, len(wording.names.starts) - 1, len(marks), address_of(marks),
        address_of(out), len(out), address_of(end),
    )  # fmt: skip
    return out[: end[0]].tobytes()
