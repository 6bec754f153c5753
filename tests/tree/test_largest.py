"""The largest value up to each mark, beside a look at all of them."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from service.tree.kernels.sort import find_largest

numbers = st.floats(allow_nan=False, width=64) | st.integers(-9, 9).map(float)


@given(
    st.lists(numbers | st.just(float("nan")), min_size=1, max_size=60),
    st.lists(numbers, min_size=1, max_size=20),
    st.integers(1, 8),
)
def test_each_mark_has_the_largest_value_between_it_and_the_last(
    drawn: list[float], marked: list[float], n_pieces: int
) -> None:
    values, marks = np.array(drawn), np.sort(marked)
    found = np.full(len(marks), -np.inf)
    firsts = np.empty(n_pieces * len(marks) + 2, np.int64)
    find_largest(values, np.arange(len(values)), marks, firsts, found)

    assert_array_equal(found, [largest(values, marks, at) for at in range(len(marks))])


def largest(values: Any, marks: Any, at: int) -> float:
    last = marks[at - 1] if at > 0 else -np.inf
    inside = values[(values > last) & (values <= marks[at])]
    return float(inside.max(initial=-np.inf))
