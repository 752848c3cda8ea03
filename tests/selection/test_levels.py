"""Selection for quantiles: columns of levels, pinball errors by hand, coupling and rates."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.machines import prepare, read
from numpy.testing import assert_allclose

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, QuantileRegressor, kernels
from hilbertlearn.losses import Pinball
from hilbertlearn.selection import select_levels, with_levels
from hilbertlearn.selection.levels import (
    COUPLINGS,
    LevelFolds,
    _has_searched_rate,
    _search_rate,
    calibrate,
    errors_by_output,
    level_residuals,
    with_rate,
)
from hilbertlearn.training import Options, fit

rng = np.random.default_rng(0)
N = 60
X = rng.uniform(-1, 1, size=(N, 1))
Y = np.sin(3 * X) + (0.1 + 0.3 * (X > 0)) * rng.normal(size=(N, 1))
LEVELS = Pinball([0.1, 0.5, 0.9])


def model(**settings):
    return OperatorKernelRegressor("rbf", gamma=2.0, scale=False, **settings)


def test_each_level_has_a_column():
    training = prepare(model(), X, np.column_stack([Y, -Y]))
    quantiles = with_levels(training, LEVELS, 1.0)
    assert quantiles.Y.shape == (N, 6) and quantiles.grams is training.grams
    again = with_levels(quantiles, LEVELS, 10.0)
    assert again.Y.shape == (N, 6)
    assert not np.allclose(again.terms[0].M, quantiles.terms[0].M)


def test_errors_are_twice_the_pinball_loss():
    training = with_levels(prepare(model(), X, Y), LEVELS, 0.0)
    train, test = np.arange(0, N, 2), np.arange(1, N, 2)
    fitted = fit(training.take(train), LEVELS, 1e-2, Options())
    K = kernels.gram("rbf", X[test], X[train], gamma=2.0)
    predicted = fitted.coordinates_at([K])
    expected = 0.0
    for j, tau in enumerate(LEVELS.taus):
        r = Y[test, 0] - predicted[:, j]
        expected += 2 * np.mean(np.maximum(tau * r, (tau - 1) * r))
    residuals = level_residuals(training, fitted, test)
    assert_allclose(residuals, Y[test] - predicted, atol=1e-12)
    errors = errors_by_output(training.space, LEVELS, residuals, training.weights[test])
    assert errors == pytest.approx([expected], rel=1e-10)


def test_models_far_from_the_optimum_have_no_error():
    training = with_levels(prepare(model(), X, Y), LEVELS, 1.0)
    train, test = np.arange(0, N, 2), np.arange(1, N, 2)
    fitted = fit(training.take(train), LEVELS, 1e-6, Options(max_iter=1))
    assert fitted.solution.gap > 0.1
    residuals = level_residuals(training, fitted, test)
    assert np.isnan(residuals).all()
    assert np.isinf(errors_by_output(training.space, LEVELS, residuals, training.weights[test])).all()


@pytest.fixture(scope="module")
def calibrated():
    """Folds at one alpha, with offsets, and the same with refits by hand."""
    training = with_levels(prepare(model(), X, Y), LEVELS, 1.0)
    folds = LevelFolds(training, LEVELS, Options(tol=1e-8), calibrates=True)
    folds.evaluate(1e-2)
    residuals = np.full((N, 3), np.nan)
    for train, test in folds.folds:
        settings = {"kernel": "rbf", "gamma": 2.0, "alpha": 1e-2, "coupling": 1.0, "scale": False, "tol": 1e-8}
        part = QuantileRegressor(LEVELS.levels, non_crossing=False, **settings).fit(X[train], Y[train, 0])
        residuals[test] = Y[test] - part.predict(X[test])
    return folds, residuals


def test_offsets_are_quantiles_of_the_residuals_of_refits(calibrated):
    folds, residuals = calibrated
    by_hand = [np.quantile(column, tau, method="weibull") for column, tau in zip(residuals.T, LEVELS.taus, strict=True)]
    assert_allclose(folds.offsets[1e-2], by_hand, atol=1e-6)


def test_errors_of_calibrated_folds_are_those_of_corrected_quantiles(calibrated):
    folds, residuals = calibrated
    corrected, taus = residuals - folds.offsets[1e-2], LEVELS.taus
    losses = 2 * np.maximum(taus * corrected, (taus - 1) * corrected).sum(axis=1)
    assert_allclose(folds.errors[1e-2], [losses[test].mean() for _, test in folds.folds], rtol=1e-5)


def test_selections_are_calibrated_where_asked():
    samples = read(model(), X, Y)
    plain, _ = select_levels(samples, LEVELS, 1e-2, 1.0, True, Options())
    assert plain.offsets is None
    selected, _ = select_levels(samples, LEVELS, 1e-2, 1.0, True, Options(), calibrates=True)
    assert selected.alpha == 1e-2 and selected.offsets.shape == (3,)
    assert_allclose(calibrate(plain, Options()).offsets, selected.offsets)


def test_rates_of_kernels_are_multiplied():
    training = prepare(model(), X, Y)
    assert with_rate(training, 1) is training
    assert_allclose(with_rate(training, 3.0).grams[0].dense(), kernels.gram("rbf", X, gamma=6.0), rtol=1e-10)


def test_the_order_of_candidates_does_not_decide_whether_rates_are_tried():
    """Noise whose spread varies faster than its mean: the squared loss selects a smooth kernel."""
    r = np.random.default_rng(0)
    inputs = r.uniform(size=(100, 1))
    y = (0.1 + np.abs(np.sin(12 * inputs[:, 0]))) * r.normal(size=100)
    models = [
        QuantileRegressor((0.1, 0.5, 0.9), kernel=kernels.KernelSearch(candidates)).fit(inputs, y)
        for candidates in (["rbf", "linear"], ["linear", "rbf"])
    ]
    methods = [np.sum(model.search_results_["method"] == "folds") for model in models]
    assert methods[0] == methods[1]
    assert_allclose(models[1].predict(inputs), models[0].predict(inputs), atol=1e-2 * y.std())


def test_rates_are_searched_of_kernels_whose_rate_is_open():
    search = kernels.KernelSearch(["linear", kernels.Matern(1.5, gamma=2.0), "rbf"])
    samples = read(OperatorKernelRegressor(search), X, Y)
    for kernel, is_open in zip(samples.recipe.kernel_candidates, (False, False, True), strict=True):
        selected = prepare(OperatorKernelRegressor(kernel), X, Y)
        selected = replace(selected, recipe=samples.with_kernel(kernel).recipe)
        assert _has_searched_rate(samples, selected) == is_open
    average = OperatorKernelRegressor(search).fit(X, Y).kernel_
    assert isinstance(average, kernels.AverageKernel)
    assert _has_searched_rate(samples, prepare(OperatorKernelRegressor(average), X, Y))
    given = read(OperatorKernelRegressor(average), X, Y)
    assert not _has_searched_rate(given, prepare(OperatorKernelRegressor(average), X, Y))


@pytest.mark.parametrize("kernel", ["linear", kernels.L2(shape="linear")], ids=str)
def test_no_models_are_fitted_at_rates_that_a_kernel_does_not_have(kernel, monkeypatch):
    estimator = OperatorKernelRegressor(kernel) if kernel == "linear" else FunctionalRegressor(kernel)
    curves = np.column_stack([X, X**2, X**3])
    training = prepare(estimator, curves, Y if kernel == "linear" else np.column_stack([Y, Y, Y]))
    folds = LevelFolds(with_levels(training, LEVELS, 1.0), LEVELS, Options())
    folds.evaluate(1e-2)
    monkeypatch.setattr(LevelFolds, "evaluate", None)
    assert _search_rate(folds, True) == (folds, 1.0)


def test_coupling_and_alpha_are_numbers():
    samples = read(model(), X, Y)
    selection, coupling = select_levels(samples, LEVELS, "auto", "auto", True, Options())
    assert coupling in COUPLINGS and selection.alpha > 0 and selection.selected_alpha
    assert selection.training.Y.shape == (N, 3)
    selection, coupling = select_levels(samples, LEVELS, 1e-3, 2.0, True, Options())
    assert (selection.alpha, coupling) == (1e-3, 2.0) and not selection.selected_alpha


def test_alphas_continue_only_while_errors_fall(monkeypatch):
    folds = LevelFolds(with_levels(prepare(model(), X, Y), LEVELS, 1.0), LEVELS, Options())

    def evaluate(alpha):
        folds.errors.setdefault(alpha, np.full(5, 1.0 + np.log10(alpha / 1e-3) ** 2))

    monkeypatch.setattr(folds, "evaluate", evaluate)
    folds.evaluate_near(1e-1)
    assert np.isclose(folds.best(), 1e-3)
    assert min(folds.errors) > 1e-4  # one alpha beyond the best
    assert np.isclose(max(folds.errors), 10**-0.5)


def test_calibration_starts_at_the_mean_of_dual_variables():
    training = with_levels(prepare(model(), X, Y), LEVELS, 1.0)
    former = LevelFolds(training, LEVELS, Options())
    former.evaluate(1e-2)
    folds = LevelFolds(training, LEVELS, Options(), n_folds=10)
    folds.start_at_mean_of(former)
    (duals,) = folds._duals.values()
    assert [len(dual) for dual in duals] == [len(train) for train, _ in folds.folds]
    row = folds.folds[0][0][3]
    parts = zip(former.folds, former._duals[1e-2], strict=True)
    found = [dual[np.flatnonzero(train == row)[0]] for (train, _), dual in parts if row in train]
    assert_allclose(duals[0][3], np.mean(found, axis=0), atol=1e-12)
