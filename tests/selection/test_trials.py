"""Evaluated settings, and the rules that take the best of them."""

import numpy as np
import pytest

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.selection import Trial, best_index, trials_table
from hilbertlearn.selection.trials import smoothest


def test_best_index():
    assert best_index([3.0, 1.0, 1.0, 2.0]) == 2
    assert best_index([np.inf, 1.0, np.nan]) == 1
    with pytest.raises(ValueError, match="too large"):
        best_index([np.inf, np.nan])


def test_ties_are_a_ten_thousandth():
    assert best_index([1.0, 1.00009, 1.00011]) == 1
    assert best_index([1e-15, 5e-15, 1.0]) == 1  # squared errors that are rounding beside that of the smoothest model
    assert smoothest({0.5: 1.00009, 1.0: 1.0, 2.0: 3.0}) == 0.5
    assert smoothest({0.5: 1.00011, 1.0: 1.0, 2.0: np.nan}) == 1.0
    with pytest.raises(ValueError, match="too large"):
        smoothest({1.0: np.inf})


def test_columns_of_a_table():
    trials = [
        Trial("rbf", 0.5, 1e-3, 0.2, 0.01, 0.1, 60, "leave-one-out"),
        Trial("linear", None, 1e-2, 0.3, 0.02, 0.1, 50, "folds"),
    ]
    table = trials_table(trials)
    assert list(table) == list(Trial._fields)
    assert {name: column.dtype.kind for name, column in table.items()} == {
        "kernel": "O",
        "gamma": "O",
        "alpha": "f",
        "error": "f",
        "standard_error": "f",
        "seconds": "f",
        "n_samples": "i",
        "method": "O",
    }
    assert trials_table(trials[:1])["gamma"].dtype.kind == "f"
    assert all(len(column) == 0 for column in trials_table(()).values())


def test_names_of_kernels_and_of_their_average_are_text():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = OperatorKernelRegressor().fit(X, np.sin(X[:, 0]) + X[:, 1])
    names = sorted(set(model.search_results_["kernel"]))
    assert str(model.kernel_) in names and set(names) > {"linear", "rbf"}
