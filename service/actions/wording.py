"""Wording: what is told of rows for which a null mattered, as JSON, without an object for each."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt
import orjson

from service.storage.records import Version
from service.tree.arrays import Ints
from service.tree.native import Native
from service.tree.tell import Told, address_of

MOST_BYTES = 1 << 23  # of text that is written at once, where rows have very many names
FEW = 1000  # rows for which it does not pay to let other threads go first
NUMBER_BYTES = 20  # of the longest whole number
UNSURE = b',"certain":false}'
ROOM = bytes(24)  # behind a text, since the kernel copies more letters than it needs


@dataclass(frozen=True)
class Texts:
    """Some texts one after the other, and where each begins."""

    letters: npt.NDArray[np.uint8]
    starts: Ints


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
        addresses = [
            address for texts in (self.pieces, self.names)
            for address in (address_of(texts.letters), address_of(texts.starts))
        ]  # fmt: skip
        sizes = (len(self.pieces.starts) - 1, len(self.names.starts) - 1)
        return (*addresses, *sizes, self.n_heads, self.n_before, self.n_after)

    @cached_property
    def row_bytes(self) -> int:
        """That a row takes at the most, beside its numbers."""
        n_letters = self.pieces.starts[-1] + self.names.starts[-1]
        return int(n_letters) + len(self.names.starts) + NUMBER_BYTES


def make_wording(version: Version) -> Wording:
    """How a version puts its answers."""
    names = _texts(orjson.dumps(each.name) for each in version.attributes)
    if not version.classes:
        pieces = [b'{"value":', b',"deviation":', b',"leaves":', b',"unknown":[', b'],"bounds":[']
        return Wording(_texts([*pieces, b",", b"]" + UNSURE]), names, 1, 2, 2)
    classes = [orjson.dumps(name) for name in version.classes]
    heads = [b'{"class":%b,"probabilities":{%b:' % (name, classes[0]) for name in classes]
    before = [*(b",%b:" % name for name in classes[1:]), b'},"leaves":']
    bounds = [b'],"bounds":{%b:[' % classes[0]]
    for name in classes[1:]:
        bounds += [b",", b"],%b:[" % name]
    pieces = [*heads, *before, b',"unknown":[', *bounds, b",", b"]}" + UNSURE]
    return Wording(_texts(pieces), names, len(heads), len(classes), 2 * len(classes))


def _texts(texts: Iterable[bytes]) -> Texts:
    made = list(texts)
    starts = np.array([0, *accumulate(map(len, made))], dtype=np.int64)
    return Texts(np.frombuffer(b"".join(made) + ROOM, dtype=np.uint8), starts)


def worded(wording: Wording, kernel: Native, told: Told) -> list[bytes]:
    """The text of each row, for which a null mattered and which has an answer."""
    n_rows = max(1, MOST_BYTES // wording.row_bytes)
    texts: list[bytes] = []
    for start in range(0, len(told.marks), n_rows):
        texts += _worded(wording, kernel, told.some(slice(start, start + n_rows)))
    return texts


def _worded(wording: Wording, kernel: Native, told: Told) -> list[bytes]:
    numbers = told.numbers
    if told.is_regression:
        numbers = numbers.copy()
        np.sqrt(numbers[:, 1], out=numbers[:, 1])
    n_rows, tokens = len(numbers), orjson.dumps(numbers, option=orjson.OPT_SERIALIZE_NUMPY) + ROOM
    letters, ends = np.frombuffer(tokens, dtype=np.uint8), np.empty(n_rows, dtype=np.int64)
    out = np.empty(n_rows * wording.row_bytes + len(tokens), dtype=np.uint8)
    write = kernel if n_rows <= FEW else kernel.at_length
    write(
        *wording.arguments, n_rows, address_of(told.marks), address_of(letters), len(tokens),
        address_of(out), len(out), address_of(ends),
    )  # fmt: skip
    text = out[: ends[-1]].tobytes()
    starts = [0, *ends.tolist()]
    return [text[start : end - 1] for start, end in pairwise(starts)]
