"""Operators as users give them: names, arrays, objects."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.operators import Covariance, Decay, Identity, TaskGraph, operator_matrix

rng = np.random.default_rng(2)
N, D = 20, 4
Y = rng.normal(size=(N, D)) @ rng.normal(size=(D, D)) + 3
SIMILARITY = np.array([[1, 0.5, 0, 0], [0.5, 1, 0.2, 0], [0, 0.2, 1, 0.1], [0, 0, 0.1, 1]])


def test_names_and_arrays():
    assert operator_matrix(None, Y) is None
    assert operator_matrix("identity", Y) is None
    assert operator_matrix(Identity(), Y) is None
    for name, operator in (("task_graph", TaskGraph()), ("covariance", Covariance()), ("decay", Decay())):
        assert_allclose(operator_matrix(name, Y), operator.matrix(Y))
    assert_allclose(operator_matrix(SIMILARITY.tolist(), Y), SIMILARITY)


@pytest.mark.parametrize("operator", [TaskGraph(mu=0.6), Covariance(0.2), Decay(1)])
def test_fit_resolves_the_operator_from_the_samples_it_was_given(operator):
    X = rng.normal(size=(N, 2))
    weights = np.r_[np.zeros(8), np.ones(N - 8)]
    model = OperatorKernelRegressor(operator=operator, alpha=0.1, scale=False).fit(X, Y, weights)
    assert_allclose(model.operator_, operator.matrix(Y[8:]))
    given = OperatorKernelRegressor(operator=operator.matrix(Y[8:]), alpha=0.1).fit(X[8:], Y[8:])
    assert_allclose(model.predict(X), given.predict(X), atol=1e-9)
