"""Reading: the rows of a question straight from its bytes into numbers, by native code.

Only what is as it mostly is can be read so; whatever else is in a body is left to its form.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from service.actions.form import ODD
from service.actions.pockets import Pockets, make_pockets
from service.tree.arrays import Floats, Ints
from service.tree.attribute import Attribute, Kind
from service.tree.kernels.shapes import LARGEST_POWER, hash_of
from service.tree.native import Native, Natives, address_of

PAD = bytes(16)  # behind what is read, since kernels look at eight letters at a time
MOST_STEPS = 32  # from a hash to its text
MOST_SLOTS = 1 << 10  # of a book, if it does not need more
MOST_PLANS = 4  # of streams of Arrow, that are kept of a version, ...
LONGEST_PLAN = 4_096  # ... and how many bytes of what tells them apart
FEW = 1 << 16  # letters for which it does not pay to let other threads go first


@dataclass(frozen=True)
class Reader:
    """The texts that a kernel looks up: the names of attributes, and their categories."""

    natives: Natives
    arrays: tuple[npt.NDArray[np.generic], ...]
    arguments: tuple[int, ...]
    n_attributes: int
    pockets: Pockets
    pocket_arguments: tuple[int, ...]
    # of the last streams of Arrow, by how they began; kept by those who read them
    plans: dict[bytes, Any] = field(default_factory=dict)

    @property
    def n_bytes(self) -> int:
        """About how much memory this takes, or may come to take."""
        arrays = (*self.arrays, *self.pockets)
        return sum(each.nbytes for each in arrays) + MOST_PLANS * LONGEST_PLAN + 1_000


def make_reader(attributes: Sequence[Attribute], natives: Natives | None) -> Reader | None:
    """What reads rows of these attributes; None where there is no native code, or no way."""
    if natives is None or not attributes or any(ODD.search(each.name) for each in attributes):
        return None
    books = [[f'"{each.name}"' for each in attributes]]
    book_of = []
    for each in attributes:
        book_of.append(0 if each.kind == Kind.NUMERIC else len(books))
        books += [] if each.kind == Kind.NUMERIC else [list(each.values)]
    texts = [text.encode() for book in books for text in book]
    firsts = [0, *accumulate(map(len, books))]
    plain = [dict(enumerate(map(str.encode, books[0]))), *map(_plain, books[1:])]
    slots = [_slots(book, first) for book, first in zip(plain, firsts, strict=False)]
    whole = [each for each in slots if each is not None]
    if len(whole) < len(slots):
        return None
    places = [0, *accumulate(map(len, whole))]
    lines = [
        (place, len(each) - 1, first)
        for place, each, first in zip(places, whole, firsts, strict=False)
    ]
    arrays = (
        np.frombuffer(b"".join(texts) + PAD, dtype=np.uint8),
        np.array([0, *accumulate(map(len, texts))], dtype=np.int64),
        np.concatenate(whole), np.array(lines, dtype=np.int64), np.array(book_of, dtype=np.int64),
    )  # fmt: skip
    sizes = (len(texts), places[-1], len(books), len(attributes))
    addresses = [address_of(each) for each in (*arrays, *powers())]
    arguments = (*addresses, *sizes)
    pockets = make_pockets([{}, *plain[1:]])  # names have none
    of_pockets = (*map(address_of, pockets), pockets.pairs.size)
    return Reader(natives, arrays, arguments, len(attributes), pockets, of_pockets)


def _plain(book: Sequence[str]) -> dict[int, bytes]:
    """The categories by code; whoever writes an odd one as it is does not mean it."""
    return {code: text.encode() for code, text in enumerate(book) if not ODD.search(text)}


def _slots(texts: Mapping[int, bytes], first: int) -> Ints | None:
    """By hash the number of a text, which are counted on from the first; None if too many agree.

    There is more room where each text then stands at its own place, so that nobody looks twice.
    """
    hashes = {
        first + code: hash_of(_number(text[:8]), _number(text[-8:] if text[8:] else b""), len(text))
        for code, text in texts.items()
    }
    least = 1 << (2 * len(texts) + 1).bit_length()
    sizes = range(least.bit_length() - 1, max(least, MOST_SLOTS).bit_length())
    alone = (1 << bits for bits in sizes if _is_alone(hashes.values(), 1 << bits))
    return _placed(hashes, next(alone, least))


def _is_alone(hashes: Collection[int], size: int) -> bool:
    return len({each % size for each in hashes}) == len(hashes)


def _placed(hashes: Mapping[int, int], size: int) -> Ints | None:
    """The number of each text at the first free place from its hash on."""
    slots = np.full(size, -1, dtype=np.int64)
    for number, start in hashes.items():
        steps = range(start, start + MOST_STEPS)
        free = next((at % size for at in steps if slots[at % size] < 0), None)
        if free is None:
            return None
        slots[free] = number
    return slots


def _number(letters: bytes) -> int:
    return int.from_bytes(letters, "little")


# From a body, a place in it and the most rows that there may be, their values and where they end.
Read: TypeAlias = Callable[[Reader, bytes, int, int], tuple[Floats, int] | None]


@cache
def powers() -> tuple[Floats, npt.NDArray[np.uint64]]:
    """Powers of ten that are exact, and the upper 128 bits of those of five, two by two."""
    wide = [_wide(power) for power in range(-LARGEST_POWER, LARGEST_POWER + 1)]
    halves = [half for bits in wide for half in (bits >> 64, bits & (1 << 64) - 1)]
    return np.array([float(10**power) for power in range(23)]), np.array(halves, dtype=np.uint64)


def _wide(power: int) -> int:
    """The upper 128 bits of 5 ** power, cut off; rounded up where a fraction may be exact."""
    whole: int = 5 ** abs(power)
    n_bits = (whole - 1).bit_length()
    if power >= 0:
        return _upper(whole)
    if power >= -27:
        return (1 << (n_bits + 127)) // whole + 1
    return _upper((1 << (2 * n_bits + 128)) // whole + 1)


def _upper(number: int) -> int:
    n_more = number.bit_length() - 128
    return number >> n_more if n_more > 0 else number << -n_more


def read_rows(reader: Reader, sent: bytes, at: int, most_rows: int) -> tuple[Floats, int] | None:
    """The values of the rows in a list whose inside begins at a place, and where it ends."""
    n_rows = min(sent.count(b"{", at), most_rows + 1)
    values = np.empty((n_rows, reader.n_attributes))
    n_read, end = _read(reader, reader.natives.read_rows, sent, at, values, n_rows)
    return None if n_read < 0 or n_read > most_rows else (values[:n_read], end)


def read_columns(reader: Reader, sent: bytes, at: int, most_rows: int) -> tuple[Floats, int] | None:
    """The same of an object of columns."""
    start = sent.find(b"[", at)
    end = sent.find(b"]", start)
    n_rows = sent.count(b",", start, end) + 1 if sent[start + 1 : end].strip() else 0
    if start < 0 or n_rows > most_rows:
        return None
    values = np.full((reader.n_attributes, n_rows), np.nan)
    n_read, end = _read(reader, reader.natives.read_columns, sent, at, values, n_rows)
    return None if n_read < 0 else (values.T, end)


def _read(
    reader: Reader, kernel: Native, sent: bytes, at: int, values: Floats, n_rows: int
) -> tuple[int, int]:
    """How many rows were read, -1 for something unknown, and where they end."""
    letters = sent + PAD
    scratch = np.full(2 * reader.n_attributes + 2, -1, dtype=np.int64)
    scratch[reader.n_attributes : -2] = np.arange(reader.n_attributes)
    place = address_of(scratch)
    call: Callable[..., None] = kernel if len(letters) <= FEW else kernel.at_length
    call(
        *reader.arguments, letters, len(letters), at, address_of(values), n_rows,
        place, place + 16 * reader.n_attributes,
    )  # fmt: skip
    return int(scratch[-2]), int(scratch[-1])
