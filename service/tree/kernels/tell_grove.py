"""What telling kernels take and give: a tree, some values, room for a block of rows, a slate."""

from typing import Any, NamedTuple

import numpy as np

from service.tree.kernels.compile import merged
from service.tree.kernels.entries import U


class Grove(NamedTuple):
    """A tree, and what each of its nodes tells whoever ends there."""

    nodes: Any  # NODE by node
    table: Any  # branches by category; -1 as if it were null
    share: Any  # by node
    asks: Any  # by node so many words: bits of the attributes that are asked for from there on
    touched: Any  # likewise, also of those on the way there; but for where null has its own branch
    answers: Any  # by node as many as there are, and so are the next two
    lowest: Any
    highest: Any
    variance: Any
    n_leaves: Any


class Shape(NamedTuple):
    """How many of all this there are."""

    n_answers: int
    n_words: int  # of what is asked for; none where nobody ends above a leaf
    n_met: int  # of what is touched: as many as attributes need
    is_regression: int


class Values(NamedTuple):
    """The values of all rows, in either order."""

    cells: Any
    row_step: int
    attribute_step: int
    n_attributes: int


class Space(NamedTuple):
    """Where one block of rows after the other is led down."""

    rows: Any  # the lists: which row of the block ...
    weights: Any  # ... and how much of it
    stack: Any  # per item a node, or -1 less it for who ends there; where its list begins and ends
    cells: Any  # the values of the block, one attribute after the other, ...
    cell_step: int  # ... so far apart
    known: Any  # per row of the block the words of what it knows
    forgot: Any  # likewise of what it knows, but a split does not
    totals: Any  # per row of the block its weight, and the mean of its ends so far
    most_rows: int


class Slate(NamedTuple):
    """What is told: per row the answers, in regression the variance, and pairs of bounds."""

    told: Any  # the lowest with its sign changed, until a block is finished
    marks: Any  # the only end or -1, the likeliest class, how many leaves, what was met
    first_row: int  # of the block


@merged
def width_of(shape: Shape) -> int:
    """How many numbers are told of a row."""
    return 3 * shape.n_answers + shape.is_regression


@merged
def knows(grove: Grove, shape: Shape, node: int, row: int, space: Space) -> bool:
    """Whether a row knows anything that is asked from this node on; or all must divide."""
    common = np.int64(shape.n_words == 0)
    for word in range(shape.n_words):
        asked = grove.asks[U(node * shape.n_words + word)]
        common |= asked & space.known[U(row * shape.n_words + word)]
    return common != 0
