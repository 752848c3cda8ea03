"""Joint quantiles: the optimum of Clarabel, limits, order, gaps, weights, curves, the interface of scikit-learn."""

import pickle
import time
import warnings

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import QuantileRegressor as LinearQuantiles
from sklearn.metrics import d2_pinball_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from hilbertlearn import ConformalPredictor, QuantileRegressor, RegularizationPathCV, load, save
from hilbertlearn.metrics import pinball_loss
from hilbertlearn.operators import Integral

LEVELS = (0.1, 0.5, 0.8)
GAMMA, ALPHA = 8.0, 3e-3
GIVEN = {"kernel": "rbf", "gamma": GAMMA, "alpha": ALPHA, "scale": False, "tol": 1e-9, "center": True}


def data(n=40, d=2, seed=0, gaps=False):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 1))
    Y = np.sin(6 * X + np.arange(d)) + (0.1 + X) * rng.normal(size=(n, d))
    if gaps:
        Y[rng.random(Y.shape) < 0.25] = np.nan
    return X, Y


def coupled(coupling, levels=LEVELS):
    return np.exp(-coupling * np.subtract.outer(levels, levels) ** 2)


def objective(model, X, Y, weights=None, M=None, measure=None, levels=LEVELS):
    """The primal objective of a fitted model, from its public attributes alone."""
    weights = np.ones(len(X)) if weights is None else weights
    rows, L = np.atleast_2d(Y.T).T, len(levels)
    measure = np.ones(rows.shape[1]) if measure is None else measure
    C, M = model.dual_coef_, np.asarray(M)
    K = rbf_kernel(model.X_fit_, model.X_fit_, gamma=GAMMA)
    norm = np.sum(C * (K @ C @ M))
    q = (rbf_kernel(X, model.X_fit_, gamma=GAMMA) @ C @ M + model.center_).reshape(len(X), -1, L)
    r = rows[:, :, None] - q / np.sqrt(measure)[:, None]
    loss = np.nan_to_num(np.maximum(np.array(levels) * r, (np.array(levels) - 1) * r))
    return np.einsum("i,ijl,j->", weights, loss, measure) / weights.sum() + ALPHA / 2 * norm


def clarabel(X, Y, center, weights=None, M=None, measure=None, points=None, levels=LEVELS):
    """The optimum of the problem in the values of h, with quantiles in order at X and points where these are given."""
    n, L = len(X), len(levels)
    rows = np.atleast_2d(Y.T).T
    d = rows.shape[1]
    weights = np.ones(n) if weights is None else weights
    measure = np.ones(d) if measure is None else measure
    every = X if points is None else np.vstack([X, points])
    K = rbf_kernel(every, gamma=GAMMA)
    values, vectors = np.linalg.eigh(np.kron(K, np.asarray(M)))
    kept = values > 1e-12 * values[-1]
    root = vectors[:, kept] * np.sqrt(values[kept])
    beta = cp.Variable(root.shape[1])
    q = cp.reshape(root @ beta, (len(every), d * L), order="C") + np.tile(center, (len(every), 1))
    losses = []
    for j in range(d):
        seen = np.isfinite(rows[:, j])
        for k, tau in enumerate(levels):
            r = rows[seen, j] - q[:n][seen, j * L + k] / np.sqrt(measure[j])
            losses.append(measure[j] * (weights[seen] @ cp.maximum(tau * r, (tau - 1) * r)))
    ordered = []
    if points is not None:
        ordered = [q[:, j * L + k + 1] >= q[:, j * L + k] for j in range(d) for k in range(L - 1)]
    problem = cp.Problem(cp.Minimize(sum(losses) / weights.sum() + ALPHA / 2 * cp.sum_squares(beta)), ordered)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return problem.value


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("ordered", [False, True], ids=["free", "ordered"])
def test_optimum_is_that_of_clarabel(ordered, weighted, gaps):
    X, Y = data(n=25, gaps=gaps)
    weights = np.random.default_rng(1).uniform(0.2, 2.0, len(X)) if weighted else None
    operator = np.array([[1.0, 0.4], [0.4, 0.8]])
    points = np.linspace(-0.1, 1.1, 15)[:, None]
    settings = {"operator": operator, "coupling": 30.0, "non_crossing": ordered, "points": points, **GIVEN}
    model = QuantileRegressor(LEVELS, **settings).fit(X, Y, weights)
    M = np.kron(operator, coupled(30.0))
    best = clarabel(X, Y, model.center_, weights, M, None, points if ordered else None)
    assert model.dual_gap_ <= 1e-9
    assert objective(model, X, Y, weights, M) == pytest.approx(best, rel=1e-7)
    if ordered:
        free = clarabel(X, Y, model.center_, weights, M)
        assert free < best * (1 - 1e-6)  # the constraint is active
        held = np.vstack([X, points])
        assert np.diff(model.predict(held), axis=2).min() >= -1e-9
        assert (
            np.diff(
                QuantileRegressor(LEVELS, **{**settings, "non_crossing": False}).fit(X, Y, weights).predict(held)
            ).min()
            < 0
        )


def test_curves_are_those_of_clarabel():
    rng = np.random.default_rng(0)
    X, grid = rng.uniform(size=(12, 1)), np.linspace(0, 1, 5) ** 1.5
    Y = np.sin(6 * (X + grid)) + 0.3 * rng.normal(size=(12, 5))
    Y[rng.random(Y.shape) < 0.2] = np.nan
    settings = {"operator": Integral("rbf", 20.0), "coupling": 5.0, "grid": grid, **GIVEN}
    for ordered in (False, True):
        model = QuantileRegressor(LEVELS, non_crossing=ordered, points=None, **settings).fit(X, Y)
        space = model.space_.base
        measure = space.measure
        M = np.kron(np.asarray(space.axes[0].integral(Integral("rbf", 20.0).gram)), coupled(5.0))
        best = clarabel(X, Y, model.center_, None, M, measure, np.empty((0, 1)) if ordered else None)
        assert objective(model, X, Y, None, M, measure) == pytest.approx(best, rel=1e-7)
        assert model.predict(X).shape == (12, 5, 3)


def test_uncoupled_levels_are_separate_models():
    X, Y = data(d=1)
    y = Y[:, 0]
    given = {**GIVEN, "non_crossing": False}
    joint = QuantileRegressor(LEVELS, coupling=np.inf, **given).fit(X, y).predict(X)
    large = QuantileRegressor(LEVELS, coupling=1e6, **given).fit(X, y).predict(X)
    for k, tau in enumerate(LEVELS):
        alone = QuantileRegressor(tau, **given).fit(X, y)
        assert alone.predict(X).shape == y.shape
        assert_allclose(joint[:, k], alone.predict(X), atol=1e-4)
        assert_allclose(large[:, k], alone.predict(X), atol=1e-3)


def test_without_coupling_levels_differ_by_constants():
    X, Y = data(d=1)
    model = QuantileRegressor(LEVELS, coupling=0.0, non_crossing=False, **GIVEN).fit(X, Y[:, 0])
    differences = np.diff(model.predict(X), axis=1)
    assert_allclose(differences, np.broadcast_to(differences[0], differences.shape), atol=1e-9)
    assert_allclose(differences[0], np.diff(np.quantile(Y[:, 0], LEVELS)), atol=0.2)


def test_repeated_samples_are_weights():
    X, Y = data(n=30, d=1)
    counts = np.random.default_rng(0).integers(1, 4, 30)
    given = {**GIVEN, "coupling": 3.0}
    for ordered in (False, True):
        weighted = QuantileRegressor(LEVELS, non_crossing=ordered, **given).fit(X, Y[:, 0], counts)
        repeated = QuantileRegressor(LEVELS, non_crossing=ordered, **given)
        repeated.fit(np.repeat(X, counts, axis=0), np.repeat(Y[:, 0], counts))
        assert_allclose(weighted.predict(X), repeated.predict(X), atol=2e-4)


def test_one_value_missing_is_one_sample_less():
    X, Y = data(n=30, d=1)
    y = Y[:, 0].copy()
    y[7] = np.nan
    given = {**GIVEN, "coupling": 3.0, "non_crossing": False}
    model = QuantileRegressor(LEVELS, **given).fit(X, y)
    rest = QuantileRegressor(LEVELS, **given).fit(np.delete(X, 7, axis=0), np.delete(y, 7))
    assert_allclose(model.predict(X), rest.predict(X), atol=1e-4)


def test_much_penalty_leaves_the_quantiles_of_y():
    X, Y = data(n=41, d=1)
    model = QuantileRegressor((0.25, 0.75), kernel="rbf", alpha=1e6, scale=False).fit(X, Y[:, 0])
    assert_allclose(model.predict(X[:1])[0], np.quantile(Y[:, 0], (0.25, 0.75), method="inverted_cdf"), atol=1e-4)


def test_outputs_by_themselves_are_models_of_one_output():
    X, Y = data(n=40, gaps=True)
    settings = {"kernel": "rbf", "gamma": GAMMA, "alpha": ALPHA, "coupling": 3.0}
    both = QuantileRegressor(LEVELS, **settings).fit(X, Y)
    assert both.predict(X).shape == (40, 2, 3) and both.dual_gap_ <= 1e-6
    for j in range(2):
        alone = QuantileRegressor(LEVELS, **settings).fit(X, Y[:, j])
        assert_allclose(both.predict(X)[:, j], alone.predict(X), atol=1e-8)


def test_choices_are_made():
    X, Y = data(n=40, d=1)
    model = QuantileRegressor((0.2, 0.8), kernel="rbf", gamma=5.0).fit(X, Y[:, 0])
    assert model.coupling_ in (0.0, 0.1, 1.0, 10.0, np.inf) and model.dual_gap_ <= 1e-6
    folds = model.search_results_["method"] == "folds"
    assert model.search_results_["error"][folds].min() == pytest.approx(
        model.search_results_["error"][folds][model.search_results_["alpha"][folds] == model.alpha_].min(), rel=1e-3
    )


def test_calibration_adds_offsets_to_the_certified_optimum(tmp_path):
    X, Y = data(n=40, d=1)
    settings = {**GIVEN, "scale": True, "coupling": 3.0, "non_crossing": False}
    plain = QuantileRegressor(LEVELS, **settings).fit(X, Y[:, 0])
    model = QuantileRegressor(LEVELS, calibrate=True, **settings).fit(X, Y[:, 0])
    assert plain.offsets_ is None and model.offsets_.shape == (3,)
    assert_allclose(model.predict(X), plain.predict(X) + model.offsets_, atol=1e-10)
    assert model.dual_gap_ == plain.dual_gap_
    assert_array_equal(model.saturated_, plain.saturated_)
    assert "calibrated" in model.summary() and "calibrated" not in plain.summary()
    save(model, tmp_path / "model.hl")
    for restored in (pickle.loads(pickle.dumps(model)), load(tmp_path / "model.hl")):
        assert_array_equal(restored.predict(X), model.predict(X))
        assert_array_equal(restored.offsets_, model.offsets_)


def test_defaults_are_calibrated_where_alpha_is_selected():
    X, Y = data(n=60, d=2)
    Y[:7, 1] = np.nan
    both = QuantileRegressor(LEVELS, kernel="rbf", gamma=5.0, coupling=1.0).fit(X, Y)
    assert both.offsets_.shape == (2, 3)
    alone = QuantileRegressor(LEVELS, kernel="rbf", gamma=5.0, coupling=1.0).fit(X[7:], Y[7:, 1])
    assert_allclose(both.offsets_[1], alone.offsets_, atol=1e-6)
    shared = QuantileRegressor(LEVELS, kernel="rbf", gamma=5.0, coupling=1.0, operator=None).fit(X, Y)
    assert shared.offsets_.shape == (2, 3)
    grid = np.linspace(0, 1, 4)
    curves = np.sin(3 * grid + X) + 0.1 * np.random.default_rng(0).normal(size=(60, 1))
    settings = {"grid": grid, "kernel": "rbf", "gamma": 5.0, "coupling": 1.0}
    assert QuantileRegressor((0.2, 0.8), **settings).fit(X, curves).offsets_ is None
    assert QuantileRegressor((0.2, 0.8), calibrate=True, **settings).fit(X, curves).offsets_.shape == (4, 2)
    assert QuantileRegressor(LEVELS, kernel="rbf", gamma=5.0, calibrate=False).fit(X, Y).offsets_ is None


def test_an_output_without_samples_has_no_offsets():
    X, Y = data(n=30, d=2)
    Y[:, 0] = np.nan
    with pytest.warns(UserWarning):
        model = QuantileRegressor(LEVELS, calibrate=True, coupling=1.0, **GIVEN).fit(X, Y)
    assert np.isnan(model.offsets_[0]).all() and np.isfinite(model.offsets_[1]).all()


def test_calibrated_quantiles_in_order_stay_in_order():
    X, Y = data(n=30, d=1)
    levels = (0.3, 0.4, 0.5, 0.6, 0.7)
    settings = {**GIVEN, "alpha": 1e-4, "coupling": np.inf, "tol": 1e-6, "non_crossing": True}
    model = QuantileRegressor(levels, calibrate=True, **settings).fit(X, Y[:, 0])
    plain = QuantileRegressor(levels, **settings).fit(X, Y[:, 0])
    assert np.diff(model.offsets_).min() >= -1e-12
    assert_allclose(model.predict(X), plain.predict(X) + model.offsets_, atol=1e-10)
    line = np.linspace(X.min(), X.max(), 300)[:, None]
    assert np.diff(model.predict(X)).min() >= -1e-9
    assert np.diff(model.predict(line)).min() >= min(np.diff(plain.predict(line)).min(), 0.0) - 1e-9


def test_repeated_samples_are_weights_of_calibrated_models():
    X, Y = data(n=20, d=1)
    weights = np.arange(20) % 3 + 1.0
    settings = {**GIVEN, "coupling": 1.0, "calibrate": True, "non_crossing": False}
    weighted = QuantileRegressor(LEVELS, **settings).fit(X, Y[:, 0], weights)
    repeats = np.repeat(np.arange(20), weights.astype(int))
    repeated = QuantileRegressor(LEVELS, **settings).fit(X[repeats], Y[repeats, 0])
    assert_allclose(repeated.predict(X), weighted.predict(X), atol=1e-3)


def test_coverage_of_calibrated_ranges_is_that_of_the_levels():
    """Noise without signal that a flexible model fits: its own range holds far fewer of new outputs."""
    inside = {True: [], False: []}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
        new, true = rng.normal(size=(400, 3)), rng.normal(size=400)
        for calibrate, shares in inside.items():
            settings = {"kernel": "rbf", "gamma": 0.3, "alpha": 1e-3, "coupling": 1.0}
            low, high = QuantileRegressor((0.05, 0.95), calibrate=calibrate, **settings).fit(X, y).predict(new).T
            shares.append(np.mean((low <= true) & (true <= high)))
    assert np.mean(inside[False]) < 0.7
    assert 0.86 < np.mean(inside[True]) < 0.96


@pytest.mark.slow
def test_choices_are_good():
    X, Y = data(n=150, d=1)
    new, true = data(n=500, d=1, seed=5)
    model = QuantileRegressor(LEVELS, kernel="rbf").fit(X, Y[:, 0])
    assert model.coupling_ in (0.0, 0.1, 1.0, 10.0, np.inf) and model.dual_gap_ <= 1e-6
    spread = 0.1 + new[:, 0]
    best = np.sin(6 * new[:, 0])[:, None] + spread[:, None] * np.array([-1.2816, 0.0, 0.8416])
    loss, least = (pinball_loss(true[:, 0], q, LEVELS) for q in (model.predict(new), best))
    assert loss < 1.1 * least
    assert "folds" in model.search_results_["method"]


def test_rearranged_never_crosses_and_is_no_worse():
    X, Y = data(n=30, d=1)
    settings = {**GIVEN, "alpha": 1e-4, "coupling": np.inf}
    free = QuantileRegressor((0.4, 0.5, 0.6), non_crossing=False, **settings).fit(X, Y[:, 0])
    sorted_ = QuantileRegressor((0.4, 0.5, 0.6), non_crossing="rearranged", **settings).fit(X, Y[:, 0])
    grid = np.linspace(0, 1, 300)[:, None]
    assert np.diff(free.predict(grid)).min() < 0 <= np.diff(sorted_.predict(grid)).min()
    assert_allclose(np.sort(free.predict(grid)), sorted_.predict(grid))
    assert pinball_loss(Y[:, 0], sorted_.predict(X), (0.4, 0.5, 0.6)) <= pinball_loss(
        Y[:, 0], free.predict(X), (0.4, 0.5, 0.6)
    )


def test_order_where_constants_are_tied():
    """Half of the outputs are zero: quantiles of y coincide, and another function says what is inside."""
    X, Y = data(n=40, d=1)
    y = np.maximum(Y[:, 0], 0.0)
    model = QuantileRegressor((0.1, 0.2, 0.8), non_crossing=True, **{**GIVEN, "tol": 1e-6}, coupling=50.0).fit(X, y)
    assert model.center_[0] == model.center_[1]
    assert model.dual_gap_ <= 1e-6 and np.diff(model.predict(X)).min() >= -1e-9


def test_arrays_of_samples_leave_points_out():
    X, Y = data(n=30, d=1)
    model = QuantileRegressor(LEVELS, non_crossing=True, coupling=3.0, **GIVEN).fit(X, Y[:, 0])
    assert len(model.X_fit_) == len(model.dual_coef_) == 130  # 100 points of the range
    assert model.saturated_.shape == model.outlier_scores_.shape == (30, 3)
    assert set(model.support_) <= set(range(30))
    assert str(model.loss_) == f"Pinball(levels={LEVELS})"
    below = model.predict(X) > Y
    inside = ~model.saturated_
    assert inside.mean() < 0.5 and np.abs(below.mean(axis=0) - LEVELS).max() < 0.15


def test_score_is_the_explained_share():
    X, Y = data(n=60, d=1)
    model = QuantileRegressor(LEVELS, coupling=1.0, **GIVEN).fit(X, Y[:, 0])
    shares = [d2_pinball_score(Y[:, 0], model.predict(X)[:, k], alpha=tau) for k, tau in enumerate(LEVELS)]
    assert model.score(X, Y[:, 0]) == pytest.approx(np.mean(shares), abs=0.01)
    gaps = np.where(np.arange(60) % 3 == 0, np.nan, Y[:, 0])
    kept = np.isfinite(gaps)
    assert model.score(X, gaps) == pytest.approx(model.score(X[kept], gaps[kept]))


def test_median_and_levels_by_name():
    X, Y = data(n=30, d=1)
    model = QuantileRegressor(LEVELS, coupling=1.0, **GIVEN).fit(X, Y[:, 0])
    assert_allclose(model.predict_level(X), model.predict(X)[:, 1])
    with pytest.raises(ValueError, match="level must be one of the levels"):
        model.predict_level(X, 0.3)


@pytest.mark.parametrize(
    "settings, text",
    [
        ({"levels": (0.9, 0.1)}, "increasing"),
        ({"levels": ()}, "at least one"),
        ({"levels": (0.1, 1.0)}, "strictly between 0 and 1"),
        ({"coupling": -1.0}, "coupling must be"),
        ({"non_crossing": "sorted"}, "non_crossing"),
        ({"points": "grid"}, "points"),
        ({"calibrate": "yes"}, "calibrate"),
        ({"operator": "learned"}, "LearnedOperator cannot be used for quantiles"),
        ({"alpha": 0.0}, "alpha must be"),
    ],
)
def test_bad_settings(settings, text):
    X, Y = data(n=10)
    with pytest.raises(ValueError, match=text):
        QuantileRegressor(**settings).fit(X, Y)


def test_bad_outputs():
    X, Y = data(n=10)
    with pytest.raises(ValueError, match="it contains only NaN"):
        QuantileRegressor().fit(X, np.full_like(Y, np.nan))
    with pytest.raises(ValueError, match="no values at other inputs"):
        QuantileRegressor(kernel="precomputed", non_crossing=True, points=X, alpha=1.0).fit(X @ X.T, Y[:, 0])


def test_interface_of_scikit_learn():
    X, Y = data(n=40, d=1)
    pipeline = make_pipeline(StandardScaler(), QuantileRegressor(LEVELS, kernel="rbf", gamma=1.0, coupling=1.0))
    search = GridSearchCV(pipeline, {"quantileregressor__alpha": [1e-3, 1e-1]}, cv=3).fit(X, Y[:, 0])
    assert search.predict(X).shape == (40, 3)
    model = clone(search.best_estimator_).fit(X, Y[:, 0])
    assert_allclose(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert cross_val_predict(model, X, Y[:, 0], cv=3).shape == (40, 3)
    path = RegularizationPathCV(QuantileRegressor(LEVELS, **{**GIVEN, "tol": 1e-6}, coupling=1.0), alphas=[1e-3, 1e-2])
    assert path.fit(X, Y[:, 0]).predict(X).shape == (40, 3)


def test_estimator_checks():
    model = QuantileRegressor(0.5, kernel="rbf", gamma="median", alpha=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(model)


def test_conformal_width_follows_the_input():
    X, Y = data(n=400, d=1, seed=3)
    base = QuantileRegressor((0.05, 0.95), kernel="rbf", gamma=5.0, alpha=3e-3, coupling=10.0)
    for method in ("split", "cv+"):
        model = ConformalPredictor(base, method, level=0.9, cv=None if method == "split" else 5, random_state=0)
        intervals = model.fit(X[:150], Y[:150, 0]).predict_interval(X[150:])
        covered = (intervals[:, 0] <= Y[150:, 0]) & (Y[150:, 0] <= intervals[:, 1])
        assert 0.83 <= covered.mean() <= 0.97
        assert np.corrcoef(intervals[:, 1] - intervals[:, 0], X[150:, 0])[0, 1] > 0.7
        assert (model.predict_region(X[150:]).contains(Y[150:, 0]) == covered).all()


def test_split_conformal_by_hand():
    """Romano et al. 2019: the ceil(level (n + 1))-th smallest of max(lower - y, y - upper) is added at either end."""
    X, Y = data(n=80, d=1, seed=4)
    base = QuantileRegressor((0.05, 0.5, 0.95), kernel="rbf", gamma=5.0, alpha=3e-3, coupling=10.0)
    train, test = np.arange(40), np.arange(40, 80)
    model = ConformalPredictor(base, "split", level=0.9, cv=[(train, test)]).fit(X, Y[:, 0])
    q = clone(base).fit(X[train], Y[train, 0]).predict(X)
    scores = np.maximum(q[test, 0] - Y[test, 0], Y[test, 0] - q[test, -1])
    add = np.sort(scores)[int(np.ceil(0.9 * 41)) - 1]
    assert_allclose(model.predict_interval(X), np.column_stack([q[:, 0] - add, q[:, -1] + add]), atol=1e-8)


def test_conformal_bands_hold_whole_curves():
    rng = np.random.default_rng(0)
    X, grid = rng.uniform(size=(160, 1)), np.linspace(0, 1, 10)
    Y = np.sin(6 * (grid + X)) + (0.1 + X) * 0.3 * np.cumsum(rng.normal(size=(160, 10)), axis=1)
    base = QuantileRegressor((0.05, 0.95), kernel="rbf", gamma=5.0, alpha=3e-3, coupling=10.0, grid=grid)
    model = ConformalPredictor(base, "cv+", cv=4, random_state=0).fit(X[:80], Y[:80])
    band = model.predict_band(X[80:])
    assert 0.8 <= band.contains(Y[80:]).mean() <= 0.99
    assert np.corrcoef(band.mean_width(), X[80:, 0])[0, 1] > 0.7
    with pytest.raises(ValueError, match="predicts quantiles"):
        ConformalPredictor(base, score="mahalanobis").fit(X, Y)
    with pytest.raises(ValueError, match="below the median"):
        ConformalPredictor(base.set_params(levels=(0.6, 0.9))).fit(X, Y)


@pytest.mark.slow
def test_conformal_coverage_over_draws():
    base = QuantileRegressor((0.05, 0.95), kernel="rbf", gamma=5.0, alpha=3e-3, coupling=10.0)
    for method in ("split", "cv+"):
        covered = []
        for seed in range(40):
            X, Y = data(n=300, d=1, seed=seed)
            model = ConformalPredictor(base, method, level=0.9, random_state=0).fit(X[:100], Y[:100, 0])
            low, high = model.predict_interval(X[100:]).T
            covered.append(np.mean((low <= Y[100:, 0]) & (Y[100:, 0] <= high)))
        assert 0.88 <= np.mean(covered) <= 0.96


def test_all_levels_are_no_slower_than_a_linear_program_for_each():
    """Beside scikit-learn's linear programs on the same features, one for each level; the optimum there is sparse."""
    X, Y = data(n=300, d=1)
    y, levels = Y[:, 0], (0.05, 0.25, 0.5, 0.75, 0.95)
    values, vectors = np.linalg.eigh(rbf_kernel(X, gamma=GAMMA))
    Z = vectors[:, values > 1e-8] * np.sqrt(values[values > 1e-8])

    def ours():
        QuantileRegressor(levels, kernel="rbf", gamma=GAMMA, alpha=1e-3, coupling=1.0).fit(X, y)

    def theirs():
        for tau in levels:
            LinearQuantiles(quantile=tau, alpha=1e-3, solver="highs").fit(Z, y)

    seconds = []
    for work in (ours, theirs):
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            work()
        seconds.append(time.perf_counter() - start)
    assert seconds[0] < 3 * seconds[1] + 0.5


def test_skewed_outputs_have_quantiles_that_are_not_around_the_constants():
    """Of a linear function of skewed inputs the median at the mean input is far from the median of y."""
    rng = np.random.default_rng(0)
    X = rng.lognormal(sigma=1.2, size=(120, 3))
    y = X.sum(axis=1) + 0.1 * rng.normal(size=120)
    model = QuantileRegressor((0.25, 0.5)).fit(X[:80], y[:80])
    assert model.kernel_ != "linear"
    assert np.abs(model.predict(X[80:])[:, 1] - y[80:]).mean() < 0.2 * np.abs(y[80:] - np.median(y)).mean()


def test_what_quantiles_of_vectors_do_not_have_is_said():
    X, Y = data()
    model = QuantileRegressor(LEVELS, kernel="rbf", gamma=GAMMA, alpha=ALPHA, coupling=1.0).fit(X, Y)
    with pytest.raises(ValueError, match=r"loo_residuals.*cross_val_predict"):
        model.loo_residuals()
    with pytest.raises(AttributeError, match="operator='learned'"):
        model.objectives_  # noqa: B018
