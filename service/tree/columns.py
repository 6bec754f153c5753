"""Columns that are arrays already; row by row they read like lists of raw values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

from service.tree.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Numbers(Sequence[Any]):
    """A column of numbers, NaN for null."""

    values: Floats

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, row: int) -> float | None: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[float | None]: ...
    def __getitem__(self, row: int | slice) -> Any:
        """The raw value of a row; None is null."""
        if isinstance(row, slice):
            return Numbers(self.values[row])
        number = float(self.values[row])
        return None if number != number else number


@dataclass(frozen=True, eq=False)
class Texts(Sequence[Any]):
    """A column of texts: per row the number of its category, -1 for null."""

    categories: tuple[str, ...]  # in order of first appearance
    codes: Ints

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, row: int) -> str | None: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str | None]: ...
    def __getitem__(self, row: int | slice) -> Any:
        """The raw value of a row; None is null."""
        if isinstance(row, slice):
            return Texts(self.categories, self.codes[row])
        code = int(self.codes[row])
        return None if code < 0 else self.categories[code]
