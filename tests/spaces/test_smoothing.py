"""Means on a grid: smoothing splines, and interpolation where no curve is observed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import make_smoothing_spline

from hilbertlearn import FunctionalRegressor, IrregularFunctions, losses
from hilbertlearn.spaces.smoothing import best_penalty, interpolate_mean, noise_variance, smooth_rows

rng = np.random.default_rng(0)
T = np.linspace(0, 1, 60)
MEAN = np.sin(4 * T) + T**2


def curves(n, noise, seed=0):
    """A mean, smooth deviations that x explains, and noise at every point."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size=(n, 1))
    return x, MEAN + x * np.cos(3 * T) + noise * rng.normal(size=(n, len(T)))


def values_of(predicted):
    return np.array(getattr(predicted, "values", predicted))


def rough(curve):
    """The size of second differences."""
    return float(np.sqrt(np.mean(np.diff(curve, 2) ** 2)))


@pytest.mark.parametrize("penalty", [1e-8, 1e-4, 1.0])
def test_splines_are_those_of_scipy(penalty):
    points = np.sort(rng.uniform(size=25))
    weights, values = rng.uniform(0.5, 2, size=25), rng.normal(size=(2, 3, 25))
    found = smooth_rows(values, points, weights, penalty)
    for i, j in np.ndindex(2, 3):
        expected = make_smoothing_spline(points, values[i, j], weights, lam=penalty)(points)
        assert_allclose(found[i, j], expected, atol=1e-8)


def test_limits_of_the_penalty():
    values = rng.normal(size=(4, 60))
    assert smooth_rows(values, T, np.ones(60), 0.0) is values
    assert_allclose(smooth_rows(values, T, np.ones(60), 1e-15), values, atol=1e-6)
    line = np.polynomial.Polynomial.fit(T, values[0], 1)(T)
    assert_allclose(smooth_rows(values[:1], T, np.ones(60), 1e8)[0], line, atol=1e-6)
    assert_allclose(smooth_rows(values[:, :2], T[:2], np.ones(2), 1.0), values[:, :2])


def test_the_estimated_error_is_unbiased():
    """Over many draws, the estimate is the error of the smoothed mean and a constant; its best is near the best."""
    quadrature, tried = np.full(60, 1 / 60), np.geomspace(1e-9, 1, 37)

    def smooth(rows, penalty):
        return smooth_rows(rows, T, quadrature, penalty)

    regret = []
    for _ in range(40):
        mean = MEAN + 0.1 * rng.normal(size=60)
        errors = [np.mean((smooth(mean[None], one)[0] - MEAN) ** 2) for one in tried]
        found = best_penalty(mean, np.full(60, 0.01), smooth, quadrature, 1e-9)
        regret.append(np.mean((smooth(mean[None], found)[0] - MEAN) ** 2) / min(errors))
    assert np.mean(regret) < 1.5
    many = np.tile(quadrature, 5) / 5  # of more points than probes
    assert best_penalty(np.tile(mean, 5), np.full(300, 0.01), lambda rows, p: smooth(rows.reshape(-1, 60), p).reshape(
        rows.shape), many, 1e-9) == pytest.approx(found, rel=3)  # fmt: skip


def test_the_variance_of_noise():
    points = np.sort(rng.uniform(size=60))
    noisy = np.sin(6 * points) + rng.normal(size=(300, 60))
    assert noise_variance(noisy, points, np.ones(300)) == pytest.approx(1.0, rel=0.05)
    many = np.sin(6 * points) + rng.normal(size=(3000, 60))
    gaps = np.where(rng.random(many.shape) < 0.3, np.nan, many)
    assert noise_variance(gaps, points, np.ones(3000)) == pytest.approx(1.0, rel=0.1)
    gross = noisy.copy()
    gross[:20] *= 100
    assert noise_variance(gross, points, np.ones(300)) == pytest.approx(1.0, rel=0.3)
    smooth = np.sin(6 * T) * rng.normal(size=(50, 1))
    assert noise_variance(smooth, T, np.ones(50)) < 1e-8
    assert noise_variance(smooth[:, :4], T[:4], np.ones(50)) == 0.0
    assert noise_variance(np.full((3, 60), np.nan), T, np.ones(3)) == 0.0


@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_the_mean_comes_nearer_to_the_truth(noise):
    for seed in range(5):
        X, Y = curves(50, noise, seed)
        settings = {"alpha": 1e-2, "kernel": "rbf", "gamma": 1.0}
        smooth, plain = (FunctionalRegressor(center=c, **settings).fit(X, Y) for c in ("auto", True))
        truth = MEAN + X.mean() * np.cos(3 * T)
        centres = [model.space_.decode(model.center_[None])[0] for model in (smooth, plain)]
        errors = [np.mean((centre - truth) ** 2) for centre in centres]
        assert_allclose(centres[1], Y.mean(axis=0), atol=1e-10)
        assert errors[0] < 0.5 * errors[1]
        assert rough(centres[0]) < 0.1 * rough(centres[1])
        assert rough(smooth.predict(X[:1])[0]) < 0.3 * rough(plain.predict(X[:1])[0])


def test_curves_without_noise_are_left_as_they_are():
    X, Y = curves(30, 0.0)
    model = FunctionalRegressor().fit(X, Y)
    assert_allclose(model.space_.decode(model.center_[None])[0], Y.mean(axis=0), atol=1e-6)
    jumps = np.where(T > 0.5, 5.0, 0.0) + Y
    model = FunctionalRegressor().fit(X, jumps)
    assert_allclose(model.space_.decode(model.center_[None])[0], jumps.mean(axis=0), atol=0.02)


@pytest.mark.parametrize("weights", [None, "some"])
def test_leave_one_out_stays_exact(weights):
    X, Y = curves(12, 0.5)
    w = np.ones(12) if weights is None else rng.uniform(0.5, 2, size=12)
    model = FunctionalRegressor("rbf", gamma=1.0, alpha=0.1).fit(X, Y, w)
    space = model.space_
    left = space.encode(model.loo_residuals())
    assert space.roughness > 0
    V, total = space.encode(Y), w.sum()
    M = np.asarray(model.operator_)
    for i in range(12):
        rows = np.delete(np.arange(12), i)
        centre = space.smooth_means((w[rows] @ V[rows] / w[rows].sum())[None])[0]
        K = np.exp(-((X[rows] - X[rows].T) ** 2))
        system = np.kron(K, M) + 0.1 * total * np.kron(np.diag(1 / w[rows]), np.eye(60))
        dual = np.linalg.solve(system, (V[rows] - centre).ravel()).reshape(11, 60)
        k = np.exp(-((X[i] - X[rows].T) ** 2))
        assert_allclose(left[i], V[i] - centre - (k @ dual @ M)[0], atol=1e-7)


def test_repeated_curves_weigh_as_much_as_their_weight():
    X, Y = curves(20, 0.5)
    w = rng.integers(1, 4, size=20)
    settings = {"kernel": "rbf", "gamma": 1.0, "alpha": 1e-2}
    one = FunctionalRegressor(**settings).fit(X, Y, w)
    other = FunctionalRegressor(**settings).fit(np.repeat(X, w, axis=0), np.repeat(Y, w, axis=0))
    assert one.space_.roughness == other.space_.roughness > 0
    assert_allclose(one.predict(X), other.predict(X), atol=1e-8)


def test_outlying_curves_do_not_smooth_the_median():
    X, Y = curves(60, 0.05)
    Y[:6] += 50 * rng.normal(size=(6, 60))
    model = FunctionalRegressor(loss=losses.Huber(0.1), alpha=1e-2).fit(X, Y)
    centre = model.space_.decode(model.center_[None])[0]
    assert np.sqrt(np.mean((centre - MEAN - X.mean() * np.cos(3 * T)) ** 2)) < 0.1


def test_gaps_and_points_of_their_own():
    X, Y = curves(50, 0.5)
    hidden = np.where(rng.random(Y.shape) < 0.4, np.nan, Y)
    seen = [np.isfinite(row) for row in hidden]
    irregular = IrregularFunctions([T[s] for s in seen], [row[s] for row, s in zip(hidden, seen, strict=True)])
    truth = MEAN + X * np.cos(3 * T)
    for y in (hidden, irregular):
        smooth, plain = (FunctionalRegressor(center=c, grid=T).fit(X, y) for c in ("auto", True))
        errors = [np.mean((values_of(model.predict(X, T)) - truth) ** 2) for model in (smooth, plain)]
        assert smooth.space_.roughness > 0 and errors[0] < errors[1]


def test_surfaces_are_smoothed_along_both_variables():
    s, t = np.linspace(0, 1, 12), T[::3]
    X = rng.uniform(-1, 1, size=(40, 1))
    truth = np.multiply.outer(np.sin(3 * s), np.cos(2 * t))
    Y = truth + X[:, :, None] * np.multiply.outer(s, t) + 0.5 * rng.normal(size=(40, 12, 20))
    smooth, plain = (FunctionalRegressor(grid=(s, t), center=c).fit(X, Y) for c in ("auto", True))
    target = truth + X.mean() * np.multiply.outer(s, t)
    errors = [np.mean((m.space_.decode(m.center_[None])[0] - target) ** 2) for m in (smooth, plain)]
    assert errors[0] < 0.4 * errors[1]


def test_center_is_checked():
    X, Y = curves(5, 0.1)
    with pytest.raises(ValueError, match="center"):
        FunctionalRegressor(center="smooth").fit(X, Y)
    assert_allclose(FunctionalRegressor(center=False).fit(X, Y).center_, 0.0)


def test_huber_becomes_the_squared_loss():
    X, Y = curves(40, 0.3)
    settings = {"kernel": "rbf", "gamma": 1.0, "alpha": 1e-3, "tol": 1e-10}
    squared, huber = (FunctionalRegressor(loss=one, **settings).fit(X, Y) for one in ("squared", losses.Huber(1e6)))
    assert squared.space_.roughness == huber.space_.roughness > 0
    assert_allclose(huber.predict(X), squared.predict(X), atol=1e-5)


def test_interpolation_of_polynomials_and_constants():
    fine = np.linspace(0, 1, 101)
    values = np.stack([np.ones(101), fine, np.sin(3 * fine)])[..., None]
    gone = values.copy()
    gone[:, 40:44] = np.nan
    found = interpolate_mean(gone, [fine])
    assert_allclose(found[:2], values[:2], atol=1e-9)  # constants and lines are reproduced inside
    assert np.abs(found[2] - values[2]).max() < 1e-3


def test_interpolation_is_bounded_beyond_the_ends():
    fine = np.linspace(0, 1, 101)
    line = np.where(fine < 0.3, 5 * fine, np.nan)[None, :, None]
    found = interpolate_mean(line, [fine])[0, :, 0]
    slope, last = 5.0, 5 * 0.29
    assert (np.diff(found) >= -1e-9).all() and found[-1] <= last + slope / 10 + 1e-6  # over the length 1 / 10
    alone = np.full((1, 101, 1), np.nan)
    alone[0, 7] = 3.0
    assert_allclose(interpolate_mean(alone, [fine]), 3.0)


def test_interpolation_is_linear_and_leaves_what_is_there():
    values = rng.normal(size=(3, 6, 7, 2))
    values[:, 2, 3, 0] = values[:, 5, :, 1] = np.nan
    values[2] = 2 * values[0] - values[1]
    axes = [np.linspace(0, 1, 6), np.sort(rng.uniform(size=7))]
    found = interpolate_mean(values, axes)
    assert_allclose(found[2], 2 * found[0] - found[1], atol=1e-9)
    assert_allclose(found[np.isfinite(values)], values[np.isfinite(values)])
    values[..., 1] = np.nan
    assert np.isnan(interpolate_mean(values, axes)[..., 1]).all()
