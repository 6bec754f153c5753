"""What is told of a column once its file was read."""

import pytest

from service.files.reading import csv_file, summarise, tally
from tests.files.uploads import as_csv, read, summary


def column(values: list[object]) -> bytes:
    return as_csv(["a", "row"], [(str(value), "r") for value in values])


def test_a_numeric_column_tells_where_its_numbers_lie() -> None:
    told = summary(column([2, "", 5.5, 3, ""]))

    assert ("numeric", 2, 3, True) == (told.kind, told.nulls, told.distinct, told.is_fractional)
    assert (2.0, 5.5, 3.5) == (told.minimum, told.maximum, told.mean)
    assert (1, None, None) == (told.first_null, told.first_text, told.values)


def test_a_categorical_column_tells_its_categories_by_first_appearance() -> None:
    told = summary(column(["b", "a", "", "b"]))

    assert ("categorical", 1, 2) == (told.kind, told.nulls, told.distinct)
    assert [("b", 2), ("a", 1)] == list((told.values or {}).items())
    assert (None, None, None) == (told.minimum, told.maximum, told.mean)
    assert (2, 0) == (told.first_null, told.first_text)


def test_a_few_whole_numbers_are_told_one_by_one_as_they_may_be_classes() -> None:
    assert {"1": 3, "0": 1} == summary(column([1, 0, 1.0, "1e0"])).values
    assert 20 == len(summary(column(list(range(20)))).values or {})
    assert None is summary(column(list(range(21)))).values
    assert None is summary(column([0.5, 1])).values


def test_categories_are_told_up_to_a_thousand() -> None:
    assert 1000 == len(summary(column([f"c{n}" for n in range(1000)])).values or {})
    assert None is summary(column([f"c{n}" for n in range(1001)])).values


def test_the_longest_lists_of_values_are_left_out_if_all_are_too_long() -> None:
    rows = [(f"a long category {n}", str(n % 2)) for n in range(100)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summarise, "MOST_TOLD", 1000)
        found = read(as_csv(["long", "y"], rows))[0]

    assert [None, {"0": 50, "1": 50}] == [each.values for each in found.columns]


def test_a_constant_column_has_fewer_than_two_values() -> None:
    assert summary(column(["x", "", "x"])).is_constant
    assert summary(column(["", ""])).is_constant
    assert not summary(column(["x", "y"])).is_constant


def test_a_column_of_nulls_is_categorical_and_has_no_values() -> None:
    told = summary(column(["", ""]))

    assert ("categorical", 2, 0, {}, 0) == (
        told.kind,
        told.nulls,
        told.distinct,
        told.values,
        told.first_null,
    )


def test_a_column_looks_like_an_identifier_if_all_of_many_known_values_differ() -> None:
    assert summary(column(list(range(20)))).is_identifier
    assert summary(column([f"user {n}" for n in range(20)] + [""])).is_identifier
    assert not summary(column(list(range(19)))).is_identifier
    assert not summary(column([*range(20), 3])).is_identifier
    assert not summary(column([n + 0.5 for n in range(20)])).is_identifier


def small_batches(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(csv_file, "LONGEST_RECORD", 200)
    patch.setattr(csv_file, "BATCH_BYTES", 300)
    patch.setattr(csv_file, "BYTES_PER_COLUMN", 1)
    patch.setattr(tally, "MOST_DISTINCT", 50)


@pytest.mark.parametrize("repeated", [slice(0, 0), slice(5, 15), slice(385, 400)])
def test_distinct_values_are_counted_up_to_a_bound(repeated: slice) -> None:
    values = list(range(400))
    values[repeated] = [7] * len(values[repeated])
    with pytest.MonkeyPatch.context() as patch:
        small_batches(patch)
        patch.setattr(summarise, "MOST_DISTINCT", 50)
        told = summary(column(list(values)))

    assert (50, False, None) == (told.distinct, told.is_exact, told.values)
    assert (values == list(range(400))) == told.is_identifier
    assert (min(values), max(values)) == (told.minimum, told.maximum)


def test_values_are_counted_over_batches() -> None:
    values = [f"c{n % 7}" for n in range(500)]
    with pytest.MonkeyPatch.context() as patch:
        small_batches(patch)
        told = summary(column(list(values)))

    assert {f"c{n}": values.count(f"c{n}") for n in range(7)} == told.values


def test_texts_that_are_too_long_to_be_remembered_are_not() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tally, "MOST_REMEMBERED", 1000)
        told = summary(column(["x" * 900, "y" * 900]))

    assert (2, False, None) == (told.distinct, told.is_exact, told.values)


def test_the_mean_of_the_largest_numbers_is_finite() -> None:
    largest = 1.7976931348623157e308

    assert largest == summary(column([largest, largest, largest])).mean
