"""Irregular functions and constant outputs."""

import numpy as np
import pytest
from helpers.conformal_curves import GRID, LEVEL, MODEL, QUERIES, TRUE, X, Y, sample, smallest
from helpers.conformal_samples import samples
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import KFold

from hilbertlearn import ConformalPredictor, OperatorKernelRegressor
from hilbertlearn.data.functions import IrregularFunctions


@pytest.mark.parametrize("method", ["cv+", "split"])
def test_irregular_sets_by_their_definition(method):
    """Scores are largest at each curve's own points; sets count the samples with smaller scores."""
    X, Y = sample(20, 2, "own")
    Xt, T = sample(15, 3, "own")
    splits = list(KFold(4).split(X)) if method == "cv+" else [(np.arange(10), np.arange(10, 20))]
    grid = np.linspace(0, 1, 21)
    model = clone(MODEL).set_params(grid=grid)
    found = ConformalPredictor(model, method, LEVEL, "scale", cv=splits).fit(X, Y)
    band = found.predict_band(Xt)

    R, ends, smaller = [], [], np.zeros(len(Xt), dtype=int)
    for train, test in splits:
        alone = clone(model).fit(X[train], Y[train])
        fitted, left, queried = (alone.predict(Z).to_array() for Z in (X[train], X[test], Xt))
        rows = np.full((len(train), len(grid)), np.nan)
        for row, i, f in zip(rows, train, fitted, strict=True):
            order = np.argsort(Y.points[i])
            residual = Y.values[i] - np.interp(Y.points[i], grid, f)
            row[:] = np.interp(grid, Y.points[i][order], residual[order])  # all curves reach from 0 to 1
        s = np.sqrt(np.mean(rows**2, axis=0))

        def size(points, values, prediction, s=s):
            return np.max(np.abs(values - np.interp(points, grid, prediction)) / np.interp(points, grid, s))

        for i, f in zip(test, left, strict=True):
            R.append(size(Y.points[i], Y.values[i], f))
            ends.append((queried - R[-1] * s, queried + R[-1] * s))
            for q in range(len(Xt)):
                smaller[q] += R[-1] < size(T.points[q], T.values[q], queried[q])
    assert_allclose(found.sets_.calibration.scores, R, rtol=1e-6)
    assert_array_equal(band.contains(T), smaller < LEVEL * (len(R) + 1) - 1e-9)
    assert 0 < band.contains(T).sum() <= 15
    upper = np.apply_along_axis(smallest, 0, np.array([end[1] for end in ends]), LEVEL)
    assert_allclose(band.upper.to_array(), upper, rtol=1e-6)
    assert_allclose(band.mean_width(), np.trapezoid(band.width, grid, axis=1))


def test_irregular_curves_on_the_grid_are_arrays():
    """Curves at the points of the grid, in any order, and some missing: sets are those of arrays with gaps."""
    rng, gaps, T = np.random.default_rng(0), Y.copy(), TRUE.copy()
    gaps[::4, 3] = T[::5, 4] = np.nan
    orders = [rng.permutation(9) for _ in range(40)]
    own, new = (
        IrregularFunctions([GRID[o] for o in orders[: len(F)]], [f[o] for f, o in zip(F, orders, strict=False)])
        for F in (gaps, T)
    )
    given = {"method": "split", "level": LEVEL, "cv": [(np.arange(15), np.arange(15, 30))], "score": "constant"}
    arrays = ConformalPredictor(clone(MODEL).set_params(grid=GRID, tol=1e-9), **given).fit(X, gaps)
    irregular = clone(arrays).fit(X, own)
    mixed = ConformalPredictor(clone(MODEL).set_params(grid=GRID), **given).fit(X, gaps).predict_band(QUERIES)
    assert_array_equal(mixed.contains(new), mixed.contains(T))
    assert irregular.predict_band(QUERIES).width.shape == (40, 9)
    # the loss of irregular curves is a mean over points and that of arrays one over the domain: models differ a little
    assert_allclose(irregular.predict_band(QUERIES).mean_width(), mixed.mean_width(), rtol=0.1)


def test_several_irregular_curves_and_points_without_observations():
    rng = np.random.default_rng(0)
    points = [rng.uniform(0.2, 0.8, 6) for _ in range(24)]
    values = [
        np.c_[np.sin(3 * p + x), 10 * np.cos(3 * p + x)] + rng.normal(size=(6, 2)) for p, x in zip(points, X[:24])
    ]
    y = IrregularFunctions(points, values, (0, 1))
    model = ConformalPredictor(clone(MODEL).set_params(grid=np.linspace(0, 1, 11)), "split", 0.7, random_state=0)
    band = model.fit(X[:24], y).predict_band(X[:5])
    assert band.width.shape == (5, 11, 2) and band.lower.n_curves == 2
    assert np.isfinite(band.width).all() and (band.width > 0).all()
    assert band.contains(y[:5]).shape == (5,)
    nothing = IrregularFunctions([p[:0] for p in points[:5]], [v[:0] for v in values[:5]], (0, 1))
    assert band.contains(nothing).all()  # nothing is asked for


def test_closed_form_with_irregular_curves():
    X, y = sample(25, 4, "own")
    model = clone(MODEL).set_params(space="eigen", irregular="projected")
    found = ConformalPredictor(model, level=LEVEL, score="scale").fit(X, y)
    assert found.closed_form_
    larger = clone(model).set_params(alpha=MODEL.alpha * 25 / 24)
    refits = ConformalPredictor(larger, "cv+", LEVEL, "scale", cv=KFold(25)).fit(X, y)
    Xt, T = sample(20, 5, "own")
    one, other = found.predict_band(Xt), refits.predict_band(Xt)
    # refits are centred at the mean curve of other samples, which a smoothing spline makes of them
    assert_allclose(one.mean_width(), other.mean_width(), rtol=0.05)
    assert np.mean(one.contains(T) == other.contains(T)) >= 0.9


@pytest.mark.parametrize("method", ["jackknife+", "cv+", "split"])
@pytest.mark.parametrize("value", [5.3, -1e6 / 3, 0.0])
def test_outputs_that_are_constant_are_inside(method, value):
    """What rounding does to predictions of new samples is not an error that the others do not have."""
    X, Y, new, truth = samples()
    X, new = np.tile(X, 3), np.tile(new, 3)
    model = ConformalPredictor(OperatorKernelRegressor("rbf", gamma=1e-3, alpha=80.0), method=method, random_state=0)
    y = np.full(len(new), value)
    model.fit(X, np.full(len(X), value))
    assert model.predict_region(new).contains(y).all()
    lower, upper = model.predict_interval(new).T
    assert (lower <= y).all()
    assert (y <= upper).all()
    assert (upper - lower).max() <= 1e-12 * abs(value)
    # beside another output it takes no part
    alone = model.fit(X, Y[:, 0]).predict_region(new)
    both = model.fit(X, np.c_[Y[:, 0], np.full(len(X), value)]).predict_region(new)
    assert_allclose(both.upper[:, 0], alone.upper, rtol=1e-9)
    assert_array_equal(both.contains(np.c_[truth[:, 0], y]), alone.contains(truth[:, 0]))
