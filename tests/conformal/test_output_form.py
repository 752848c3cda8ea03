"""Bands of curves in every container, on other grids, of several variables."""

import numpy as np
import pytest
from helpers.conformal_curves import GRID, LEVEL, MODEL, QUERIES, TRUE, X, Y, sample
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from hilbertlearn import ConformalPredictor, FunctionalRegressor, datasets
from hilbertlearn.data.functions import IrregularFunctions, interpolate_linear

METHODS = ["jackknife+", "cv+", "split"]


def within(band, Y):
    return (((band.lower <= Y) & (band.upper >= Y)) | np.isnan(Y)).all(axis=1)


def test_default_scale_is_smooth():
    """Local root mean squares of residuals of the training part, each left out, over 2 % of the domain."""
    t = np.linspace(0, 3, 60)
    X, Y = np.random.default_rng(0).normal(size=(40, 1)), np.random.default_rng(1).normal(size=(40, 60)) * (1 + t)
    train, test = np.arange(20), np.arange(20, 40)
    model = ConformalPredictor(clone(MODEL).set_params(grid=t), "split", LEVEL, cv=[(train, test)]).fit(X, Y)
    alone = clone(MODEL).set_params(grid=t).fit(X[train], Y[train])
    rough, steps = np.mean(alone.loo_residuals() ** 2, axis=0), np.r_[0.5, np.ones(58), 0.5]
    expected = []
    for point in t:
        weights = steps * np.exp(-((t - point) ** 2) / (2 * (0.02 * 3) ** 2))
        expected.append(np.sqrt(weights @ rough / weights.sum()))
    assert_allclose(model.sets_.calibration.models.scales[0], expected)
    rough = clone(model).set_params(score="scale").fit(X, Y).sets_.calibration.models.scales[0]
    assert_allclose(rough, np.sqrt(np.mean(alone.loo_residuals() ** 2, axis=0)))


def test_vectors_are_not_smoothed():
    found = ConformalPredictor(LinearRegression(), "split", LEVEL, random_state=0).fit(X, Y)
    named = clone(found).set_params(score="scale").fit(X, Y)
    assert_array_equal(found.sets_.calibration.models.scales, named.sets_.calibration.models.scales)


def test_containers_come_back():
    skfda = pytest.importorskip("skfda")
    plain = ConformalPredictor(clone(MODEL).set_params(grid=GRID), level=LEVEL).fit(X, Y).predict_band(QUERIES)
    model = ConformalPredictor(MODEL, level=LEVEL)
    band = model.fit(X, skfda.FDataGrid(Y, GRID)).predict_band(QUERIES)
    assert isinstance(band.lower, skfda.FDataGrid)
    assert_allclose(band.upper.data_matrix[..., 0], plain.upper)
    assert_allclose(band.mean_width(), plain.mean_width())
    assert_array_equal(band.contains(skfda.FDataGrid(TRUE, GRID)), plain.contains(TRUE))
    finer = np.linspace(0, 1, 17)  # curves that are linear between the points are in as on the points
    between = interpolate_linear(TRUE, GRID, finer)
    assert (band.contains(skfda.FDataGrid(between, finer)) <= band.contains(TRUE)).all()
    several = model.fit(X, skfda.FDataGrid(np.stack([Y, 2 * Y], axis=-1), GRID)).predict_band(QUERIES)
    assert several.upper.data_matrix.shape == (40, 9, 2)

    Xi, Yi = sample(20, 2, "own")
    starts = np.cumsum([0, *(len(p) for p in Yi.points[:-1])])
    theirs = skfda.FDataIrregular(
        start_indices=starts,
        points=np.concatenate(Yi.points)[:, None],
        values=np.concatenate(Yi.values)[:, None],
        domain_range=[(0, 1)],
    )
    split = ConformalPredictor(MODEL, "split", LEVEL, random_state=0)
    ours, irregular = (clone(split).fit(Xi, y).predict_band(QUERIES) for y in (Yi, theirs))
    assert isinstance(irregular.lower, skfda.FDataIrregular)
    assert_allclose(irregular.upper.values[:, 0], np.concatenate(ours.upper.values), rtol=1e-6)
    singles = [
        skfda.FDataGrid(v[None][:, np.argsort(p)], np.sort(p)) for p, v in zip(Yi.points, Yi.values, strict=True)
    ]
    listed = clone(split).fit(Xi, singles).predict_band(QUERIES[:2])
    assert isinstance(listed.lower, list) and len(listed.lower) == 2
    basis = skfda.FDataGrid(Y, GRID).to_basis(skfda.representation.basis.BSplineBasis((0, 1), n_basis=5))
    assert isinstance(model.fit(X, basis).predict_band(QUERIES).lower, skfda.FDataGrid)


def test_two_variables():
    a, b = np.array([0.0, 0.1, 0.5, 1.0]), np.array([0.0, 2.0, 3.0])
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(30, 2)) @ np.c_[1 + a, a * a].T
    Y = np.sin(3 * a[:, None] + b + X[:, :, None]) + noise[:, :, None] * (1 + b)
    model = ConformalPredictor(clone(MODEL).set_params(grid=(a, b)), level=LEVEL).fit(X, Y)
    band = model.predict_band(X[:6])
    assert band.lower.shape == band.width.shape == (6, 4, 3)
    assert_allclose(band.mean_width(), np.trapezoid(np.trapezoid(band.width, b, axis=2), a, axis=1) / 3)
    assert_array_equal(model.predict_band(X[:6], grid=(a, b)).upper, band.upper)
    middle = model.predict_band(X[:6], grid=(a[1:3], np.array([1.0])))
    assert middle.upper.shape == (6, 2, 1)
    assert middle.contains(Y[:6]).shape == (6,)
    with pytest.raises(ValueError, match="grid must have the points of 2 variables"):
        model.predict_band(X[:6], grid=a)


def test_other_grids_and_gaps():
    """With one model the band between the points is linear; what is NaN is not asked for."""
    gaps = Y.copy()
    gaps[::4, :3] = np.nan
    model = ConformalPredictor(MODEL, "split", LEVEL, random_state=0).fit(X, gaps)
    band, finer = model.predict_band(QUERIES), np.linspace(0, 1, 33)
    other = model.predict_band(QUERIES, grid=finer)
    assert_allclose(other.upper, interpolate_linear(band.upper, GRID, finer), atol=1e-12)
    assert_array_equal(other.contains(interpolate_linear(band.upper, GRID, finer) - 1e-9), True)
    assert not other.contains(interpolate_linear(band.upper, GRID, finer) + 1e-9).any()
    T = TRUE.copy()
    T[:, 5:] = np.nan
    assert_array_equal(band.contains(T), within(band, T))
    with pytest.raises(ValueError, match="grid must lie in the domain"):
        model.predict_band(QUERIES, grid=[0.0, 2.0])


@pytest.mark.parametrize("score", ["auto", "trimmed"])
@pytest.mark.parametrize("method", METHODS)
def test_curves_of_the_set_are_in_the_band(method, score):
    """Curves drawn around the band: those in the set are inside at all points, and with one model no others are."""
    model = ConformalPredictor(MODEL, method, LEVEL, score, cv=5 if method == "cv+" else None, random_state=0)
    band, rng = model.fit(X, Y).predict_band(QUERIES), np.random.default_rng(0)
    middle, half = (band.lower + band.upper) / 2, band.width / 2
    found = 0
    for _ in range(30):
        shape = rng.normal(size=(40, 3)) @ [np.ones(9), GRID - 0.5, np.sin(7 * GRID)]
        T = middle + half * shape / np.abs(shape).max(axis=1, keepdims=True) * rng.uniform(0.6, 1.2, size=(40, 1))
        inside = band.contains(T)
        assert (within(band, T) | ~inside).all()
        if method == "split":
            assert_array_equal(inside, within(band, T))
        found += inside.sum()
    assert 200 < found < 1200


@pytest.mark.parametrize("method", METHODS)
def test_units_of_values_and_of_time(method):
    """Bands of curves in other units are the same bands in these units, of one curve among several too."""
    given = {"method": method, "level": LEVEL, "cv": 5 if method == "cv+" else None, "random_state": 0}
    both, units = np.stack([Y, Y**2], axis=-1), np.array([1.0, 1e3])
    # an identity operator relates no curves, so that their units cannot matter
    model = clone(MODEL).set_params(operator=None)
    one, other = (ConformalPredictor(model, **given).fit(X, F).predict_band(QUERIES) for F in (both, both * units))
    assert_allclose(other.upper, one.upper * units, rtol=1e-6)
    slow = ConformalPredictor(clone(MODEL).set_params(grid=7 + 60 * GRID), **given).fit(X, Y).predict_band(QUERIES)
    quick = ConformalPredictor(clone(MODEL).set_params(grid=GRID), **given).fit(X, Y).predict_band(QUERIES)
    assert_allclose(slow.upper, quick.upper, rtol=1e-6)
    assert_allclose(slow.mean_width(), quick.mean_width(), rtol=1e-6)


def test_one_curve_again_and_again():
    """Residuals are zero, so that bands are the curve."""
    band = ConformalPredictor(MODEL, level=LEVEL).fit(X, np.repeat(Y[:1], 30, axis=0)).predict_band(QUERIES)
    assert_allclose(band.upper, np.repeat(Y[:1], 40, axis=0), atol=1e-6)
    assert_allclose(band.width, 0, atol=1e-6)


def test_bands_around_a_robust_fit_are_narrower():
    """With 5 % of the training curves wrong; the whole comparison is experiments/bands.py."""
    X, Y, _, _ = datasets.make_gaussian_process_curves(160, n_points_out=20, noise_out=0.1, random_state=0)
    wrong = datasets.corrupt_curves(Y[:80], 0.05, intensity=3.0, random_state=0)[0]
    folds, found = KFold(5, shuffle=True, random_state=0), {}
    for loss in ("squared", "huber"):
        model = FunctionalRegressor("linear", loss=loss, tol=1e-3)
        band = ConformalPredictor(model, "cv+", cv=folds).fit(X[:80], wrong).predict_band(X[80:])
        found[loss] = band.mean_width().mean(), within(band, Y[80:]).mean()
    assert found["huber"][0] < 0.8 * found["squared"][0]
    assert min(found["huber"][1], found["squared"][1]) > 0.88


def test_bad_input():
    Xi, Yi = sample(20, 2, "own")
    with pytest.raises(ValueError, match="does not support irregular functions"):
        ConformalPredictor(MODEL, "split", LEVEL, "mahalanobis").fit(Xi, Yi)
    band = ConformalPredictor(MODEL, "split", LEVEL, random_state=0).fit(Xi, Yi).predict_band(Xi)
    with pytest.raises(ValueError, match="points of y must lie in the domain"):
        band.contains(IrregularFunctions([[2.0]] * 20, [[0.0]] * 20))
    with pytest.raises(ValueError, match="must have 1 curve a sample, as in training, got 2"):
        band.contains(IrregularFunctions([[0.5]] * 20, [[[0.0, 1.0]]] * 20, (0, 1)))
    with pytest.raises(ValueError, match="an output for each of the 20 queries"):
        band.contains(Yi[:3])
    with pytest.raises(ValueError, match="must have the shape"):
        band.contains(np.zeros((20, 5)))
