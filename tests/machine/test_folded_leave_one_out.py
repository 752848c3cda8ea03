"""Leave-one-out models whose settings were selected without a fold, against refits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor
from hilbertlearn._utils.progress import Progress
from hilbertlearn.machine.folded_leave_one_out import FoldedLeaveOneOut

rng = np.random.default_rng(0)
N = 12
X, NEW = rng.uniform(-1, 1, size=(N, 2)), rng.uniform(-1, 1, size=(5, 2))
Y = np.column_stack([np.sin(3 * X[:, 0]), X[:, 1]]) + 0.2 * rng.normal(size=(N, 2))
WEIGHTS = rng.uniform(0.5, 2.0, N)
FOLD = np.arange(N) % 4


def folded(estimator, fold, weights=None, outputs=Y):
    return FoldedLeaveOneOut.fit(estimator, X, outputs, weights, fold, Progress().task("settings", "fold", N))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["even", "weighted"])
def test_folds_of_one_sample_are_refits(weights):
    """A refit selects everything itself: the kernels, their rates, the scaling of the inputs and alpha."""
    models = folded(OperatorKernelRegressor(operator=None), np.arange(N), weights)
    at_new = models.coordinates_at(NEW)
    for i in range(N):
        others = np.arange(N) != i
        own_weights = None if weights is None else weights[others]
        refit = OperatorKernelRegressor(operator=None).fit(X[others], Y[others], own_weights)
        assert_allclose(models.loo_predictions[i], refit.predict(X[[i]])[0], rtol=1e-6, atol=1e-8)
        assert_allclose(at_new[:, i], refit.predict(NEW), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["even", "weighted"])
def test_spreads_are_those_of_refits(weights):
    models = folded(OperatorKernelRegressor("rbf", operator=None), np.arange(N), weights)
    at_new = models.spreads_at(NEW)
    assert at_new.shape == (5, N)
    for i in range(N):
        others = np.arange(N) != i
        own_weights = None if weights is None else weights[others]
        refit = OperatorKernelRegressor("rbf", operator=None).fit(X[others], Y[others], own_weights)
        posterior = refit.machine_.posterior()
        assert_allclose(models.spreads[i], posterior.spreads(X[[i]])[0], rtol=1e-6)
        assert_allclose(at_new[:, i], posterior.spreads(NEW), rtol=1e-6)


def test_a_given_alpha_is_that_of_all_samples():
    models = folded(OperatorKernelRegressor("rbf", alpha=0.1), FOLD)
    assert [part.models.penalty for part in models.parts] == [0.1 * N] * 4


def test_two_samples_left_out_have_the_settings_of_the_first_ones_fold():
    models = folded(OperatorKernelRegressor("rbf", gamma=1.0, operator=None), FOLD)
    positions = np.array([0, 5])
    residuals = models.pairwise_residuals(positions)
    for row, i in zip(residuals, positions, strict=True):
        penalty = models.parts[FOLD[i]].models.penalty
        for j in np.setdiff1d(np.arange(N), [i]):
            others = np.setdiff1d(np.arange(N), [i, j])
            refit = OperatorKernelRegressor("rbf", gamma=1.0, operator=None, alpha=penalty / len(others))
            assert_allclose(row[j], Y[j] - refit.fit(X[others], Y[others]).predict(X[[j]])[0], rtol=1e-6, atol=1e-8)
    alone = OperatorKernelRegressor("rbf", gamma=1.0, operator=None).fit(X[FOLD != 1], Y[FOLD != 1])
    assert_allclose(models.parts[1].models.penalty, alone.alpha_ * (FOLD != 1).sum(), rtol=1e-10)


def test_settings_that_do_not_serve_all_samples():
    assert folded(OperatorKernelRegressor(alpha_per_output=True), FOLD) is None
    assert folded(OperatorKernelRegressor(feature_map=5), FOLD) is None
    with_gaps = Y.copy()
    with_gaps[0, 0] = np.nan
    related = OperatorKernelRegressor("rbf", operator=np.array([[1.0, 0.5], [0.5, 1.0]]))
    assert folded(related, FOLD, outputs=with_gaps) is None  # no closed form


def test_curves():
    curves = np.sin(np.linspace(0, 3, 8) + X[:, :1]) + 0.1 * rng.normal(size=(N, 8))
    models = folded(FunctionalRegressor("rbf", gamma=1.0), FOLD, outputs=curves)
    predictions = models.coordinates_at(X)
    assert_allclose(predictions[np.arange(N), np.arange(N)], models.loo_predictions, atol=1e-8)
