"""Standardisation of rows of numbers inside a kernel."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import StandardScaler

from hilbertlearn.kernels import InputKernel, InputScaling


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(30, 4)) * [1.0, 100.0, 1e-3, 5.0] + [0.0, 3.0, 1.0, -2.0]


@pytest.mark.parametrize("kernel", ["rbf", "matern32", "matern12", "laplacian", "linear", "poly"])
def test_a_scaled_kernel_is_the_kernel_of_standardised_inputs(X, kernel):
    scaled = InputKernel.from_settings(kernel, "median", None, X, centred=True, scaling=InputScaling.from_samples(X))
    Z = StandardScaler().fit_transform(X)
    plain = InputKernel.from_settings(kernel, "median", None, Z, centred=True)
    assert_allclose(scaled(X, X[:5]), plain(Z, Z[:5].copy()), atol=1e-12)
    assert_allclose(scaled.training_gram(X), plain.training_gram(Z), atol=1e-12)
    assert_allclose(scaled.diagonal(X), np.diag(plain(Z)), atol=1e-12)


def test_weights_count_as_repetition(X):
    weights = np.arange(30) % 3
    repeated = InputScaling.from_samples(np.repeat(X, weights, axis=0))
    weighted = InputScaling.from_samples(X, weights)
    for name in ("factors", "lower", "upper"):
        assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-12)


def test_constant_columns_have_no_effect(X):
    X[:, 1] = 1e6 + 1e-9 * np.arange(30)  # constant up to rounding
    X[:, 2] = 3.0
    scaling = InputScaling.from_samples(X)
    assert_array_equal(scaling.factors[[1, 2]], 0.0)
    other = X.copy()
    other[:, 2] = 99.0
    assert_array_equal(scaling(other), scaling(X))


def test_columns_of_one_unit_keep_it():
    X = np.random.default_rng(0).permutation(np.arange(12.0))[:, None]
    scaling = InputScaling.from_samples(X)
    assert scaling.keeps_units
    assert_array_equal(scaling(X), X)
    assert InputScaling.from_samples(np.hstack([X, 2 * X])).keeps_units is False


def test_values_far_outside_are_those_one_range_away(X):
    scaling = InputScaling.from_samples(X)
    low, high = X.min(axis=0), X.max(axis=0)
    reach = high - low
    assert_allclose(scaling([1e9] * 4 + high[None]), scaling((high + reach)[None]))
    assert_allclose(scaling(low[None] - 1e9), scaling((low - reach)[None]))
    inside = high[None] + 0.9 * reach
    assert_allclose(scaling(inside), inside * scaling.factors)
    assert_allclose(scaling.without_bounds()(high[None] + 50 * reach), (high + 50 * reach)[None] * scaling.factors)


def test_sparse_rows_are_scaled_as_dense_ones_and_stay_sparse(X):
    X[X.mean(axis=0) > X] = 0.0
    rows = scipy.sparse.csr_array(X)
    scaling = InputScaling.from_samples(rows)
    assert_allclose(scaling.factors, InputScaling.from_samples(X).factors, rtol=1e-9)
    assert scipy.sparse.issparse(scaling(rows))
    assert_allclose(scaling(rows).toarray(), X * scaling.factors)


def test_single_precision_stays(X):
    assert InputScaling.from_samples(X)(X.astype(np.float32)).dtype == np.float32
