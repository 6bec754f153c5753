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


def make_pockets(books: Sequence[dict[int, bytes]]) -> Pockets:
    """The pockets of these books, each of which has texts by code; one may be empty."""
    pairs, lines, n_places = [], [], 0
    for texts in books:
        short = {key_of(text): code for code, text in texts.items() if len(text) <= LONGEST_KEY}
        n_bits, factor = _spread(np.array([*short], dtype=np.uint64))
        made = _laid(short if n_bits else {}, max(n_bits, 1), factor)
        pairs.append(made)
        lines.append((n_places, 64 - max(n_bits, 1), factor))
        n_places += len(made)
    return Pockets(np.concatenate(pairs).ravel(), np.array(lines, dtype=np.uint64).ravel())


def key_of(text: bytes) -> int:
    """A short text and its length in one number."""
    return int.from_bytes(text, "little") | len(text) << 8 * LONGEST_KEY


def _spread(keys: Words) -> tuple[int, int]:
    """How many bits tell the places of keys, and the factor that gives each its own; 0 if none."""
    least = max(1, (len(keys) - 1).bit_length())
    most = (ROOMIEST * len(keys)).bit_length()
    for n_bits in range(least, most) if 0 < len(keys) <= MOST_KEYS else ():
        for number in range(TRIES):
            factor = SPREAD[0] * (2 * number + 1) & ALL_BITS
            places = keys * np.uint64(factor) >> np.uint64(64 - n_bits)
            if len(np.unique(places)) == len(keys):
                return n_bits, factor
    return 0, SPREAD[0]


def _laid(short: dict[int, int], n_bits: int, factor: int) -> Words:
    """Each key at its place, with its code."""
    made = np.full((1 << n_bits, 2), NO_KEY, dtype=np.uint64)
    if short:
        keys = np.array([*short], dtype=np.uint64)
        codes = np.array([*short.values()], dtype=np.float64)
        places = keys * np.uint64(factor) >> np.uint64(64 - n_bits)
        made[places] = np.column_stack((keys, codes.view(np.uint64)))
    return made
