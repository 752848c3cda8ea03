"""Checks of arguments: what passes, and what a message says."""

import warnings

import numpy as np
import pytest

from hilbertlearn._utils import validation


@pytest.mark.parametrize("value", [0.5, 3, np.float64(2.0)])
def test_numbers_pass_as_they_are(value):
    assert validation.check_number(value, "alpha") is value


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, True, "3", None, [1.0]])
def test_other_values_are_refused_by_name(value):
    with pytest.raises(ValueError, match=r"alpha must be a finite number > 0"):
        validation.check_number(value, "alpha")


def test_limits_integers_and_names():
    assert validation.check_number(0, "beta", strict=False) == 0
    assert validation.check_number("auto", "beta", choices=("auto",)) == "auto"
    with pytest.raises(ValueError, match="integer"):
        validation.check_number(1.5, "n", integer=True)


def test_a_wrong_name_gets_the_nearest_one():
    with pytest.raises(ValueError, match=r"loss: unknown name 'hubber'.*'huber'"):
        validation.check_choice("hubber", "loss", ("squared", "huber"))
    with pytest.raises(ValueError, match="unknown name"):
        validation.check_choice(["huber"], "loss", ("huber",))


def test_symmetric_positive_semi_definite_matrices():
    assert validation.is_psd(np.diag([1.0, 0.0])) and not validation.is_psd(np.diag([1.0, -0.1]))
    checked = validation.check_symmetric_psd([[2, 1], [1, 2]], "operator", "give another")
    assert checked.dtype == float
    for wrong in ([[1.0, 2.0]], [[0.0, 1.0], [0.0, 0.0]], [[1.0, np.nan], [np.nan, 1.0]], [[0.0, 1.0], [1.0, 0.0]]):
        with pytest.raises(ValueError, match="operator"):
            validation.check_symmetric_psd(wrong, "operator", "give another")


def test_memory_is_checked_before_it_is_used():
    validation.check_memory(10, copies=3)
    with pytest.raises((MemoryError, ValueError), match="feature_map"):
        validation.check_memory(10**7, copies=1)


def test_outputs_whose_squares_overflow():
    validation.check_range(np.array([[1e100, np.nan]]))
    validation.check_range(["a", "b"])
    with pytest.raises(ValueError, match="y"):
        validation.check_range(np.array([1e200, -1e200]))


def test_a_warning_is_at_the_line_of_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        validation.warn("text")
    assert caught[0].filename == __file__ and str(caught[0].message) == "text"


def test_lists_in_messages_are_cut():
    assert validation.join_items(["a", "b"]) == "a, b"
    assert "9" in validation.join_items(list("abcdefghi"), most=2) and "c" not in validation.join_items(
        list("abcd"), most=2
    )
