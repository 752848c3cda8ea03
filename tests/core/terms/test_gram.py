"""Dense Gram matrices: scaling, parts, norms, factors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn.core.terms import DenseGram, SeparableTerm
from hilbertlearn.core.terms.factors import CholeskyFactors, InverseFactors, SpectralFactors
from hilbertlearn.core.terms.gram import as_gram

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(70, 70))
K, ROOT = Z @ Z.T / 70, RNG.uniform(0.5, 2, size=70)


def test_weights_are_kept_beside_the_matrix():
    one = DenseGram(K).scaled(ROOT).scaled(ROOT)
    dense = K * np.multiply.outer(ROOT**2, ROOT**2)
    assert one.K is K
    assert_allclose(one.dense(), dense)
    assert_allclose(one.diagonal, dense.diagonal())
    A, rows = RNG.normal(size=(70, 3)), np.array([3, 5, 60])
    assert_allclose(one.apply(A), dense @ A)
    assert_allclose(one.take(rows).dense(), dense[np.ix_(rows, rows)])
    assert_allclose(one.cross(rows, np.arange(4)), K[np.ix_(rows, np.arange(4))])  # not scaled
    assert_allclose(one.times(2.0).dense(), 2 * dense)


@pytest.mark.parametrize("n", [5, 70])
def test_the_norm_is_the_largest_eigenvalue_up_to_a_few_per_cent(n):
    largest = np.linalg.eigvalsh(K[:n, :n])[-1]
    assert 0.999 * largest <= DenseGram(K[:n, :n]).norm <= 1.05 * largest


def test_factors_follow_the_use_and_the_operator():
    plain, operator = SeparableTerm(K), SeparableTerm(K, np.diag([1.0, 2.0]))
    assert isinstance(plain.factor("once"), CholeskyFactors)
    assert isinstance(plain.factor("iterations"), InverseFactors)
    assert isinstance(plain.factor("path"), SpectralFactors)
    assert all(isinstance(operator.factor(use), SpectralFactors) for use in ("once", "iterations", "path"))


def test_precision_and_what_dense_matrices_refuse():
    assert DenseGram(K).in_precision("float32").dtype == np.float32
    assert DenseGram(K).in_precision("refined").dtype == np.float64
    assert as_gram(K).K is K and as_gram(one := DenseGram(K)) is one
    with pytest.raises(TypeError, match="not made of features"):
        DenseGram(K).weights_from(1.0)
