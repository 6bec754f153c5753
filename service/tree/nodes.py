"""A tree is a table of nodes in breadth-first order; learner, SQL and router share its columns.

Parents stand before their children and siblings stand together, so the child down branch `b`
of a node is `first_child + b`. Forwards is top-down, backwards is bottom-up; nothing recurses.
"""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import pairwise

import numpy as np

from service.tree.arrays import Bools, Floats, Ints


class Operator(IntEnum):
    """The condition on the edge that leads to a node."""

    NONE = 0  # the root: no edge leads there
    EQUAL = 1  # value is the number of a category
    AT_MOST = 2  # value is a threshold, or the number of an ordinal category
    ABOVE = 3  # likewise
    AMONG = 4  # the categories are the node's set
    NULL = 5  # the attribute is null: a branch of its own


class Split(IntEnum):
    """The kind of split a node makes."""

    LEAF = 0
    MULTIWAY = 1  # one branch for each category
    THRESHOLD = 2  # branch 0: at most the threshold; branch 1: above it
    SUBSET = 3  # two sets of categories
    ONE_VS_REST = 4  # one category, and all the others


SYMBOLS = {
    Operator.EQUAL: "=",
    Operator.AT_MOST: "<=",
    Operator.ABOVE: ">",
    Operator.AMONG: "in",
    Operator.NULL: "is null",
}


@dataclass(frozen=True)
class Tree:
    """The columns of all nodes.

    A branch that no training row took is a leaf with share 0 and weight 0; its distribution is
    its parent's, because it answers as its parent.
    """

    parent: Ints  # -1 at the root; never decreases
    depth: Ints
    branch: Ints  # position among the siblings
    operator: Ints  # Operator: the condition on the edge from the parent
    value: Floats  # of that condition: threshold or number of a category; NaN where it has none
    set_start: Ints  # per node, and one more: where the categories of its edge's set begin ...
    set_values: Ints  # ... in here
    share: Floats  # part of the parent's known weight that came down this edge; 1 at the root
    weight: Floats  # training weight that arrived here
    distribution: Floats  # (node, class): that weight by class; no columns in regression
    mean: Floats  # in regression: of the target; NaN otherwise
    variance: Floats  # likewise
    impurity: Floats
    attribute: Ints  # the attribute this node splits on, -1 at a leaf
    split: Ints  # Split
    gain: Floats  # what the criterion gave the split, NaN at a leaf
    alpha_cut: Floats  # the alpha from which on this node is a leaf; NaN without a sequence

    def __len__(self) -> int:
        return len(self.parent)

    @cached_property
    def first_child(self) -> Ints:
        """Per node the number of its first child; of no meaning at a leaf."""
        return np.searchsorted(self.parent, np.arange(len(self)))

    @cached_property
    def n_branches(self) -> Ints:
        """Per node how many branches leave it: 0 at a leaf."""
        ends = np.searchsorted(self.parent, np.arange(len(self)), side="right")
        return ends - self.first_child

    @cached_property
    def is_leaf(self) -> Bools:
        """Per node whether it makes no split."""
        return self.attribute < 0

    @cached_property
    def is_reached(self) -> Bools:
        """Per node whether the root leads to it; it does not to what is below a later leaf."""
        reached = ~self.is_leaf[self.parent]
        reached[0] = True
        if reached.all():
            return reached
        above = np.maximum(self.parent, 0)
        while above.any():  # each time twice as far up
            reached &= reached[above]
            above = above[above]
        return reached

    @cached_property
    def levels(self) -> list[slice]:
        """The nodes of each depth, from the root down."""
        starts = np.searchsorted(self.depth, np.arange(int(self.depth[-1]) + 2))
        return [slice(start, end) for start, end in pairwise(starts.tolist())]

    @property
    def is_regression(self) -> bool:
        """Whether its answers are numbers."""
        return int(self.distribution.shape[1]) == 0

    @cached_property
    def probabilities(self) -> Floats:
        """Per node its distribution made to sum to one."""
        made: Floats = self.distribution / self.distribution.sum(axis=1, keepdims=True)
        return made

    def categories(self, node: int) -> Ints:
        """The numbers of the categories in the set on the edge to a node."""
        return self.set_values[self.set_start[node] : self.set_start[node + 1]]
