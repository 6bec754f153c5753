"""A dataset is what a tree is grown from: all values as numbers, NaN for null."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.attribute import Attribute


@dataclass(frozen=True)
class Dataset:
    """Rows ready to train on.

    `values` is (row, attribute), stored by column: a number, the number of a category, or NaN.
    Without classes the target is a number: regression.
    """

    attributes: tuple[Attribute, ...]
    classes: tuple[str, ...]
    values: Floats
    target: Ints | Floats  # per row the number of its class; in regression its value
    weights: Floats  # per row; a row of weight 0 changes nothing
    group_costs: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_regression(self) -> bool:
        """Whether a number is predicted."""
        return not self.classes

    @property
    def n_statistics(self) -> int:
        """How many sums describe rows: one a class; in regression weight, mean and square."""
        return len(self.classes) or 3


def rows_of(data: Dataset, chosen: Ints | Bools) -> Dataset:
    """The dataset with these rows only."""
    return replace(
        data,
        values=data.values[chosen],
        target=data.target[chosen],
        weights=data.weights[chosen],
    )


def null_share(data: Dataset) -> float:
    """The part of all values that is null."""
    n_null = sum(int(np.count_nonzero(np.isnan(column))) for column in data.values.T)
    return n_null / max(data.values.size, 1)
