"""What the kernels work with: the rules, the attributes, the room of a subtree, and its nodes.

Numbers of one kind stand together in a table whose lines or columns have names: a kernel that is
handed few arrays is compiled soon, and called soon.
"""

from typing import Any, NamedTuple

from service.tree.kernels.entries import Layout

TEXTBOOK, J48, R8, RPART = range(4)  # the fine print of candidates
FRACTIONAL, MAJORITY, OWN_BRANCH, STOP = range(4)  # ways with nulls
NO_COST, GAIN_PER_COST, POWER_PER_COST, GAIN_SQUARED_PER_COST = range(4)
NO_SPLIT, MULTIWAY, THRESHOLD, SUBSET, ONE_VS_REST = range(5)  # Split


class Rules(NamedTuple):
    """How to grow."""

    fine_print: int
    criterion: int
    by_ratio: bool  # gain over split info, among the gains that are not below the average
    categorical: int  # Split
    missing: int
    max_depth: int  # -1: any
    min_rows: int
    min_weight: float
    min_gain: float
    tie: float  # gains closer than this are equal
    lightest: float  # a node with less weight is a leaf
    tolerance: float  # of J48's comparisons
    numeric_penalty: bool
    cost_rule: int
    cost_exponent: float
    is_weighted: bool  # not all rows weigh 1, or some are divided
    largest: float  # an improvement must not be negligible beside this one, to rpart
    risk_column: int  # the one in whose order rpart sums a node's risk; -1: it does not


# per attribute, columns of Columns.facts
IS_CATEGORICAL, PLACE, N_VALUES, HAS_NULL, IS_CLOSE, IS_COUNTED, GROUP, TESTED = range(8)


class Columns(NamedTuple):
    """The attributes."""

    layout: Layout
    facts: Any  # (attribute, IS_CATEGORICAL ... TESTED), see below
    costs: Any  # (2, attribute or group): what each attribute costs, and what each group does
    values: Any  # (attribute, row of the dataset)
    categories: Any  # per code the number of its category, -1 for null
    scale: Any  # per class the factor of its weights, to rpart: 1 but for rounding


WEIGHT, APART, TARGET = range(3)  # per row, lines of Room.rows
SECOND = APART  # of two classes: the weight where it is of the second, else 0, if some are divided


class Room(NamedTuple):
    """Where a subtree is grown. The entries of a node are the same slice of every column."""

    entries: Any  # column after column; the first one is the rows as they came
    stride: int  # from one column to the next
    arrived: Any  # per place the weight of the row in the first column
    rows: Any  # (3, row): its weight and its target about the mean at the node in hand; its target
    origin: Any  # per row its number in the dataset
    codes: Any  # (row, categorical attribute): where its category begins in Work.cells
    side: Any  # per row the branch that it takes
    numbers: Any  # per row the one that it gets in a branch


TOTAL, KNOWN, NULL, LEFT, RIGHT, MOVED, TERMS = range(7)  # statistics, lines of Work.sums
SIZES, SHARES = range(2)  # per branch, lines of Work.parts
STARTS, ENDS, LAST, N_SENT, BEHIND, OPEN, TAKERS = range(7)  # per branch, lines of Work.marks
FOUND, CUT, GAIN_HERE, INFO, FILLED, IMPROVEMENT = range(6)  # per attribute, columns of Work.found


class Work(NamedTuple):
    """Small arrays for the node in hand."""

    logs: Any  # x log x of whole numbers
    scratch: Any  # entries, as many as a column has
    sums: Any  # (7, statistic)
    table: Any  # (category, statistic), of one categorical attribute after the other ...
    starts: Any  # ... per attribute its first line, and last the end; null has the last of each
    cells: Any  # the same table, line after line
    before: Any  # (3, row of a block of cuts): of two classes the weight before each
    block: Any  # (3, row of a block of cuts)
    parts: Any  # (2, branch)
    marks: Any  # (7, branch)
    sides: Any  # (attribute, category): its branch in the best division
    found: Any  # (attribute, 6): the best split of each


# per node, columns of Nodes.links and Nodes.numbers; behind the numbers comes the distribution
PARENT, BRANCH, DEPTH, ATTRIBUTE, SPLIT, FIRST_CHILD, N_BRANCHES, SIDES_START = range(8)
NODE_WEIGHT, MEAN, VARIANCE, GAIN_OF_NODE, SENT, LOW, HIGH, NODE_FILLED = range(8)
RISK, LARGEST, CLASSES = range(8, 11)  # LARGEST: of the improvements on the way to the node


class Nodes(NamedTuple):
    """The nodes that are grown; siblings stand together."""

    links: Any  # (node, 8)
    numbers: Any  # (node, 10 + class)
    sides: Any  # per category of sets its branch; each node knows where its own begin
