"""The squared loss in closed form against a dense solution, well and badly conditioned."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn.core.problem import Problem
from hilbertlearn.core.solvers import spectral
from hilbertlearn.core.terms import SeparableTerm
from hilbertlearn.losses import Squared

RNG = np.random.default_rng(0)
X = RNG.normal(size=(25, 2))
K = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))
Y, M = RNG.normal(size=(25, 2)), np.array([[2.0, 0.5], [0.5, 1.0]])


@pytest.mark.parametrize("M", [None, M], ids=["identity", "operator"])
def test_dual_variables_solve_the_dense_system(M):
    found = spectral.solve(Problem((SeparableTerm(K, M),), Y, Squared(), 0.5))
    dense = np.eye(50) + np.kron(K, np.eye(2) if M is None else M) / 0.5
    assert_allclose(found.dual.ravel(), np.linalg.solve(dense, Y.ravel()), atol=1e-10)
    assert found.converged and found.n_iter == 1


@pytest.mark.parametrize("M", [None, M], ids=["identity", "operator"])
def test_refinement_closes_the_gap_at_a_small_penalty(M):
    found = spectral.solve(Problem((SeparableTerm(K, M),), Y, Squared(), 1e-9), tol=1e-10)
    assert found.gap <= 1e-10 and found.gap <= found.history[0]
