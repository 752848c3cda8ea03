"""Conformal sets against their definition: loops over samples, refits, sorted lists."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor

from hilbertlearn import ConformalPredictor, FunctionalRegressor, OperatorKernelRegressor
from hilbertlearn.conformal import Band, Box, Ellipsoid, scores
from hilbertlearn.conformal.levels import rank, samples_needed, upper_ends

LEVEL = 0.8
SCORES = ["constant", "scale", "robust", "trimmed", "mahalanobis"]
METHODS = ["jackknife+", "cv+", "split"]


def vectors(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, np.c_[np.sin(3 * X[:, 0]), X[:, 1] + X[:, 0]] + rng.normal(size=(n, 2)) * [0.3, 0.6]


def curves(n, m=12, seed=0):
    rng = np.random.default_rng(seed)
    X, t = rng.uniform(-1, 1, size=(n, 1)), np.linspace(0, 1, m)
    smooth = rng.normal(size=(n, 3)) @ np.sin(np.outer([1, 2, 3], 3 * t)) * (0.1 + 0.3 * t)
    return X, np.sin(5 * t + 2 * X) + smooth


X, Y = vectors(30)
QUERIES, TRUE = vectors(25, seed=1)
MODEL = OperatorKernelRegressor("rbf", gamma=0.5, alpha=0.05)


def refits(splits, estimator=MODEL):
    """For each sample left out the model without it."""
    models = {}
    for train, test in splits:
        model = clone(estimator).fit(X[train], Y[train])
        models.update((i, model) for i in test)
    return models


def ends_by_definition(values, level):
    """The k-th smallest of a list, infinite where there are not so many."""
    k = int(np.ceil(level * (len(values) + 1) - 1e-9))
    return sorted(values)[k - 1] if k <= len(values) else np.inf


# ---------------------------------------------------------------- ranks


@pytest.mark.parametrize("level", [0.5, 0.7, 0.8, 0.9, 0.95, 0.99])
def test_number_of_samples_needed(level):
    n = samples_needed(level)
    assert rank(level, n) <= n
    assert rank(level, n - 1) > n - 1


def test_upper_ends_of_columns_with_gaps_and_weights():
    rng = np.random.default_rng(0)
    values, weights, own = rng.normal(size=(3, 12, 4)), rng.uniform(0.2, 3, 12), rng.uniform(0.1, 2, 3)
    values[:, :2, 1] = values[:, 4:, 3] = np.nan  # the last column has too few
    plain, weighted = upper_ends(values.copy(), LEVEL), upper_ends(values.copy(), LEVEL, weights, own)
    for q in range(3):
        for j in range(4):
            seen = np.isfinite(values[q, :, j])
            assert plain[q, j] == ends_by_definition(values[q, seen, j], LEVEL)
            total = weights[seen].sum() + own[q]
            good = [v for v in values[q, seen, j] if weights[seen & (values[q, :, j] <= v)].sum() >= LEVEL * total]
            assert weighted[q, j] == min(good, default=np.inf)
    assert_array_equal(upper_ends(values.copy(), LEVEL, np.ones(12), np.ones(3)), plain)


# ---------------------------------------------------------------- sets by their definition


def test_split_intervals_are_the_prediction_and_a_quantile():
    train, test = np.arange(18), np.arange(18, 30)
    model = ConformalPredictor(MODEL, "split", LEVEL, cv=[(train, test)]).fit(X, Y)
    alone = clone(MODEL).fit(X[train], Y[train])
    assert_allclose(model.predict(QUERIES), alone.predict(QUERIES))
    left = np.abs(Y[test] - alone.predict(X[test]))
    half = [ends_by_definition(column, LEVEL) for column in left.T]
    found = model.predict_interval(QUERIES)
    assert found.shape == (25, 2, 2)
    assert_allclose(found[..., 1], alone.predict(QUERIES) + half)
    assert_allclose(found[..., 0], alone.predict(QUERIES) - half)
    assert model.n_calibration_ == 12


def test_cv_plus_intervals_by_definition():
    splits = list(KFold(5).split(X))
    model = ConformalPredictor(MODEL, "cv+", LEVEL, cv=KFold(5)).fit(X, Y)
    without, found = refits(splits), model.predict_interval(QUERIES)
    left = {i: np.abs(Y[i] - without[i].predict(X[i : i + 1])[0]) for i in range(30)}
    for q, query in enumerate(QUERIES[:4]):
        ends = np.array([[without[i].predict(query[None])[0] + sign * left[i] for i in range(30)] for sign in (-1, 1)])
        for j in range(2):
            assert found[q, j, 1] == pytest.approx(ends_by_definition(ends[1, :, j], LEVEL))
            assert found[q, j, 0] == pytest.approx(-ends_by_definition(-ends[0, :, j], LEVEL))


def test_jackknife_plus_in_closed_form_equals_refits():
    """alpha n is held fixed, so that a refit to n - 1 samples has a slightly larger alpha."""
    found = ConformalPredictor(MODEL, "jackknife+", LEVEL).fit(X, Y)
    larger = clone(MODEL).set_params(alpha=MODEL.alpha * 30 / 29)
    splits = list(KFold(30).split(X))
    expected = ConformalPredictor(larger, "cv+", LEVEL, cv=splits).fit(X, Y)
    assert found.closed_form_ and not expected.closed_form_
    assert_allclose(found.predict_interval(QUERIES), expected.predict_interval(QUERIES), atol=1e-10)
    for score in SCORES:  # scales come from pairs left out, and from leave-one-out residuals of each refit
        one, other = (clone(m).set_params(score=score).fit(X, Y).predict_region(QUERIES) for m in (found, expected))
        assert_allclose(one.upper, other.upper, atol=1e-10)
        assert_array_equal(one.contains(TRUE), other.contains(TRUE))


def test_jackknife_plus_of_any_regressor_refits():
    found = ConformalPredictor(Ridge(), "jackknife+", LEVEL).fit(X, Y)
    expected = ConformalPredictor(Ridge(), "cv+", LEVEL, cv=KFold(30)).fit(X, Y)
    assert not found.closed_form_
    assert_allclose(found.predict_interval(QUERIES), expected.predict_interval(QUERIES))


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("method", METHODS)
def test_regions_by_definition(method, score):
    """Counts of samples with smaller scores, with each model's own scale."""
    model = ConformalPredictor(MODEL, method, LEVEL, score, cv=None if method == "jackknife+" else KFold(4)).fit(X, Y)
    region, left = model.predict_region(QUERIES), model.sets_.calibration.models
    predictions = left.predictions(QUERIES)
    scales = np.ones((1, 2)) if left.scales is None else left.scales
    inside = []
    for q in range(25):
        smaller = 0
        for i, k in zip(left.rows, left.model_index, strict=True):
            own = scales[left.scale_index[k]]
            at = np.flatnonzero(left.rows == i)[0]
            sizes = []
            for residual in (Y[i] - left.out_of_fold[at], TRUE[q] - predictions[q, k]):
                box = np.max(
                    np.abs(residual) / np.diag(np.diag(own)).diagonal() if own.ndim == 2 else np.abs(residual) / own
                )
                sizes.append(np.sqrt(residual @ np.linalg.solve(own, residual)) if own.ndim == 2 else box)
            smaller += sizes[0] < sizes[1]
        inside.append(smaller < LEVEL * (len(left.rows) + 1) - 1e-9)
    assert_array_equal(region.contains(TRUE), inside)
    assert 0 < np.sum(inside) <= 25
    within = ((region.lower <= TRUE) & (region.upper >= TRUE)).all(axis=1)
    assert (within | ~region.contains(TRUE)).all()  # the box holds the set


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("method", METHODS)
def test_boxes_hold_the_whole_set(method, score):
    """Points of a set, drawn at random, are inside its box; just outside the box nothing is in the set."""
    region = ConformalPredictor(MODEL, method, LEVEL, score).fit(X, Y).predict_region(QUERIES)
    rng, sides = np.random.default_rng(0), region.upper - region.lower
    for _ in range(20):
        points = region.lower + sides * rng.uniform(-0.3, 1.3, size=sides.shape)
        within = ((region.lower <= points) & (region.upper >= points)).all(axis=1)
        found = region.contains(points)
        assert (within | ~found).all()
        if method == "split" and score != "mahalanobis":
            assert_array_equal(found, within)  # the set is the box


# ---------------------------------------------------------------- scores


def test_scales_by_definition():
    residuals, weights = np.random.default_rng(0).normal(size=(40, 3)) * [1, 2, 3], np.ones(40)
    residuals[::5, 1] = np.nan
    learn = {name: scores.ScaledMaximum(name).learn(residuals, weights, LEVEL) for name in SCORES[:4]}
    assert_allclose(learn["constant"], 1)
    assert_allclose(learn["scale"], np.sqrt(np.nanmean(residuals**2, axis=0)))
    assert_allclose(learn["robust"], 1.4826 * np.nanmedian(np.abs(residuals), axis=0))
    largest = np.nanmax(np.abs(residuals), axis=1)
    kept = residuals[largest <= np.quantile(largest, 0.9, method="averaged_inverted_cdf")]  # whatever the level is
    assert_allclose(learn["trimmed"], np.nanmax(np.abs(kept), axis=0))


def test_mahalanobis_of_gaps_is_the_shadow():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3))
    S, score = root @ root.T, scores.Mahalanobis()
    r = np.array([0.5, np.nan, -1.0])
    others = np.linspace(-20, 20, 40001)
    whole = score.sizes(np.c_[np.full_like(others, r[0]), others, np.full_like(others, r[2])][:, None], S[None])
    assert score.sizes(r[None, None], S[None])[0, 0] == pytest.approx(whole.min(), rel=1e-5)


def test_scale_of_outputs_without_residuals():
    residuals = np.zeros((10, 2))
    assert_allclose(scores.ScaledMaximum("scale").learn(residuals, np.ones(10), LEVEL), 1)
    residuals[:, 0] = 3
    assert_allclose(scores.ScaledMaximum("scale").learn(residuals, np.ones(10), LEVEL), 3)
    assert np.isfinite(np.linalg.cholesky(scores.Mahalanobis().learn(residuals, np.ones(10), LEVEL))).all()


def test_robust_models_have_robust_scales():
    T = Y.copy()
    T[:2] += 100
    huber = ConformalPredictor(
        MODEL.set_params(loss="squared"), "cv+", LEVEL, cv=KFold(3, shuffle=True, random_state=0)
    )
    huber = clone(huber).set_params(estimator__loss="huber").fit(X, T)
    assert huber.sets_.calibration.models.scales.max() < 5
    squared = clone(huber).set_params(estimator__loss="squared").fit(X, T)
    assert squared.sets_.calibration.models.scales.max() > 10


def test_models_through_every_sample_have_scales_in_the_units_of_the_outputs():
    nearest = KNeighborsRegressor(1)
    one, other = (ConformalPredictor(nearest, "cv+", LEVEL, cv=KFold(5)).fit(X, Y * units) for units in (1, [1, 1000]))
    assert_allclose(one.predict_region(QUERIES).upper * [1, 1000], other.predict_region(QUERIES).upper)


# ---------------------------------------------------------------- volumes


@pytest.mark.parametrize("method", ["cv+", "split"])
def test_volume_of_ellipsoids_by_points(method):
    model = ConformalPredictor(MODEL, method, LEVEL, "mahalanobis", random_state=0).fit(X, Y)
    region = model.predict_region(np.repeat(QUERIES[:1], 5000, axis=0))
    sides = region.upper - region.lower
    hits = region.contains(region.lower + sides * np.random.default_rng(0).uniform(size=sides.shape))
    one = model.predict_region(QUERIES[:1])
    assert isinstance(one, Ellipsoid)
    assert_allclose(one.volume(), hits.mean() * sides[0].prod(), rtol=0.1)


def test_volume_of_boxes():
    region = ConformalPredictor(MODEL, level=LEVEL).fit(X, Y).predict_region(QUERIES)
    assert isinstance(region, Box) and len(region) == 25
    assert_allclose(region.volume(), (region.upper - region.lower).prod(axis=1))


# ---------------------------------------------------------------- functions


@pytest.mark.parametrize("modulation", ["auto", "constant", "scale", "robust", "trimmed"])
@pytest.mark.parametrize("method", METHODS)
def test_bands_hold_whole_curves(method, modulation):
    X, Y = curves(60)
    Xt, Yt = curves(200, seed=1)
    model = ConformalPredictor(
        FunctionalRegressor("rbf", gamma=1.0, alpha=1e-3), method, score=modulation, random_state=0
    )
    band = model.fit(X, Y).predict_band(Xt)
    assert isinstance(band, Band) and band.lower.shape == Yt.shape == band.width.shape
    assert 0.8 < band.contains(Yt).mean() <= 1
    within = ((band.lower <= Yt) & (band.upper >= Yt)).all(axis=1)
    assert (within | ~band.contains(Yt)).all()
    assert_allclose(band.mean_width(), band.width.mean(axis=1))
    if modulation == "scale":  # residuals grow along the curve
        assert (band.width[:, -1] > 1.5 * band.width[:, 0]).all()


def test_images_keep_their_shape():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=(30, 4, 5))
    band = ConformalPredictor(
        FunctionalRegressor("rbf", gamma=1.0, alpha=0.1, grid=(np.arange(4), np.arange(5.0))), level=0.8
    )
    band.fit(X, y)
    assert band.predict_band(X[:3]).upper.shape == (3, 4, 5)
    assert band.predict_interval(X[:3]).shape == (3, 4, 5, 2)


# ---------------------------------------------------------------- the estimator


def test_auto_is_the_closed_form_where_there_is_one():
    model = ConformalPredictor(MODEL).fit(X, Y)
    assert (model.method_, model.closed_form_) == ("jackknife+", True)
    model = ConformalPredictor(MODEL, cv=5).fit(X, Y)
    assert (model.method_, model.closed_form_, model.sets_.calibration.models.n_models) == ("cv+", False, 5)
    model = ConformalPredictor(LinearRegression()).fit(X, Y)
    assert (model.method_, model.closed_form_, model.sets_.calibration.models.n_models) == ("cv+", False, 10)
    assert ConformalPredictor().fit(X, Y).method_ == "jackknife+"


def test_one_output_as_a_row():
    model = ConformalPredictor(MODEL, level=LEVEL).fit(X, Y[:, 0])
    column = ConformalPredictor(MODEL, level=LEVEL).fit(X, Y[:, :1])
    assert model.predict(QUERIES).shape == (25,)
    assert model.predict_interval(QUERIES).shape == (25, 2)
    assert_allclose(model.predict_interval(QUERIES), column.predict_interval(QUERIES)[:, 0])
    assert model.predict_region(QUERIES).upper.shape == (25,)
    assert model.predict_region(QUERIES).contains(TRUE[:, 0]).shape == (25,)


def test_blocks_of_queries_change_nothing():
    import sklearn

    model = ConformalPredictor(MODEL, level=LEVEL).fit(X, Y)
    whole = model.predict_region(QUERIES)
    with sklearn.config_context(working_memory=0.02):
        blocks = model.predict_region(QUERIES)
        inside = blocks.contains(TRUE)
    assert_allclose(whole.upper, blocks.upper, atol=1e-12)
    assert_array_equal(whole.contains(TRUE), inside)


def test_pickles_and_clones():
    model = ConformalPredictor(MODEL, "split", LEVEL, scores.ScaledMaximum("robust"), random_state=0)
    again = clone(model)
    assert again.get_params()["score__modulation"] == "robust"
    for one in (model, clone(model).set_params(method="jackknife+"), clone(model).set_params(method="cv+")):
        one.fit(X, Y)
        back = pickle.loads(pickle.dumps(one))
        assert_allclose(back.predict_interval(QUERIES), one.predict_interval(QUERIES))
        assert_array_equal(back.predict_region(QUERIES).contains(TRUE), one.predict_region(QUERIES).contains(TRUE))


def test_coverage_of_many_draws():
    """Marginal coverage over draws of samples and queries together; tests/test_coverage.py has more."""
    covered = {method: [] for method in METHODS}
    for seed in range(40):
        Xs, Ys = vectors(50, seed=seed)
        Xt, Yt = vectors(20, seed=1000 + seed)
        for method, found in covered.items():
            model = ConformalPredictor(MODEL, method, random_state=seed).fit(Xs, Ys)
            found.append(model.predict_region(Xt).contains(Yt).mean())
    for method, found in covered.items():
        assert 0.87 < np.mean(found) < 0.97, (method, np.mean(found))
