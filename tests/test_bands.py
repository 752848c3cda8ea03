"""Bands for functions in every form, against loops over samples and points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, ShuffleSplit

from hilbertlearn import ConformalPredictor, FunctionalRegressor, datasets
from hilbertlearn.baselines import SplitConformalBand
from hilbertlearn.conformal import scores
from hilbertlearn.data.functions import IrregularFunctions, interpolate_linear

LEVEL = 0.8
METHODS = ["jackknife+", "cv+", "split"]
GRID = np.linspace(0, 1, 9)
MODEL = FunctionalRegressor("rbf", gamma=1.0, alpha=1e-2)


def curve(x, u, points):
    return np.sin(4 * points + 2 * x) + (0.1 + 0.3 * points) * (u[0] + u[1] * np.sin(5 * points))


def sample(n, seed, points=None):
    """Inputs and curves, on the grid or at points of their own."""
    rng = np.random.default_rng(seed)
    X, U = rng.uniform(-1, 1, size=(n, 1)), rng.normal(size=(n, 2))
    if points is None:
        return X, np.array([curve(x, u, GRID) for x, u in zip(X[:, 0], U, strict=True)])
    own = [rng.permutation(np.r_[rng.uniform(0, 1, rng.integers(3, 7)), 0.0, 1.0]) for _ in range(n)]
    values = [curve(x, u, p) for x, u, p in zip(X[:, 0], U, own, strict=True)]
    return X, IrregularFunctions(own, values, (0.0, 1.0))


X, Y = sample(30, 0)
QUERIES, TRUE = sample(40, 1)


def within(band, Y):
    return (((band.lower <= Y) & (band.upper >= Y)) | np.isnan(Y)).all(axis=1)


def smallest(values, level):
    """The k-th smallest of n values, k = ceil(level (n + 1))."""
    k = int(np.ceil(level * (len(values) + 1) - 1e-9))
    return np.sort(values)[k - 1] if k <= len(values) else np.inf


# ---------------------------------------------------------------- interpolation


def test_linear_between_points():
    rng = np.random.default_rng(0)
    grid, points = np.sort(rng.uniform(size=7)), rng.uniform(-0.2, 1.2, size=20)
    values = rng.normal(size=(3, 7, 2))
    expected = [[np.interp(points, grid, values[i, :, j]) for j in range(2)] for i in range(3)]
    assert_allclose(interpolate_linear(values, grid, points, axis=1), np.moveaxis(expected, 1, 2))
    assert_array_equal(interpolate_linear(values, grid, grid, axis=1), values)
    constant = interpolate_linear(values[:, :1], grid[:1], points, axis=1)
    assert_allclose(constant, np.repeat(values[:, :1], 20, axis=1))
    values[0, 3, 0] = np.nan
    assert_array_equal(np.isnan(interpolate_linear(values, grid, grid, axis=1)), np.isnan(values))


# ---------------------------------------------------------------- modulations


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


def test_points_without_any_residual_do_not_decide():
    """Rounding at a point where all curves are the same must not be a scale."""
    residuals = np.random.default_rng(0).normal(size=(20, 4))
    residuals[:, 1] *= 1e-16
    learnt = scores.ScaledMaximum("scale").learn(residuals, np.ones(20), LEVEL)
    assert learnt[1] == min(np.delete(learnt, 1))
    small = residuals * [1, 0, 1e-9, 1]  # another unit is no rounding
    assert_allclose(scores.ScaledMaximum("scale").learn(small, np.ones(20), LEVEL)[2], 1e-9 * learnt[2])


# ---------------------------------------------------------------- the reference


@pytest.mark.parametrize("modulation", ["trimmed", "deviation", "constant"])
def test_reference_by_its_definition(modulation):
    grid = np.r_[0, np.sort(np.random.default_rng(0).uniform(0, 1, 7)), 1]
    model = clone(MODEL).set_params(grid=grid)
    found = SplitConformalBand(model, LEVEL, modulation=modulation, random_state=3).fit(X, Y)
    ((train, rest),) = ShuffleSplit(1, test_size=0.5, random_state=3).split(X)
    alone = clone(model).fit(X[train], Y[train])
    sizes = np.abs(Y[train] - alone.predict(X[train]))
    kept = [row for row in sizes if row.max() <= smallest(sizes.max(axis=1), LEVEL)]
    s = {
        "trimmed": np.max(kept, axis=0),
        "deviation": np.sqrt(np.mean(sizes**2, axis=0)),
        "constant": np.ones(len(grid)),
    }[modulation]
    s = s / np.trapezoid(s, grid)
    assert 0 < len(kept) < len(train)
    assert_allclose(found.modulation_, s)
    radius = smallest(np.max(np.abs(Y[rest] - alone.predict(X[rest])) / s, axis=1), LEVEL)
    lower, upper = found.predict_band(QUERIES)
    assert_allclose(upper, alone.predict(QUERIES) + radius * s)
    assert_allclose(lower, alone.predict(QUERIES) - radius * s)
    assert_allclose(np.trapezoid(upper - lower, grid), 2 * found.radius_)


def test_reference_with_gaps_gram_matrices_and_few_samples():
    gaps = Y.copy()
    gaps[::3, 2:4] = np.nan
    found = SplitConformalBand(MODEL, LEVEL, random_state=0).fit(X, gaps)
    assert np.isfinite(found.modulation_).all() and np.isfinite(found.radius_)
    few = SplitConformalBand(MODEL, 0.99, random_state=0).fit(X, Y)
    assert few.radius_ == np.inf
    K, cross = np.exp(-((X - X.T) ** 2)), np.exp(-((QUERIES - X.T) ** 2))
    gram = SplitConformalBand(clone(MODEL).set_params(kernel="precomputed"), LEVEL, random_state=0).fit(K, Y)
    plain = SplitConformalBand(MODEL, LEVEL, random_state=0).fit(X, Y)
    assert_allclose(gram.predict_band(cross), plain.predict_band(QUERIES))
    with pytest.raises(ValueError, match="level must be a number between 0 and 1"):
        SplitConformalBand(MODEL, 1.5).fit(X, Y)


def test_reference_is_the_split_of_the_library():
    """Both with a constant width and the same halves."""
    reference = SplitConformalBand(MODEL, LEVEL, modulation="constant", random_state=0).fit(X, Y)
    splits = list(ShuffleSplit(1, test_size=0.5, random_state=0).split(X))
    band = ConformalPredictor(MODEL, "split", LEVEL, "constant", cv=splits).fit(X, Y).predict_band(QUERIES)
    assert_allclose((band.lower, band.upper), reference.predict_band(QUERIES))


# ---------------------------------------------------------------- points of their own


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
    assert_allclose(found.sets_.calibration.sizes, R, rtol=1e-6)
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


def test_several_irregular_curves_and_points_that_nobody_saw():
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


# ---------------------------------------------------------------- containers, variables, gaps


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


# ---------------------------------------------------------------- band and set


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


# ---------------------------------------------------------------- robust


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


# ---------------------------------------------------------------- bad input


def test_bad_input():
    Xi, Yi = sample(20, 2, "own")
    with pytest.raises(ValueError, match="not for functions at points of their own"):
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
