"""Defaults of terms: the norm by power iterations, refusals that name the class, sums."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn.core.terms import LinearPredictor, SeparableTerm, SumTerm, Term

RNG = np.random.default_rng(0)
Z = RNG.normal(size=(12, 12))
K, OTHER, M = Z @ Z.T, np.eye(12), np.array([[2.0, 0.5], [0.5, 1.0]])


class PlainTerm(Term):
    """The three abstract methods and a shape, no more."""

    shape = (12, 2)

    def apply(self, A):
        return K @ A @ M

    def scaled(self, root_weights):
        raise NotImplementedError

    def predictor(self, C):
        return LinearPredictor(C @ M)


def test_the_norm_by_power_iterations_is_a_little_above_the_largest_eigenvalue():
    largest = np.linalg.eigvalsh(np.kron(K, M))[-1]
    assert largest <= PlainTerm().norm <= 1.1 * largest


def test_a_plain_term_promises_nothing():
    term = PlainTerm()
    assert term.inversion is None and term.loo_formula is None and term.factor() is None
    assert term.observed_entries is None and not term.takes_mask() and term.with_mask(None) is term
    assert term.as_separable() is None and term.krylov() is None and term.error == 0
    for refused in (lambda: term.take([0]), lambda: term.margin_gram(None), lambda: term.with_operator(M)):
        with pytest.raises(TypeError, match="PlainTerm"):
            refused()


def test_a_sum_is_preconditioned_by_the_nearest_separable_term():
    """Of terms that share an operator the nearest one is their sum."""
    total = SumTerm([SeparableTerm(K, M), SeparableTerm(OTHER, M)])
    R = RNG.normal(size=(12, 2))
    expected = np.linalg.solve(np.eye(24) + np.kron(K + OTHER, M) / 0.3, R.ravel()).reshape(R.shape)
    assert_allclose(total.preconditioner().solve(R, 1.0, 0.3), expected, atol=1e-8)
    assert SumTerm([PlainTerm()]).preconditioner() is None
