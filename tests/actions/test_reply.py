"""Replying: with native code and without it, the answer is the same."""

from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.actions.load import Loaded
from service.actions.ready import Ready, make_ready
from service.actions.reply import by_column, many
from tests.actions.golf import golf
from tests.actions.odd_trees import loaded_trees
from tests.natives import teller_of
from tests.strategies import matrices


def with_natives(loaded: Loaded) -> Loaded:
    return replace(loaded, teller=teller_of(loaded.compiled))


def assert_alike(found: Any, expected: Any) -> None:
    """The same but for the rounding of sums."""
    if isinstance(expected, float) and found is not None:
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-11)
    elif isinstance(expected, dict):
        assert [*found] == [*expected]
        for name, value in expected.items():
            assert_alike(found[name], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_alike(one, other)
    else:
        assert found == expected


def rows(ready: Ready, values: np.ndarray) -> list[Any]:
    return [orjson.loads(text) for text in many(ready, values)]


@given(st.data())
def test_native_code_tells_what_numpy_tells(data: st.DataObject) -> None:
    loaded = data.draw(loaded_trees())
    values = data.draw(matrices(loaded.compiled.attributes, 20))
    plain, native = make_ready(loaded), make_ready(with_natives(loaded))

    assert_alike(rows(native, values), rows(plain, values))
    assert_alike(*(orjson.loads(by_column(ready, values)) for ready in (native, plain)))


@pytest.mark.parametrize("n_rows", [1, 8, 9, 300])
def test_a_row_is_told_the_same_among_however_many(n_rows: int) -> None:
    ready = make_ready(with_natives(golf()))
    alone = rows(ready, np.array([[np.nan, 60.0, np.nan]]))

    assert rows(ready, np.array([[np.nan, 60.0, np.nan]] * n_rows)) == alone * n_rows
