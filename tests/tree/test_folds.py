"""Folds: every row in one, each class spread evenly, the same for the same seed."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from service.tree.folds import balanced_folds, hold_out, quantile_strata, stratified_folds

TARGETS = st.lists(st.integers(0, 3), min_size=1, max_size=40).map(
    lambda drawn: np.array(drawn, dtype=np.int64)
)
SEEDS = st.integers(0, 5)


def sizes(folds: np.ndarray, n_folds: int) -> np.ndarray:
    return np.bincount(folds, minlength=n_folds)


@given(TARGETS, st.integers(2, 12), SEEDS)
def test_no_fold_holds_two_rows_more_of_a_class_than_another(
    target: np.ndarray, n_folds: int, seed: int
) -> None:
    folds = stratified_folds(target, n_folds, seed)
    n_folds = min(n_folds, len(target))
    for number in np.unique(target):
        assert np.ptp(sizes(folds[target == number], n_folds)) <= 1
    assert np.ptp(sizes(folds, n_folds)) <= 1


@given(TARGETS, SEEDS)
def test_the_same_seed_makes_the_same_folds(target: np.ndarray, seed: int) -> None:
    np.testing.assert_array_equal(
        stratified_folds(target, 5, seed), stratified_folds(target, 5, seed)
    )
    np.testing.assert_array_equal(hold_out(target, 0.3, seed), hold_out(target, 0.3, seed))


def test_another_seed_makes_other_folds() -> None:
    target = np.repeat([0, 1], 50)

    assert (stratified_folds(target, 10, 0) != stratified_folds(target, 10, 1)).any()
    assert (hold_out(target, 0.3, 0) != hold_out(target, 0.3, 1)).any()


def test_the_worked_classes_of_53_31_and_16_rows_fall_into_five_folds_of_twenty() -> None:
    target = np.repeat([0, 1, 2], [53, 31, 16])

    assert sizes(stratified_folds(target, 5, 0), 5).tolist() == [20] * 5


def test_no_rows_have_no_folds() -> None:
    assert len(stratified_folds(np.empty(0, dtype=np.int64), 10, 0)) == 0
    assert len(hold_out(np.empty(0, dtype=np.int64), 0.3, 0)) == 0


@given(TARGETS, st.sampled_from([0.1, 0.25, 0.3, 0.5, 0.9]), SEEDS)
def test_of_each_class_the_fraction_is_held_out_to_within_a_row(
    target: np.ndarray, fraction: float, seed: int
) -> None:
    held = hold_out(target, fraction, seed)
    n_out = int(held.sum())
    assert n_out == min(max(round(fraction * len(target)), 1), len(target) - 1)
    for number in np.unique(target):
        of_class = target == number
        expected = of_class.sum() * n_out / len(target)
        assert abs(held[of_class].sum() - expected) < 1 + 1e-9


def test_a_single_row_is_never_held_out() -> None:
    assert hold_out(np.array([0]), 0.5, 0).tolist() == [False]


def test_every_class_can_lose_the_only_row_that_is_held_out() -> None:
    target = np.array([0, 0, 1, 1])
    lost = {int(target[hold_out(target, 0.25, seed)][0]) for seed in range(20)}

    assert lost == {0, 1}


@given(TARGETS, st.integers(2, 12), SEEDS)
def test_rows_of_equal_weight_are_dealt_by_number(
    target: np.ndarray, n_folds: int, seed: int
) -> None:
    folds = balanced_folds(target, np.full(len(target), 2.0), n_folds, seed)

    np.testing.assert_array_equal(folds, stratified_folds(target, n_folds, seed))


@given(st.integers(0, 20))
def test_folds_of_skewed_weights_weigh_nearly_alike(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    target, weights = numbers.integers(0, 3, 300), numbers.exponential(1.0, 300)
    folds = balanced_folds(target, weights, 5, seed)
    for rows in (np.full(300, fill_value=True), *(target == number for number in range(3))):
        share = np.bincount(folds[rows], weights[rows], 5) / weights[rows].sum()

        assert np.abs(share - 0.2).max() < 0.03


def test_numbers_are_dealt_by_their_quantiles() -> None:
    strata = quantile_strata(np.array([5.0, 1.0, 9.0, 7.0, 3.0, 8.0]), n_strata=3)

    assert strata.tolist() == [1, 0, 2, 1, 0, 2]
