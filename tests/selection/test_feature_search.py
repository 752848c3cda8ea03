"""The number of landmarks, and alpha on features, by leave-one-out errors of the model of all samples."""

import numpy as np
import pytest
from helpers.machines import read

from hilbertlearn import OperatorKernelRegressor, features, kernels
from hilbertlearn.losses import Huber, Squared
from hilbertlearn.selection import Approximation, feature_search
from hilbertlearn.selection.feature_search import search_features
from hilbertlearn.selection.kernel_search import families_of
from hilbertlearn.training import Options

rng = np.random.default_rng(0)
N = 60
X = rng.normal(size=(N, 2))
Y = np.sin(2 * X[:, 0]) + 0.05 * rng.normal(size=N)


def search(number, alpha="auto", loss=None, y=Y):
    model = OperatorKernelRegressor("rbf", gamma=0.5, feature_map=features.Landmarks(number))
    samples = read(model, X, y)
    ((_, family),) = families_of(samples)
    return search_features(samples, family.kernels, Squared() if loss is None else loss, alpha, 0.06, Options())


def refitted_error(Z, alpha):
    """Mean squared leave-one-out error of ridge regression on features, by refits with alpha n held fixed."""
    residuals = np.empty(N)
    for i in range(N):
        rest = np.delete(np.arange(N), i)
        mean = Y[rest].mean()
        B = np.linalg.solve(Z[rest].T @ Z[rest] + alpha * N * np.eye(Z.shape[1]), Z[rest].T @ (Y[rest] - mean))
        residuals[i] = Y[i] - mean - Z[i] @ B
    return np.mean(residuals**2)


def test_errors_are_those_of_refits_on_the_features():
    result = search(8)
    Z = result.training.kernels[0].map(X)
    assert Z.shape == (N, 8)
    expected = [refitted_error(Z, alpha) for alpha in result.curve.alphas]
    assert result.curve.errors == pytest.approx(expected, rel=1e-6)
    assert result.alpha == result.curve.alpha and result.trials[0].n_samples == N


def test_landmarks_double_while_errors_fall(monkeypatch):
    monkeypatch.setattr(feature_search, "_FIRST", 3)
    result = search("auto")
    number = result.approximation.n_components
    assert number in (3, 6, 12, 24, 48, 60) and number >= 12  # a wave takes more than six
    assert result.curve.error < 1.02 * refitted_error(search(48).training.kernels[0].map(X), result.alpha)
    assert 0 < result.approximation.trace_error < 0.5


def test_a_given_number_and_alpha_need_no_errors():
    result = search(8, alpha=1e-3)
    assert result.curve is None and result.alpha is None and result.factors is None and result.trials == ()


def test_the_number_of_a_given_alpha_is_searched_with_it(monkeypatch):
    monkeypatch.setattr(feature_search, "_FIRST", 3)
    result = search("auto", alpha=1e-3)
    assert list(result.curve.alphas) == [1e-3] and result.alpha == 1e-3


def test_robust_losses_are_evaluated_under_their_weights():
    spoilt = Y.copy()
    spoilt[:5] += 30
    robust, squared = search(20, loss=Huber(0.1), y=spoilt), search(20, y=spoilt)
    assert robust.alpha < squared.alpha  # squared errors of outliers favour too smooth a model
    assert robust.curve.error < squared.curve.error


def test_landmarks_explain_the_trace_that_they_do_not_leave():
    result = search(8)
    kernel = result.training.kernels[0]
    K, Z = kernels.gram("rbf", X, gamma=0.5), kernel.map(X)
    assert result.approximation.trace_error == pytest.approx(np.mean(1 - (Z**2).sum(axis=1) / np.diag(K)), rel=1e-8)


def test_an_approximation_in_words():
    assert str(Approximation(8)) == "8 features"
    words = "8 features, 1.0e-01 of the kernel's trace left, leave-one-out error -2.0% at the last doubling"
    assert str(Approximation(8, 0.1, -0.02)) == words
