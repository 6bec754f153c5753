"""Sorted columns beside numpy's, and what C4.5 wants to know of neighbours."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from service.tree.attribute import Attribute, Kind
from service.tree.dataset import Dataset
from service.tree.kernels.sort import NEIGHBOURS
from service.tree.presort import presort

alike = st.integers(0, 5).map(lambda steps: 1.0 + steps * 2.0**-52)  # but for the last bits
close_numbers = st.integers(-3, 3).map(lambda steps: steps * 0.6 * NEIGHBOURS)
numbers = close_numbers | st.floats(-9, 9) | st.sampled_from([np.nan, -0.0, 1e300, -1e300])


@given(st.lists(numbers, min_size=1, max_size=60))
def test_neighbours_that_nearly_agree_are_marked_and_values_kept_in_order(
    drawn: list[float],
) -> None:
    values = np.array(drawn)[:, np.newaxis]
    target, ones = np.zeros(len(drawn), np.int64), np.ones(len(drawn))
    data = Dataset((Attribute("n", Kind.NUMERIC),), ("k",), values, target, ones)
    made = presort(data, np.arange(len(drawn)), is_cautious=True)
    layout, column = made.layout, made.entries[len(drawn) :].astype(np.uint64)
    in_order = values[(column & layout.row_mask).astype(np.int64), 0]
    known = in_order[~np.isnan(in_order)]

    assert made.is_marked
    assert made.known is not None
    assert_array_equal(made.known[0], in_order)
    assert_array_equal(known, np.sort(known))
    is_close = np.append(False, known[1:] <= known[:-1] + NEIGHBOURS)[: len(known)]
    assert_array_equal((column & layout.close_bit != 0)[: len(known)], is_close)


@given(drawn=st.lists(numbers | alike, min_size=1, max_size=300), is_cautious=st.booleans())
def test_columns_are_in_order_equals_as_they_came_and_nulls_last(
    *, drawn: list[float], is_cautious: bool
) -> None:
    values = np.array(drawn)[:, np.newaxis]
    target = np.arange(len(drawn)) % 3
    data = Dataset(
        (Attribute("n", Kind.NUMERIC),), ("a", "b", "c"), values, target, np.ones(len(drawn))
    )
    made = presort(data, np.arange(len(drawn)), is_cautious=is_cautious)
    layout, column = made.layout, made.entries[len(drawn) :].astype(np.uint64)
    order = np.argsort(values[:, 0], kind="stable")
    in_order = values[order, 0]

    assert_array_equal((column & layout.row_mask).astype(np.int64), order)
    assert_array_equal((column >> layout.shift) & layout.class_mask, target[order])
    assert_array_equal(column & layout.null_bit != 0, np.isnan(in_order))
    is_tied = np.append(False, in_order[1:] == in_order[:-1])
    assert_array_equal(column & layout.tie_bit != 0, is_tied)


def test_very_many_values_that_are_alike_are_sorted_all_the_same() -> None:
    values = 1.0 + np.random.default_rng(0).permutation(2_000)[:, np.newaxis] * 2.0**-52
    target, ones = np.zeros(len(values), np.int64), np.ones(len(values))
    data = Dataset((Attribute("n", Kind.NUMERIC),), ("k",), values, target, ones)
    made = presort(data, np.arange(len(values)))
    order = (made.entries[len(values) :] & np.uint32(made.layout.row_mask)).astype(np.int64)

    assert_array_equal(order, np.argsort(values[:, 0]))
