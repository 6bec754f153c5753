"""A dataset is what a tree is grown from: all values as numbers, NaN for null."""

from dataclasses import dataclass

from service.tree.arrays import Floats, Ints
from service.tree.attribute import Attribute


@dataclass(frozen=True)
class Dataset:
    """Rows ready to train on.

    `values` is (row, attribute), stored by column: a number, the number of a category, or NaN.
    """

    attributes: tuple[Attribute, ...]
    classes: tuple[str, ...]
    values: Floats
    target: Ints  # per row the number of its class
    weights: Floats  # per row; a row of weight 0 changes nothing
