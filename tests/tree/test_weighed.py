"""Quick logarithms beside the exact ones, and the cuts that they find beside all cuts."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tree.kernels.entries import make_layout
from service.tree.kernels.rooms import KNOWN, LEFT
from service.tree.kernels.weighed import BLOCK, SHORT, quick, scan_weighed

TIE = 1e-9


@given(st.floats(min_value=0.0, max_value=1.0, exclude_min=True, width=32))
def test_a_quick_logarithm_is_off_by_a_millionth_at_most(x: float) -> None:
    assert float(quick(SHORT(x))) == pytest.approx(x * np.log2(x), abs=1e-6)


def test_nothing_times_its_logarithm_is_nothing() -> None:
    assert quick(SHORT(0)) == 0


def negative_entropy(weights: Any) -> float:
    """The weight of rows times their negative entropy, by class."""
    known = weights[weights > 1e-12]
    return float((known * np.log2(known / known.sum())).sum())


def naive(classes: Any, weights: Any, ties: Any, low: int, high: int) -> tuple[int, float]:
    """The first best cut of all, each measured by itself."""
    at, best = 0, -np.inf
    moved = np.zeros((len(classes), 3))
    moved[np.arange(len(classes)), classes] = weights
    for cut in range(low, high + 1):
        here = negative_entropy(moved[:cut].sum(0)) + negative_entropy(moved[cut:].sum(0))
        if not ties[cut] and here > best + TIE:
            at, best = cut, here
    return at, best


@given(st.integers(0, 2**32), st.integers(3, 4 * BLOCK), st.integers(1, 20))
def test_the_best_cut_of_weighted_rows_is_the_best_of_all(
    seed: int, n_rows: int, crowd: int
) -> None:
    draw = np.random.default_rng(seed)
    classes = draw.integers(0, 3, n_rows)
    weights = draw.choice([1.0, 0.5, 0.25, 1 / 3, 1e-4], n_rows)
    ties = draw.integers(0, crowd, n_rows) > 0
    low, high = 1, n_rows - 1
    layout = make_layout(n_rows, 3)
    entries = np.arange(n_rows, dtype=np.uint64) | (classes.astype(np.uint64) << layout.shift)
    entries = (entries | np.where(ties, layout.tie_bit, np.uint64(0))).astype(np.uint32)
    rows, sums, block = np.ones((3, n_rows)), np.zeros((7, 3)), np.zeros((3, BLOCK), SHORT)
    rows[0] = weights
    sums[KNOWN] = np.bincount(classes, weights, 3)
    sums[LEFT, classes[0]] = weights[0]
    at, best = scan_weighed(entries, 0, low, high, layout, rows, sums, block, TIE, -np.inf)
    expected = naive(classes, weights, ties, low, high)
    assert best == pytest.approx(expected[1], abs=1e-7) or at == expected[0] == 0
    assert at == expected[0]
