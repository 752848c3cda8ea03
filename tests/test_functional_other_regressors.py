"""Other regressors on the coordinates of functional outputs."""

import numpy as np
import pytest
from helpers.curves_by_hand import trapezoid
from numpy.testing import assert_allclose
from scipy.interpolate import BSpline
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge

from hilbertlearn import FunctionalRegressor, spaces
from hilbertlearn.data.functions import IrregularFunctions

N, T = 40, np.linspace(0, 1, 15)
FINE = np.linspace(0, 1, 40)
rng = np.random.default_rng(2)
X, NEW = rng.uniform(-1, 1, size=(N, 2)), rng.uniform(-1, 1, size=(60, 2))


def clean(X, t):
    return np.sin(6 * t + 2 * X[:, :1]) + 2 * X[:, 1:] * t + 3 * t


Y = clean(X, T) + 0.3 * rng.normal(size=(N, len(T)))
GAPS = np.where(rng.random(Y.shape) < 0.3, np.nan, Y)
GAPS[7] = np.nan  # a curve that was not seen
WEIGHTS = rng.uniform(0.2, 2, size=N)
POINTS = [np.sort(rng.random(6)) for _ in range(N)]
OWN = IrregularFunctions(
    POINTS, [clean(x[None], p)[0] + 0.3 * rng.normal(size=6) for x, p in zip(X, POINTS)], domain=(0, 1)
)
SEVERAL = np.stack([Y, -Y + T], axis=2)


def splines(t):
    knots = np.concatenate([np.zeros(3), np.linspace(0, 1, 6), np.ones(3)])
    return BSpline(knots, np.eye(8), 3)(t).T


def filled(Y):
    """Curves that were seen, completed by linear interpolation."""
    rows = np.flatnonzero(np.isfinite(Y).any(axis=1))
    complete = [np.interp(T, T[np.isfinite(y)], y[np.isfinite(y)]) for y in Y[rows]]
    return rows, np.array(complete)


@pytest.mark.parametrize("y", [Y, GAPS], ids=["full", "gaps"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
def test_linear_regressor_on_coefficients(y, weights):
    """Ridge regression is the same in every orthonormal basis of the splines: here that of a QR factorisation."""
    q = trapezoid(T)
    Q, R = np.linalg.qr((splines(T) * np.sqrt(q)).T)
    rows, complete = filled(y)
    ridge = Ridge(0.5).fit(X[rows], (complete * np.sqrt(q)) @ Q, None if weights is None else weights[rows])
    coefficients = np.linalg.solve(R, ridge.predict(NEW).T)  # of the splines
    model = FunctionalRegressor(space=spaces.BSpline(8), grid=T, regressor=Ridge(0.5)).fit(X, y, weights)
    assert_allclose(model.predict(NEW), (splines(T).T @ coefficients).T, rtol=1e-8, atol=1e-9)
    assert_allclose(model.predict(NEW, FINE), (splines(FINE).T @ coefficients).T, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("y", [Y, GAPS], ids=["full", "gaps"])
def test_trees_on_point_values(y):
    """Splits are by the summed variance of the coordinates, so sqrt(q_j) matters."""
    rows, complete = filled(y)
    trees = ExtraTreesRegressor(20, min_samples_leaf=3, random_state=0)
    root = np.sqrt(trapezoid(T))
    expected = trees.fit(X[rows], complete * root, WEIGHTS[rows]).predict(NEW) / root
    model = FunctionalRegressor(grid=T, regressor=trees).fit(X, y, WEIGHTS)
    assert_allclose(model.predict(NEW), expected, rtol=1e-9)
    linear = [np.interp(FINE, T, row) for row in expected]
    assert_allclose(model.predict(NEW, FINE), linear, rtol=1e-9)


def test_regressor_on_irregular_and_several_curves():
    own = FunctionalRegressor(regressor=Ridge(0.1)).fit(X, OWN)
    grid = np.linspace(0, 1, 101)
    complete = np.array([np.interp(grid, p, v) for p, v in zip(OWN.points, OWN.values)])
    assert_allclose(np.stack(own.predict(NEW).values), Ridge(0.1).fit(X, complete).predict(NEW), rtol=1e-8)
    both = FunctionalRegressor(regressor=Ridge(0.1)).fit(X, SEVERAL).predict(NEW)
    for l in range(2):
        assert_allclose(both[..., l], Ridge(0.1).fit(X, SEVERAL[..., l]).predict(NEW), rtol=1e-8)


def test_score_of_a_regressor_compares_with_the_weighted_mean_curve():
    model = FunctionalRegressor(grid=T, regressor=Ridge(0.5)).fit(X, Y, WEIGHTS)
    q, mean = trapezoid(T), WEIGHTS @ Y / WEIGHTS.sum()
    error, total = (((Y - f) ** 2 @ q).sum() for f in (model.predict(X), mean))
    assert model.score(X, Y) == pytest.approx(1 - error / total)
