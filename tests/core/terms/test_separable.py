"""Separable terms: the nearest one to a sum, and sums that are one term."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from hilbertlearn.core.terms import SeparableTerm, merge_terms, sum_grams
from hilbertlearn.core.terms.gram import DenseGram
from hilbertlearn.core.terms.separable import nearest_separable

RNG = np.random.default_rng(0)


def gram(n):
    Z = RNG.normal(size=(n, n))
    return Z @ Z.T / n


KERNELS, OPERATORS = [gram(4), gram(4)], [gram(2), gram(2)]


def test_the_nearest_separable_term_minimises_the_frobenius_distance():
    """Against a search over all weights of the matrices."""
    total = sum(np.kron(K, M) for K, M in zip(KERNELS, OPERATORS, strict=True))
    found = nearest_separable([SeparableTerm(K, M) for K, M in zip(KERNELS, OPERATORS, strict=True)])
    reached = np.linalg.norm(np.kron(found.K, found.M) - total)

    def distance(w):
        K = w[0] * KERNELS[0] + w[1] * KERNELS[1]
        M = w[2] * OPERATORS[0] + w[3] * OPERATORS[1]
        return np.linalg.norm(np.kron(K, M) - total)

    best = min(minimize(distance, RNG.uniform(size=4), method="Nelder-Mead", tol=1e-10).fun for _ in range(5))
    assert reached <= best + 1e-6


def test_terms_without_operators_are_one_term():
    one = merge_terms([SeparableTerm(K) for K in KERNELS])
    assert_allclose(one.K, sum(KERNELS))
    assert merge_terms([SeparableTerm(KERNELS[0], OPERATORS[0]), SeparableTerm(KERNELS[1])]) is None
    assert_allclose(sum_grams(DenseGram(K) for K in KERNELS).dense(), sum(KERNELS))


def test_only_operators_without_coupling_take_a_mask():
    K = KERNELS[0]
    assert SeparableTerm(K).takes_mask() and SeparableTerm(K, np.diag([1.0, 2.0])).takes_mask()
    assert not SeparableTerm(K, OPERATORS[0]).takes_mask()


def test_rows_of_dual_variables():
    K, M, rows = KERNELS[0], OPERATORS[0], np.array([0, 2])
    A = np.zeros((4, 2))
    A[rows] = RNG.normal(size=(2, 2))
    assert_allclose(SeparableTerm(K, M).apply_from(rows, A[rows]), K @ A @ M)
