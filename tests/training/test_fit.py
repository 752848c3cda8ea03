"""One fit and paths of fits, against dense solves."""

import numpy as np
from helpers.machines import prepare
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import OperatorKernelRegressor, losses
from hilbertlearn.training import Options, fit, fit_grid, fit_path

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(20, 2)), rng.normal(size=(20, 2))
K, ALPHAS = rbf_kernel(X, gamma=0.5), [1.0, 0.1, 0.01]
DATA = prepare(OperatorKernelRegressor("rbf", gamma=0.5), X, Y)


def by_hand(alpha):
    """Fitted values of kernel ridge regression around the mean."""
    mean = Y.mean(axis=0)
    return mean + K @ np.linalg.solve(K + 20 * alpha * np.eye(20), Y - mean)


def test_the_squared_loss():
    result = fit(DATA, losses.Squared(), 0.1, Options())
    assert_allclose(result.coordinates_at([K]), by_hand(0.1), atol=1e-10)
    assert_allclose(result.function_at([K]), by_hand(0.1) - Y.mean(axis=0), atol=1e-10)
    assert_allclose(result.residuals, Y - by_hand(0.1), atol=1e-10)


def test_a_given_constant():
    center = np.array([3.0, -1.0])
    result = fit(DATA, losses.Squared(), 0.1, Options(), center=center)
    expected = center + K @ np.linalg.solve(K + 2 * np.eye(20), Y - center)
    assert_allclose(result.coordinates_at([K]), expected, atol=1e-10)


def test_a_path_is_its_fits():
    for alpha, result in zip(ALPHAS, fit_path(DATA, losses.Squared(), ALPHAS, Options()), strict=True):
        assert result.alpha == alpha
        assert_allclose(result.coordinates_at([K]), by_hand(alpha), atol=1e-8)


def test_a_grid_of_losses_and_alphas_is_its_fits():
    options, pair = Options(tol=1e-9, max_iter=5000), [losses.Huber(0.5), losses.Huber(0.2)]
    found = list(fit_grid(DATA, pair, ALPHAS, options))
    assert [(j, result.alpha) for j, result in found] == [(j, alpha) for j in (0, 1) for alpha in ALPHAS]
    for j, result in found:
        alone = fit(DATA, pair[j], result.alpha, options)
        assert_allclose(result.coordinates_at([K]), alone.coordinates_at([K]), atol=1e-4)


def test_outlier_scores_are_relative_to_the_median():
    scores = fit(DATA, losses.Squared(), 0.1, Options()).outlier_scores()
    sizes = np.linalg.norm(Y - by_hand(0.1), axis=1)
    assert_allclose(scores, sizes / np.median(sizes), atol=1e-8)


def test_options_of_models_that_select_settings_are_rough():
    quick = Options(tol=1e-9).quick()
    assert quick.tol >= 1e-4 and not quick.shows_iterations
