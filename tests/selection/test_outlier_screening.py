"""Outlier screening: outliers and outlying points are found where there are some, and lose their effect gradually."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1

import hilbertlearn
from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, bounds, datasets, kernels, losses, outlier_report
from hilbertlearn.machine.in_memory import MemorySource
from hilbertlearn.metrics import functional_nmse
from hilbertlearn.selection import outlier_screening, stages
from hilbertlearn.selection.error_curve import ErrorCurve
from hilbertlearn.selection.outlier_screening import gaps, replace_outlying_points, vertex_alpha

HUBER = OperatorKernelRegressor("rbf", loss="huber")
PATH = np.r_[0.0, np.geomspace(0.05, 100, 60)]  # standard deviations by which outputs are moved


def far(sizes, weights=None):
    """Positions beyond gaps that are at least half clear, by gap, the largest sizes first."""
    sizes = np.asarray(sizes, dtype=float)
    found = gaps(sizes, np.ones(len(sizes)) if weights is None else np.asarray(weights, float))
    return [np.flatnonzero(group).tolist() for group, clarity in found if clarity >= 0.5]


def test_gaps_by_hand():
    assert far([1, 2, 1, 30, 2, 1, 1, 40, 2, 1]) == [[3, 7]]
    assert far([1, 2, 1, 4.9, 2, 1, 1, 1, 2, 1]) == []  # not far enough
    assert far([1, 2, 4, 8, 16, 1, 1, 1, 1, 1, 1, 1, 1, 1]) == []  # a tail without a gap
    assert far([1, 1, 1, 1, 1, 1, 9, 9, 9, 9]) == []  # too many to be wrong
    assert far([1, 1, 1, 1, 1, 1, 1, 9, 9, 100]) == [[9], [7, 8, 9]]  # each of two gaps
    assert far([1, 1, 1, 1, 1, 1, 1, 9, 9, 20]) == [[7, 8, 9]]
    assert far([0, 0, 0, 0, 0, 0, 0, 0, 1, 5]) == []  # most vanish: nothing is far
    for few in ([3.0], [1.0, 1e9], [0.0, 0.0]):
        assert far(few) == []


def test_how_clear_a_gap_is_by_hand():
    """The least of four ramps: from 4 to 6 medians, ratios 2 to 3, 36 to 24 medians below and 34 to 30 % beyond."""
    bulk = [1.0] * 80

    def clarities(*largest):
        return [clarity for _, clarity in gaps(np.r_[bulk, largest], np.ones(80 + len(largest)))]

    assert_allclose(clarities(5.0), [0.5])
    assert_allclose(clarities(4.5), [0.25])
    assert_allclose(clarities(3.0, 8.4), [0.8])
    assert_allclose(clarities(3.0, 6.6), [0.2])
    assert_allclose(clarities(27.0, 270.0), [0.75, 1.0])
    assert_allclose(clarities(*[10.0] * 38), [(0.34 - 38 / 118) / 0.04])
    assert clarities(4.0) == clarities(3.0, 6.0) == clarities(*[10.0] * 42) == []


def test_gaps_close_continuously():
    """Clarity at each sample, the largest beyond any gap, along a path on which sizes change places."""
    rng = np.random.default_rng(0)
    start, end, weights = np.exp(rng.normal(size=40)), np.exp(3 * rng.normal(size=40)), rng.uniform(1, 2, 40)
    start[:3], end[:3] = [12, 40, 13], [60, 9, 30]

    def degrees(share):
        found = gaps((1 - share) * start + share * end, weights)
        return np.max([np.zeros(40)] + [clarity * group for group, clarity in found], axis=0)

    values = np.array([degrees(share) for share in np.linspace(0, 1, 20001)])
    assert np.ptp(values, axis=0).max() == 1
    assert np.abs(np.diff(values, axis=0)).max() < 0.02


def test_gaps_do_not_depend_on_units_order_or_copies():
    rng = np.random.default_rng(0)
    sizes = np.r_[rng.uniform(1, 3, 30), 20, 30]
    weights = rng.integers(1, 4, size=32)
    order = rng.permutation(32)
    assert far(sizes) == [[30, 31]]
    assert far(1e-200 * sizes) == [[30, 31]]
    assert_array_equal(np.sort(order[far(sizes[order], weights[order])[0]]), far(sizes, weights)[0])
    copies = np.repeat(np.arange(32), weights)
    assert_array_equal(np.unique(copies[far(sizes[copies])[0]]), far(sizes, weights)[0])


def spoilt(n=60, wrong=6, n_outputs=2, size=10.0, seed=0):
    """Inputs, outputs, these with wrong rows, and which these are."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    Y = np.sin(X @ rng.normal(size=(3, n_outputs))) + 0.1 * rng.normal(size=(n, n_outputs))
    rows = np.sort(rng.choice(n, wrong, replace=False))
    W = Y.copy()
    W[rows] += size * Y.std(axis=0) * rng.choice([-1, 1], size=(wrong, n_outputs))
    return X, Y, W, rows


@pytest.mark.parametrize("seed", range(3))
def test_outliers_are_screened_and_have_no_effect(seed):
    X, _, W, rows = spoilt(seed=seed)
    kept = np.setdiff1d(np.arange(len(X)), rows)
    model, without = clone(HUBER).fit(X, W), clone(HUBER).fit(X[kept], W[kept])
    assert_array_equal(model.screened_, rows)
    assert model.saturated_[rows].all()
    assert f"{len(rows)} screened as outliers" in model.summary()
    assert_allclose(model.predict(X), without.predict(X), atol=1e-2 * W[kept].std())
    assert outlier_report(model)["held_back"][rows].all()


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_weights_of_outliers_and_of_regular_samples(n_outputs, tmp_path):
    X, _, W, rows = spoilt(n_outputs=n_outputs, seed=1)
    weights = np.random.default_rng(1).uniform(1, 2, len(X))
    weights[[rows[0], 3]] = 0.0  # an outlier, and a regular sample
    model = clone(HUBER).fit(X, W, weights)
    expected = np.ones(len(X))
    expected[rows[1:]] = 1e-6
    assert_allclose(model.screening_weights_, expected)
    report = outlier_report(model)
    assert_array_equal(report["screening_weight"], model.screening_weights_[report.index])
    hilbertlearn.save(model, tmp_path / "model")
    assert_array_equal(hilbertlearn.load(tmp_path / "model").screening_weights_, model.screening_weights_)
    given = OperatorKernelRegressor("rbf", gamma=0.1, alpha=1e-3, loss="huber").fit(X, W)
    assert_array_equal(given.screening_weights_, np.ones(len(X)))


def along(predict, path, spread):
    """Predictions along a path, each step relative to their spread, and the largest step after twelve bisections."""
    values = [predict(place) for place in path]
    steps = [np.abs(after - before).max() / spread for before, after in itertools.pairwise(values)]
    low, high = path[np.argmax(steps)], path[np.argmax(steps) + 1]
    for _ in range(12):
        ends = [predict(place) for place in (low, (low + high) / 2, high)]
        is_first = np.abs(ends[1] - ends[0]).max() > np.abs(ends[2] - ends[1]).max()
        low, high = (low, (low + high) / 2) if is_first else ((low + high) / 2, high)
    return values, np.array(steps), np.abs(predict(high) - predict(low)).max() / spread


def moved(rows, seed=0):
    """A function that fits a model after adding so many deviations to some rows, and its predictions elsewhere.

    The kernel is selected from two equal ones, and alpha is given, so that screening is all that is selected.
    """
    X, Y, _, _ = spoilt(seed=seed)
    same = kernels.KernelSearch(["rbf", "rbf"])
    model = OperatorKernelRegressor(same, gamma=0.1, alpha=1e-3, loss="huber", tol=1e-8)
    signs = np.random.default_rng(seed).choice([-1, 1], size=(len(rows), Y.shape[1]))
    queries = np.random.default_rng(9).normal(size=(100, 3))

    def fit(size):
        W = Y.copy()
        W[rows] += size * Y.std(axis=0) * signs
        return clone(model).fit(X, W)

    return fit, lambda size: fit(size).predict(queries)


def hard(function):
    """Screening weights with a threshold in place of the ramps."""
    return lambda *arguments: np.where(function(*arguments) < 0.5, 1e-6, 1.0)


def test_predictions_move_continuously_with_an_output(monkeypatch):
    """The largest of 60 steps is a fifth of the whole way of the predictions; with a threshold it is half."""
    fit, predict = moved([7])
    weights = np.array([fit(size).screening_weights_[7] for size in PATH])
    assert weights[0] == 1 and weights[-1] == pytest.approx(1e-6) and ((weights > 0.01) & (weights < 0.99)).sum() >= 2
    spread = max(np.abs(predict(size) - predict(0.0)).max() for size in PATH)
    values, steps, rest = along(predict, PATH, spread)
    assert steps.max() < 0.25 and rest < 1e-3
    assert np.abs(values[-1] - values[-12]).max() < 0.01 * spread  # beyond the gap the size has no effect
    monkeypatch.setattr(stages, "screening_weights", hard(stages.screening_weights))
    _, steps, rest = along(predict, PATH, spread)
    assert steps.max() > 0.45 and rest > 0.45


@pytest.mark.parametrize("seed", range(3))
def test_predictions_move_continuously_with_several_outputs(seed, monkeypatch):
    rows = np.random.default_rng(seed).choice(60, 6, replace=False)
    fit, predict = moved(rows, seed)
    assert_allclose(fit(100.0).screening_weights_[rows], 1e-6)
    spread = max(np.abs(predict(size) - predict(0.0)).max() for size in PATH[::4])
    assert along(predict, PATH, spread)[2] < 0.01
    monkeypatch.setattr(stages, "screening_weights", hard(stages.screening_weights))
    assert along(predict, PATH, spread)[2] > 0.2


def test_what_is_off_by_more_matters_no_more():
    X, Y, _, rows = spoilt()
    models = []
    for size in (1e2, 1e4):
        W = Y.copy()
        W[rows] += size
        models.append(clone(HUBER).fit(X, W))
        assert_array_equal(models[-1].screened_, rows)
    assert_allclose(models[0].predict(X), models[1].predict(X), atol=1e-2)


@pytest.mark.parametrize("seed", range(6))
def test_regular_samples_are_not_screened(seed):
    rng = np.random.default_rng(seed)
    X, y = make_friedman1(80, noise=1.0, random_state=seed)
    assert len(clone(HUBER).fit(X, y).screened_) == 0
    x = np.sort(rng.uniform(0, 4, 30))[:, None]
    assert len(clone(HUBER).fit(x, np.exp(x)).screened_) == 0  # noiseless: residuals at the end are far from others
    assert len(clone(HUBER).fit(x, (x > 2) + 0.0).screened_) == 0


@pytest.mark.parametrize("seed", range(4))
def test_regular_samples_at_the_edge_are_not_screened_with_an_outlier(seed):
    """With little noise residuals at the edge are far too, but others need these."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(20, 1))
    Y = np.sin(6 * (np.linspace(0, 1, 8) + x)) + 0.02 * rng.normal(size=(20, 8))
    Y[3] += 4
    assert_array_equal(clone(HUBER).fit(x, Y).screened_, [3])


def test_an_isolated_sample_is_not_screened():
    """Nothing near it contradicts it, and others are predicted as well with it."""
    rng = np.random.default_rng(0)
    x = np.r_[rng.uniform(0, 1, 40), 50.0][:, None]
    y = np.r_[np.sin(6 * x[:-1, 0]) + 0.1 * rng.normal(size=40), 30.0]
    model = OperatorKernelRegressor("rbf", loss="huber").fit(x, y)
    assert len(model.screened_) == 0


def test_rare_outputs_are_not_screened():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = np.where(X[:, 0] > 1.3, 5.0 + X[:, 1], 0.0)  # most are zero
    assert len(clone(HUBER).fit(X, y).screened_) == 0


def test_weights_are_repetition():
    X, _, W, rows = spoilt(40, 4)
    weights = np.random.default_rng(0).integers(1, 4, size=40)
    copies = np.repeat(np.arange(40), weights)
    weighted, repeated = clone(HUBER).fit(X, W, weights), clone(HUBER).fit(X[copies], W[copies])
    assert_array_equal(weighted.screened_, rows)
    assert_array_equal(np.unique(copies[repeated.screened_]), rows)
    assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-6)


def test_units_of_an_output_do_not_matter():
    X, _, W, rows = spoilt()
    model, scaled = clone(HUBER).fit(X, W), clone(HUBER).fit(X, W * [1.0, 1e3])
    assert_array_equal(scaled.screened_, rows)
    assert_allclose(scaled.predict(X) / [1.0, 1e3], model.predict(X), atol=1e-6)


def test_numbers_and_the_squared_loss_leave_all_samples_their_weight():
    X, _, W, _ = spoilt()
    for loss in ("squared", losses.Huber(0.5)):
        assert len(OperatorKernelRegressor(loss=loss).fit(X, W).screened_) == 0


def test_paths_know_of_them():
    X, _, W, rows = spoilt()
    for model in HUBER.fit_path(X, W, [1e-3, 1e-2]):
        assert_array_equal(model.screened_, rows)


def test_real_data():
    X, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))[:40]
    X, y, all_of_them = X[order] / X.std(axis=0), y[order], y.std()
    rows, W = np.random.default_rng(0).choice(40, 4, replace=False), y.copy()
    W[rows] += 10 * all_of_them * np.random.default_rng(1).choice([-1, 1], size=4)
    assert len(clone(HUBER).fit(X, y).screened_) == 0
    assert_array_equal(clone(HUBER).fit(X, W).screened_, np.sort(rows))


@pytest.mark.parametrize("loss", ["huber", losses.Huber(p=1), "epsilon_svr"], ids=str)
def test_one_output_is_all_of_a_sample(loss):
    X, _, W, rows = spoilt(n_outputs=1)
    assert_array_equal(OperatorKernelRegressor(loss=loss).fit(X, W[:, 0]).screened_, rows)


def test_gaps_and_samples_without_weight():
    X, _, W, rows = spoilt()
    W[[0, 1, 5], [0, 1, 1]] = np.nan
    assert_array_equal(clone(HUBER).fit(X, W).screened_, rows)
    weights = np.ones(len(X))
    weights[rows[0]] = 0.0
    assert_array_equal(clone(HUBER).fit(X, W, weights).screened_, rows[1:])  # the first does not count at all


def test_single_precision():
    X, _, W, rows = spoilt()
    assert_array_equal(clone(HUBER).fit(X.astype(np.float32), W).screened_, rows)


def test_features_keep_all_samples_in_one_scale():
    X, _, W, _ = spoilt()
    model = OperatorKernelRegressor("rbf", loss="huber", feature_map=60).fit(X, W)
    assert len(model.screened_) == 0
    given = OperatorKernelRegressor("rbf", loss="huber", gamma=0.1, alpha=1e-3).fit(X, W)  # of all samples
    assert_allclose(model.scale_, given.scale_)


def test_bounds_are_refused_after_screening():
    X, _, W, _ = spoilt()
    with pytest.raises(ValueError, match="screened_"):
        bounds.stability_bound_from_estimator(clone(HUBER).fit(X, W), X, W)


def test_outlying_points_do_not_change_the_selection():
    X, Y, _, _ = datasets.make_gaussian_process_curves(100, random_state=0)
    W, changed = datasets.corrupt_points(Y[:50], 1.0, points_fraction=0.1, random_state=0)
    model = FunctionalRegressor(loss=losses.Huber(p=1)).fit(X[:50], W)
    assert functional_nmse(Y[50:], model.predict(X[50:])) < 1e-3
    assert model.loss_.kappa < 0.05 * Y.std()
    sizes = np.abs(W - Y[:50]) > 0.5 * Y.std()
    assert model.saturated_[changed & sizes].mean() > 0.99  # the fit is of the curves as they are, and holds these back
    assert model.dual_gap_ < 1e-5


def test_replaced_points_move_continuously(monkeypatch):
    """Values that settings are selected by follow a given value near the others, and return from one far from all."""
    X, Y, _, _ = datasets.make_gaussian_process_curves(30, random_state=0)
    regressor = FunctionalRegressor("rbf", gamma=0.5, loss=losses.Huber(p=1))
    places = np.random.default_rng(0).random(Y.shape) < 0.03

    def replaced(size):
        W = Y + size * Y.std() * places
        training = stages.build_first(MemorySource(X, W, None).read(regressor.spec(W)))
        out = replace_outlying_points(training, np.ones(30), 1e-3)
        return training.space.decode(training.Y if out is None else out)

    path = np.r_[0.0, np.geomspace(0.05, 100, 30)]
    values, _, rest = along(replaced, path, Y.std())
    assert rest < 0.01
    assert_allclose(values[1], Y + 0.05 * Y.std() * places)
    assert np.abs(values[-1] - Y).max() < 25 * Y.std()

    def threshold(values, ends):
        return np.where(np.sign(ends[1] - ends[0]) * (values - np.mean(ends)) > 0, 1.0, 0.0)

    monkeypatch.setattr(outlier_screening, "_ramp", threshold)
    assert along(replaced, path, Y.std())[2] > 0.1


def test_alpha_at_the_vertex_moves_with_the_errors():
    alphas = np.logspace(-3, 1, 9)

    def best(errors, alphas=alphas):
        errors = np.asarray(errors)
        fields = {"total_weight": 1.0, "log_weights": -errors, "largest": alphas[-1], "seconds": 0.0}
        return vertex_alpha(ErrorCurve(None, alphas=alphas, errors=errors, standard_errors=0 * errors, **fields,
                                       best=int(np.argmin(errors))))  # fmt: skip

    for vertex in (-1.3, 0.0, 0.24, 0.26):  # a parabola is met exactly, on each side of the middle of two alphas
        assert best((np.log10(alphas) - vertex) ** 2 + 1) == pytest.approx(10**vertex)
    uneven = np.array([1e-3, 1e-1, 1.0, 1e3])
    assert best((np.log10(uneven) + 0.4) ** 2, uneven) == pytest.approx(10**-0.4)
    assert best(np.arange(9.0)) == alphas[0] and best(-np.arange(9.0)) == alphas[-1]
    assert best(np.ones(9)) == alphas[0] and best([2.0, 1.0], alphas[:2]) == alphas[1]


def test_repeated_curves_with_outlying_points_act_as_weights():
    X, Y, _, _ = datasets.make_gaussian_process_curves(30, random_state=0)
    W, _ = datasets.corrupt_points(Y, 1.0, points_fraction=0.1, random_state=0)
    copies = np.r_[np.arange(30), np.arange(10)]
    model = FunctionalRegressor("rbf", loss=losses.Huber(p=1))
    repeated, weighted = clone(model).fit(X[copies], W[copies]), clone(model).fit(X, W, np.bincount(copies))
    assert repeated.loss_.kappa == pytest.approx(weighted.loss_.kappa, rel=1e-3)
    assert_allclose(repeated.predict(X), weighted.predict(X), atol=1e-2)
