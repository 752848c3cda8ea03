"""Gram matrices of named kernels against scikit-learn, bandwidths against hand-written medians."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist, pdist
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.kernels import (
    PairwiseKernel,
    Tanimoto,
    check_kernel,
    gram,
    resolve_gamma,
    training_gram,
)

rng = np.random.default_rng(1)
X = rng.uniform(0.1, 2, size=(15, 4))
Z = rng.uniform(0.1, 2, size=(6, 4))


def chi2_distances(X):
    return np.array([((x - z) ** 2 / (x + z)).sum() for i, x in enumerate(X) for z in X[i + 1 :]])


# ---------------------------------------------------------------- gamma


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        ("rbf", 1 / (2 * np.median(pdist(X) ** 2))),
        ("laplacian", 1 / np.median(pdist(X, "cityblock"))),
        ("chi2", 1 / np.median(chi2_distances(X))),
    ],
)
def test_median_gamma_by_hand(kernel, expected):
    assert resolve_gamma(kernel, "median", X) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "chi2"])
def test_median_gamma_counts_pairs_of_distinct_samples(kernel):
    counts = rng.integers(1, 4, len(X))
    repeated = resolve_gamma(kernel, "median", np.repeat(X, counts, axis=0))
    assert repeated == pytest.approx(resolve_gamma(kernel, "median", X, counts.astype(float)), rel=1e-9)
    one_far = resolve_gamma(kernel, "median", np.r_[X[:1], X[:1], X[:1], X[1:2]])
    assert one_far == pytest.approx(resolve_gamma(kernel, "median", X[:2]), rel=1e-9)


def test_median_gamma_of_many_samples_is_that_of_some():
    many = np.random.default_rng(0).normal(size=(3000, 5))
    assert resolve_gamma("rbf", "median", many) == pytest.approx(1 / (2 * np.median(pdist(many) ** 2)), rel=0.05)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid"])
def test_scale_gamma_by_hand(kernel):
    assert resolve_gamma(kernel, "scale", X) == pytest.approx(1 / (X.shape[1] * X.var()), rel=1e-9)
    counts = rng.integers(1, 4, len(X))
    repeated = resolve_gamma(kernel, "scale", np.repeat(X, counts, axis=0))
    assert repeated == pytest.approx(resolve_gamma(kernel, "scale", X, counts.astype(float)), rel=1e-9)


def test_median_falls_back_on_scale_for_kernels_without_a_distance():
    assert resolve_gamma("poly", "median", X) == resolve_gamma("poly", "scale", X)


@pytest.mark.parametrize(("kernel", "gamma"), [("rbf", "median"), ("laplacian", "median"), ("rbf", "scale")])
def test_gamma_of_sparse_equals_dense(kernel, gamma):
    thin = np.where(X > 1, X, 0)
    sparse = resolve_gamma(kernel, gamma, scipy.sparse.csr_matrix(thin))
    assert sparse == pytest.approx(resolve_gamma(kernel, gamma, thin), rel=1e-9)


@pytest.mark.parametrize("gamma", ["median", "scale"])
@pytest.mark.parametrize("same", [np.ones((1, 3)), np.ones((5, 3)), np.full((5, 3), 0.1)])
def test_gamma_of_equal_samples_is_one(gamma, same):
    assert resolve_gamma("rbf", gamma, same) == 1.0


def test_gamma_given_or_not_needed():
    assert resolve_gamma("rbf", 0.7, X) == 0.7
    for kernel in ("linear", "cosine", "precomputed", Tanimoto(), RBF()):
        assert resolve_gamma(kernel, "median", X) is None


# ---------------------------------------------------------------- Gram matrices


@pytest.mark.parametrize("matrix", [np.asarray, scipy.sparse.csr_matrix])
def test_rbf_is_that_of_sklearn(matrix):
    assert_allclose(gram("rbf", matrix(X), matrix(Z), gamma=0.3), rbf_kernel(X, Z, gamma=0.3), atol=1e-12)
    assert_allclose(gram("rbf", matrix(X), gamma=0.3), np.exp(-0.3 * cdist(X, X) ** 2), atol=1e-12)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("laplacian", {"gamma": 0.3}),
        ("chi2", {"gamma": 0.3}),
        ("poly", {"gamma": 0.3, "degree": 2, "coef0": 0.5}),
        ("sigmoid", {"gamma": 0.3, "coef0": 0.5}),
        ("linear", {}),
        ("cosine", {}),
        ("additive_chi2", {}),
    ],
)
def test_named_kernels_are_those_of_sklearn(name, params):
    gamma = params.get("gamma")
    rest = {key: value for key, value in params.items() if key != "gamma"}
    assert_allclose(gram(name, X, Z, gamma=gamma, params=rest), pairwise_kernels(X, Z, metric=name, **params))


def test_callables_gaussian_process_kernels_and_precomputed():
    assert_allclose(gram(lambda A, B: A @ B.T, X, Z), X @ Z.T)
    assert_allclose(gram(RBF(0.8) + WhiteKernel(0.1), X, Z), RBF(0.8)(X, Z))
    assert gram("precomputed", X) is X


def test_check_kernel_accepts_what_can_be_called():
    for kernel in ("rbf", "precomputed", Tanimoto(), PairwiseKernel(max), RBF(), lambda X, Z: X @ Z.T):
        check_kernel(kernel)


# ---------------------------------------------------------------- training Gram


def test_training_gram_lets_rounding_pass_and_symmetrises_it():
    K = X @ X.T  # rank 4 of 15
    K[0, 1] += 1e-13
    checked = training_gram("precomputed", K)
    assert (checked == checked.T).all()
    assert_allclose(checked, K, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_training_gram_judges_relative_to_the_scale(scale):
    K = scale * (X @ X.T)
    training_gram("precomputed", K)
    with pytest.raises(ValueError, match="not positive semi-definite: smallest eigenvalue -"):
        training_gram("precomputed", K - 1e-4 * scale * np.eye(len(K)))
    K[0, 1] += 1e-4 * scale
    with pytest.raises(ValueError, match="not symmetric"):
        training_gram("precomputed", K)


def test_training_gram_of_zeros():
    assert_allclose(training_gram("precomputed", np.zeros((3, 3))), 0)


@pytest.mark.parametrize("term", [False, True])
def test_noise_in_a_kernel_of_gaussian_processes_is_warned_of_once(term):
    inputs, y = np.linspace(0, 1, 20)[:, None], np.linspace(0, 1, 20)
    noisy = [(2.0 * RBF(0.5) + WhiteKernel(0.1), None)] if term else 2.0 * RBF(0.5) + WhiteKernel(0.1)
    with pytest.warns(UserWarning, match=r"WhiteKernel.*leave it out.*alpha") as said:
        OperatorKernelRegressor(noisy, alpha=1e-2).fit(inputs, y)
    assert len(said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OperatorKernelRegressor(2.0 * RBF(0.5), alpha=1e-2).fit(inputs, y)
