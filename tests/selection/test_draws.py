"""Random subsamples and folds, and the settings they select, do not depend on the order of the rows."""

import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from helpers.machines import read
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import OperatorKernelRegressor, QuantileRegressor, StructuredPredictor
from hilbertlearn.kernels import CategoricalKernel
from hilbertlearn.selection import draws

N = 60
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 3))
Y = np.sin(X[:, :2]) + 0.1 * rng.normal(size=(N, 2))
ORDER = rng.permutation(N)
WORDS = np.array(["abc", "abd", "xyz", "xy"] * (N // 4), dtype=object)


def take(inputs, rows):
    if isinstance(inputs, pd.DataFrame):
        return inputs.iloc[rows]
    return [inputs[i] for i in rows] if isinstance(inputs, list) else inputs[rows]


INPUTS = {
    "array": (X, {}),
    "repeated inputs": (np.round(X), {}),
    "constant inputs": (np.ones((N, 1)), {}),
    "sparse": (scipy.sparse.csr_array(np.where(X > 0.5, X, 0.0)), {}),
    "frame": (pd.DataFrame({"word": WORDS, "x": X[:, 0]}), {"kernel": CategoricalKernel()}),
    "objects": (
        [{"x": x} for x in X[:, 0]],
        {"kernel": lambda A, B: np.array([[a["x"] * b["x"] for b in B] for a in A])},
    ),
}


@pytest.mark.parametrize("name", INPUTS)
def test_permuted_rows_have_the_same_draws(name):
    inputs, settings = INPUTS[name]
    model = OperatorKernelRegressor(**{"kernel": "rbf", "gamma": 1.0, **settings})
    given = read(model, inputs, Y)
    permuted = read(model, take(inputs, ORDER), Y[ORDER])
    assert_array_equal(np.sort(ORDER[draws.draw_subsample(permuted, 20)]), draws.draw_subsample(given, 20))
    for (train, test), (other_train, other_test) in zip(draws.shuffled_folds(given), draws.shuffled_folds(permuted)):
        assert_array_equal(np.sort(ORDER[other_train]), train)
        assert_array_equal(np.sort(ORDER[other_test]), test)
        assert_array_equal(np.sort(np.r_[train, test]), np.arange(N))


def test_permuted_gram_matrices_have_the_same_draws():
    K = rbf_kernel(X)
    model = OperatorKernelRegressor("precomputed")
    given, permuted = read(model, K, Y), read(model, K[np.ix_(ORDER, ORDER)], Y[ORDER])
    assert_array_equal(np.sort(ORDER[draws.draw_subsample(permuted, 20)]), draws.draw_subsample(given, 20))


def test_draws_are_uniform():
    """Positions in the order of values are draw_subsample as likely as others."""
    draw_subsample = draws.draw_subsample(read(OperatorKernelRegressor("rbf", gamma=1.0), X[:, :1], Y), 30)
    assert len(np.unique(draw_subsample)) == 30
    assert 0.2 < np.mean(X[draw_subsample, 0] < np.median(X[:, 0])) < 0.8


def many(n, seed=0):
    generator = np.random.default_rng(seed)
    inputs = generator.normal(size=(n, 3))
    return inputs, np.sin(inputs[:, :2]) + 0.1 * generator.normal(size=(n, 2)), generator.permutation(n)


@pytest.fixture
def low_limits(monkeypatch):
    """Limits beyond which few samples select the settings, and the median is over few rows."""
    for name, value in {"_COMPLETE": 60, "_FIRST": 40, "_SECOND": 80}.items():
        monkeypatch.setattr(f"hilbertlearn.selection.kernel_search.{name}", value)
    for name, value in {"_COMPLETE": 100, "_SUBSAMPLE": 90}.items():
        monkeypatch.setattr(f"hilbertlearn.selection.surrogate.{name}", value)
    monkeypatch.setattr(sys.modules["hilbertlearn.kernels.gram"], "_MEDIAN_ROWS", 50)


@pytest.mark.parametrize("loss", ["squared", "huber", "epsilon_svr"])
def test_permuted_rows_have_the_same_model(low_limits, loss):
    inputs, outputs, order = many(130)
    first, second = OperatorKernelRegressor(loss=loss), OperatorKernelRegressor(loss=loss)
    first.fit(inputs, outputs), second.fit(inputs[order], outputs[order])
    assert first.gamma_ == pytest.approx(second.gamma_, rel=1e-10)
    assert first.alpha_ == pytest.approx(second.alpha_, rel=1e-6)
    assert_allclose(first.predict(inputs), second.predict(inputs), atol=1e-3 if loss != "squared" else 1e-7)


def test_permuted_classes_have_the_same_model(low_limits):
    inputs, outputs, order = many(130)
    labels = np.digitize(outputs[:, 0], [-0.5, 0.5])
    first, second = StructuredPredictor().fit(inputs, labels), StructuredPredictor().fit(inputs[order], labels[order])
    assert first.alpha_ == pytest.approx(second.alpha_, rel=1e-6)
    assert_array_equal(first.predict(inputs), second.predict(inputs))


def test_permuted_rows_have_the_same_quantiles():
    """alpha is selected by folds."""
    inputs, outputs, order = many(40)
    model = QuantileRegressor(0.5, kernel="rbf", gamma=0.3)
    first = model.fit(inputs, outputs[:, 0]).predict(inputs)
    assert_allclose(model.fit(inputs[order], outputs[order, 0]).predict(inputs), first, atol=1e-6)
