"""Sums in the order in which numpy's add.reduceat takes them, so that not a bit differs from it."""

from service.tree.arrays import Floats, Ints
from service.tree.kernels.compile import kernel

BLOCK = 128  # numpy halves what is longer
LEVELS = 64  # no array is halved more often
JOIN = -1  # in place of a length: the last two sums become one


@kernel
def summed(terms: Floats, n_terms: int, todo: Ints, sums: Floats) -> float:
    """The sum of the first terms; todo (2 x LEVELS) and sums (LEVELS) are room to work in."""
    if n_terms == 1:
        return float(terms[0])
    if n_terms <= BLOCK + 1:
        return float(terms[0] + _block(terms, 1, n_terms))
    n_todo, n_sums, start = 1, 0, 1
    todo[0] = n_terms - 1
    while n_todo > 0:
        n_todo -= 1
        length = todo[n_todo]
        if length == JOIN:
            n_sums -= 1
            sums[n_sums - 1] += sums[n_sums]
        elif length <= BLOCK:
            sums[n_sums] = _block(terms, start, start + length)
            n_sums, start = n_sums + 1, start + length
        else:
            half = length // 2
            half -= half % 8
            todo[n_todo], todo[n_todo + 1], todo[n_todo + 2] = JOIN, length - half, half
            n_todo += 3
    return float(terms[0] + sums[0])


@kernel
def _block(terms: Floats, start: int, end: int) -> float:
    """The sum of up to BLOCK terms: from eight on, eight sums side by side."""
    total = -0.0
    if end - start >= 8:
        a, b, c, d = terms[start], terms[start + 1], terms[start + 2], terms[start + 3]
        e, f, g, h = terms[start + 4], terms[start + 5], terms[start + 6], terms[start + 7]
        start += 8
        while start + 8 <= end:
            a, b = a + terms[start], b + terms[start + 1]
            c, d = c + terms[start + 2], d + terms[start + 3]
            e, f = e + terms[start + 4], f + terms[start + 5]
            g, h = g + terms[start + 6], h + terms[start + 7]
            start += 8
        total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for place in range(start, end):
        total += terms[place]
    return total
