"""The columns of a dataset, sorted once; every tree of its rows is grown from them."""

from collections.abc import Callable, Iterable
from concurrent.futures import wait
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.attribute import Kind
from service.tree.crew import N_THREADS, SECONDS, crew
from service.tree.dataset import Dataset
from service.tree.kernels.entries import Layout, make_layout
from service.tree.kernels.packed import N_COUNTS
from service.tree.kernels.part import give_numbers, part_many
from service.tree.kernels.quicksort import sort_by_quicksort, write_ranked
from service.tree.kernels.rooms import OPEN
from service.tree.kernels.sets import write_codes
from service.tree.kernels.sort import sort_entries
from service.tree.rpart_order import null_of

MANY = 4_000  # rows from which on two threads are faster than one
SOON = 50_000  # rows up to which their work is over before anybody wants to be told
MOST_KEPT = 200_000  # rows whose values are kept in order, which takes as much as the data

Tell: TypeAlias = Callable[[], None]
# Writes the entries of an attribute where it is told to, and its values in order if there is room.
Write: TypeAlias = Callable[[int, Any, Floats], None]


def in_silence() -> None:
    """What is told to one who does not listen."""


WIDEST = 1 << 32


@dataclass(frozen=True)
class Presorted:
    """Entries of rows, column after column: as they came, then by each ordered attribute."""

    layout: Layout
    entries: Any  # uint32, or uint64 where rows and classes need it
    codes: Any  # (row, categorical attribute): where its category begins in Work.cells
    rows: Ints  # per row its number in the dataset
    is_marked: bool = False  # whether the values that are close to C4.5 are
    known: Floats | None = None  # per ordered attribute its values in order, and NaN behind them

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.rows)


def is_ordered(data: Dataset) -> Bools:
    """Per attribute whether its values have an order."""
    return np.array([each.kind != Kind.CATEGORICAL for each in data.attributes])


def unsorted(data: Dataset, rows: Ints) -> Presorted:
    """The rows of a dataset as they came."""
    came = _without_codes(data, rows)
    _write_codes(data, came, 0, 1)
    return came


def _without_codes(data: Dataset, rows: Ints) -> Presorted:
    """The rows as they came, with room for the codes of their categories."""
    layout = make_layout(len(rows), max(len(data.classes), 1))
    kind = np.uint32 if 2 * int(layout.tie_bit) <= WIDEST else np.uint64
    entries: Any = np.arange(len(rows), dtype=kind)
    if not data.is_regression:
        entries |= (data.target[rows].astype(np.uint64) << layout.shift).astype(kind)
    codes = np.empty((len(rows), np.count_nonzero(~is_ordered(data))), np.uint32)
    return Presorted(layout, entries, codes, rows)


def presort(
    data: Dataset, rows: Ints, tell: Tell = in_silence, *, as_rpart: bool = False,
    is_cautious: bool = False,
) -> Presorted:  # fmt: skip
    """The rows of a dataset, sorted by each ordered attribute; what is equal as rpart leaves it.

    In regression, rpart needs the rows by the first attribute, null too: one more column. To the
    cautious, values that nearly agree are marked.
    """
    n_rows, ordered, came = len(rows), np.flatnonzero(is_ordered(data)), _without_codes(data, rows)
    has_more = as_rpart and data.is_regression and has_null_first(data, rows)
    entries = np.empty((len(ordered) + 1 + has_more) * n_rows, came.entries.dtype)
    entries[:n_rows] = came.entries
    n_kept = n_rows if is_cautious and n_rows <= MOST_KEPT else 0
    known = np.full((len(ordered), n_kept), np.nan)
    write = _by_rpart(data, came) if as_rpart else _by_value(data, came, is_cautious=is_cautious)

    def sort(places: range) -> None:
        for place in places:
            if place < len(ordered):
                out = entries[(place + 1) * n_rows : (place + 2) * n_rows]
                write(ordered[place], out, known[place])
            else:
                _write_codes(data, came, place - len(ordered), N_THREADS)

    in_threads(sort, len(ordered) + N_THREADS, n_rows, tell)
    if has_more:
        order = ranked(data.values[rows, 0], null_of(data.attributes[0]))
        entries[-n_rows:] = came.entries[order]
    if as_rpart or not is_cautious:
        return replace(came, entries=entries)
    return replace(came, entries=entries, is_marked=True, known=known if n_kept else None)


def _by_rpart(data: Dataset, came: Presorted) -> Write:
    """What writes the entries of an attribute in the order that rpart has."""

    def write(attribute: int, out: Any, _known: Floats) -> None:
        values = np.ascontiguousarray(data.values[:, attribute])
        order = ranked(values[came.rows], null_of(data.attributes[attribute]))
        write_ranked(order, values, came.rows, came.entries, came.layout, out)

    return write


def _by_value(data: Dataset, came: Presorted, *, is_cautious: bool) -> Write:
    """What writes them by value, and the values too where there is room for them."""
    # made here, since what a thread gives back is kept for this thread
    spaces = [_Space(came.n_rows) for _ in range(N_THREADS)]

    def write(attribute: int, out: Any, known: Floats) -> None:
        space = spaces.pop()
        values = np.ascontiguousarray(data.values[:, attribute])
        space.sort(
            values, came.rows, came.entries, came.layout, out, known, is_cautious=is_cautious
        )
        spaces.append(space)

    return write


class _Space:
    """What sorting a column needs, used for one after the other."""

    def __init__(self, n_rows: int) -> None:
        self.keys, self.order = np.empty(n_rows, np.uint64), np.empty(n_rows, np.int32)
        self.spare_keys, self.spare_order = np.empty_like(self.keys), np.empty_like(self.order)
        self.counts = np.empty(N_COUNTS, np.int64)

    def sort(
        self, values: Floats, rows: Ints, plain: Any, layout: Layout, out: Any, known: Floats, *,
        is_cautious: bool,
    ) -> None:  # fmt: skip
        """Writes down the entries of a column."""
        sort_entries(
            values, rows, self.keys, self.order, self.spare_keys, self.spare_order, self.counts,
            plain, layout, out, is_cautious, known,
        )  # fmt: skip


def has_null_first(data: Dataset, rows: Ints) -> bool:
    """Whether the first attribute has an order, but some rows do not know it."""
    return bool(is_ordered(data)[0] and np.isnan(data.values[rows, 0]).any())


def ranked(values: Floats, null: float) -> Ints:
    """The positions of the values in the order of rpart, null as a number."""
    moved, order = np.where(np.isfinite(values), values, null), np.arange(len(values))
    sort_by_quicksort(moved, order)
    return order


def in_threads(
    work: Callable[[range], None], n_places: int, n_rows: int, tell: Tell = in_silence
) -> None:
    """Does the work of some places, by two threads where there are many rows.

    Whoever waits is told every now and then, and may raise an error to give up.
    """
    if n_rows < MANY or n_places < 2:
        work(range(n_places))
        return
    shares = [range(number, n_places, N_THREADS) for number in range(N_THREADS)]
    is_soon = n_rows <= SOON  # then whoever would wait works: to wake one is sooner than two
    futures = [crew().submit(work, share) for share in shares[is_soon:]]
    if is_soon:
        work(shares[0])
    while wait(futures, SECONDS).not_done:
        tell()
    for future in futures:
        future.result()


def _write_codes(data: Dataset, came: Presorted, part: int, n_parts: int) -> None:
    """Writes down where the statistics of each row's categories begin, for a part of the rows.

    Rows are shared out, not attributes: two threads must not write to one line of memory.
    """
    first, last = (number * came.n_rows // n_parts for number in (part, part + 1))
    values, attributes = np.ascontiguousarray(data.values.T), np.flatnonzero(~is_ordered(data))
    write_codes(
        values, attributes, first_lines(data), data.n_statistics, came.rows, first, last, came.codes
    )


def first_lines(data: Dataset) -> Ints:
    """Per categorical attribute its first line in the tables, and last the end; null has one."""
    sizes = [len(each.values) + 1 for each in data.attributes if each.kind == Kind.CATEGORICAL]
    return np.cumsum([0, *sizes])


def picked(whole: Presorted, chosen: Bools) -> Presorted:
    """Some of the rows, in the same order."""
    layout, n_chosen = whole.layout, int(chosen.sum())
    n_rows, n_columns = whole.n_rows, len(whole.entries) // whole.n_rows
    side = np.where(chosen, 0, 2).astype(np.uint16)  # down the one branch, or nowhere
    numbers, entries = (
        np.empty(n_rows, np.uint32),
        np.empty(n_columns * n_chosen, whole.entries.dtype),
    )

    def pick(places: Iterable[int]) -> None:
        marks, parts = np.zeros((7, 4), np.int64), np.zeros((2, 4))
        marks[OPEN, 0] = 1
        give_numbers(whole.entries, 0, n_rows, side, layout, 1, numbers, marks)
        for place in places:
            part_many(
                whole.entries, place * n_rows, (place + 1) * n_rows, entries, place * n_chosen,
                side, layout, 1, numbers, True, marks, parts,
            )  # fmt: skip

    in_threads(pick, n_columns, n_rows)
    return Presorted(layout, entries, whole.codes[chosen], whole.rows[chosen], whole.is_marked)
