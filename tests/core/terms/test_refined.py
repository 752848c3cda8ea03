"""Factors in single precision, refined to double, and where they give way to factors in double precision."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn.core.terms import DenseGram, SeparableTerm

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
K, M = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2)), np.array([[2.0, 0.5], [0.5, 1.0]])
R = RNG.normal(size=(40, 2))


@pytest.mark.parametrize("M", [None, M], ids=["identity", "operator"])
@pytest.mark.parametrize("penalty", [1.0, 1e-3, 1e-9])
def test_solutions_have_the_accuracy_of_double_precision(M, penalty):
    factors = SeparableTerm(DenseGram(K).in_precision("refined"), M).factor("path")
    dense = np.eye(80) + np.kron(K, np.eye(2) if M is None else M) / penalty
    residual = dense @ factors.solve(R, 1.0, penalty).ravel() - R.ravel()
    condition = np.trace(dense)
    assert np.abs(residual).max() <= max(1e-9, 1e-13 * condition)


def test_a_small_penalty_takes_factors_in_double_precision():
    factors = SeparableTerm(DenseGram(K).in_precision("refined")).factor("path")
    factors.solve(R, 1.0, 1.0)
    assert factors._double is None
    factors.solve(R, 1.0, 1e-9)
    assert factors._double is not None


def test_leave_one_out_is_that_of_double_precision():
    refined = SeparableTerm(DenseGram(K).in_precision("refined"), M).factor("path")
    exact = SeparableTerm(K, M).factor("path")
    root, penalties = np.ones((40, 1)), np.array([0.1, 1.0])
    for found, expected in zip(
        refined.loo_residuals(R, None, root, penalties), exact.loo_residuals(R, None, root, penalties), strict=True
    ):
        assert_allclose(found, expected, atol=1e-10)
