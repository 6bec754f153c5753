"""How trees and what is told of rows lie in memory. Whoever has no numba may import this."""

import numpy as np

NODE = np.dtype(
    [
        ("threshold", np.float64),  # infinite at a leaf
        ("attribute", np.int32),  # 0 at a leaf
        ("first", np.int32),  # the child down branch 0; a leaf leads to itself
        ("null", np.int32),  # the child down null's own branch; without one, the node itself
        ("largest", np.int32),  # the child with the largest share
        ("n_branches", np.int32),
        ("table", np.int32),  # where the branches of its categories begin; -1: a threshold
    ]
)

# Lists of a node beside those of its branches: of who ends there, and of who divides, which is soon
# empty again.
N_OTHERS = 2
N_TOTALS = 2  # numbers per row of a block
ITEM = 3  # numbers per item of the stack
END, CLASS, N_LEAVES, MET = range(4)  # marks of a row, which end with the words of what it MET

# columns of an answer that are not floats; these are told by their place among the numbers
CLASSES, LEAVES, CERTAIN, NOTHING = range(-4, 0)
MEMO_BITS = 10  # of the number of floats of which it is known where they were written

# of a column of Arrow in a body: whose it is, and where its bits (-1 for none), its numbers or the
# ends of its texts, and their letters begin and end
OF_ATTRIBUTE, OF_NULLS, OF_VALUES, OF_LETTERS, OF_LETTERS_END = range(5)
A_COLUMN = 5

# of texts that are looked up: where the slots of a book begin, how many there are less one, and
# the number of its first text
SLOTS, MASK, FIRST_TEXT = range(3)
BOOK = 3
# of the pocket of a book, in which short texts are found by one look: where its places begin, by
# how much the products of keys are shifted, and the factor of these
PLACES, SHIFT, FACTOR = range(3)
POCKET = 3
LONGEST_KEY = 7  # letters of a text whose length fits behind them
NO_KEY = (1 << 64) - 1
LARGEST_POWER = 64  # of ten, within which numbers are read by kernels
LEAST_TEN, N_TENS = -292, 617  # powers of ten by which floats are written: the least, and how many
MOST_DIGITS = 19  # of a whole number that surely fits into 64 bits
ALL_BITS = (1 << 64) - 1
SPREAD = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)  # odd, with bits anywhere


def hash_of(first: int, last: int, length: int) -> int:
    """The hash of a text by its first and last eight letters, as kernels compute it."""
    mixed = (first * SPREAD[0]) ^ (last * SPREAD[1]) ^ (length * SPREAD[2])
    mixed &= ALL_BITS
    # upper bits of a product depend on all bits below them, and the lower ones on few
    return ((mixed ^ (mixed >> 32)) * SPREAD[0] & ALL_BITS) >> 33
