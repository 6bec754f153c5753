"""Growing: the fast way gives what the definition gives, and no shape of tree is too much."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

from service.errors import LimitReached
from service.tree.attribute import Attribute, Kind
from service.tree.dataset import Dataset, rows_of
from service.tree.learn import learn, study
from service.tree.nodes import Split, Tree
from service.tree.params import Params
from service.tree.pruners import Task
from tests.naive import Naive, naive_grow, variance_of, weight
from tests.readable.candidate import midpoint
from tests.strategies import datasets, grow_params


def a_number_line(values: list[float], classes: list[int], weights: list[float] | None = None):
    n_classes = max(classes) + 1
    return Dataset(
        (Attribute("x", Kind.NUMERIC),),
        tuple(f"c{number}" for number in range(max(n_classes, 2))),
        np.array(values, dtype=np.float64).reshape(-1, 1),
        np.array(classes, dtype=np.int64),
        np.ones(len(values)) if weights is None else np.array(weights),
    )


def assert_same(data: Dataset, tree: Tree, naive: Naive, node: int = 0) -> None:
    if naive.rows:
        assert tree.weight[node] == pytest.approx(weight(naive.rows))
        assert_answers(data, tree, naive, node)
    if naive.way is None:
        assert tree.is_leaf[node]
        return
    first = int(tree.first_child[node])
    assert tree.attribute[node] == naive.way.attribute
    assert tree.gain[node] == pytest.approx(naive.gain, abs=1e-9)
    assert tree.n_branches[node] == len(naive.children)
    for branch, (share, child) in enumerate(zip(naive.shares, naive.children, strict=True)):
        assert tree.share[first + branch] == pytest.approx(share)
        assert_same(data, tree, child, first + branch)


def assert_answers(data: Dataset, tree: Tree, naive: Naive, node: int) -> None:
    if data.is_regression:
        assert tree.variance[node] == pytest.approx(variance_of(naive.rows), abs=1e-9)
        return
    distribution = [
        sum(row[2] for row in naive.rows if row[1] == number) for number in range(len(data.classes))
    ]
    assert_allclose(tree.distribution[node], distribution, rtol=1e-9, atol=1e-12)


@given(datasets(), grow_params())
def test_a_grown_tree_is_the_one_of_the_definition(data: Dataset, params: Params) -> None:
    assert_same(data, learn(data, params), naive_grow(data, params))


@given(datasets(regression=True), grow_params("squared_error"))
def test_a_grown_regression_tree_is_the_one_of_the_definition(
    data: Dataset, params: Params
) -> None:
    assert_same(data, learn(data, params), naive_grow(data, params))


@given(datasets(), grow_params())
def test_the_table_stands_in_breadth_first_order(data: Dataset, params: Params) -> None:
    tree = learn(data, params)
    nodes = np.arange(len(tree))

    assert (tree.parent[1:] < nodes[1:]).all()
    assert (np.diff(tree.parent) >= 0).all()
    assert (np.diff(tree.depth) >= 0).all()
    assert (nodes[1:] == tree.first_child[tree.parent[1:]] + tree.branch[1:]).all()


@given(datasets(), grow_params())
def test_weights_and_shares_sum(data: Dataset, params: Params) -> None:
    tree = learn(data, params)
    for node in np.flatnonzero(~tree.is_leaf):
        children = tree.first_child[node] + np.arange(tree.n_branches[node])
        assert tree.share[children].sum() == pytest.approx(1.0)
        if params.missing != "stop":
            assert tree.weight[children].sum() == pytest.approx(tree.weight[node])


@given(datasets(), grow_params())
def test_rows_of_no_weight_change_nothing(data: Dataset, params: Params) -> None:
    without = rows_of(data, data.weights > 0)

    for column, expected in vars(learn(without, params)).items():
        np.testing.assert_array_equal(getattr(learn(data, params), column), expected)


def test_a_pure_node_is_a_leaf() -> None:
    assert len(learn(a_number_line([1, 2, 3], [1, 1, 1]), Params())) == 1


def test_rows_that_cannot_be_told_apart_make_a_leaf() -> None:
    tree = learn(a_number_line([1, 1, 1], [0, 1, 1]), Params())

    assert tree.distribution.tolist() == [[1.0, 2.0]]


def test_a_split_that_tells_nothing_is_not_made() -> None:
    xor = Dataset(
        (
            Attribute("p", Kind.CATEGORICAL, ("a", "b")),
            Attribute("q", Kind.CATEGORICAL, ("a", "b")),
        ),
        ("no", "yes"),
        np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]),
        np.array([0, 1, 1, 0]),
        np.ones(4),
    )

    assert len(learn(xor, Params())) == 1


def test_an_attribute_of_numbers_is_used_again_below() -> None:
    tree = learn(a_number_line([1, 2, 3, 4], [0, 1, 0, 1]), Params())

    assert tree.attribute[tree.attribute >= 0].tolist() == [0, 0, 0]


def test_equal_cuts_go_to_the_lowest() -> None:
    tree = learn(a_number_line([1, 2, 3, 4], [0, 1, 1, 0]), Params(max_depth=1))

    assert tree.value[1] == 1.5


def test_equal_attributes_go_to_the_first() -> None:
    twice = a_number_line([1, 2], [0, 1])
    data = Dataset(
        (Attribute("x", Kind.NUMERIC), Attribute("y", Kind.NUMERIC)),
        twice.classes,
        np.hstack([twice.values, twice.values]),
        twice.target,
        twice.weights,
    )

    assert learn(data, Params()).attribute[0] == 0


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (1.0, np.nextafter(1.0, 2)),
        (-1e308, 1e308),
        (1.7e308, 1.79e308),
        (-5e-324, 0.0),
        (0.0, 5e-324),
    ],
)
def test_a_cut_stands_between_its_neighbours_wherever_they_are(low: float, high: float) -> None:
    assert low <= midpoint(low, high) < high


def test_a_tree_may_be_three_thousand_deep() -> None:
    n_rows = 3_000
    data = a_number_line(list(range(n_rows)), [row % 2 for row in range(n_rows)])
    tree = learn(data, Params())

    assert tree.depth.max() > 1_000
    assert tree.is_leaf.sum() == n_rows


def test_a_tree_may_have_a_hundred_thousand_nodes() -> None:
    numbers = np.random.default_rng(0)
    values, classes = numbers.random(100_000), numbers.integers(0, 2, 100_000)
    tree = learn(a_number_line(values.tolist(), classes.tolist()), Params(criterion="gini"))

    assert len(tree) > 90_000
    assert (tree.distribution[tree.is_leaf] > 0).sum(axis=1).max() == 1


def test_a_tree_beyond_the_limit_says_what_to_do() -> None:
    data = a_number_line([1, 2, 3, 4], [0, 1, 0, 1])

    with pytest.raises(LimitReached, match="min_weight"):
        study(Task(data, Params(), max_nodes=3))


def test_progress_is_told_and_ends_at_one() -> None:
    told: list[tuple[float, int]] = []
    data = a_number_line([1, 2, 3, 4], [0, 1, 0, 1])
    study(Task(data, Params(), report=lambda fraction, nodes: told.append((fraction, nodes))))

    assert told[-1] == (1.0, len(learn(data, Params())))
    assert told == sorted(told)


def test_a_weight_can_be_divided_until_nothing_is_left() -> None:
    """A row of almost no weight that knows nothing vanishes below; nothing divides by zero."""
    data = a_number_line([1.0, 2.0, 3.0, np.nan], [0, 1, 0, 1], [1.0, 1.0, 1.0, 5e-324])
    tree = learn(data, Params())

    assert np.isfinite(tree.share).all()
    assert tree.split[0] == Split.THRESHOLD


@pytest.mark.parametrize("kind", [Kind.NUMERIC, Kind.ORDINAL, Kind.CATEGORICAL])
@pytest.mark.parametrize("categorical", ["subset", "one_vs_rest", "multiway"])
def test_null_with_a_branch_of_its_own_is_told_from_the_one_value_that_is_known(
    kind: Kind, categorical: str
) -> None:
    values = () if kind == Kind.NUMERIC else ("a", "b")
    data = Dataset(
        (Attribute("x", kind, values),),
        ("known", "null"),
        np.array([[1.0], [1.0], [np.nan]]),
        np.array([0, 0, 1]),
        np.ones(3),
    )
    tree = learn(data, Params(missing="own_branch", categorical=categorical))

    assert tree.distribution[tree.is_leaf & (tree.weight > 0)].tolist() == [[2.0, 0.0], [0.0, 1.0]]
