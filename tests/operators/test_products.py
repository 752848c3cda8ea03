"""Kronecker products of operators, against dense products."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import FunctionalRegressor, operators

rng = np.random.default_rng(0)
LEVELS = [0.1, 0.5, 0.8]
B = np.array([[2.0, 0.5], [0.5, 1.0]])


def dense(M):
    return np.eye(M.shape[0]) @ M


def between(coupling):
    return np.exp(-coupling * np.subtract.outer(LEVELS, LEVELS) ** 2)


@pytest.mark.parametrize(("operator", "outputs"), [(None, np.eye(2)), (B, B)], ids=["identity", "matrix"])
@pytest.mark.parametrize("coupling", [0.0, 3.0, np.inf])
def test_levels_of_quantiles(operator, outputs, coupling):
    Y = rng.normal(size=(8, 6))
    M = operators.LevelCoupling(operator, LEVELS, coupling).matrix(Y)
    expected = np.kron(outputs, np.eye(3) if coupling == np.inf else between(coupling))
    assert_allclose(dense(M) if M is not None else np.eye(6), expected, atol=1e-12)


def test_levels_of_an_operator_from_the_outputs():
    """The operator is computed from one level of each output."""
    Y = np.repeat(rng.normal(size=(8, 2)), 3, axis=1)
    M = operators.LevelCoupling(operators.Covariance(0.2), LEVELS, 3.0).matrix(Y)
    assert_allclose(dense(M), np.kron(operators.Covariance(0.2).matrix(Y[:, ::3]), between(3.0)), atol=1e-12)


def test_domain_and_curves():
    """Two curves on a grid: the model's operator is the product of both."""
    X, t = np.linspace(1, 2, 12)[:, None], np.linspace(0, 1, 5)
    Y = np.stack([np.sin(X * t), np.cos(X * t)], axis=2)
    A = np.diag([1.0, 2.0, 3.0, 4.0, 5.0])
    settings = {"space": "grid", "gamma": 1.0, "alpha": 1e-2}
    both = FunctionalRegressor(operator=operators.AxisProduct(A, B), **settings).fit(X, Y)
    curves = FunctionalRegressor(operator=operators.AxisProduct(A, None), **settings).fit(X, Y)
    alone = [FunctionalRegressor(operator=A, **settings).fit(X, Y[:, :, k]).predict(X) for k in range(2)]
    assert_allclose(curves.predict(X), np.stack(alone, axis=2), atol=1e-6)
    # in the eigenbasis of B each combination of curves has the operator A times an eigenvalue
    values, vectors = np.linalg.eigh(B)
    mixed = [
        FunctionalRegressor(operator=value * A, **settings).fit(X, Y @ vector).predict(X)
        for value, vector in zip(values, vectors.T, strict=True)
    ]
    assert_allclose(both.predict(X) @ vectors, np.stack(mixed, axis=2), atol=1e-6)


@pytest.mark.parametrize(
    ("operator", "space", "message"),
    [
        (operators.AxisProduct(), None, "functions of a variable"),
        (operators.LevelCoupling("learned", LEVELS), None, "cannot be used for quantiles"),
    ],
)
def test_refused(operator, space, message):
    with pytest.raises(ValueError, match=message):
        operator.matrix(np.zeros((4, 6)), None, space)
