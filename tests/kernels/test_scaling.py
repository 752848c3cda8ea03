"""Standardisation of rows of numbers inside a kernel."""

import copy

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import linear_kernel
from sklearn.preprocessing import StandardScaler

from hilbertlearn import OperatorKernelRegressor, kernels
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


@pytest.mark.parametrize("shared", [1.0, 50.0])
def test_a_column_enters_continuously(X, shared):
    """Its factor, the ratio of units and the fit go to those without the column, up to rounding."""
    X = X / X.std(axis=0) * [shared, 1.0, 1.0, 1.0]
    changes = np.logspace(-14, -5, 60)
    rows = [np.hstack([X, np.where(np.arange(30) == 3, 1.0 + change, 1.0)[:, None]]) for change in changes]
    scalings = list(map(InputScaling.from_samples, rows))
    sizes = np.array([scaling.factors[4] * table[:, 4].std() for scaling, table in zip(scalings, rows, strict=True)])
    assert sizes[0] == 0 and sizes[-1] == pytest.approx(1.0) and (np.diff(sizes) > -1e-12).all()
    assert np.diff(sizes).max() < 0.4  # steps are a factor of 1.4
    ratios = np.array([scaling.unit_ratio for scaling in scalings])
    assert ratios[0] == pytest.approx(shared) and ratios[-1] == pytest.approx(1 / rows[-1][:, 4].std() * shared)
    assert ratios[changes < 1e-11] == pytest.approx(shared, rel=0.1)
    y = np.sin(X[:, 1])
    expected = OperatorKernelRegressor("rbf").fit(rows[0], y).predict(rows[0])
    assert_allclose(OperatorKernelRegressor("rbf").fit(rows[26], y).predict(rows[0]), expected, atol=1e-3)


def test_columns_of_one_unit_keep_it():
    X = np.random.default_rng(0).permutation(np.arange(12.0))[:, None]
    scaling = InputScaling.from_samples(X)
    assert scaling.keeps_units
    assert_array_equal(scaling(X), X)
    assert InputScaling.from_samples(np.hstack([X, 2 * X])).keeps_units is False
    assert_allclose(InputScaling.from_samples(X, keeps_equal=False).factors, 1 / X.std())


@pytest.mark.parametrize("columns", [[0], [0, 0], [0, 1]])
def test_the_unit_of_the_inputs_does_not_matter_if_they_are_scaled(X, columns):
    """Also of one column, of equal standard deviations, and with a given rate."""
    model, other = (
        OperatorKernelRegressor("rbf", gamma=2.0, alpha=0.01, scale_inputs=True).fit(rows, X[:, 0])
        for rows in (X[:, columns], 100 * X[:, columns])
    )
    assert_allclose(other.predict(100 * X[:, columns]), model.predict(X[:, columns]), rtol=1e-6)
    Z = X[:, columns] / X[:, columns].std(axis=0)
    plain = OperatorKernelRegressor("rbf", gamma=2.0, alpha=0.01, scale_inputs=False).fit(Z, X[:, 0])
    assert_allclose(model.predict(X[:, columns]), plain.predict(Z), rtol=1e-6)
    assert "scaled inputs" in model.summary()


def test_values_far_outside_are_those_one_range_away(X):
    scaling = InputScaling.from_samples(X)
    low, high = X.min(axis=0), X.max(axis=0)
    reach = high - low
    assert_allclose(scaling([1e9] * 4 + high[None]), scaling((high + reach)[None]))
    assert_allclose(scaling(low[None] - 1e9), scaling((low - reach)[None]))
    inside = high[None] + 0.9 * reach
    assert_allclose(scaling(inside), inside * scaling.factors)
    assert_allclose(scaling.without_bounds()(high[None] + 50 * reach), (high + 50 * reach)[None] * scaling.factors)
    assert np.isfinite(scaling.without_bounds()(np.array([[1e300, -1e300, 1e200, 0.0]])) ** 2).all()


def test_without_bounds_constant_columns_are_relative_to_their_value(X):
    X[:, 1], X[:, 2] = -4.0, 0.0
    plain = InputScaling.from_samples(X)
    scaling = plain.without_bounds()
    expected = plain(X)
    assert_allclose(scaling(X), expected)
    change = np.array([[0.0, 2.0, 7.0, 0.0]])
    other = X + change
    assert_allclose(scaling(other), expected + change / [[1.0, 4.0, 1.0, 1.0]])
    sparse = InputScaling.from_samples(scipy.sparse.csr_array(X)).without_bounds()
    assert_allclose(sparse(scipy.sparse.csr_array(other)).toarray()[:, 2], 7.0)


def test_sparse_rows_are_scaled_as_dense_ones_and_stay_sparse(X):
    X[X.mean(axis=0) > X] = 0.0
    rows = scipy.sparse.csr_array(X)
    scaling = InputScaling.from_samples(rows)
    assert_allclose(scaling.factors, InputScaling.from_samples(X).factors, rtol=1e-9)
    assert scipy.sparse.issparse(scaling(rows))
    assert_allclose(scaling(rows).toarray(), X * scaling.factors)


def test_single_precision_stays(X):
    assert InputScaling.from_samples(X)(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("factor", [1e154, 1e-200, 1e300, 1e-290])
@pytest.mark.parametrize("sparse", [False, True])
def test_factors_are_inverse_to_the_unit_of_inputs_of_any_size(X, factor, sparse):
    inputs = np.where(X.mean(axis=0) < X, X, 0.0) if sparse else X
    convert = scipy.sparse.csr_array if sparse else np.asarray
    expected = InputScaling.from_samples(convert(inputs))
    found = InputScaling.from_samples(convert(inputs * factor))
    assert_allclose(found.factors * factor, expected.factors, rtol=1e-9)
    assert found.unit_ratio == pytest.approx(expected.unit_ratio)
    assert_allclose(expected.factors * inputs.std(axis=0), 1.0, rtol=1e-12)


@pytest.mark.parametrize("factor", [1e154, 1e-200])
def test_models_of_huge_and_tiny_inputs_are_those_of_standardised_ones(X, factor):
    y = np.sin(X[:, 0]) + X[:, 3]
    for inputs in (X, X[:, :1]):
        expected = OperatorKernelRegressor("rbf", scale_inputs=True).fit(inputs / inputs.std(axis=0), y)
        model = OperatorKernelRegressor("rbf", scale_inputs=True).fit(inputs * factor, y)
        assert_allclose(model.predict(inputs * factor), expected.predict(inputs / inputs.std(axis=0)), rtol=1e-6)


def test_ranges_that_overflow_are_refused(X):
    X[0, 0], X[1, 0] = -1.5e308, 1.5e308
    with pytest.raises(ValueError, match="X is too large"):
        InputScaling.from_samples(X)
    with pytest.raises(ValueError, match="X is too large"):
        OperatorKernelRegressor("rbf").fit(X, X[:, 1])


def test_constant_columns_of_sparse_rows_have_no_effect(X):
    X[:, 1], X[:, 2] = 1e6, 0.0
    assert_array_equal(InputScaling.from_samples(scipy.sparse.csr_array(X)).factors[[1, 2]], 0.0)


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.Matern(1.5),
        pytest.param(linear_kernel, id="callable"),
        "precomputed",
        "tanimoto",
        kernels.KernelSearch(["rbf", kernels.Matern()]),
        [("rbf", None), (kernels.Matern(), None)],
    ],
    ids=str,
)
def test_kernels_that_are_not_scaled_are_refused(X, kernel):
    inputs = X @ X.T if isinstance(kernel, str) and kernel == "precomputed" else np.abs(X)
    with pytest.raises(ValueError, match=r"scale_inputs=True .* got .*; set scale_inputs=False, .* StandardScaler"):
        OperatorKernelRegressor(kernel, scale_inputs=True).fit(inputs, X[:, 0])
    OperatorKernelRegressor(kernel, alpha=1.0).fit(inputs, X[:, 0])


def test_terms_by_name_are_scaled(X):
    terms = [("rbf", None), ("linear", None)]
    scaled = OperatorKernelRegressor(terms, gamma=0.3, alpha=0.1, scale_inputs=True).fit(X, X[:, 0])
    Z = X / X.std(axis=0)
    plain = OperatorKernelRegressor(terms, gamma=0.3, alpha=0.1, scale_inputs=False).fit(Z, X[:, 0])
    assert_allclose(scaled.predict(X), plain.predict(Z), atol=1e-5)


@pytest.mark.parametrize("kernel", ["rbf", kernels.KernelSearch(["rbf", "linear"])])
def test_inputs_are_as_given_where_the_rate_is_given(X, kernel):
    model = OperatorKernelRegressor(kernel, gamma=0.3).fit(X, X[:, :2])
    assert model.state_.kernels[0].scaled_share == 0


def test_equal_scalings(X):
    scaling = InputScaling.from_samples(X)
    assert scaling == copy.deepcopy(scaling) and hash(scaling) == hash(copy.deepcopy(scaling))
    assert scaling != scaling.without_bounds() and scaling != InputScaling.from_samples(2 * X)
