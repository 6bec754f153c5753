"""A tree with what only its training knows."""

from dataclasses import dataclass

from service.tree.arrays import Floats
from service.tree.nodes import Tree
from service.tree.parts import Part


@dataclass(frozen=True)
class Grown:
    """A tree as it grew from a part of the rows.

    At a split the training may put a value in the place of null (missing = majority); rows that
    are predicted later know nothing of it, so that the tree does not hold it.
    """

    tree: Tree
    part: Part
    filled: Floats  # per node what stood for null in its split; NaN where nothing did
    risks: Floats | None = None  # per node its squared error, where the rules say how it is summed
