"""outlier_report: against refits, hat matrices and corruptions that are known."""

import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hilbertlearn import (
    FunctionalRegressor,
    OperatorKernelRegressor,
    QuantileRegressor,
    RegularizationPathCV,
    datasets,
    losses,
    operators,
    outlier_report,
    spaces,
    streams,
)
from hilbertlearn.data.functions import IrregularFunctions
from hilbertlearn.inspection import point_residuals

rng = np.random.default_rng(0)
N, GAMMA, ALPHA = 25, 0.5, 1e-2
X = rng.normal(size=(N, 2))
Y = np.c_[np.sin(X[:, 0]), X[:, 1]] + 0.1 * rng.normal(size=(N, 2))
Y[3] += 4
K = rbf_kernel(X, gamma=GAMMA)
M = np.array([[1, 0.4], [0.4, 0.5]])
WEIGHTS = rng.uniform(0.5, 2, N)
GRID = np.linspace(0, 1, 21)
INPUTS = rng.uniform(size=(30, 2))
CURVES = np.sin(5 * GRID + 3 * INPUTS[:, :1]) + INPUTS[:, 1:] * GRID**2 + 0.02 * rng.normal(size=(30, 21))
CURVES[7, 5:9] += 2
CURVES[12] = 2 - CURVES[12]


def model(loss="squared", alpha=ALPHA, **settings):
    return OperatorKernelRegressor("rbf", gamma=GAMMA, alpha=alpha, loss=loss, tol=1e-9, max_iter=20_000, **settings)


def curves_model(loss="squared", **settings):
    return FunctionalRegressor("rbf", gamma=2.0, alpha=1e-4, loss=loss, **settings)


def norms_without(loss, **settings):
    """Norms of the residual of each sample without it, by refits that hold alpha n fixed."""
    out = np.empty(N)
    for i in range(N):
        rest = np.arange(N) != i
        without = model(loss, ALPHA * N / (N - 1), **settings).fit(X[rest], Y[rest])
        out[i] = np.linalg.norm(Y[i] - without.predict(X[i : i + 1])[0])
    return out


def in_order(report):
    """The report in the order of the samples."""
    return report.sort_index()


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize("operator", [None, M])
def test_squared_loss_by_refits(operator):
    report = in_order(outlier_report(model(operator=operator).fit(X, Y)))
    sizes = np.linalg.norm(Y - model(operator=operator).fit(X, Y).predict(X), axis=1)
    without = norms_without("squared", operator=operator)
    assert_allclose(report["residual"], sizes / np.median(sizes), rtol=1e-6)
    assert_allclose(report["loo_residual"], without / np.median(sizes), rtol=1e-6)
    assert_allclose(report["leverage"], 1 - sizes / without, atol=1e-8)
    assert not report["held_back"].any()


def test_leverage_is_the_diagonal_of_the_hat_matrix():
    report = in_order(outlier_report(model(center=False).fit(X, Y[:, 0])))
    hat = K @ np.linalg.inv(K + ALPHA * N * np.eye(N))
    assert_allclose(report["leverage"], np.diag(hat), atol=1e-8)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@pytest.mark.parametrize("center", [False, True])
def test_robust_loss_leaves_out_of_the_reweighted_ridge_regression(center, weights):
    """At the optimum Huber's model is a ridge regression with weights min(1, kappa / |r|): that is refitted by hand."""
    kappa, w = 0.3, np.ones(N) if weights is None else weights
    fitted = model(losses.Huber(kappa), center=center).fit(X, Y, weights)
    residuals, centre = Y - fitted.predict(X), fitted.center_
    sizes = np.linalg.norm(residuals, axis=1)
    u, penalty = w * np.minimum(1, kappa / sizes), ALPHA * w.sum()
    without = np.empty(N)
    for i in range(N):
        rest = np.arange(N) != i
        A = np.linalg.solve(K[np.ix_(rest, rest)] + penalty * np.diag(1 / u[rest]), (Y - centre)[rest])
        without[i] = np.linalg.norm(Y[i] - centre - K[i, rest] @ A)
    hat = K @ np.linalg.inv(K + penalty * np.diag(1 / u))
    report = in_order(outlier_report(fitted))
    assert_allclose(report["held_back"], 1 - np.minimum(1, kappa / sizes), atol=1e-4)
    assert_allclose(report["residual"], sizes / np.median(sizes), rtol=1e-4)
    assert_allclose(report["loo_residual"], without / np.median(sizes), rtol=1e-3)
    assert_allclose(report["leverage"], np.diag(hat), atol=2e-3)  # of dual variables within the gap


ROBUST = [
    losses.Huber(0.3),
    losses.Huber(0.2, p=1),
    losses.EpsilonInsensitive(0.1),
    losses.EpsilonInsensitive(0.1, p=np.inf),
]


@pytest.mark.parametrize("loss", ROBUST, ids=str)
@pytest.mark.parametrize("operator", [None, M], ids=["", "operator"])
def test_leave_one_out_is_near_refits(loss, operator):
    """A tenth of what the residuals of the fit itself are off by, or less than a tenth altogether."""
    fitted = model(loss, operator=operator).fit(X, Y)
    sizes = np.linalg.norm(Y - fitted.predict(X), axis=1)
    found = in_order(outlier_report(fitted))["loo_residual"].to_numpy() * np.median(sizes)
    without = norms_without(loss, operator=operator)
    assert np.median(np.abs(found / without - 1)) < 0.1 < np.median(np.abs(sizes / without - 1))
    assert np.corrcoef(found, without)[0, 1] > 0.99


def test_samples_that_a_tube_leaves_out_have_no_leverage():
    fitted = model(losses.EpsilonInsensitive(0.3)).fit(X, Y)
    report = in_order(outlier_report(fitted))
    idle = np.setdiff1d(np.arange(N), fitted.support_)
    assert len(idle) and not report["leverage"].iloc[idle].any()
    assert_allclose(report["loo_residual"].iloc[idle], report["residual"].iloc[idle], rtol=1e-6)


@pytest.mark.parametrize("loss", ["squared", losses.Huber(0.3)], ids=str)
@pytest.mark.parametrize(
    "settings",
    [
        {"manifold": 0.1},
        {"feature_map": 20},
        {"kernel": [("rbf", None), ("linear", None)]},
        {"operator": "covariance", "scale": False},
    ],
    ids=str,
)
def test_graphs_features_and_sums(settings, loss):
    y = Y.copy()
    y[20:] = np.nan  # a graph uses their inputs
    fitted = OperatorKernelRegressor(**{"kernel": "rbf", "gamma": GAMMA, "alpha": ALPHA, "loss": loss, **settings})
    fitted.set_params(tol=1e-9, max_iter=20_000).fit(X, y)
    report = in_order(outlier_report(fitted))
    sizes = np.linalg.norm((y - fitted.predict(X))[:20], axis=1)
    assert_allclose(report["residual"], sizes / np.median(sizes), rtol=1e-3)
    assert report["leverage"].between(0, 0.999).all() and report["leverage"].max() > 0.1
    if "operator" not in settings:  # which relates directions that grow by different shares
        assert (report["loo_residual"] >= report["residual"] * (1 - 1e-6)).all()
    if loss == "squared":
        without = np.linalg.norm(fitted.loo_residuals()[:20], axis=1)
        assert_allclose(report["loo_residual"], without / np.median(sizes), rtol=1e-6)
        return
    ridge = OperatorKernelRegressor(**{**fitted.get_params(deep=False), "loss": losses.Huber(1e3), "center": False})
    plain = in_order(outlier_report(ridge.fit(X, y)))  # nothing is held back: the closed form of the squared loss
    squared = in_order(outlier_report(ridge.set_params(loss="squared").fit(X, y)))
    assert_allclose(plain.drop(columns="held_back"), squared.drop(columns="held_back"), rtol=1e-3, atol=1e-4)


# ---------------------------------------------------------------- order and form


@pytest.mark.parametrize("loss", ["squared", *ROBUST], ids=str)
def test_the_corrupted_sample_is_first(loss):
    report = outlier_report(model(loss).fit(X, Y))
    assert report.index[0] == 3
    assert list(report.columns) == ["held_back", "residual", "loo_residual", "leverage", "screening_weight"]
    assert (report["screening_weight"] == 1).all()  # alpha is given: nothing is screened
    left_out = report["held_back"] * report["residual"]
    assert (np.diff(left_out) <= 1e-12).all()


def test_index_is_that_of_the_training_frame():
    names = [f"patient {i}" for i in range(N)]
    frame, table = pd.DataFrame(Y, index=names), pd.DataFrame(X, index=names)
    assert outlier_report(model(losses.Huber(0.3)).fit(X, frame)).index[0] == "patient 3"
    assert outlier_report(model(losses.Huber(0.3)).fit(table, Y)).index[0] == "patient 3"


def test_samples_that_do_not_count_have_no_row():
    hidden, weights = Y.copy(), np.ones(N)
    hidden[5], weights[8] = np.nan, 0
    report = outlier_report(model(losses.Huber(0.3)).fit(X, hidden, weights))
    assert sorted(report.index) == [i for i in range(N) if i not in (5, 8)]


def test_without_pandas_there_is_a_table(monkeypatch):
    fitted = model(losses.Huber(0.3)).fit(X, Y)
    frame = outlier_report(fitted)
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = outlier_report(fitted)
    assert len(table) == N and table.index[0] == 3
    assert_array_equal(table["leverage"], frame["leverage"])
    first, second, *_ = repr(table).splitlines()
    assert first.split() == list(frame.columns) and second.split()[0] == "3"
    assert repr(table).endswith("25 samples")


def test_inside_a_pipeline_a_search_and_a_path():
    robust = model(losses.Huber(0.3))
    assert outlier_report(make_pipeline(StandardScaler(), robust).fit(X, Y)).index[0] == 3
    search = GridSearchCV(
        make_pipeline(StandardScaler(), robust), {"operatorkernelregressor__alpha": [0.1, 0.01]}, cv=2
    )
    assert outlier_report(search.fit(X, Y)).index[0] == 3
    path = RegularizationPathCV(robust, [0.1, 0.01], loss_params={"kappa": [0.1, 0.3]}, cv=2)
    assert outlier_report(path.fit(X, Y)).index[0] == 3


def test_where_there_is_no_formula_leave_one_out_is_not_a_number():
    terms = [("rbf", M), ("linear", np.eye(2))]
    report = outlier_report(OperatorKernelRegressor(terms, gamma=GAMMA, alpha=ALPHA, loss=losses.Huber(0.3)).fit(X, Y))
    assert report.index[0] == 3
    assert report[["loo_residual", "leverage"]].isna().all(axis=None)


# ---------------------------------------------------------------- functions


def gapped():
    y = CURVES.copy()
    y[np.random.default_rng(1).random(y.shape) < 0.2] = np.nan
    y[29] = np.nan
    return y


def irregular():
    points = [np.sort(np.random.default_rng(i).random(12)) for i in range(30)]
    values = [np.sin(5 * p + 3 * x[0]) + x[1] * p**2 for p, x in zip(points, INPUTS)]
    values[7] += 2 * ((points[7] > 0.25) & (points[7] < 0.5))
    values[12] = 2 - values[12]
    return IrregularFunctions(points, values, (0, 1))


@pytest.mark.parametrize(
    "loss", ["squared", losses.Huber(), losses.Huber(p=1), losses.EpsilonInsensitive(0.09)], ids=str
)
@pytest.mark.parametrize("y", [CURVES, gapped()], ids=["", "gaps"])
def test_stretches_of_curves(y, loss):
    report = outlier_report(curves_model(loss).fit(INPUTS, y))
    assert list(report.index[:2]) == [12, 7]
    assert report.loc[12, "end"] - report.loc[12, "start"] > 0.5
    assert (report["loo_residual"] >= report["residual"] * (1 - 1e-6)).all()
    assert report["leverage"].between(0, 1).all()
    if loss == "squared":  # its neighbours follow an outlier
        return
    bad = GRID[5:9][np.isfinite(y[7, 5:9])]
    assert set(report.loc[7, "points"]) <= set(bad)
    assert bad[0] <= report.loc[7, "start"] <= report.loc[7, "end"] <= bad[-1]
    assert report.loc[7, "n_points"] == len(report.loc[7, "points"]) >= len(bad) - 2
    others = report.drop([12, 7])
    assert others["n_points"].sum() <= 3 and others["start"].isna().mean() > 0.9


def test_leave_one_out_of_curves_with_gaps_is_near_refits():
    y, n = gapped()[:29], 29
    fitted = curves_model(losses.Huber(0.1), tol=1e-8).fit(INPUTS[:n], y)
    found = in_order(outlier_report(fitted))
    without, sizes = np.empty(n), np.empty(n)
    weights = np.gradient(GRID)
    weights[[0, -1]] = GRID[1] / 2
    for i in range(n):
        rest = np.arange(n) != i
        other = clone_without(fitted, n).fit(INPUTS[:n][rest], y[rest])
        for out, one in ((without, other), (sizes, fitted)):
            squares = (y[i] - one.predict(INPUTS[i : i + 1])[0]) ** 2
            seen = np.isfinite(squares)
            out[i] = np.sqrt(weights[seen] @ squares[seen] / weights[seen].sum())
    unit = np.median(sizes)
    assert_allclose(found["residual"], sizes / unit, rtol=1e-3)
    assert np.median(np.abs(found["loo_residual"] * unit / without - 1)) < 0.1 < np.median(np.abs(sizes / without - 1))


def clone_without(fitted, n):
    return curves_model(losses.Huber(0.1), tol=1e-8).set_params(alpha=fitted.alpha * n / (n - 1))


@pytest.mark.parametrize("loss", ["squared", losses.Huber()], ids=str)
@pytest.mark.parametrize("space", ["grid", "eigen"])
def test_irregular_points(space, loss):
    y = irregular()
    report = outlier_report(curves_model(loss, space=space).fit(INPUTS, y))
    assert report.index[0] == 12 and 7 in report.index[:3]
    assert report.loc[12, "n_points"] >= 6 and set(report.loc[12, "points"]) <= set(y.points[12])
    if loss != "squared" and space == "grid":
        assert 0.25 < report.loc[7, "start"] <= report.loc[7, "end"] < 0.5
    assert np.isfinite(report["loo_residual"]).all()


def test_several_curves_and_variables():
    both = np.stack([CURVES, CURVES[:, ::-1]], axis=2)
    report = outlier_report(curves_model(losses.Huber(p=1)).fit(INPUTS, both))
    assert report.index[0] == 12
    assert_allclose(report.loc[7, "start"], min(GRID[5], GRID[12]))
    surfaces = np.sin(3 * GRID[:, None] + GRID[None, :6] + INPUTS[:, :1, None])
    surfaces[4, 8:12, 2:4] += 2
    settings = {"grid": (GRID, GRID[:6])}
    report = outlier_report(curves_model(losses.Huber(p=1), **settings).fit(INPUTS, surfaces))
    assert report.index[0] == 4
    assert_allclose(report.loc[4, ["start_1", "end_1", "start_2", "end_2"]].astype(float), GRID[[8, 11, 2, 3]])
    assert report.loc[4, "points"].shape == (8, 2)


def lambert(corrupt):
    """The generator of Lambert et al. 2022 with its kernels, a tenth corrupted, the rest left to the data."""
    inputs, outputs, _, grid = datasets.make_gaussian_process_curves(200, random_state=0)
    outputs, changed = corrupt(outputs, 0.1, random_state=0)
    settings = {"space": spaces.Grid("equal"), "operator": operators.Integral("rbf", 100.0), "grid": grid}
    fitted = FunctionalRegressor("precomputed", loss=losses.Huber(p=1), **settings)
    return outlier_report(fitted.fit(rbf_kernel(inputs, gamma=0.01), outputs)), changed, grid


def test_exchanged_curves_are_on_top():
    report, changed, _ = lambert(datasets.corrupt_labels)
    assert changed[report.index[:24]].sum() >= 0.95 * changed.sum()


def test_corrupted_points_are_pointed_at():
    report, changed, grid = lambert(datasets.corrupt_points)
    rows = changed.any(axis=1)
    assert rows[report.index[:24]].sum() >= 0.95 * rows.sum()
    flagged = np.array([np.isin(grid, points) for points in report.sort_index()["points"]])
    hits = (flagged & changed).sum()
    assert hits >= 0.9 * flagged.sum()
    assert hits >= 0.85 * changed.sum()


# ---------------------------------------------------------------- bad input


def test_errors_name_what_is_wrong():
    with pytest.raises(NotFittedError):
        outlier_report(model())
    with pytest.raises(NotFittedError):
        outlier_report(RegularizationPathCV(model()))
    with pytest.raises(TypeError, match="estimator must be an OperatorKernelRegressor"):
        outlier_report(Ridge().fit(X, Y))
    with pytest.raises(ValueError, match="keeps no residuals"):
        outlier_report(FunctionalRegressor(regressor=Ridge()).fit(INPUTS, CURVES))
    with pytest.raises(ValueError, match="cutoff must be"):
        outlier_report(model().fit(X, Y), cutoff=-1)


def test_samples_are_in_order_where_most_residuals_are_zero():
    X, y = np.eye(12), np.zeros(12)
    y[[3, 8]] = 1.0, -2.0
    report = outlier_report(OperatorKernelRegressor("linear", alpha=1.0, center=False).fit(X, y))
    assert list(report.index) == [8, 3, 0, 1, 2, 4, 5, 6, 7, 9, 10, 11]


@pytest.mark.parametrize("loss", ["squared", losses.Huber(0.1), losses.EpsilonInsensitive(0.01)])
@pytest.mark.parametrize("settings", [{}, {"irregular": "projected"}])
def test_points_of_a_dictionary_are_those_of_the_curve_and_not_of_its_projection(loss, settings):
    """A few atoms smear a spike over the whole domain; the residual is the curve less its prediction."""
    grid = np.linspace(0, 1, 25)
    inputs = np.random.default_rng(1).uniform(-1, 1, (40, 2))
    curves = np.sin(2 * np.pi * grid) * inputs[:, :1] + inputs[:, 1:] ** 2
    curves += 0.05 * np.random.default_rng(2).normal(size=curves.shape)
    curves[7, 10:14] += 3
    model = FunctionalRegressor("rbf", gamma=1.0, alpha=1e-3, space=spaces.Fourier(5), loss=loss, **settings)
    model.fit(inputs, curves)
    report = outlier_report(model, cutoff=8)
    assert report.index[0] == 7
    assert_allclose(report.loc[7, "points"], grid[10:14])
    found = [values for _, values in point_residuals(model.state_)]
    assert_allclose(found, curves - model.predict(inputs), atol=1e-6)


@pytest.mark.parametrize("loss", [losses.Huber(0.2), losses.EpsilonInsensitive(0.1)])
def test_rows_that_came_in_pieces_have_residuals_alone(loss):
    inputs = np.random.default_rng(1).uniform(-1, 1, (60, 2))
    outputs = np.column_stack([np.sin(2 * inputs[:, 0]), inputs[:, 1]])
    outputs[41] += 2
    model = OperatorKernelRegressor("rbf", gamma=1.0, alpha=1e-2, loss=loss, feature_map=20)
    model.fit(streams.from_batches([(inputs[i : i + 20], outputs[i : i + 20]) for i in (0, 20, 40)]))
    report = outlier_report(model)
    assert report.index[0] == 41
    sizes = np.linalg.norm(outputs - model.predict(inputs), axis=1)
    assert_allclose(report["residual"].sort_index(), sizes / np.median(sizes), rtol=1e-6)
    assert report[["loo_residual", "leverage"]].isna().all(axis=None)


def test_curves_with_quantiles():
    """Points are those of residuals of any level: for a corrupted stretch these, and none for most of the others."""
    settings = {"kernel": "rbf", "gamma": 2.0, "alpha": 1e-3, "coupling": 1.0, "grid": GRID, "non_crossing": False}
    fitted = QuantileRegressor((0.25, 0.5, 0.75), operator=None, tol=1e-9, **settings).fit(INPUTS, CURVES)
    report = outlier_report(fitted)
    assert len(report) == 30 and report.index[0] == 12
    assert set(GRID[5:9]) <= set(report.loc[7, "points"])
    assert report["n_points"].median() <= 1
    levels = [values for _, values in point_residuals(fitted.state_)]
    expected = CURVES[:, :, None] - fitted.predict(INPUTS)
    assert_allclose(levels, expected.reshape(30, -1), atol=1e-6)


def test_quantiles_of_vectors_have_no_report():
    fitted = QuantileRegressor((0.2, 0.8), kernel="rbf", gamma=GAMMA, alpha=ALPHA, coupling=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="operator=None"):
        outlier_report(fitted)
    assert len(outlier_report(fitted.set_params(operator=None).fit(X, Y))) == N
