"""Wording by column: what native code writes is, letter for letter, what orjson writes."""

import struct
from dataclasses import replace

import numpy as np
import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.actions.ready import make_ready
from service.actions.reply import columns_by_hand, columns_of, tell_rows
from service.actions.wording_columns import Page
from service.tree.arrays import Floats
from service.tree.kernels.shapes import MET
from service.tree.tell import Told
from tests.actions.golf import CLASSES, golf
from tests.actions.odd_trees import loaded_trees
from tests.actions.test_reply import with_natives
from tests.natives import natives
from tests.strategies import matrices

PROBABILITIES = 1  # the column of the first class


def written(floats: Floats) -> bytes:
    """Numbers as the kernel writes them, as if they were probabilities."""
    columns = make_ready(golf()).columns
    numbers = np.zeros((len(floats), 6))
    numbers[:, 0] = floats
    told = Told(numbers, np.zeros((len(floats), MET + 1), dtype=np.int64), is_regression=False)
    page = Page(columns, natives(), np.ones(1), told)
    text = bytes(page.text(PROBABILITIES, PROBABILITIES + 1))
    return text[text.rindex(b"[") :] + b"]"


def by_orjson(floats: Floats) -> bytes:
    return orjson.dumps(floats, option=orjson.OPT_SERIALIZE_NUMPY)


ANY_BITS = st.integers(0, 2**64 - 1).map(
    lambda bits: struct.unpack("<d", struct.pack("<Q", bits))[0]
)
SHARES = st.builds(lambda part, whole: min(part, whole) / whole, *[st.integers(1, 10**6)] * 2)
SHORT = st.builds(
    lambda digits, power: digits / 10**power, st.integers(-9999, 9999), st.integers(0, 9)
)


@given(st.lists(st.one_of(st.floats(), ANY_BITS, SHARES, SHORT), min_size=1))
@example(
    [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308]
)
@example([struct.unpack("<d", b"\xff" * 8)[0]])
@example([1e-5, 9.999999999999999e-6, 1e-6, 1.5e-7, 1e15, 9999999999999998.0, 1e16, 1.5e16, 1e21])
@example(
    [9007199254740993.0, 2.0**-44, 2.0**-1074 * 3, 1e23, 8.41e21, 9.5367431640625e-7, 0.3, 1.0]
)
def test_floats_are_written_as_orjson_writes_them(floats: list[float]) -> None:
    twice = np.array([*floats, *floats])

    assert written(twice) == by_orjson(twice)


def test_powers_and_their_neighbours_are_written_as_orjson_writes_them() -> None:
    twos = [2.0**power for power in range(-1074, 1024)]
    tens = [float(f"1e{power}") for power in range(-323, 309)]
    exact = np.array([*twos, *tens])
    floats = np.concatenate([exact, np.nextafter(exact, 0), np.nextafter(exact, np.inf), -exact])

    assert written(floats) == by_orjson(floats)


def test_very_many_floats_are_written_as_orjson_writes_them() -> None:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, 100_000, dtype=np.uint64).view(np.float64)
    for floats in (bits, rng.random(100_000), rng.integers(0, 500, 100_000) / 500):
        assert written(floats) == by_orjson(floats)


@given(st.data())
def test_columns_are_worded_as_they_are_by_hand(data: st.DataObject) -> None:
    ready = make_ready(with_natives(data.draw(loaded_trees())))
    attributes = ready.loaded.version.attributes
    values = data.draw(matrices(attributes, 12))
    told = tell_rows(ready, values)
    for some in (told, told.some(told.ends >= 0), told.some(told.ends < 0)):
        assert b"".join(columns_of(ready, some)) == columns_by_hand(ready, some)


@pytest.mark.parametrize("n_rows", [1, 1_000, 1_001, 20_000])
def test_columns_of_any_length_are_worded_as_they_are_by_hand(n_rows: int) -> None:
    ready = make_ready(with_natives(golf()))
    rng = np.random.default_rng(n_rows)
    values = np.array([[0.0, 60.0, 1.0], [1.0, 80.0, 0.0], [2.0, 90.0, 1.0]])[
        rng.integers(0, 3, n_rows)
    ]
    values[rng.random(values.shape) < 0.3] = np.nan
    told = tell_rows(ready, values)

    assert b"".join(columns_of(ready, told)) == columns_by_hand(ready, told)


@pytest.mark.parametrize(
    ("n_rows", "long"),
    [(100_000, (*CLASSES[:2], "é" * 10**6)), (300, ("é" * 40_000, *CLASSES[1:]))],
    ids=["that nobody is", "that all are"],
)
def test_a_class_with_a_very_long_name_takes_room_where_it_is_told(
    n_rows: int, long: tuple[str, ...]
) -> None:
    ready = make_ready(with_natives(golf(classes=long)))
    told = tell_rows(ready, np.tile([0.0, 60.0, 1.0], (n_rows, 1)))

    assert ready.columns.class_bytes(told) == n_rows * len(orjson.dumps(long[0]) + b",")
    assert b"".join(columns_of(ready, told)) == columns_by_hand(ready, told)


@given(st.data())
def test_a_leaf_whose_mean_is_a_negative_zero_keeps_its_sign(data: st.DataObject) -> None:
    loaded = data.draw(loaded_trees().filter(lambda each: each.compiled.tree.is_regression))
    zeros = np.full_like(loaded.compiled.probabilities, -0.0)
    compiled = replace(loaded.compiled, probabilities=zeros)
    ready = make_ready(with_natives(replace(loaded, compiled=compiled)))
    told = tell_rows(ready, data.draw(matrices(loaded.version.attributes, 5)))
    sure = told.some(told.ends >= 0)

    assert b"".join(columns_of(ready, sure)) == columns_by_hand(ready, sure)
