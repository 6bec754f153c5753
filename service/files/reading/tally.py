"""The distinct values and the numbers of a column, counted batch by batch in bounded memory."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from service.tree.arrays import Floats
from service.tree.attribute import category_text

MOST_DISTINCT = 10_000  # that are remembered of a column
MOST_REMEMBERED = 256 * 1024**2  # bytes of all columns together, as texts can be long
SCALE = 2.0**-64  # at which no sum of floats is too large for one


@dataclass
class Distinct:
    """The distinct values of a column, in order of first appearance, and how often each is there.

    Where there are too many, they are forgotten. Whether all differ is then only a guess: those up
    to there did, to the end of their batch, and those of each later batch did among themselves.
    """

    max_bytes: int  # of what it remembers
    values: Any = None
    counts: Any = None
    n_values: int = 0
    n_rows: int = 0  # that were counted
    is_exact: bool = True
    is_all_different: bool = True

    def add(self, known: Any) -> None:
        """Count these values too."""
        if not len(known):
            return
        if self.is_exact:
            self._count(known)
        elif self.is_all_different:
            self.is_all_different = pc.count_distinct(known).as_py() == len(known)

    def _count(self, known: Any) -> None:
        counted = known.value_counts()
        self._join(counted.field(0), counted.field(1).to_numpy(zero_copy_only=False))
        self.n_values = len(self.values)
        self.n_rows += len(known)
        self.is_all_different = self.n_values == self.n_rows
        if self.n_values > MOST_DISTINCT or self.values.nbytes > self.max_bytes:
            self.is_exact, self.values, self.counts = False, None, None

    def told(self) -> dict[str, int]:
        """Per value the rows that have it."""
        if self.values is None:
            return {}
        texts = map(category_text, self.values.to_pylist())
        return dict(zip(texts, self.counts.tolist(), strict=True))

    def _join(self, values: Any, counts: Any) -> None:
        if self.values is None:
            self.values, self.counts = values, counts.copy()
            return
        places = pc.index_in(values, value_set=self.values)
        is_new = places.is_null().to_numpy(zero_copy_only=False)
        self.counts[places.drop_null().to_numpy()] += counts[~is_new]
        if is_new.any():
            self.counts = np.concatenate([self.counts, counts[is_new]])
            self.values = pa.concat_arrays([self.values, values.filter(pa.array(is_new))])


@dataclass
class Spread:
    """Where the numbers of a column lie."""

    n_rows: int = 0
    minimum: float = np.inf
    maximum: float = -np.inf
    _sum: float = 0.0
    _scaled_sum: float = 0.0

    def add(self, numbers: Floats) -> None:
        """Count these numbers too."""
        if not len(numbers):
            return
        self.n_rows += len(numbers)
        self.minimum = min(self.minimum, float(numbers.min()))
        self.maximum = max(self.maximum, float(numbers.max()))
        with np.errstate(over="ignore", invalid="ignore"):
            self._sum += float(numbers.sum())
            self._scaled_sum += float((numbers * SCALE).sum())

    @property
    def mean(self) -> float:
        """The mean, which is finite even if the sum is not."""
        if isfinite(self._sum):
            return self._sum / self.n_rows
        return min(max(self._scaled_sum / self.n_rows / SCALE, self.minimum), self.maximum)


@dataclass
class Tally:
    """All that is counted of a column."""

    distinct: Distinct
    spread: Spread = field(default_factory=Spread)

    def add(self, array: Any) -> None:
        """Count these values too."""
        known = array.drop_null()
        self.distinct.add(known)
        if not pa.types.is_string(array.type):
            self.spread.add(known.cast(pa.float64()).to_numpy(zero_copy_only=False))


def new_tallies(names: Sequence[str]) -> dict[str, Tally]:
    """Per column a tally of nothing yet."""
    max_bytes = MOST_REMEMBERED // len(names)
    return {name: Tally(Distinct(max_bytes)) for name in names}
