"""Metrics: the definitions written out, worked numbers, and what weights must not change."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tree import metrics
from service.tree.metrics import (
    CLASSIFICATION,
    REGRESSION,
    classification_report,
    regression_report,
)

# yes/no by hand: three of "no" (0.1, 0.4, 0.35 for yes) and three of "yes" (0.8, 0.35, 0.9)
SCORES = np.array([0.1, 0.4, 0.35, 0.8, 0.35, 0.9])
YES_NO = np.column_stack([1 - SCORES, SCORES]), np.array([0, 0, 0, 1, 1, 1]), np.ones(6)

WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0])
Given = tuple[np.ndarray, np.ndarray, np.ndarray]


@st.composite
def judged_classes(draw: Any, most_classes: int = 4) -> Given:
    """Probabilities in eighths, so that ties are common; targets; weights."""
    n_rows, n_classes = draw(st.integers(0, 8)), draw(st.integers(2, most_classes))
    row = st.lists(st.integers(0, 8), min_size=n_classes, max_size=n_classes).filter(any)
    drawn = draw(st.lists(row, min_size=n_rows, max_size=n_rows))
    counts = np.array(drawn, dtype=np.float64).reshape(n_rows, n_classes)
    target = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows))
    weights = draw(st.lists(WEIGHTS, min_size=n_rows, max_size=n_rows))
    probabilities = counts / counts.sum(axis=1, keepdims=True)
    return probabilities, np.array(target, dtype=np.int64), np.array(weights)


@st.composite
def judged_numbers(draw: Any) -> Given:
    number = st.integers(-40, 40).map(lambda n: n / 4)
    rows = draw(st.lists(st.tuples(number, number, WEIGHTS), max_size=8))
    means, target, weights = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    return means, target, weights


def mean(pairs: list[tuple[float, float]]) -> float | None:
    total = sum(weight for _, weight in pairs)
    return sum(value * weight for value, weight in pairs) / total if total else None


def first_largest(row: list[float]) -> int:
    return next(number for number, p in enumerate(row) if p >= max(row) - 1e-12)


def naive_rows(given_: Given) -> list[tuple[list[float], int, float]]:
    probabilities, target, weights = given_
    return list(zip(probabilities.tolist(), target.tolist(), weights.tolist(), strict=True))


def naive_area(given_: Given, positive: int) -> float | None:
    """Every pair of a row of the class and one of another: 1 in right order, a half if tied."""
    rows = naive_rows(given_)
    pairs = [
        (1.0 if p[positive] > q[positive] else 0.5 if p[positive] == q[positive] else 0.0, w * v)
        for p, c, w in rows
        for q, d, v in rows
        if c == positive != d
    ]
    return mean(pairs)


@given(judged_classes())
def test_accuracy_is_the_weight_of_the_rows_whose_first_likeliest_class_is_the_true_one(
    drawn: Given,
) -> None:
    hits = [(float(first_largest(row) == true), weight) for row, true, weight in naive_rows(drawn)]

    assert metrics.accuracy(*drawn) == pytest.approx(mean(hits))


@given(judged_classes())
def test_balanced_accuracy_gives_every_class_that_occurs_the_same_say(drawn: Given) -> None:
    rows = naive_rows(drawn)
    parts = [
        mean([(float(first_largest(row) == true), w) for row, true, w in rows if true == number])
        for number in range(drawn[0].shape[1])
    ]
    expected = mean([(part, 1.0) for part in parts if part is not None])

    assert metrics.balanced_accuracy(*drawn) == pytest.approx(expected)


@given(judged_classes())
def test_log_loss_is_the_mean_surprise_in_nats_at_the_true_class(drawn: Given) -> None:
    expected = mean([(-math.log(max(row[true], 1e-15)), w) for row, true, w in naive_rows(drawn)])

    assert metrics.log_loss(*drawn) == pytest.approx(expected)


@given(judged_classes())
def test_brier_sums_the_squares_over_all_classes(drawn: Given) -> None:
    squares = [
        (sum((p - (number == true)) ** 2 for number, p in enumerate(row)), weight)
        for row, true, weight in naive_rows(drawn)
    ]

    assert metrics.brier(*drawn) == pytest.approx(mean(squares))


@given(judged_classes(most_classes=2))
def test_the_auc_of_two_classes_counts_pairs_in_right_order(drawn: Given) -> None:
    assert metrics.auc(*drawn) == pytest.approx(naive_area(drawn, 1))


@given(judged_classes())
def test_the_auc_does_not_depend_on_which_of_two_classes_is_scored(drawn: Given) -> None:
    probabilities, target, weights = drawn
    two = np.column_stack([1 - probabilities[:, 0], probabilities[:, 0]])
    of_the_first = metrics.auc(two[:, ::-1], (target != 0).astype(np.int64), weights)

    assert metrics.auc(two, (target == 0).astype(np.int64), weights) == pytest.approx(of_the_first)


@given(judged_classes().filter(lambda drawn: drawn[0].shape[1] > 2))
def test_the_auc_of_many_classes_is_each_against_the_rest_by_its_weight(drawn: Given) -> None:
    sizes = [sum(w for _, true, w in naive_rows(drawn) if true == c) for c in range(4)]
    areas = [(naive_area(drawn, c), sizes[c]) for c in range(drawn[0].shape[1])]

    expected = mean([(area, size) for area, size in areas if area is not None])
    assert metrics.auc(*drawn) == pytest.approx(expected)


@given(judged_classes())
def test_the_confusion_matrix_holds_the_weight_by_actual_and_predicted_class(drawn: Given) -> None:
    expected = np.zeros((drawn[0].shape[1],) * 2)
    for row, true, weight in naive_rows(drawn):
        expected[true, first_largest(row)] += weight

    np.testing.assert_allclose(metrics.confusion(*drawn), expected)


@given(judged_classes())
def test_a_calibration_bin_holds_the_rows_of_its_probability(drawn: Given) -> None:
    bins: list[list[tuple[float, bool, float]]] = [[] for _ in range(10)]
    for row, true, weight in naive_rows(drawn):
        sure = row[first_largest(row)]
        bins[min(int(sure * 10), 9)].append((sure, first_largest(row) == true, weight))
    for found, rows in zip(classification_report(*drawn)["calibration"], bins, strict=True):
        assert found["weight"] == pytest.approx(sum(weight for *_, weight in rows))
        assert found["mean_probability"] == pytest.approx(mean([(p, w) for p, _, w in rows]))
        assert found["accuracy"] == pytest.approx(mean([(float(hit), w) for _, hit, w in rows]))


@given(judged_classes())
def test_the_calibration_error_is_the_mean_gap_of_the_bins(drawn: Given) -> None:
    bins = [
        b for b in classification_report(*drawn)["calibration"] if b["mean_probability"] is not None
    ]
    gaps = [(abs(b["mean_probability"] - b["accuracy"]), b["weight"]) for b in bins]

    assert metrics.calibration_error(*drawn) == pytest.approx(mean(gaps), abs=1e-12)


@given(judged_numbers())
def test_the_regression_metrics_are_their_definitions(drawn: Given) -> None:
    rows = list(zip(*(column.tolist() for column in drawn), strict=True))
    squared = mean([((m - y) ** 2, w) for m, y, w in rows])
    centre = mean([(y, w) for _, y, w in rows])
    spread = mean([((y - centre) ** 2, w) for _, y, w in rows if centre is not None])

    assert metrics.mean_squared_error(*drawn) == pytest.approx(squared)
    assert metrics.root_mean_squared_error(*drawn) == pytest.approx(squared and math.sqrt(squared))
    assert metrics.mean_absolute_error(*drawn) == pytest.approx(
        mean([(abs(m - y), w) for m, y, w in rows])
    )
    explained = None if squared is None or not spread else 1 - squared / spread
    assert metrics.r_squared(*drawn) == pytest.approx(explained)


@given(judged_classes(), st.data())
def test_rows_of_no_weight_change_no_classification_metric(drawn: Given, data: Any) -> None:
    probabilities, target, weights = drawn
    more = data.draw(judged_classes().filter(lambda m: m[0].shape[1] == probabilities.shape[1]))
    with_more = classification_report(
        np.concatenate([probabilities, more[0]]),
        np.concatenate([target, more[1]]),
        np.concatenate([weights, np.zeros(len(more[2]))]),
    )

    assert_same(with_more, classification_report(*drawn))


@given(judged_numbers(), judged_numbers())
def test_rows_of_no_weight_change_no_regression_metric(drawn: Given, more: Given) -> None:
    weights = np.concatenate([drawn[2], np.zeros(len(more[2]))])
    means, target = (np.concatenate([a, b]) for a, b in zip(drawn[:2], more[:2], strict=True))

    assert_same(regression_report(means, target, weights), regression_report(*drawn))


@given(judged_classes(), judged_numbers())
def test_doubling_all_weights_changes_no_metric(classes: Given, numbers: Given) -> None:
    for table, (said, target, weights) in ((CLASSIFICATION, classes), (REGRESSION, numbers)):
        for metric in table.values():
            assert metric(said, target, 2 * weights) == metric(said, target, weights)


@given(judged_classes(), judged_numbers())
def test_a_report_is_json_and_names_every_metric(classes: Given, numbers: Given) -> None:
    reports = classification_report(*classes), regression_report(*numbers)
    for report, table in zip(reports, (CLASSIFICATION, REGRESSION), strict=True):
        assert json.loads(json.dumps(report, allow_nan=False)) == report
        assert table.keys() <= report.keys()


def test_the_worked_numbers_of_two_classes() -> None:
    report = classification_report(*YES_NO)

    assert report["rows"] == 6
    assert report["weight"] == 6.0
    # all but the yes at 0.35 are told right
    assert report["accuracy"] == pytest.approx(5 / 6)
    assert report["balanced_accuracy"] == pytest.approx((1 + 2 / 3) / 2)
    assert report["confusion"] == [[3.0, 0.0], [1.0, 2.0]]
    # of nine pairs 0.8 and 0.9 win three each; 0.35 wins one, loses one and ties with one
    assert report["auc"] == pytest.approx(7.5 / 9)
    squares = 0.01 + 0.16 + 0.1225 + 0.04 + 0.4225 + 0.01
    assert report["brier"] == pytest.approx(2 * squares / 6)
    # the logarithm of the product of all six probabilities of the true class
    assert report["log_loss"] == pytest.approx(-math.log(0.088452) / 6)


def test_the_worked_calibration_of_two_classes() -> None:
    report = classification_report(*YES_NO)
    # 0.6 and twice 0.65 hold two hits of three; 0.8 one of one; twice 0.9 two of two
    used = [b for b in report["calibration"] if b["weight"] > 0]

    assert [b["weight"] for b in used] == [3.0, 1.0, 2.0]
    assert [b["lower"] for b in used] == [0.6, 0.8, 0.9]
    assert used[0]["mean_probability"] == pytest.approx(1.9 / 3)
    assert used[0]["accuracy"] == pytest.approx(2 / 3)
    # three rows are 0.1 / 3 off, one is 0.2 and two are 0.1
    assert report["calibration_error"] == pytest.approx((0.1 + 0.2 + 0.2) / 6)


def test_the_worked_numbers_of_three_classes() -> None:
    probabilities = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.4, 0.4, 0.2], [0.1, 0.2, 0.7]])
    report = classification_report(probabilities, np.array([0, 1, 1, 2]), np.array([1.0, 1, 2, 1]))

    # the third row is tied, and the first of equals is not its class; it weighs 2 of 5
    assert report["accuracy"] == pytest.approx(3 / 5)
    assert report["balanced_accuracy"] == pytest.approx((1 + 1 / 3 + 1) / 3)
    # every class scores its rows above all others
    assert report["auc"] == 1.0


def test_the_worked_numbers_of_a_regression() -> None:
    report = regression_report(
        np.array([2.5, 0.0, 2.0, 8.0]), np.array([3.0, -0.5, 2.0, 7.0]), np.ones(4)
    )

    assert report["mse"] == pytest.approx(0.375)
    assert report["rmse"] == pytest.approx(math.sqrt(0.375))
    assert report["mae"] == pytest.approx(0.5)
    # of a sum of squares of 29.1875 only 1.5 is left
    assert report["r2"] == pytest.approx(1 - 1.5 / 29.1875)
    assert report["baseline"]["mse"] == pytest.approx(29.1875 / 4)


def test_a_ruled_out_class_that_came_costs_the_clip() -> None:
    certain = np.array([[1.0, 0.0]])

    assert metrics.log_loss(certain, np.array([1]), np.ones(1)) == pytest.approx(34.538776)
    assert metrics.brier(certain, np.array([1]), np.ones(1)) == 2.0


def test_probabilities_equal_up_to_rounding_are_a_tie() -> None:
    scores = np.array([0.3, 0.1 + 0.2])
    given_ = np.column_stack([1 - scores, scores]), np.array([0, 1]), np.ones(2)

    assert metrics.auc(*given_) == 0.5


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_class_alone_has_no_auc(n_classes: int) -> None:
    probabilities = np.full((3, n_classes), 1 / n_classes)

    assert metrics.auc(probabilities, np.zeros(3, dtype=np.int64), np.ones(3)) is None


def test_without_weight_nothing_has_a_value() -> None:
    report = classification_report(np.full((2, 2), 0.5), np.array([0, 1]), np.zeros(2))

    assert {name: report[name] for name in CLASSIFICATION} == dict.fromkeys(CLASSIFICATION)
    report = regression_report(np.ones(2), np.array([1.0, 2.0]), np.zeros(2))
    assert {name: report[name] for name in REGRESSION} == dict.fromkeys(REGRESSION)


def test_of_a_constant_target_nothing_is_explained() -> None:
    target = np.full(10, 0.1)  # whose mean rounds to another number

    assert metrics.r_squared(target, target, np.ones(10)) is None


def test_an_error_too_large_for_a_number_has_no_value() -> None:
    report = regression_report(np.array([1e308, 0.0]), np.array([-1e308, 1e308]), np.ones(2))

    assert {name: report[name] for name in REGRESSION} == dict.fromkeys(REGRESSION)


def assert_same(found: Any, expected: Any) -> None:
    """Equal up to rounding, however deep."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name in expected:
            assert_same(found[name], expected[name])
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        assert found == pytest.approx(expected, abs=1e-12)
