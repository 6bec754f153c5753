"""Pockets: short texts of a book, found by one look, each at a place that no other shares."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from service.tree.kernels.shapes import ALL_BITS, LONGEST_KEY, NO_KEY, SPREAD

Words = npt.NDArray[np.uint64]

ROOMIEST = 16  # places for each text, at the most
TRIES = 64  # factors by which keys are spread over the places, until none meets another
MOST_KEYS = 256  # of more, some will nearly always meet


class Pockets(NamedTuple):
    """The pockets of all books, one after the other, as kernels want them."""

    pairs: Words  # by place the key of a text, and its code as the bits of a float
    lines: Words  # by book where its places begin, by how much keys are shifted, and their factor


class Spread(NamedTuple):
    """How keys are spread over places."""

    n_bits: int  # that tell a place
    factor: int


EMPTY = Spread(1, SPREAD[0])  # of a pocket with nothing in it


def make_pockets(books: Sequence[dict[int, bytes]]) -> Pockets:
    """The pockets of these books, each of which has texts by code; one may be empty."""
    pairs, lines, n_places = [], [], 0
    for texts in books:
        short = {key_of(text): code for code, text in texts.items() if len(text) <= LONGEST_KEY}
        spread = _spread(np.array([*short], dtype=np.uint64))
        pairs.append(_laid({}, EMPTY) if spread is None else _laid(short, spread))
        n_bits, factor = spread or EMPTY
        lines.append((n_places, 64 - n_bits, factor))
        n_places += len(pairs[-1])
    return Pockets(np.concatenate(pairs).ravel(), np.array(lines, dtype=np.uint64).ravel())


def key_of(text: bytes) -> int:
    """A short text and its length in one number."""
    return int.from_bytes(text, "little") | len(text) << 8 * LONGEST_KEY


def _spread(keys: Words) -> Spread | None:
    """What gives each key a place of its own; None if nothing does, or there is no key."""
    least = max(1, (len(keys) - 1).bit_length())
    most = (ROOMIEST * len(keys)).bit_length()
    for n_bits in range(least, most) if len(keys) <= MOST_KEYS else ():
        for number in range(TRIES):
            spread = Spread(n_bits, SPREAD[0] * (2 * number + 1) & ALL_BITS)
            if len(np.unique(_places(keys, spread))) == len(keys):
                return spread
    return None


def _places(keys: Words, spread: Spread) -> Words:
    return keys * np.uint64(spread.factor) >> np.uint64(64 - spread.n_bits)


def _laid(short: dict[int, int], spread: Spread) -> Words:
    """Each key at its place, with its code."""
    made = np.full((1 << spread.n_bits, 2), NO_KEY, dtype=np.uint64)
    keys = np.array([*short], dtype=np.uint64)
    codes = np.array([*short.values()], dtype=np.float64)
    made[_places(keys, spread)] = np.column_stack((keys, codes.view(np.uint64)))
    return made
