"""From the nodes that the kernels grew to the table of nodes, parents before children."""

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.attribute import Kind
from service.tree.c45 import is_empty
from service.tree.context import Context
from service.tree.criterion import CRITERIA
from service.tree.engine import Yield
from service.tree.grown import Grown
from service.tree.kernels.edges import write_edges
from service.tree.kernels.grow import put_in_order
from service.tree.kernels.rooms import (
    ATTRIBUTE,
    BRANCH,
    CLASSES,
    DEPTH,
    GAIN_OF_NODE,
    HIGH,
    LOW,
    MEAN,
    N_BRANCHES,
    NODE_FILLED,
    NODE_WEIGHT,
    PARENT,
    RISK,
    SENT,
    SPLIT,
    VARIANCE,
    Nodes,
)
from service.tree.kernels.sort import find_largest, move_down
from service.tree.nodes import Split, Tree
from service.tree.parts import Part
from service.tree.presort import in_threads, is_ordered
from service.tree.rpart_order import is_rpart

PIECES = 4  # for each mark, so that hardly two of them lie in one


def grown_of(context: Context, part: Part, made: Yield) -> Grown:
    """The tree of all nodes, and what its training knows."""
    order = breadth_first(made.nodes)
    links, numbers = made.nodes.links[order], made.nodes.numbers[order]
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    parent = np.append(-1, place[links[1:, PARENT]])
    weight, numbers = numbers[:, NODE_WEIGHT], _answering(context, numbers, parent)
    is_leaf = links[:, ATTRIBUTE] < 0
    operator, value, set_start, set_values = _edges(context, made, links, numbers, parent)
    tree = Tree(
        parent=parent,
        depth=links[:, DEPTH].copy(),
        branch=links[:, BRANCH].copy(),
        operator=operator,
        value=value,
        set_start=set_start,
        set_values=set_values,
        share=_shares(parent, numbers[:, SENT], links[:, N_BRANCHES]),
        weight=weight,
        distribution=np.ascontiguousarray(numbers[:, CLASSES:]),
        mean=numbers[:, MEAN].copy(),
        variance=numbers[:, VARIANCE].copy(),
        impurity=_impurity(context, numbers),
        attribute=links[:, ATTRIBUTE].copy(),
        split=links[:, SPLIT].copy(),
        gain=np.where(is_leaf, np.nan, numbers[:, GAIN_OF_NODE]),
        alpha_cut=np.full(len(order), np.nan),
    )
    filled = np.where(is_leaf, np.nan, numbers[:, NODE_FILLED])
    is_summed = context.data.is_regression and is_rpart(context.params)
    return Grown(tree, part, filled, numbers[:, RISK].copy() if is_summed else None)


def breadth_first(nodes: Nodes) -> Ints:
    """The nodes level by level, siblings together."""
    order = np.zeros(len(nodes.links), dtype=np.int64)
    return order[: put_in_order(nodes.links, order)]


def _answering(context: Context, numbers: Floats, parent: Ints) -> Floats:
    """The numbers of each node, where it is empty with its parent's statistics."""
    made = numbers.copy()
    empty = np.flatnonzero(is_empty(context.params, numbers[:, NODE_WEIGHT]) & (parent >= 0))
    above = numbers[parent[empty]]
    made[empty, MEAN], made[empty, VARIANCE] = above[:, MEAN], above[:, VARIANCE]
    made[empty, CLASSES:] = above[:, CLASSES:]
    if context.params.rules == "r8" and len(empty):
        # Release 8 is sure of the parent's class there
        made[empty, CLASSES:] = 0.0
        made[empty, CLASSES + np.argmax(above[:, CLASSES:], axis=1)] = above[:, NODE_WEIGHT]
    return made


def _shares(parent: Ints, sent: Floats, n_branches: Ints) -> Floats:
    """Per node the part of its parent's known weight that came down to it; 1 at the root."""
    above = parent[1:]
    total = np.bincount(above, sent[1:], len(parent))[above]
    equal = 1.0 / np.maximum(n_branches[above], 1)
    return np.append(1.0, np.where(total > 0, sent[1:] / np.where(total > 0, total, 1.0), equal))


def _impurity(context: Context, numbers: Floats) -> Floats:
    if context.data.is_regression:
        return numbers[:, VARIANCE].copy()
    return CRITERIA[context.params.criterion].impurity(np.ascontiguousarray(numbers[:, CLASSES:]))


def _edges(
    context: Context, made: Yield, links: Ints, numbers: Floats, parent: Ints
) -> tuple[Ints, Floats, Ints, Ints]:
    """Per node the condition on the edge that leads to it: operator, value, and its set."""
    own = _is_null_branch(context, links, np.maximum(parent, 0), links[:, BRANCH])
    cuts = _thresholds(context, made.known, links, numbers)
    n_values = np.array([len(each.values) for each in context.data.attributes], np.int64)
    operator, value = np.empty(len(links), np.int64), np.empty(len(links))
    set_start = np.empty(len(links) + 1, np.int64)
    set_values = np.empty(len(made.nodes.sides), np.int64)  # each stands in one set at most
    n_set = write_edges(
        links, parent, cuts, own, made.nodes.sides, n_values, operator, value, set_start, set_values
    )
    return operator, value, set_start, set_values[:n_set].copy()


def _is_null_branch(context: Context, links: Ints, above: Ints, branch: Ints) -> Bools:
    """Per node whether the edge to it is null's own."""
    if context.params.missing != "own_branch":
        return np.zeros(len(links), dtype=bool)
    has_null = context.has_null[np.maximum(links[above, ATTRIBUTE], 0)]
    return np.asarray(has_null & (branch == links[above, N_BRANCHES] - 1))


def _training_values(context: Context, number: int, middle: Floats) -> Floats:
    """For each middle the largest value that is not above it, of all rows."""
    order = np.argsort(middle)
    marks, found = middle[order], np.full(len(middle), -np.inf)
    column = np.ascontiguousarray(context.data.values[:, number])
    find_largest(column, context.rows, marks, np.empty(PIECES * len(marks) + 2, np.int64), found)
    below = np.empty(len(middle))
    below[order] = np.maximum.accumulate(found)
    return below


def _thresholds(context: Context, known: Floats | None, links: Ints, numbers: Floats) -> Floats:
    """Per node where it cuts; NaN where it does not."""
    low, high = numbers[:, LOW], numbers[:, HIGH]
    with np.errstate(over="ignore"):
        middle = (low + high) / 2
    middle = np.where(np.isfinite(middle), middle, low / 2 + high / 2)
    middle = np.where((low <= middle) & (middle < high), middle, low)
    if context.params.cut == "below_midpoint":
        # a value that is the midpoint itself goes up; a number between the two is below it
        middle = np.where(middle > low, np.nextafter(middle, -np.inf), low)
    is_cut, attribute = links[:, SPLIT] == Split.THRESHOLD, links[:, ATTRIBUTE]
    is_ordinal = np.array([each.kind == Kind.ORDINAL for each in context.data.attributes])[
        attribute
    ]
    # of the ranks between the two that no row has, rpart puts the nearer ones on the lower side
    rank = np.floor(middle) if context.params.cut == "below_midpoint" else low
    middle = np.where(is_ordinal, rank, middle)
    if context.params.cut == "training_value":
        _move_to_training_values(context, known, attribute, is_cut & ~is_ordinal, middle)
    return np.where(is_cut, middle, np.nan)


def _move_to_training_values(
    context: Context, known: Floats | None, attribute: Ints, is_moved: Bools, middle: Floats
) -> None:
    """Puts some middles at the largest value of their attribute that is not above them."""
    if known is not None:
        place = np.cumsum(is_ordered(context.data)) - 1
        # of one node alone, a column would be another type to the kernel
        move_down(known, place, np.ascontiguousarray(attribute), is_moved, middle)
    numbers = np.unique(attribute[is_moved])

    def move(some: range) -> None:
        for number in numbers[some].tolist():
            here = is_moved & (attribute == number)
            middle[here] = _training_values(context, number, middle[here])

    in_threads(move, len(numbers), context.n_rows)
