"""What rpart 4.1.19 makes of tables at the edge of its rules, with usesurrogate = 0."""

import numpy as np
import pytest

from service.tree.attribute import Attribute, Kind
from service.tree.cost_complexity import sequence
from service.tree.cross_validation import cross_validated
from service.tree.dataset import Dataset
from service.tree.learn import learn
from service.tree.params import resolve
from service.tree.pruners import Task, sequence_tree

CLASSES = ("k0", "k1")
NUMBERS = (Attribute("a", Kind.NUMERIC), Attribute("b", Kind.NUMERIC))
GROWN = resolve("rpart", {"pruning": "none"})


def ranks(n_values: int) -> tuple[Attribute]:
    return (Attribute("o", Kind.ORDINAL, tuple(f"v{number}" for number in range(n_values))),)


def dataset(
    attributes: tuple[Attribute, ...], rows: list[list[int]], target: list[int], *weights: float
) -> Dataset:
    values = np.asfortranarray(rows, dtype=np.float64)
    given = np.array(weights or [1.0] * len(rows))
    return Dataset(attributes, CLASSES, values, np.array(target), given)


def test_ranks_that_no_row_has_go_with_the_nearer_side() -> None:
    """Its csplit is 1 1 1 3 3 3."""
    data = dataset(ranks(6), [[0], [0], [0], [5], [5], [5]], [0, 0, 0, 1, 1, 1])

    assert 2.0 == learn(data, GROWN).value[1]


@pytest.mark.parametrize(("rank", "xerror"), [(2, 0.0), (1, 1 / 3)])
def test_a_held_out_row_halfway_between_two_ranks_goes_up(rank: int, xerror: float) -> None:
    rows = [[0], [0], [0], [4], [4], [4], [rank]]
    task = Task(dataset(ranks(5), rows, [0, 0, 0, 1, 1, 1, 1]), GROWN)
    found = sequence(sequence_tree(task), "misclassification")
    validated = cross_validated(
        task.data, lambda some: sequence_tree(task, some), GROWN,
        np.array([1, 1, 2, 1, 1, 2, 3]), found.alphas,
    )  # fmt: skip

    assert xerror == pytest.approx(validated.risks[0] / found.risks[-1])


def test_of_equal_splits_of_weighted_rows_that_is_taken_which_rs_sums_favour() -> None:
    """Both attributes divide the rows alike; rpart takes the second."""
    rows = [[1, 2], [1, 2], [2, 0], [2, 0]]
    data = dataset(NUMBERS, rows, [0, 1, 0, 0], 1.4, 1.0, 2.7, 0.8)

    assert 1 == learn(data, resolve("rpart", {"pruning": "none", "min_weight": 0.0})).attribute[0]
