"""From raw tables to datasets: what a column is, and which row and field is wrong."""

from typing import Any

import numpy as np
import pytest

from service.errors import InvalidData
from service.tree.attribute import Kind, category_text
from service.tree.dataset import Dataset
from service.tree.encode import Declaration
from service.tree.table import Table, table_of_columns, table_of_rows
from service.tree.training import Plan, make_dataset

ROWS = [
    {"colour": "green", "density": 0.5, "ripe": "yes"},
    {"colour": None, "density": 1, "ripe": "no"},
    {"density": None, "ripe": "yes", "touch": True},
]


def a_table(rows: Any = ROWS) -> Table:
    return table_of_rows(rows, ("data", "rows"), max_cells=1_000)


def a_dataset(rows: Any = ROWS, **plan: Any) -> Dataset:
    return make_dataset(a_table(rows), Plan(**{"target": "ripe"} | plan))


def faults(rows: Any, **plan: Any) -> dict[str, str]:
    with pytest.raises(InvalidData) as caught:
        a_dataset(rows, **plan)
    return {fault.pointer: fault.detail for fault in caught.value.faults}


def test_numbers_make_a_numeric_attribute_and_everything_else_a_categorical_one() -> None:
    kinds = {attribute.name: attribute.kind for attribute in a_dataset().attributes}

    assert kinds == {
        "colour": Kind.CATEGORICAL, "density": Kind.NUMERIC, "touch": Kind.CATEGORICAL,
    }  # fmt: skip


def test_null_and_an_absent_key_are_the_same() -> None:
    values = a_dataset().values

    np.testing.assert_array_equal(np.isnan(values[:, 0]), [False, True, True])
    np.testing.assert_array_equal(np.isnan(values[:, 1]), [False, False, True])


def test_a_column_of_numbers_and_words_holds_categories() -> None:
    rows = [{"a": 1, "ripe": "x"}, {"a": "one", "ripe": "y"}, {"a": 1.0, "ripe": "y"}]

    assert a_dataset(rows).attributes[0].values == ("1", "one")


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1"), (1.0, "1"), (1.5, "1.5"), (True, "true"), (False, "false"), ("1.0", "1.0"),
     (1e300, "1e+300"), (-0.0, "0"), (2**60, str(2**60))],
)  # fmt: skip
def test_a_value_is_a_category_by_its_text(value: Any, text: str) -> None:
    assert category_text(value) == text


def test_declared_attributes_stand_first_and_in_their_order() -> None:
    declared = (Declaration("touch"), Declaration("density"))
    names = [attribute.name for attribute in a_dataset(declared=declared).attributes]

    assert names == ["touch", "density", "colour"]


def test_a_declared_class_without_a_row_still_counts() -> None:
    assert a_dataset(classes=("no", "perhaps", "yes")).classes == ("no", "perhaps", "yes")


def test_an_ignored_column_and_the_weights_are_no_input() -> None:
    rows = [row | {"id": number, "w": 2} for number, row in enumerate(ROWS)]
    plan = Plan("ripe", (Declaration("id", "ignored"),), weight="w")
    data = make_dataset(a_table(rows), plan)

    assert [attribute.name for attribute in data.attributes] == ["colour", "density", "touch"]
    assert data.weights.tolist() == [2.0, 2.0, 2.0]
    assert plan.ignored == ("w", "id")


def test_numbers_can_be_declared_categories() -> None:
    declared = (Declaration("density", "categorical"),)

    assert a_dataset(declared=declared).attributes[0].values == ("0.5", "1")


def test_a_word_among_numbers_is_named() -> None:
    rows = [*ROWS, {"density": "0.4", "ripe": "no"}, {"density": True, "ripe": "no"}]

    assert faults(rows, declared=(Declaration("density", "numeric"),)) == {
        "/data/rows/3/density": "must be a number",
        "/data/rows/4/density": "must be a number",
    }


def test_a_category_that_was_not_declared_is_named() -> None:
    declared = (Declaration("colour", values=("black",)),)

    assert faults(ROWS, declared=declared) == {
        "/data/rows/0/colour": "'green' is not among the declared values"
    }


def test_a_class_that_was_not_declared_is_named() -> None:
    assert list(faults(ROWS, classes=("yes", "maybe"))) == ["/data/rows/1/ripe"]


def test_a_row_without_a_class_is_named() -> None:
    assert list(faults([*ROWS, {"density": 3}])) == ["/data/rows/3/ripe"]


def test_a_list_is_no_value() -> None:
    assert list(faults([*ROWS, {"colour": ["a"], "ripe": "no"}])) == ["/data/rows/3/colour"]


def test_a_name_with_a_slash_is_pointed_at() -> None:
    rows = [{"a/b~c": [], "ripe": "no"}, {"ripe": "yes"}]

    assert list(faults(rows)) == ["/data/rows/0/a~1b~0c"]


def test_the_character_that_no_database_keeps_is_refused() -> None:
    assert list(faults([*ROWS, {"colour": "a\0b", "ripe": "no"}])) == ["/data/rows/3/colour"]


@pytest.mark.parametrize("weight", [None, -1, "2", float("1e309")])
def test_a_weight_is_a_number_not_below_zero(weight: Any) -> None:
    rows = [row | {"w": 1} for row in ROWS] + [{"ripe": "no", "w": weight}]

    assert list(faults(rows, weight="w")) == ["/data/rows/3/w"]


def test_some_row_must_weigh_something() -> None:
    assert list(faults([row | {"w": 0} for row in ROWS], weight="w")) == ["/weight"]


@pytest.mark.parametrize(
    ("rows", "where"),
    [([], "/data/rows"), ([{"ripe": "yes"}, {"ripe": "no"}], "/data/rows"),
     ([{"colour": "red"}], "/target"), ([{"colour": "red", "ripe": "yes"}], "/target")],
)  # fmt: skip
def test_where_there_is_nothing_to_learn_it_is_said(rows: Any, where: str) -> None:
    assert list(faults(rows)) == [where]


def test_a_hundred_faults_are_named_and_no_more() -> None:
    rows = [{"a": [], "ripe": "x"}] * 500

    assert len(faults(rows)) == 100


def test_rows_must_be_a_list_of_objects() -> None:
    for rows, where in (("rows", "/data/rows"), ([{}, 3], "/data/rows/1")):
        with pytest.raises(InvalidData) as caught:
            a_table(rows)
        assert [fault.pointer for fault in caught.value.faults] == [where]


def test_columns_must_be_equally_long_lists() -> None:
    for columns, where in (
        ([], "/columns"), ({"a": 3}, "/columns/a"), ({"a": [1], "b": [1, 2]}, "/columns/a"),
    ):  # fmt: skip
        with pytest.raises(InvalidData) as caught:
            table_of_columns(columns, ("columns",), 100)
        assert [fault.pointer for fault in caught.value.faults] == [where]


def test_columns_are_pointed_at_by_column_and_row() -> None:
    table = table_of_columns({"a": [1, "x"], "ripe": ["y", "n"]}, ("data", "columns"), 100)

    with pytest.raises(InvalidData) as caught:
        make_dataset(table, Plan("ripe", (Declaration("a", "numeric"),)))
    assert [fault.pointer for fault in caught.value.faults] == ["/data/columns/a/1"]


def test_a_table_of_too_many_values_is_refused_before_it_is_made() -> None:
    rows = [{f"name{number}": 1} for number in range(100)]

    with pytest.raises(InvalidData, match="100 rows of 100 columns"):
        table_of_rows(rows, ("rows",), max_cells=1_000)
