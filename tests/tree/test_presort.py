"""Sorted columns: what C4.5 wants to know of neighbours, beside a look at all of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from service.tree.attribute import Attribute, Kind
from service.tree.dataset import Dataset
from service.tree.kernels.sort import NEIGHBOURS
from service.tree.presort import presort

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
    is_close = np.append(False, np.diff(known) <= NEIGHBOURS)[: len(known)]
    assert_array_equal((column & layout.close_bit != 0)[: len(known)], is_close)
