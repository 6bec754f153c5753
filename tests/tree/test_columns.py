"""Columns that are arrays already mean the same as lists of raw values."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidData
from service.tree.columns import Numbers, Texts
from service.tree.dataset import Dataset
from service.tree.encode import Declaration
from service.tree.outline import identifiers, outline, task_of
from service.tree.summary import ColumnSummary
from service.tree.table import DATASET, Table
from service.tree.training import CLASSIFICATION, REGRESSION, Plan, make_dataset

NUMBERS = st.none() | st.integers(-3, 3) | st.sampled_from([0.5, -0.0, 1e300, 2.0])
TEXTS = st.none() | st.sampled_from(["green", "black", "1", "", "西瓜"])
KINDS = st.sampled_from([None, "categorical"])
Raw = dict[str, list[Any]]


@st.composite
def tables(draw: st.DrawFn) -> Raw:
    n_rows = draw(st.integers(2, 12))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=n_rows, max_size=n_rows))

    known = st.sampled_from(["yes", "no"]) if draw(st.booleans()) else st.integers(0, 30)
    return {"n": column(NUMBERS), "t": column(TEXTS), "y": column(known)}


@given(tables(), KINDS, st.sampled_from([None, CLASSIFICATION]))
def test_arrays_make_the_same_dataset_as_lists(
    raw: Raw, kind: str | None, task: str | None
) -> None:
    declared = (Declaration("n", kind),) if kind else ()
    plan = Plan("y", declared, task=task)
    lists = Table(raw, len(raw["y"]), ("data", "columns"))
    arrays = Table(typed(raw), len(raw["y"]), DATASET)

    try:
        expected = make_dataset(lists, plan)
    except InvalidData:
        with pytest.raises(InvalidData):
            make_dataset(arrays, plan)
    else:
        assert_same(expected, make_dataset(arrays, plan))


@given(tables())
def test_row_by_row_they_read_like_the_lists(raw: Raw) -> None:
    for name, column in typed(raw).items():
        assert raw[name] == list(column)
        assert raw[name][1:] == list(column[1:])


def test_a_fault_in_a_dataset_names_line_and_column() -> None:
    columns = {"age": Texts(("old",), np.array([-1, 0])), "y": Texts(("a", "b"), np.array([0, 1]))}
    table = Table(columns, 2, DATASET, first_line=2)

    with pytest.raises(InvalidData) as refused:
        make_dataset(table, Plan("y", (Declaration("age", "numeric"),)))

    assert ("/data/dataset", "line 3, column 'age': must be a number") == (
        refused.value.faults[0].pointer,
        refused.value.faults[0].detail,
    )


def test_where_rows_are_not_lines_a_fault_names_the_row_in_the_whole_dataset() -> None:
    part = Table({}, 2, DATASET, first_row=100)

    assert "row 101 (from 0), column 'age': odd" == part.fault(1, "age", "odd").detail


@pytest.mark.parametrize(
    ("target", "task"),
    [
        (ColumnSummary(name="y", kind="categorical", nulls=0, distinct=3), CLASSIFICATION),
        (ColumnSummary(name="y", kind="numeric", nulls=0, distinct=2), CLASSIFICATION),
        (ColumnSummary(name="y", kind="numeric", nulls=0, distinct=21), REGRESSION),
        (
            ColumnSummary(name="y", kind="numeric", nulls=0, distinct=2, is_fractional=True),
            REGRESSION,
        ),
    ],
)
def test_the_task_is_told_from_the_summary_of_the_target(target: ColumnSummary, task: str) -> None:
    assert task == task_of(target, Plan("y"))


COLUMNS = (
    ColumnSummary(name="id", kind="categorical", nulls=0, distinct=10_000, is_exact=False),
    ColumnSummary(name="age", kind="categorical", nulls=0, distinct=3, first_text=7),
    ColumnSummary(name="w", kind="numeric", nulls=0, distinct=3, minimum=-1.0),
    ColumnSummary(name="gap", kind="categorical", nulls=1, distinct=2, first_null=4),
    ColumnSummary(name="one", kind="categorical", nulls=0, distinct=1, values={"a": 9}),
    ColumnSummary(name="y", kind="categorical", nulls=0, distinct=2, values={"a": 5, "b": 4}),
)


@pytest.mark.parametrize(
    ("plan", "detail"),
    [
        (Plan("y"), "the column 'id' has more than 10000 categories; declare it as ignored"),
        (Plan("z"), "the dataset has no column 'z'"),
        (Plan("y", weight="v"), "the dataset has no column 'v'"),
        (Plan("y", (Declaration("age", "numeric"),)), "line 9, column 'age': must be a number"),
        (Plan("gap"), "line 6, column 'gap': is null: a row to train on needs a class"),
        (Plan("one"), "the target 'one' has fewer than two classes"),
        (Plan("y", task=REGRESSION), None),
        (Plan("y", weight="w"), "the column 'w' has values below 0"),
        (Plan("y", weight="age"), "line 9, column 'age': must be a weight"),
    ],
)
def test_what_a_dataset_cannot_be_trained_on_is_told_from_its_summaries(
    plan: Plan, detail: str | None
) -> None:
    table = Table({}, 9, DATASET, first_line=2)

    with pytest.raises(InvalidData) as refused:
        outline(table, COLUMNS, plan)

    if detail is not None:
        assert any(each.detail.startswith(detail) for each in refused.value.faults)


def test_a_name_that_is_nearly_right_is_told() -> None:
    with pytest.raises(InvalidData) as refused:
        outline(Table({}, 9, DATASET), COLUMNS, Plan("y", (Declaration("agee"),)))

    assert "the dataset has no column 'agee'; is 'age' meant?" == refused.value.faults[0].detail


def test_an_input_that_looks_like_an_identifier_is_told() -> None:
    column = ColumnSummary(name="n", kind="numeric", nulls=0, distinct=9, is_identifier=True)
    told = outline(Table({}, 9, DATASET), (column, *COLUMNS[3:]), Plan("y"))

    (odd,) = identifiers((column, *COLUMNS), told)
    assert "every row has another 'n'" in odd.detail


def test_the_outline_of_a_dataset_is_that_of_its_rows() -> None:
    plan = Plan("y", (Declaration("id", "ignored"), Declaration("w", cost=2.0)))

    told = outline(Table({}, 9, DATASET), COLUMNS, plan)

    assert ["w", "age", "gap", "one"] == [each.name for each in told.attributes]
    assert (("a",), ("a", "b"), 9) == (told.attributes[3].values, told.classes, told.n_rows)
    assert 2.0 == told.attributes[0].cost


def typed(raw: Raw) -> Mapping[str, Sequence[Any]]:
    return {name: column(values) for name, values in raw.items()}


def column(values: list[Any]) -> Numbers | Texts:
    known = [value for value in values if value is not None]
    if known and not isinstance(known[0], str):
        return Numbers(np.array(values, dtype=np.float64))
    categories = tuple(dict.fromkeys(known))
    codes = [-1 if value is None else categories.index(value) for value in values]
    return Texts(categories, np.array(codes))


def assert_same(one: Dataset, other: Dataset) -> None:
    assert (one.attributes, one.classes) == (other.attributes, other.classes)
    assert np.array_equal(one.values, other.values, equal_nan=True)
    assert np.array_equal(one.target, other.target)
