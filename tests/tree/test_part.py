"""Parting a column beside the plain way: a list of entries for each branch, in their order."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from service.tree.kernels.entries import Layout, make_layout
from service.tree.kernels.few import part_few
from service.tree.kernels.lay import group_rows
from service.tree.kernels.part import part_many, part_two, takes_of
from service.tree.kernels.part_rows import part_two_rows
from service.tree.kernels.rooms import OPEN, SHARES, SIZES, STARTS, WEIGHT

N_CLASSES = 3


class Column(NamedTuple):
    """A column of rows, each with its value and its side."""

    layout: Layout
    entries: Any
    values: Any
    side: Any
    marks: Any
    parts: Any


@st.composite
def columns(draw: Any, most_branches: int, *, is_tied: bool) -> tuple[Column, int]:
    n_branches = draw(st.integers(2, most_branches))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_rows = draw(st.integers(1, 90))
    values = np.sort(random.integers(0, 9, n_rows)) if is_tied else np.arange(n_rows)
    rows = random.permutation(n_rows)
    layout = make_layout(n_rows, N_CLASSES)
    ties = np.append(False, values[1:] == values[:-1])
    entries = rows.astype(np.uint64) | np.where(ties, layout.tie_bit, np.uint64(0))
    entries |= random.integers(0, N_CLASSES, n_rows).astype(np.uint64) << layout.shift
    side = random.integers(0, n_branches + 2, n_rows).astype(np.uint16)
    marks, parts = np.zeros((7, n_branches + 4), np.int64), np.zeros((2, n_branches + 4))
    parts[SHARES, :n_branches] = random.integers(0, 2, n_branches)
    marks[OPEN, :n_branches] = random.integers(0, 4, n_branches) > 0
    sizes = [len(members(side[rows], parts, n_branches, at)) for at in range(n_branches)]
    marks[STARTS, : n_branches + 1] = np.append(0, np.cumsum(sizes))
    return Column(layout, entries.astype(np.uint32), values, side, marks, parts), n_branches


def members(sides: Any, parts: Any, n_branches: int, branch: int) -> Any:
    """The places of the entries that go down a branch."""
    is_shared = (sides == n_branches) & (parts[SHARES, branch] > 0)
    return np.flatnonzero((sides == branch) | is_shared)


def expected(column: Column, n_branches: int, branch: int) -> Any:
    """The entries of a branch; ties are told by the values."""
    plain = column.entries & ~np.uint32(column.layout.tie_bit)
    sides = column.side[plain & np.uint32(column.layout.row_mask)]
    places = members(sides, column.parts, n_branches, branch)
    values = column.values[places]
    ties = np.append(False, values[1:] == values[:-1])[: len(places)]
    return plain[places] | np.where(ties, np.uint32(column.layout.tie_bit), np.uint32(0))


def assert_parted(column: Column, n_branches: int, found: Any) -> None:
    for branch in np.flatnonzero(column.marks[OPEN, :n_branches]).tolist():
        start, end = column.marks[STARTS, branch : branch + 2].tolist()
        assert_array_equal(found[start:end], expected(column, n_branches, branch))


@given(st.booleans().flatmap(lambda is_tied: columns(2, is_tied=is_tied)))
def test_two_branches_get_their_entries_in_order(drawn: tuple[Column, int]) -> None:
    column, n_branches = drawn
    room = np.append(column.entries, np.zeros(2 * len(column.entries), np.uint32))
    scratch = np.empty(len(column.entries) + 1, np.uint32)
    takes = tuple(map(np.uint64, takes_of(column.marks, column.parts)))
    part_two(
        room, 0, len(column.entries), column.side, column.layout, takes, scratch,
        column.marks[STARTS, 1],
    )  # fmt: skip
    assert_parted(column, n_branches, room)


@given(st.booleans().flatmap(lambda is_tied: columns(12, is_tied=is_tied)))
def test_many_branches_get_their_entries_in_order(drawn: tuple[Column, int]) -> None:
    column, n_branches = drawn
    out = np.zeros(column.marks[STARTS, n_branches], np.uint32)
    numbers = np.arange(len(column.side), dtype=np.uint32)
    part_many(
        column.entries, 0, len(column.entries), out, 0, column.side, column.layout, n_branches,
        numbers, False, column.marks, column.parts,
    )  # fmt: skip
    assert_parted(column, n_branches, out)


@given(st.booleans().flatmap(lambda is_tied: columns(12, is_tied=is_tied)))
def test_a_few_branches_get_their_entries_in_order(drawn: tuple[Column, int]) -> None:
    column, n_branches = drawn
    n_rows, size = len(column.entries), int(column.marks[STARTS, n_branches])
    room = np.append(column.entries, np.zeros(size + n_branches + 1, np.uint32))
    part_few(room, 0, 0, n_rows, column.side, column.layout, n_branches, column.marks, column.parts)
    assert_parted(column, n_branches, room)


@given(columns(2, is_tied=False), st.integers(0, 2**32))
def test_the_rows_of_two_branches_arrive_with_their_weights(
    drawn: tuple[Column, int], seed: int
) -> None:
    column, n_branches = drawn
    n_rows, random = len(column.entries), np.random.default_rng(seed)
    column.marks[OPEN, :2], column.parts[SHARES, :2] = 1, column.parts[SHARES, :2] / 4
    room = np.append(column.entries, np.zeros(2 * n_rows, np.uint32))
    row_of = column.entries & np.uint32(column.layout.row_mask)
    rows, arrived = random.random((3, n_rows)), np.full(3 * n_rows, np.nan)
    arrived[:n_rows] = rows[WEIGHT, row_of]
    takes = tuple(map(np.uint64, takes_of(column.marks, column.parts)))
    part_two_rows(
        room, 0, n_rows, column.side, rows, arrived, column.layout, takes,
        np.empty(n_rows + 1, np.uint32), column.marks, column.parts,
    )  # fmt: skip

    assert_parted(column, n_branches, room)
    for branch in range(2):
        start, end = column.marks[STARTS, branch : branch + 2].tolist()
        here = room[start:end] & np.uint32(column.layout.row_mask)
        share = np.where(column.side[here] == 2, column.parts[SHARES, branch], 1.0)
        assert_array_equal(arrived[start:end], rows[WEIGHT, here] * share)
        assert column.parts[SIZES, branch] == sum((rows[WEIGHT, here] * share).tolist())


@given(columns(9, is_tied=False))
def test_rows_are_grouped_by_their_sides_as_they_came(drawn: tuple[Column, int]) -> None:
    column, n_branches = drawn
    n_rows, n_sides = len(column.entries), n_branches + 2
    starts, order = np.empty(n_sides + 2, np.int64), np.empty(n_rows, np.uint32)
    group_rows(column.entries, n_rows, column.layout, column.side, n_sides, starts, order)
    came = column.entries & np.uint32(column.layout.row_mask)

    for side in range(n_sides):
        assert_array_equal(order[starts[side] : starts[side + 1]], came[column.side[came] == side])
