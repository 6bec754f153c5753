"""What is odd in a table, though it can be trained on."""

from typing import Any

from service.tree.encode import Declaration
from service.tree.oddities import oddities
from service.tree.table import table_of_rows
from service.tree.training import Plan, make_dataset


def odd(column: list[Any], *declared: Declaration) -> list[str]:
    rows = [{"a": value, "y": "np"[number % 2]} for number, value in enumerate(column)]
    table, plan = table_of_rows(rows, ("data", "rows"), 10_000), Plan("y", declared)
    return [fault.pointer for fault in oddities(table, plan, make_dataset(table, plan))]


def test_a_word_among_numbers_is_pointed_at() -> None:
    assert odd([0, 1, 2, None, 3, "n/a"]) == ["/data/rows/5/a"]


def test_words_with_a_number_among_them_are_words() -> None:
    assert odd(["x", "y", "z", 1]) == []


def test_what_was_declared_is_meant() -> None:
    assert odd([0, 1, 2, 3, "n/a"], Declaration("a", "categorical")) == []


def test_a_column_in_which_every_row_differs_looks_like_an_identifier() -> None:
    assert odd([f"id-{number}" for number in range(30)]) == ["/data/rows/0/a"]
    assert odd([f"id-{number}" for number in range(5)]) == []
