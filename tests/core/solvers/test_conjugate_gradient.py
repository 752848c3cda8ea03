"""Conjugate gradients: preconditioning, irregular values, and the gap from the residual."""

import numpy as np
from numpy.testing import assert_allclose

from hilbertlearn.core.problem import Problem
from hilbertlearn.core.solvers import conjugate_gradient
from hilbertlearn.core.solvers.conjugate_gradient import relative_residual_gap
from hilbertlearn.core.terms import SampledTerm, SeparableTerm
from hilbertlearn.losses import Squared
from hilbertlearn.spaces.sampling import block_sampling

RNG = np.random.default_rng(0)
N, D = 15, 2
Z = RNG.normal(size=(N, N))
K, M = Z @ Z.T / N, np.array([[2.0, 0.5], [0.5, 1.0]])
Y = RNG.normal(size=(N, D))


def test_two_terms_are_the_dense_system():
    terms = (SeparableTerm(K, M), SeparableTerm(np.eye(N)))
    found = conjugate_gradient.solve(Problem(terms, Y, Squared(), 0.1), tol=1e-12)
    dense = np.eye(N * D) + (np.kron(K, M) + np.eye(N * D)) / 0.1
    assert_allclose(found.dual.ravel(), np.linalg.solve(dense, Y.ravel()), atol=1e-7)


def test_the_preconditioner_saves_iterations():
    """The nearest separable term of a sum that is nearly separable."""
    nearly = Problem((SeparableTerm(K, M), SeparableTerm(1e-3 * np.eye(N))), Y, Squared(), 1e-3)
    found = conjugate_gradient.solve(nearly, tol=1e-10)
    assert found.converged and found.n_iter < 15


def test_irregular_values_are_the_dense_system():
    sampling = block_sampling([RNG.normal(size=(m, D)) for m in RNG.integers(1, 4, size=N)], D)
    seen = sampling.observed
    T = np.where(seen, RNG.normal(size=len(seen)), 0.0).reshape(N, sampling.m)
    mask = seen.reshape(T.shape)
    term = SampledTerm(SeparableTerm(K, M), sampling)
    found = conjugate_gradient.solve(Problem((term,), T, Squared(), 0.1, mask), tol=1e-12)
    S = sampling.matrix.toarray()
    dense = np.eye(T.size) + S @ np.kron(K, M) @ S.T / 0.1
    assert_allclose(found.dual.ravel()[seen], np.linalg.solve(dense, T.ravel())[seen], atol=1e-6)


def test_the_gap_of_a_residual_is_that_of_the_problem():
    problem = Problem((SeparableTerm(K, M),), Y, Squared(), 0.1)
    A = RNG.normal(size=Y.shape)
    residual = Y - A - K @ A @ M / 0.1
    assert_allclose(relative_residual_gap(A, residual, Y, 1.0), problem.gap(A), rtol=1e-9)
