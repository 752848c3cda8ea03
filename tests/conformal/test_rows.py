"""Intervals and regions: limits, units, order, outputs that few samples have."""

import itertools
import warnings

import numpy as np
import pytest
from helpers.conformal_samples import machine, noisy
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hilbertlearn import (
    ConformalPredictor,
    FunctionalRegressor,
    IrregularFunctions,
    OperatorKernelRegressor,
    QuantileRegressor,
    RegularizationPathCV,
    kernels,
    spaces,
)
from hilbertlearn.conformal import rows


@pytest.mark.parametrize("n", [60, 230])
@pytest.mark.parametrize("score", ["auto", "trimmed", "mahalanobis"])
@pytest.mark.parametrize("outputs", ["numbers", "labels", "gaps", "copies"])
def test_regions_in_closed_form_do_not_depend_on_the_order_of_samples(n, score, outputs):
    X, Y, new = noisy(n)
    if outputs == "labels":  # many samples of equal outputs
        Y = np.round(Y)
    elif outputs == "gaps":
        Y[::7, 0] = Y[3::5, 1] = np.nan
    elif outputs == "copies":
        X, Y = X[np.arange(n) // 3], Y[np.arange(n) // 3]
    order = np.random.default_rng(1).permutation(n)
    model = ConformalPredictor(machine(), "jackknife+", score=score)
    expected, found = (model.fit(X[rows], Y[rows]).predict_region(new) for rows in (np.arange(n), order))
    assert_allclose(found.upper, expected.upper, rtol=1e-8)
    assert_allclose(found.lower, expected.lower, rtol=1e-8)


def test_samples_that_are_all_the_same_have_a_region():
    X, Y = np.zeros((210, 1)), np.ones((210, 2))
    model = ConformalPredictor(machine(), "jackknife+").fit(X, Y)
    assert model.predict_region(X[:1]).contains(Y[:1]).all()


SCORES = ["auto", "robust", "trimmed", "mahalanobis", "novelty"]
QUANTILES = QuantileRegressor((0.1, 0.9), kernel="rbf", gamma=1.0, alpha=1e-3)
IN_UNITS = [
    *itertools.product([machine()], ["jackknife+", "split"], SCORES),
    *itertools.product([machine(loss="huber")], ["split"], SCORES),
    *itertools.product([Ridge()], ["split"], SCORES[:-1]),
    (Ridge(), "cv+", "auto"),
    (QUANTILES, "split", "auto"),
]


@pytest.mark.parametrize(("estimator", "method", "score"), IN_UNITS)
def test_regions_have_the_units_of_each_output(estimator, method, score):
    X, Y, new = noisy(40)
    model = ConformalPredictor(estimator, method, level=0.8, score=score, random_state=0)
    expected = model.fit(X, Y).predict_region(new)
    inside = expected.contains(expected.upper - 0.3 * (expected.upper - expected.lower))
    for factor in (1e-12, 1e-5, 1e12):
        units = np.array([1.0, factor])
        found = model.fit(X, Y * units).predict_region(new)
        assert_allclose((found.upper - found.lower) / units, expected.upper - expected.lower, rtol=1e-6)
        assert_array_equal(found.contains(found.upper - 0.3 * (found.upper - found.lower)), inside)


def test_an_output_that_is_constant_has_its_units_too():
    X, Y, new = noisy(40)
    model = ConformalPredictor(machine(), "jackknife+", level=0.8)
    widths = []
    for factor in (1.0, 1e-12, 1e12):
        region = model.fit(X, np.c_[Y, np.full(len(Y), 5.3 * factor)]).predict_region(new)
        widths.append((region.upper - region.lower) / [1.0, 1.0, factor])
    assert_allclose(widths[1:], np.broadcast_to(widths[0], (2, *widths[0].shape)), rtol=1e-2)
    assert_allclose(widths[0][:, :2], np.subtract(*ends(model.fit(X, Y).predict_region(new))), rtol=1e-9)


def ends(region):
    return region.upper, region.lower


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(
    ("loss", "method"), [("squared", "jackknife+"), ("squared", "cv+"), ("squared", "split"), ("huber", "split")]
)
def test_regions_of_a_higher_level_contain_those_of_a_lower(loss, method, score):
    X, Y, new = noisy(40)
    regions = [
        ConformalPredictor(machine(loss=loss), method, level=level, score=score, random_state=0).fit(X, Y)
        for level in (0.5, 0.8, 0.9)
    ]
    regions = [model.predict_region(new) for model in regions]
    inner = (-0.05, 0.02, 0.3, 0.99)
    for small, large in itertools.pairwise(regions):
        assert (large.lower <= small.lower).all()
        assert (large.upper >= small.upper).all()
        for share in itertools.product(inner, inner):
            y = small.lower + np.array(share) * (small.upper - small.lower)
            assert (large.contains(y) >= small.contains(y)).all()


@pytest.mark.parametrize("score", ["auto", "constant", "mahalanobis"])
@pytest.mark.parametrize("method", ["jackknife+", "cv+", "split"])
def test_a_rarely_observed_output_is_unrestricted_in_regions_as_in_intervals(method, score):
    X, Y, new = noisy(60, d=3)
    plain = ConformalPredictor(machine(), method, score=score, random_state=0)
    without = plain.fit(X, Y[:, :2]).predict_region(new)
    Y[5:, 2] = np.nan
    with pytest.warns(UserWarning, match="too few samples"):
        region = plain.fit(X, Y).predict_region(new)
        intervals = plain.predict_interval(new)
    assert np.isinf(intervals[:, 2]).all()
    assert np.isinf([region.lower[:, 2], region.upper[:, 2]]).all()
    if score != "mahalanobis":  # whose shrinkage depends on the number of outputs
        assert_allclose(region.upper[:, :2], without.upper, rtol=1e-9)
    assert np.isinf(region.volume()).all()
    y = np.c_[plain.predict(new)[:, :2], np.full(len(new), 1e9)]
    assert region.contains(y).all()
    assert not region.contains(y + np.array([0, 1e9, 0])).any()


@pytest.mark.parametrize("score", ["auto", "mahalanobis"])
def test_regions_are_the_whole_space_where_all_outputs_are_rarely_observed(score):
    X, Y, new = noisy(60, d=3)
    Y[np.arange(60)[:, None] % 3 != [0, 1, 2]] = np.nan  # twenty of each, and level 0.96 asks for 24
    model = ConformalPredictor(machine(), "jackknife+", level=0.96, score=score).fit(X, Y)
    with pytest.warns(UserWarning, match="too few samples"):
        region = model.predict_region(new)
    assert np.isinf([region.lower, region.upper]).all()
    assert region.contains(np.full((len(new), 3), 1e9)).all()
    assert dict(model.summary_items())["calibration coverage"] == 1.0


def test_rarely_observed_points_of_functions_are_unrestricted():
    rng, n = np.random.default_rng(0), 40
    X = rng.uniform(size=(n, 1))
    points = [np.linspace(0, 1 if i < 4 else 0.5, 6) for i in range(n)]
    values = [np.sin(6 * (at + x)) + 0.1 * rng.normal(size=6) for at, x in zip(points, X[:, 0], strict=True)]
    regressor = FunctionalRegressor("rbf", gamma=10.0, alpha=1e-2, space=spaces.Fourier(3), grid=np.linspace(0, 1, 11))
    model = ConformalPredictor(regressor, "jackknife+").fit(X, IrregularFunctions(points, values, domain=(0, 1)))
    with pytest.warns(UserWarning, match="too few samples"):
        intervals, band = model.predict_interval([[0.4]]), model.predict_band([[0.4]])
    free = np.isinf(intervals[0, :, 1])
    assert free.tolist() == [False] * 6 + [True] * 5
    assert_array_equal(np.isinf(np.ravel(band.width)), free)
    assert_array_equal(np.isnan(np.ravel(band.upper.values)), free)  # containers have no infinite values
    middle = np.ravel(model.predict([[0.4]]).values)
    for at, inside in ((0.9, True), (0.3, False)):
        y = IrregularFunctions([np.array([0.2, at])], [np.array([middle[2], 1e9])], domain=(0, 1))
        assert band.contains(y).tolist() == [inside]


rng = np.random.default_rng(0)
N = 60
X = rng.normal(size=(N, 2))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 0] * X[:, 1]]) + 0.1 * rng.normal(size=(N, 2))
NEW = rng.normal(size=(8, 2))
MODEL = OperatorKernelRegressor("rbf", gamma=0.3, alpha=1e-3)
METHODS = pytest.mark.parametrize("method", ["split", "cv+", "jackknife+"])


def intervals(method="jackknife+", model=MODEL, X=X, y=Y, **settings):
    return ConformalPredictor(model, method, random_state=0, **settings).fit(X, y).predict_interval(NEW)


@METHODS
def test_a_higher_level_has_no_narrower_intervals(method):
    low, high = (intervals(method, level=level) for level in (0.5, 0.9))
    assert (high[..., 0] <= low[..., 0]).all() and (high[..., 1] >= low[..., 1]).all()


@METHODS
def test_an_infinite_penalty_leaves_the_constant(method):
    found = intervals(method, MODEL.__class__("rbf", gamma=0.3, alpha=1e12))
    assert_allclose(found, np.broadcast_to(found[:1], found.shape), atol=1e-6)
    near = intervals(method, MODEL.__class__("rbf", gamma=0.3, alpha=1e9))
    assert_allclose(found, near, atol=1e-5)


@METHODS
def test_one_output_rescaled_rescales_its_intervals(method):
    scale = np.array([1000.0, 1.0])
    assert_allclose(intervals(method, y=Y * scale), intervals(method) * scale[:, None], rtol=1e-8)


def test_one_missing_value_changes_the_other_output_not_at_all():
    gap = Y.copy()
    gap[5, 1] = np.nan
    found, whole = intervals(y=gap), intervals()
    assert_allclose(found[:, 0], whole[:, 0], atol=1e-9)
    assert np.abs(found[:, 1] - whole[:, 1]).max() < Y[:, 1].std()


@METHODS
def test_settings_changed_and_a_refit_that_fails_leave_intervals_alone(method):
    model = ConformalPredictor(MODEL, method, random_state=0).fit(X, Y)
    before = model.predict_interval(NEW)
    model.set_params(level=0.5, score="constant", estimator__alpha=7.0)
    try:
        assert_array_equal(model.predict_interval(NEW), before)
        for bad in (Y[:-1], np.full_like(Y, np.nan)):
            with pytest.raises(ValueError):
                model.fit(X, bad)
        assert_array_equal(model.predict_interval(NEW), before)
    finally:
        MODEL.set_params(alpha=1e-3)


def test_a_repeated_sample_is_left_out_once_at_a_time():
    """Two copies hold each other's places: both are nearly on their prediction, and intervals get no wider."""
    found = intervals(X=np.vstack([X, X]), y=np.vstack([Y, Y]))
    assert np.isfinite(found).all()
    assert (np.diff(found)[..., 0].mean(axis=0) <= np.diff(intervals())[..., 0].mean(axis=0)).all()


@METHODS
def test_objects_that_look_like_numbers_reach_the_kernel_as_they_are(method):
    pairs, new = ([(float(a), float(b)) for a, b in rows] for rows in (X, NEW))

    def alike(one, other):
        assert isinstance(one, tuple) and isinstance(other, tuple)
        return np.exp(-0.3 * ((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2))

    model = ConformalPredictor(
        OperatorKernelRegressor(kernels.PairwiseKernel(alike), alpha=1e-3), method, random_state=0
    )
    assert_allclose(model.fit(pairs, Y).predict_interval(new), intervals(method), atol=1e-7)


# ---------------------------------------------------------------- novelty

GRID = np.linspace(0, 1, 8)


def with_hole(n=60, seed=0):
    """Inputs on [0, 1] and [2, 3], and outputs."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, size=(n, 1)) + 2.0 * (np.arange(n)[:, None] % 2)
    return X, np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=n)


@pytest.mark.filterwarnings("ignore:.*far from all samples")
def test_split_intervals_by_novelty_are_a_quantile_of_relative_residuals():
    """By definition, with posterior variances from a dense solve."""
    X, y = with_hole(61)
    train, rest, new = np.arange(40), np.arange(40, 61), np.array([[0.5], [1.5], [3.4]])
    model = OperatorKernelRegressor("rbf", gamma=4.0, alpha=1e-3)
    conformal = ConformalPredictor(model, "split", 0.8, "novelty", cv=[(train, rest)]).fit(X, y)
    inverse = np.linalg.inv(rbf_kernel(X[train], gamma=4.0) + 0.04 * np.eye(40))

    def spreads(Z):
        G = rbf_kernel(Z, X[train], gamma=4.0)
        return np.sqrt(0.04 + 1 - np.einsum("ij,jk,ik->i", G, inverse, G))

    fitted = model.fit(X[train], y[train])
    relative = np.sort(np.abs(y[rest] - fitted.predict(X[rest])) / spreads(X[rest]))
    half_widths = relative[int(np.ceil(0.8 * 22)) - 1] * spreads(new)
    expected = np.stack([fitted.predict(new) - half_widths, fitted.predict(new) + half_widths], axis=-1)
    assert_allclose(conformal.predict_interval(new), expected, rtol=1e-9)
    assert half_widths[1] > 2 * half_widths[0]


@pytest.mark.filterwarnings("ignore:.*far from all samples")
@pytest.mark.parametrize("method", ["jackknife+", "cv+", "split"])
@pytest.mark.parametrize(
    "estimator",
    [
        machine(),
        machine(feature_map=20),
        machine(loss="huber"),
        make_pipeline(StandardScaler(), machine()),
        RegularizationPathCV(machine(), [1e-3, 1e-2]),
    ],
    ids=["machine", "landmarks", "huber", "pipeline", "path"],
)
def test_intervals_by_novelty_are_wider_between_and_beyond_the_samples(method, estimator):
    X, y = with_hole()
    model = ConformalPredictor(estimator, method, 0.8, "novelty", random_state=0, cv=CV[method]).fit(X, y)
    inside, hole, beyond, far = np.diff(model.predict_interval([[0.5], [1.5], [4.0], [1e6]]))[:, 0]
    assert inside < min(hole, beyond)
    assert beyond < far * (1 + 1e-9)
    region = model.predict_region([[0.5], [1.5]])
    assert_allclose(np.ravel(region.upper - region.lower), [inside, hole], rtol=1e-6)  # of one output
    assert region.contains(region.lower + 0.5 * (region.upper - region.lower)).all()


CV = {"jackknife+": None, "cv+": 5, "split": None}


@pytest.mark.filterwarnings("ignore:.*far from all samples")
@pytest.mark.parametrize("irregular", [False, True])
@pytest.mark.parametrize("method", ["jackknife+", "cv+", "split"])
def test_bands_by_novelty(method, irregular):
    X, y = with_hole()
    curves = y[:, None] + GRID
    outputs = IrregularFunctions([GRID] * len(y), list(curves), (0.0, 1.0)) if irregular else curves
    regressor = FunctionalRegressor("rbf", gamma=4.0, alpha=1e-3, grid=GRID)
    model = ConformalPredictor(regressor, method, 0.8, "novelty", random_state=0, cv=CV[method]).fit(X, outputs)
    assert model.sets_.calibration.coverage >= 0.8
    band = model.predict_band([[0.5], [1.5]])
    assert band.mean_width()[1] > 1.2 * band.mean_width()[0]
    finer = model.predict_band([[0.5], [1.5]], grid=np.linspace(0, 1, 15))
    assert_allclose(finer.mean_width(), band.mean_width(), rtol=1e-2)
    assert band.contains(model.predict([[0.5], [1.5]])).all()


def test_weights_in_other_units_change_no_spread():
    X, y = with_hole()
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    model = ConformalPredictor(machine(), "jackknife+", 0.8, "novelty")
    new = np.linspace(0, 1, 5)[:, None]
    one, other = (model.fit(X, y, factor * weights).predict_interval(new) for factor in (1.0, 64.0))
    assert_allclose(one, other, rtol=1e-9)


def test_predictions_say_how_many_queries_are_far_from_the_samples():
    X, y = with_hole()
    model = ConformalPredictor(machine(), "jackknife+", 0.8).fit(X, y)
    queries = np.r_[X[:17], [[-9.0], [30.0], [1e6]]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_interval(with_hole(200, seed=1)[0])  # of the same law
        model.predict_region(X)
        ConformalPredictor(Ridge(), "split", 0.8, random_state=0).fit(X, y).predict_interval(queries)
    for method in (model.predict_interval, model.predict_region, model.predict_band):
        with pytest.warns(UserWarning, match="3 of 20 rows of X are far from all samples.*novelty above 0.[5-9]"):
            method(queries)
    threshold = model.estimator_.machine_.posterior().threshold
    assert (model.estimator_.novelty(queries) > threshold).sum() == 3


@pytest.mark.parametrize("method", ["cv+", "split"])
def test_kernel_values_have_no_novelty_and_no_warning(method):
    X, y = with_hole()
    G, queries = rbf_kernel(X), rbf_kernel([[0.5], [1e6]], X)
    own = ConformalPredictor(OperatorKernelRegressor("precomputed", alpha=1e-3), method, 0.8, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own.fit(G, y).predict_interval(queries)
    with pytest.raises(ValueError, match=r"k\(x, x\) of new inputs"):
        own.set_params(score="novelty").fit(G, y)


def test_large_models_are_not_factored_for_a_warning(monkeypatch):
    X, y = with_hole()
    monkeypatch.setattr(rows, "_WARNS_UP_TO", 50)
    model = ConformalPredictor(machine(), "cv+", 0.8, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        interval = model.predict_interval([[1e6]])
    assert np.isfinite(interval).all()


@pytest.mark.parametrize(
    ("estimator", "match"),
    [
        (Ridge(), "requires a kernel machine, perhaps in a pipeline, got Ridge; set score='auto'"),
        (make_pipeline(StandardScaler(), Ridge()), "got Ridge"),
        (FunctionalRegressor(regressor=Ridge()), "Ridge has no kernel"),
        (QUANTILES, "predicts quantiles"),
    ],
    ids=["ridge", "pipeline", "regressor", "quantiles"],
)
def test_estimators_without_novelty_are_refused(estimator, match):
    X, y = with_hole()
    outputs = y[:, None] + GRID if isinstance(estimator, FunctionalRegressor) else y
    with pytest.raises(ValueError, match=match):
        ConformalPredictor(estimator, "split", 0.8, "novelty", random_state=0).fit(X, outputs)


def test_coverage_by_novelty():
    """Shares over draws of samples and queries; inputs have a heavy tail, so that spreads differ."""
    shares = {"split": [], "jackknife+": []}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.exponential(size=(70, 1)) ** 2
        y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=70)
        for method, inside in shares.items():
            model = ConformalPredictor(machine(), method, 0.8, "novelty", random_state=seed).fit(X[:50], y[:50])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                lower, upper = model.predict_interval(X[50:]).T
            inside.append(np.mean((lower <= y[50:]) & (y[50:] <= upper)))
    for inside in shares.values():  # the standard error of the mean is about 0.012
        assert 0.77 < np.mean(inside) < 0.88
