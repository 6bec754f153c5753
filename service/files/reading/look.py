"""What a look at some values of a column tells of it; looks add up to that at the whole column."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.encode import MOST_FAULTS

LARGEST_WHOLE = 2**53  # up to which a float is exact for every whole number
NULL, NUMBER = 0, 1  # codes of what a value is; those of Why follow
LONGEST_TOLD = 40  # characters of a value or a name that are told


class Why(Enum):
    """Why a value is no number, or cannot be used at all; in the order of the codes from 2 on."""

    TEXT = "is no number"
    CODE = "has leading zeros, as codes have"
    BEYOND = "is a whole number beyond 2**53, which would lose digits as a number"
    TOO_LARGE = "is too large for a number"
    NUL = "holds the character U+0000"
    NESTED = "is a list or an object, but must be a string, a number, true, false or null"
    INFINITE = "is infinite, or too large for a number"
    OUT_OF_RANGE = "is out of the range of dates"


CODES = {why: code for code, why in enumerate(Why, start=2)}
UNUSABLE = (Why.NUL, Why.NESTED, Why.INFINITE, Why.OUT_OF_RANGE)
STRANGERS = (Why.TEXT, Why.CODE, Why.BEYOND)  # that make a column one of categories


@dataclass(frozen=True)
class Sight:
    """A value that is no number: in which row, from 0, and what of it can be told."""

    row: int
    why: Why
    text: str


@dataclass(frozen=True)
class Look:
    """What is known of a column."""

    n_rows: int = 0
    n_nulls: int = 0
    first_null: int | None = None
    first_known: int | None = None
    counts: Mapping[Why, int] = field(default_factory=dict)
    sights: tuple[Sight, ...] = ()  # the first MOST_FAULTS of each why
    is_fractional: bool = False  # some number is not whole
    is_wide: bool = False  # some number is beyond 2**53

    @property
    def n_known(self) -> int:
        """How many rows have a value."""
        return self.n_rows - self.n_nulls

    def count(self, *whys: Why) -> int:
        """How many values are no numbers for one of these reasons."""
        return sum(self.counts.get(why, 0) for why in whys)

    def seen(self, *whys: Why) -> Iterator[Sight]:
        """The first values that are no numbers for one of these reasons."""
        return (sight for sight in self.sights if sight.why in whys)


def look_at(codes: Ints, numbers: Floats, texts_of: Callable[[Ints], Iterable[Any]]) -> Look:
    """What these values tell: per row a code, the numbers among them, the texts of some rows."""
    counted = np.bincount(codes, minlength=2 + len(Why))
    n_nulls = int(counted[NULL])
    counts = {why: int(counted[code]) for why, code in CODES.items() if counted[code]}
    return Look(
        n_rows=len(codes),
        n_nulls=n_nulls,
        first_null=int(np.argmax(codes == NULL)) if n_nulls else None,
        first_known=int(np.argmax(codes != NULL)) if n_nulls < len(codes) else None,
        counts=counts,
        sights=tuple(
            sight
            for why in counts
            for sight in _sights(why, np.flatnonzero(codes == CODES[why])[:MOST_FAULTS], texts_of)
        ),
        is_fractional=bool((numbers != np.floor(numbers)).any()),
        is_wide=bool((np.abs(numbers) > LARGEST_WHOLE).any()),
    )


def nulls_only(n_rows: int) -> Look:
    """The look at rows that have no value."""
    return Look(n_rows=n_rows, n_nulls=n_rows, first_null=0 if n_rows else None)


def joined(first: Look, then: Look) -> Look:
    """The look at the rows of both."""
    return Look(
        n_rows=first.n_rows + then.n_rows,
        n_nulls=first.n_nulls + then.n_nulls,
        first_null=_earlier(first.first_null, then.first_null, first.n_rows),
        first_known=_earlier(first.first_known, then.first_known, first.n_rows),
        counts={
            why: first.count(why) + then.count(why)
            for why in Why
            if why in first.counts or why in then.counts
        },
        sights=_joined_sights(first, then),
        is_fractional=first.is_fractional or then.is_fractional,
        is_wide=first.is_wide or then.is_wide,
    )


def told(value: object) -> str:
    """A value or a name as it is told to people: in quotes, and not at full length."""
    text = str(value)
    return repr(text if len(text) <= LONGEST_TOLD else text[: LONGEST_TOLD - 1] + "…")


def _sights(why: Why, rows: Ints, texts_of: Callable[[Ints], Iterable[Any]]) -> Iterator[Sight]:
    for row, text in zip(rows.tolist(), texts_of(rows), strict=True):
        yield Sight(row, why, told(text))


def _earlier(first: int | None, then: int | None, shift: int) -> int | None:
    if first is not None or then is None:
        return first
    return then + shift


def _joined_sights(first: Look, then: Look) -> tuple[Sight, ...]:
    if all(first.count(why) >= MOST_FAULTS for why in then.counts):
        return first.sights
    shifted = (Sight(each.row + first.n_rows, each.why, each.text) for each in then.sights)
    by_why = sorted([*first.sights, *shifted], key=lambda sight: CODES[sight.why])
    return tuple(
        sight
        for _, same in groupby(by_why, key=attrgetter("why"))
        for sight in list(same)[:MOST_FAULTS]
    )
