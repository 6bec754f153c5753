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

N_TOTALS = 2  # numbers per row of a block
ITEM = 3  # numbers per item of the stack
END, CLASS, N_LEAVES, MET = range(4)  # marks of a row, which end with the words of what it MET
