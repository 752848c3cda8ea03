"""Gram matrices of features against the dense matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn.core.terms import FeatureGram, SeparableTerm
from hilbertlearn.core.terms.features import FeatureCholeskyFactors, FeatureSpectralFactors

RNG = np.random.default_rng(0)
Z, OTHER, A = RNG.normal(size=(12, 4)), RNG.normal(size=(12, 3)), RNG.normal(size=(12, 2))
ROOT = RNG.uniform(0.5, 2, size=12)


@pytest.mark.parametrize("root", [None, ROOT], ids=["plain", "weights"])
def test_the_matrix_is_that_of_the_features(root):
    one = FeatureGram(Z, root)
    S = Z if root is None else root[:, None] * Z
    K = S @ S.T
    assert_allclose(one.dense(), K)
    assert_allclose(one.apply(A), K @ A)
    assert_allclose(one.diagonal, K.diagonal())
    assert_allclose(one.norm, np.linalg.eigvalsh(K)[-1])
    assert_allclose(one.times(3.0).dense(), 3 * K)
    rows = np.array([1, 4, 7])
    assert_allclose(one.take(rows).dense(), K[np.ix_(rows, rows)])
    assert_allclose(one.apply_from(rows, A[:3]), K[:, rows] @ A[:3])
    values, Q = one.spectrum()
    assert_allclose((Q * values) @ Q.T, K, atol=1e-12)


def test_sums_and_inner_products_of_two_kernels():
    one, other = FeatureGram(Z, ROOT), FeatureGram(OTHER)
    assert_allclose(one.plus(other).dense(), one.dense() + other.dense())
    assert_allclose(one.dot(other), (one.dense() * other.dense()).sum())


def test_weights_of_samples_are_those_of_ridge_regression():
    weights = FeatureGram(Z, ROOT).weights_from(0.7)
    W = np.diag(ROOT**2)
    assert_allclose(weights, np.linalg.solve(Z.T @ W @ Z + 0.7 * np.eye(4), Z.T @ W), atol=1e-12)


def test_factors_follow_the_use():
    term = SeparableTerm(FeatureGram(Z))
    assert isinstance(term.factor("once"), FeatureCholeskyFactors)
    assert isinstance(term.factor("path"), FeatureSpectralFactors)
