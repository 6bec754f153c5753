"""The best cut of a column between rows with a number to predict."""

from typing import Any

from service.tree.kernels.compile import lean
from service.tree.kernels.entries import Layout, U
from service.tree.kernels.rooms import APART, WEIGHT

NEARLY = 1e-14  # by how much a quotient and its factors may be rounded apart


@lean
def scan_whole_numbers(
    entries: Any, first: int, low: int, high: int, layout: Layout, rows: Any,
    known: tuple[float, float], tie: float, best: float,
) -> tuple[int, float]:  # fmt: skip
    """How many rows stand before the first cut that is better by more than a tie; 0 for none.

    All rows weigh 1; their targets are about the node's mean.
    """
    at, total, limit = 0, 0.0, (best + tie) * (1.0 - NEARLY)
    for place in range(low):
        total += rows[APART, entries[U(first + place)] & layout.row_mask]
    for place in range(low, high + 1):
        entry = entries[U(first + place)]
        if entry & layout.tie_bit == 0:
            rest, after = known[1] - total, known[0] - place
            # to divide is slow, and seldom needed
            if total * total * after + rest * rest * place > limit * place * after:
                here = total * total / place + rest * rest / after
                if here > best + tie:
                    best, at = here, place
                    limit = (best + tie) * (1.0 - NEARLY)
        total += rows[APART, entry & layout.row_mask]
    return at, best


@lean
def scan_numbers(
    entries: Any, first: int, low: int, high: int, layout: Layout, rows: Any,
    known: tuple[float, float], tie: float, best: float,
) -> tuple[int, float]:  # fmt: skip
    """The same for rows of any weight."""
    at, weight, total = 0, 0.0, 0.0
    for place in range(high + 1):
        entry = entries[U(first + place)]
        row = entry & layout.row_mask
        other, rest = known[0] - weight, known[1] - total
        if place >= low and entry & layout.tie_bit == 0 and other > 0:
            here = total * total / weight + rest * rest / other
            if here > best + tie:
                best, at = here, place
        weight += rows[WEIGHT, row]
        total += rows[WEIGHT, row] * rows[APART, row]
    return at, best
