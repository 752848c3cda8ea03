"""Random Fourier features: unbiased, of small variance, of the kernels with a known spectral density."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

from hilbertlearn import OperatorKernelRegressor, features, kernels, streams

X = np.random.default_rng(0).normal(size=(12, 5))
RBF = kernels.InputKernel("rbf", gamma=0.2)
SPECTRAL = [
    RBF,
    kernels.InputKernel("matern12", gamma=0.2),
    kernels.InputKernel("matern32", gamma=0.2),
    kernels.InputKernel("matern52", gamma=0.2),
    kernels.InputKernel(kernels.Matern(nu=4.0, gamma=0.2)),
    kernels.InputKernel(kernels.NamedKernel("rbf", gamma=0.2)),
]


def draws(kernel, orthogonal, number=400, r=10):
    """Products of features (number, n, n), one for each seed."""
    out = []
    for seed in range(number):
        Z = features.RandomFeatures(r, orthogonal, random_state=seed).fit(kernel, X)(X)
        out.append(Z @ Z.T)
    return np.array(out)


@pytest.mark.parametrize("orthogonal", [True, False])
@pytest.mark.parametrize("kernel", SPECTRAL, ids=lambda kernel: str(kernel.kernel))
def test_random_features_are_unbiased(kernel, orthogonal):
    G = draws(kernel, orthogonal)
    error, standard = G.mean(axis=0) - kernel(X, X.copy()), G.std(axis=0) / np.sqrt(len(G))
    above = np.triu_indices(len(X), 1)
    assert np.abs(error.diagonal()).max() < 1e-12  # sines and cosines of one frequency
    assert np.abs(error[above] / standard[above]).max() < 4.5  # of 66 pairs
    assert np.sqrt(np.mean((error[above] / standard[above]) ** 2)) < 1.6


def test_orthogonal_frequencies_have_less_variance():
    assert draws(RBF, True).var(axis=0).sum() < 0.8 * draws(RBF, False).var(axis=0).sum()


def test_orthogonal_frequencies_are():
    fitted = features.RandomFeatures(2 * 13).fit(RBF, X)
    F = fitted.frequencies
    assert F.shape == (5, 13)
    for block in (F[:, :5], F[:, 5:10], F[:, 10:]):
        G = block.T @ block
        assert np.allclose(G - np.diag(G.diagonal()), 0.0, atol=1e-12)


def test_random_features_of_sparse_rows_and_in_single_precision():
    fitted = features.RandomFeatures(31).fit(RBF, X)
    Z = fitted(X)
    assert fitted.n_components == 30 and Z.shape == (12, 30)
    assert np.allclose(fitted(scipy.sparse.csr_matrix(X)), Z)
    assert np.allclose(fitted(scipy.sparse.coo_array(X)), Z)
    single = fitted(X.astype(np.float32))
    assert single.dtype == np.float32 and np.allclose(single, Z, atol=1e-5)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted))(X), Z)
    kernel, samples, C = fitted.expansion(np.eye(30))
    assert np.array_equal(kernel(X, samples) @ C, Z)


@pytest.mark.parametrize("kernel", ["laplacian", "poly", "precomputed", kernels.NGrams()])
def test_random_features_of_other_kernels_are_refused(kernel):
    with pytest.raises(ValueError, match=r"features\.Landmarks\(\) are for every kernel"):
        features.RandomFeatures().fit(kernels.InputKernel(kernel, gamma=1.0), X)


def test_random_features_refuse_what_they_cannot_take():
    with pytest.raises(ValueError, match="n_components must be an integer > 1"):
        features.RandomFeatures(1).fit(RBF, X)
    with pytest.raises(ValueError, match="rows of numbers"):
        features.RandomFeatures().fit(RBF, ["a", "b"])
    with pytest.raises(ValueError, match="X must have 5 columns"):
        features.RandomFeatures().fit(RBF, X)(X[:, :3])


UNITS = np.array([1.0, 100.0, 0.01, 1.0, 10.0])


def scaled_model(**settings):
    return OperatorKernelRegressor("rbf", gamma=0.1, alpha=1e-2, scale_inputs=True, **settings)


def test_models_of_random_features_are_those_of_standardised_inputs():
    inputs, y = np.random.default_rng(1).normal(size=(80, 5)), np.arange(80) % 7.0
    standardised = (inputs - inputs.mean(axis=0)) / inputs.std(axis=0)
    few = features.RandomFeatures(100)
    plain = OperatorKernelRegressor("rbf", gamma=0.1, alpha=1e-2, scale_inputs=False, feature_map=few)
    expected = plain.fit(standardised, y).predict(standardised)  # translations of inputs do not change products
    model = scaled_model(feature_map=few).fit(inputs * UNITS, y)
    assert_allclose(model.predict(inputs * UNITS), expected, rtol=1e-4, atol=1e-4)
    source = streams.from_arrays(inputs * UNITS, y, batch_size=30)
    assert_allclose(scaled_model(feature_map=few).fit(source).predict(inputs * UNITS), expected, rtol=1e-4, atol=1e-4)
    by_batch = scaled_model(feature_map=few).partial_fit(inputs * UNITS, y)
    assert_allclose(by_batch.predict(inputs * UNITS), expected, rtol=1e-4, atol=1e-4)
    exact = scaled_model().fit(inputs * UNITS, y)
    near = scaled_model(feature_map=features.RandomFeatures(1000)).fit(inputs * UNITS, y)
    assert np.abs(near.predict(inputs * UNITS) - exact.predict(inputs * UNITS)).max() < 0.1 * np.ptp(
        exact.predict(inputs * UNITS)
    )


@pytest.mark.parametrize("n", [60, 250])
def test_kernels_of_random_features_are_not_averaged(n):
    inputs = np.random.default_rng(0).normal(size=(n, 3))
    y = np.sin(inputs[:, 0]) + 0.3 * np.random.default_rng(1).normal(size=n)
    model = OperatorKernelRegressor("rbf", feature_map=features.RandomFeatures(200)).fit(inputs, y)
    assert model.kernel_ == "rbf" and np.isscalar(model.gamma_)
    averaged = OperatorKernelRegressor("rbf", feature_map=features.Landmarks(20)).fit(inputs[:60], y[:60])
    assert isinstance(averaged.kernel_, kernels.AverageKernel)
