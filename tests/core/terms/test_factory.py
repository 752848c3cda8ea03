"""Which term a kernel and an operator make."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.core.terms import BlockTerm, DenseGram, SeparableTerm, TrainingOutputs, make_gram, make_term
from hilbertlearn.kernels import CurlFreeKernel

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(6, 2)), RNG.normal(size=(6, 2))
OUTPUTS = TrainingOutputs(Y, np.ones(6), np.zeros(2))
K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))


def test_a_scalar_kernel_makes_a_separable_term():
    plain = make_term("rbf", make_gram("rbf", K), None, OUTPUTS)
    assert isinstance(plain, SeparableTerm) and plain.M is None
    M = np.array([[2.0, 0.5], [0.5, 1.0]])
    term = make_term("rbf", DenseGram(K), M, OUTPUTS)
    assert_array_equal(term.K, K)
    assert_allclose(np.asarray(term.M), M)


def test_a_matrix_valued_kernel_makes_a_term_of_blocks():
    kernel = CurlFreeKernel(0.5)
    term = make_term(kernel, make_gram(kernel, kernel(X, X)), None, OUTPUTS)
    assert isinstance(term, BlockTerm) and term.shape == (6, 2)
    three = TrainingOutputs(np.zeros((6, 3)), np.ones(6), np.zeros(3))
    with pytest.raises(ValueError, match=r"2, 2.*3 coordinates"):
        make_term(kernel, make_gram(kernel, kernel(X, X)), None, three)
