"""What rpart 4.1.19 makes of tables at the edge of its rules, with usesurrogate = 0."""

from collections.abc import Sequence

import numpy as np
import pytest

from service.tree.attribute import Attribute, Kind
from service.tree.cost_complexity import merged, sequence
from service.tree.cross_validation import cross_validated
from service.tree.dataset import Dataset
from service.tree.learn import learn
from service.tree.params import Params, resolve
from service.tree.pruners import Task, sequence_tree

CLASSES = ("k0", "k1")
NUMBERS = (Attribute("a", Kind.NUMERIC), Attribute("b", Kind.NUMERIC))
GROWN = resolve("rpart", {"pruning": "none"})
ANY_WEIGHT = resolve("rpart", {"pruning": "none", "min_weight": 0.0})


def ranks(n_values: int) -> tuple[Attribute]:
    return (Attribute("o", Kind.ORDINAL, tuple(f"v{number}" for number in range(n_values))),)


def dataset(
    attributes: tuple[Attribute, ...],
    rows: Sequence[Sequence[float]],
    target: list[int],
    *weights: float,
) -> Dataset:
    values = np.asfortranarray(rows, dtype=np.float64)
    given = np.array(weights or [1.0] * len(rows))
    return Dataset(attributes, CLASSES, values, np.array(target), given)


def test_ranks_that_no_row_has_go_with_the_nearer_side() -> None:
    """Its csplit is 1 1 1 3 3 3."""
    data = dataset(ranks(6), [[0], [0], [0], [5], [5], [5]], [0, 0, 0, 1, 1, 1])

    assert 2.0 == learn(data, GROWN).value[1]


def xerrors(data: Dataset, params: Params, *folds: int) -> list[float]:
    """The column of the cptable, from the largest tree to the root alone."""
    task = Task(data, params)
    tree = merged(sequence_tree(task), params.risk)
    found = sequence(tree, params.risk)
    validated = cross_validated(
        data, lambda rows: sequence_tree(task, rows), params, np.array(folds), found.alphas
    )
    relative: list[float] = (validated.risks / found.risks[-1]).tolist()
    return relative


@pytest.mark.parametrize(("rank", "xerror"), [(2, 0.0), (1, 1 / 3)])
def test_a_held_out_row_halfway_between_two_ranks_goes_up(rank: int, xerror: float) -> None:
    rows = [[0], [0], [0], [4], [4], [4], [rank]]
    data = dataset(ranks(5), rows, [0, 0, 0, 1, 1, 1, 1])

    assert [xerror, 4 / 3] == pytest.approx(xerrors(data, GROWN, 1, 1, 2, 1, 1, 2, 3))


def test_what_saves_only_a_rounding_error_has_no_row_of_its_own_and_is_cut_in_folds() -> None:
    rows = [[2], [1], [2], [0], [1], [0]]
    weights = (1.1, 1.1, 0.1, 2.4, 1.4, 2.7)
    data = dataset(NUMBERS[:1], rows, [1, 0, 1, 1, 0, 0], *weights)

    assert [1.0, 1.0] == pytest.approx(xerrors(data, ANY_WEIGHT, 1, 2, 1, 2, 1, 2))


def test_of_equal_splits_of_weighted_rows_that_is_taken_which_rs_sums_favour() -> None:
    """Both attributes divide the rows alike; rpart takes the second."""
    rows = [[1, 2], [1, 2], [2, 0], [2, 0]]
    data = dataset(NUMBERS, rows, [0, 1, 0, 0], 1.4, 1.0, 2.7, 0.8)

    assert 1 == learn(data, ANY_WEIGHT).attribute[0]


def test_null_is_sorted_below_all_ranks() -> None:
    """Both attributes divide the rows alike, and know the same rows; rpart takes the second."""
    ranks_of_rows = [0, 0, 1, 1, 1, None, 1, 0, 0, 0, None, None]
    rows = [[np.nan if rank is None else rank] * 2 for rank in ranks_of_rows]
    weights = (2.3, 1.8, 0.8, 2.6, 0.4, 2.3, 0.9, 1.2, 0.3, 2.2, 1.6, 0.2)
    target = [1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1]
    # a third one, which all rows know, lest rpart leave out those that know nothing
    attributes = (*NUMBERS[:1], *ranks(2), *NUMBERS[1:])
    data = dataset(attributes, [[*row, 0] for row in rows], target, *weights)

    assert 1 == learn(data, ANY_WEIGHT).attribute[0]
