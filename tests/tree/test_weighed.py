"""Quick logarithms beside the exact ones, and the cuts that they find beside all cuts."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tree.kernels.cut import window
from service.tree.kernels.entries import make_layout
from service.tree.kernels.rooms import KNOWN, LEFT, SECOND, WEIGHT
from service.tree.kernels.two_weighed import scan_two_weighed
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


def naive(
    classes: Any, weights: Any, n_classes: int, ties: Any, low: int, high: int
) -> tuple[int, float]:
    """The first best cut of all, each measured by itself."""
    at, best = 0, -np.inf
    moved = np.zeros((len(classes), n_classes))
    moved[np.arange(len(classes)), classes] = weights
    for cut in range(low, high + 1):
        here = negative_entropy(moved[:cut].sum(0)) + negative_entropy(moved[cut:].sum(0))
        if not ties[cut] and here > best + TIE:
            at, best = cut, here
    return at, best


@given(st.integers(0, 2**32), st.integers(3, 4 * BLOCK), st.integers(1, 20), st.integers(2, 3))
def test_the_best_cut_of_weighted_rows_is_the_best_of_all(
    seed: int, n_rows: int, crowd: int, n_classes: int
) -> None:
    draw = np.random.default_rng(seed)
    classes = draw.integers(0, n_classes, n_rows)
    weights = draw.choice([1.0, 0.5, 0.25, 1 / 3, 1e-4], n_rows)
    ties = draw.integers(0, crowd, n_rows) > 0
    low, high = 1, n_rows - 1
    layout = make_layout(n_rows, n_classes)
    entries = np.arange(n_rows, dtype=np.uint64) | (classes.astype(np.uint64) << layout.shift)
    entries = (entries | np.where(ties, layout.tie_bit, np.uint64(0))).astype(np.uint32)
    rows, sums, block = np.ones((3, n_rows)), np.zeros((7, n_classes)), np.zeros((3, BLOCK), SHORT)
    rows[WEIGHT], rows[SECOND] = weights, weights * (classes == 1)
    sums[KNOWN] = np.bincount(classes, weights, n_classes)
    sums[LEFT, classes[0]] = weights[0]
    place = (entries, 0, low, high, layout, rows, sums)
    if n_classes == 2:
        at, best = scan_two_weighed(*place, np.zeros((3, BLOCK)), block, TIE, -np.inf)
    else:
        at, best = scan_weighed(*place, block, TIE, -np.inf)
    expected = naive(classes, weights, n_classes, ties, low, high)
    assert best == pytest.approx(expected[1], abs=1e-7) or at == expected[0] == 0
    assert at == expected[0]


@given(st.integers(0, 2**32), st.integers(1, 3 * BLOCK), st.floats(0.0, 9.0), st.integers(2, 3))
def test_the_window_leaves_enough_weight_on_both_sides(
    seed: int, n_rows: int, least: float, n_classes: int
) -> None:
    draw = np.random.default_rng(seed)
    classes = draw.integers(0, n_classes, n_rows)
    weights = draw.choice([1.0, 0.5, 0.25, 0.125], n_rows)  # whose sums are exact
    layout = make_layout(n_rows, n_classes)
    entries = np.arange(n_rows, dtype=np.uint64) | (classes.astype(np.uint64) << layout.shift)
    rows, sums = np.ones((3, n_rows)), np.full((7, n_classes), np.nan)
    rows[WEIGHT], rows[SECOND] = weights, weights * (classes == 1)
    low, high = window(entries.astype(np.uint32), 0, n_rows, layout, rows, least, False, sums)
    before = np.append(0.0, np.cumsum(weights))
    enough = [cut for cut in range(1, n_rows + 1) if before[cut] >= least]
    behind = [cut for cut in range(n_rows) if before[-1] - before[cut] >= least]

    assert [cut for cut in enough if cut in behind] == list(range(low, high + 1))
    if enough:
        left = np.bincount(classes[: enough[0]], weights[: enough[0]], n_classes)
        assert left.tolist() == sums[LEFT].tolist()
