"""Metrics that the default kernel learns, and errors of samples outside the fits."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.machines import read
from numpy.testing import assert_allclose
from sklearn.datasets import make_friedman1

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, StructuredPredictor, kernels, load, save
from hilbertlearn._utils.progress import Progress
from hilbertlearn.selection.criterion import Criterion
from hilbertlearn.selection.metric_search import _Rounds, learn_metric
from hilbertlearn.training import Options

DIRECTION = np.array([3.0, -1.0, 2.0, 0.0, 1.0, 1.0, 0.0, -2.0]) / np.sqrt(20)


def one_direction(n=800, seed=0, noise=0.1):
    """Inputs (n, 8) and outputs that depend on one direction of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    return X, np.sin(2 * X @ DIRECTION) + noise * rng.normal(size=n)


def radial(n=600, seed=0):
    """Inputs (n, 4) and outputs that depend on all directions in the same way."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.exp(-np.sum(X**2, axis=1) / 4) + 0.1 * rng.normal(size=n)


@pytest.fixture(scope="module")
def learnt():
    X, y = one_direction()
    return OperatorKernelRegressor().fit(X[:500], y[:500])


def test_the_metric_has_the_direction_of_the_outputs(learnt):
    values, vectors = np.linalg.eigh(learnt.metric_)
    assert values[-1] > 0.9 * values.sum()
    assert abs(vectors[:, -1] @ DIRECTION) > 0.99
    X, y = one_direction()
    isotropic = OperatorKernelRegressor(kernels.KernelSearch()).fit(X[:500], y[:500])
    assert 1 - learnt.score(X[500:], y[500:]) < 0.2 * (1 - isotropic.score(X[500:], y[500:]))


def test_inputs_without_effect_have_little_importance():
    X, y = make_friedman1(1500, 30, noise=1.0, random_state=0)
    model = OperatorKernelRegressor().fit(X[:1000], y[:1000])
    importances = np.diag(model.metric_) / np.trace(model.metric_)
    assert importances[5:].max() < 0.01
    assert model.score(X[1000:], y[1000:]) > 0.94


def test_no_metric_without_directions_nor_of_few_samples():
    X, y = radial()
    model = OperatorKernelRegressor().fit(X, y)
    assert not hasattr(model, "metric_")
    assert_allclose(model.predict(X), OperatorKernelRegressor(kernels.KernelSearch()).fit(X, y).predict(X))
    X, y = one_direction(300)
    assert not hasattr(OperatorKernelRegressor().fit(X, y), "metric_")


def test_the_order_of_the_rows_does_not_matter(learnt):
    X, y = one_direction()
    order = np.random.default_rng(1).permutation(500)
    permuted = OperatorKernelRegressor().fit(X[order], y[order])
    assert_allclose(permuted.predict(X[500:]), learnt.predict(X[500:]), rtol=1e-6, atol=1e-6)


def test_units_do_not_matter(learnt):
    X, y = one_direction()
    units = np.array([1000.0, 1.0, 1e-3, 1.0, 20.0, 1.0, 1.0, 5.0])
    # inputs as given are evaluated as well where units differ; scaled ones are selected
    model = OperatorKernelRegressor(scale_inputs=True).fit(X[:500] * units, 7 * y[:500])
    expected = OperatorKernelRegressor(scale_inputs=True).fit(X[:500], y[:500])
    assert_allclose(model.predict(X[500:] * units), 7 * expected.predict(X[500:]), rtol=1e-5, atol=1e-5)
    assert model.score(X[500:] * units, 7 * y[500:]) == pytest.approx(learnt.score(X[500:], y[500:]), abs=0.01)


def test_a_given_alpha_stays():
    X, y = one_direction(500)
    model = OperatorKernelRegressor(alpha=1e-3).fit(X, y)
    assert model.alpha_ == 1e-3 and isinstance(model.kernel_, kernels.MetricKernel)


def test_the_kernel_can_be_given_again_saved_and_loaded(learnt, tmp_path):
    X, y = one_direction()
    again = OperatorKernelRegressor(learnt.kernel_, alpha=learnt.alpha_).fit(X[:500], y[:500])
    assert_allclose(again.predict(X), learnt.predict(X), rtol=1e-6, atol=1e-8)
    save(learnt, tmp_path / "model.hl")
    assert np.array_equal(load(tmp_path / "model.hl").predict(X), learnt.predict(X))
    assert_allclose(learnt.novelty(X[:500]), 0, atol=0.2)
    assert learnt.novelty(1e3 * np.ones((1, 8)))[0] > 0.9


def test_robust_losses():
    X, y = one_direction(900)
    y[:50] += 20
    model = OperatorKernelRegressor(loss="huber").fit(X[:500], y[:500])
    assert isinstance(model.kernel_, kernels.MetricKernel)
    assert model.score(X[500:], y[500:]) > 0.9


def test_gaps_and_rankings():
    X, y = one_direction(900)
    Y = np.c_[y, np.cos(2 * X @ DIRECTION)]
    gaps = np.where(np.random.default_rng(0).random(Y.shape) < 0.2, np.nan, Y)
    model = OperatorKernelRegressor().fit(X[:500], gaps[:500])
    assert isinstance(model.kernel_, kernels.MetricKernel) and model.score(X[500:], Y[500:]) > 0.9
    utilities = np.c_[Y, np.zeros(len(Y))]
    ranks = (-utilities).argsort(axis=1).argsort(axis=1) + 1
    predictor = StructuredPredictor(output_loss="kendall").fit(X[:500], ranks[:500])
    assert isinstance(predictor.kernel_, kernels.MetricKernel)


def rounds_of(X, y, **settings):
    samples = read(OperatorKernelRegressor("rbf", gamma=0.1), X, y)
    task = Progress().task("test")
    return samples, _Rounds.start(samples, None, Criterion(), Options(tol=1e-10), True, task, **settings)


def test_errors_are_those_of_samples_outside_the_fits():
    """Residuals by hand: ridge regression in the kernel, without the samples that are tested."""
    X, y = one_direction(60)
    samples, rounds = rounds_of(X, y[:, None])
    kernel, penalty = kernels.InputKernel("rbf", 0.1), 0.5
    evaluation = rounds.evaluate([kernel] * 5, penalty)
    expected = np.empty((60, 1))
    for test in rounds.tests:
        train = np.setdiff1d(np.arange(60), test)
        C = np.linalg.solve(kernel(X[train]) + penalty * np.eye(len(train)), y[train] - y[train].mean())
        expected[test, 0] = y[test] - y[train].mean() - kernel(X[test], X[train]) @ C
    assert_allclose(evaluation.residuals, expected, atol=1e-8)
    assert sorted(np.concatenate(rounds.tests)) == list(range(60))


def test_the_penalty_moves_to_a_smaller_error():
    X, y = one_direction(200)
    _, rounds = rounds_of(X, y[:, None])
    start = rounds.evaluate([kernels.InputKernel("rbf", 0.1)] * 5, 1e4)
    moved = rounds.move_penalty(start)
    assert moved.error < 0.6 * start.error
    for factor in (0.1, 10.0):
        near = rounds.evaluate([kernels.InputKernel("rbf", 0.1)] * 5, factor * moved.penalty)
        assert near.error > 0.998 * moved.error


def test_a_change_by_chance_is_no_gain():
    X, y = one_direction(200)
    _, rounds = rounds_of(X, y[:, None])
    old = rounds.evaluate([kernels.InputKernel("rbf", 0.1)] * 5, 1.0)
    residuals = 1.02 * old.residuals
    residuals[np.argmax(np.abs(residuals))] = 0  # a single sample is predicted better
    new = replace(old, residuals=residuals, error=0.9 * old.error)
    assert not rounds.is_better(new, old, 0.02)
    assert rounds.is_better(replace(old, residuals=0.8 * old.residuals, error=0.8 * old.error), old, 0.02)


def test_kernels_that_have_no_metric_to_learn():
    X, y = one_direction(500)
    samples = read(OperatorKernelRegressor("rbf"), X, y[:, None])
    rbf = kernels.InputKernel("rbf", 0.1)
    for given in ((kernels.InputKernel("linear"),), (kernels.InputKernel(kernels.Matern(2.5, gamma=0.1)),), (rbf, rbf)):
        assert learn_metric(samples, given, 1.0, Criterion(), Options()) is None
    column = read(OperatorKernelRegressor("rbf"), X[:, :1], y[:, None])
    assert learn_metric(column, (rbf,), 1.0, Criterion(), Options()) is None


def test_a_metric_is_learnt_by_the_default_kernel_alone():
    X, y = one_direction(500)
    assert read(OperatorKernelRegressor(), X, y).recipe.learns_metric
    for settings in ({"kernel": "rbf"}, {"kernel": kernels.KernelSearch()}, {"gamma": 0.1}, {"manifold": 0.1}):
        assert not read(OperatorKernelRegressor(**settings), X, y).recipe.learns_metric


@pytest.mark.parametrize("n_points", [20, 340])
def test_curves_on_any_grid(n_points):
    X, _ = one_direction(600)
    t = np.linspace(0, 1, n_points)
    curves = np.sin(3 * t + 2 * (X @ DIRECTION)[:, None]) + 0.1 * np.random.default_rng(0).normal(size=(600, n_points))
    model = FunctionalRegressor().fit(X[:400], curves[:400])
    assert isinstance(model.kernel_, kernels.MetricKernel) and model.score(X[400:], curves[400:]) > 0.95


def test_label_sets_with_more_codes_than_tests():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(450, 5))
    labels = (X @ rng.normal(size=(5, 12)) + rng.normal(size=(450, 12)) > 0.5).astype(int)  # nearly all are distinct
    model = StructuredPredictor(output_loss="f1").fit(X, labels)
    assert np.isfinite(model.score(X, labels))


def test_the_search_result_has_the_error_over_folds(learnt):
    table = learnt.search_results_
    (row,) = [i for i, kernel in enumerate(table["kernel"]) if isinstance(kernel, kernels.MetricKernel)]
    X, y = one_direction(3000)  # the first 500 are not those of the fit
    error = np.mean((y[500:] - learnt.predict(X[500:])) ** 2)
    assert table["method"][row] == "folds" and table["error"][row] == pytest.approx(error, rel=0.2)
    X, y = one_direction(500)
    assert "scaled inputs" in OperatorKernelRegressor().fit(X * np.arange(1, 9), y).summary()


def test_columns_that_were_constant_are_new_elsewhere():
    X, y = one_direction(500)
    model = OperatorKernelRegressor().fit(np.c_[X, np.ones(500)], y)
    assert isinstance(model.kernel_, kernels.MetricKernel)
    near, far = (model.novelty(np.c_[X[:50], np.full(50, value)]) for value in (1.0, 1e9))
    assert near.max() < 0.3 and far.min() > 0.99


def test_a_callback_that_stops_keeps_the_metric_found_so_far(monkeypatch):
    X, y = one_direction(500)
    monkeypatch.setattr("hilbertlearn.selection.metric_search._Rounds.report", lambda self, found: True)
    model = OperatorKernelRegressor().fit(X[:450], y[:450])
    assert isinstance(model.kernel_, kernels.MetricKernel)


def test_a_repeated_sample_is_a_weight_and_changes_little(learnt):
    X, y = one_direction()
    repeated = OperatorKernelRegressor().fit(np.r_[X[:500], X[:1]], np.r_[y[:500], y[:1]])
    weights = np.ones(500)
    weights[0] = 2
    weighted = OperatorKernelRegressor().fit(X[:500], y[:500], weights)
    assert_allclose(repeated.predict(X[500:]), weighted.predict(X[500:]), rtol=1e-8, atol=1e-8)
    assert np.abs(repeated.predict(X[500:]) - learnt.predict(X[500:])).max() < 0.05


def test_a_refit_that_fails_keeps_the_metric():
    X, y = one_direction(500)
    model = OperatorKernelRegressor().fit(X, y)
    metric = model.metric_.copy()
    with pytest.raises(ValueError, match="gamma must be"):
        model.set_params(gamma="unknown").fit(X, y)
    assert np.array_equal(model.metric_, metric)
