"""Leave-one-out errors over alpha, and the alpha that they select, against refits."""

import itertools

import numpy as np
import pytest
from helpers.averages import log_loss_of_residuals, log_trimmed_mean_square, mean_alpha_by_hand
from helpers.machines import prepare
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import OperatorKernelRegressor, RegularizationPathCV
from hilbertlearn.selection.criterion import ErrorEstimate, NormCriterion
from hilbertlearn.selection.error_curve import coarse_to_fine, error_curve

N, D = 9, 3
GAMMA = 0.3
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 2))
Y = np.c_[np.sin(2 * X[:, 0]), X[:, 1], X.sum(axis=1)] + 0.1 * rng.normal(size=(N, D)) + [0, 5, -2]
WEIGHTS = rng.uniform(0.3, 3, N)
ROOT = rng.normal(size=(D, D))
OPERATORS = {
    "identity": None,
    "full": ROOT @ ROOT.T,
    "rank 2": ROOT[:, :2] @ ROOT[:, :2].T,
    "zero": np.zeros((D, D)),
}


def by_refits(K, M, Y, s, center, weights):
    """Residuals (n, d), each from a dense solve without its sample: ``s c_j = w_j (y_j - mean - h(x_j))``."""
    n, d = Y.shape
    M = np.eye(d) if M is None else M
    residuals = np.empty_like(Y)
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        w = weights[rest]
        mean = w @ Y[rest] / w.sum() if center else np.zeros(d)
        system = s * np.eye((n - 1) * d) + np.kron(w[:, None] * K[np.ix_(rest, rest)], M)
        C = np.linalg.solve(system, (w[:, None] * (Y[rest] - mean)).ravel()).reshape(n - 1, d)
        residuals[i] = Y[i] - mean - K[i, rest] @ C @ M
    return residuals


@pytest.mark.parametrize("operator", ["identity", "full"])
@pytest.mark.parametrize("center", [False, True])
def test_auto_alpha_is_the_weighted_mean_of_refits(operator, center):
    M = OPERATORS[operator]
    settings = {"gamma": GAMMA, "operator": M, "center": center}
    model = OperatorKernelRegressor(**settings).fit(X, Y)
    alphas = RegularizationPathCV(OperatorKernelRegressor(**settings)).fit(X, Y).alphas_[::2]
    assert_allclose(np.sort(model.search_results_["alpha"]), alphas)
    K = rbf_kernel(X, gamma=GAMMA)
    residuals = [by_refits(K, M, Y, alpha * N, center, np.ones(N)) for alpha in alphas]
    errors = [np.mean(np.sqrt(np.mean(r**2, axis=0)) / Y.std(axis=0)) for r in residuals]
    assert_allclose(model.search_results_["error"], errors, rtol=1e-6)
    log_losses = [log_loss_of_residuals(r, Y) for r in residuals]
    scale = 1.0 if M is None else np.linalg.eigvalsh(M)[-1]
    assert model.alpha_ == pytest.approx(mean_alpha_by_hand(alphas, log_losses, N, scale), rel=1e-6)


def test_auto_alpha_of_weights_equals_that_of_copies():
    counts = rng.integers(1, 4, N)
    repeated = OperatorKernelRegressor("rbf").fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0))
    weighted = OperatorKernelRegressor("rbf").fit(X, Y, counts)
    assert repeated.alpha_ == pytest.approx(weighted.alpha_, rel=1e-9)
    assert repeated.gamma_ == pytest.approx(weighted.gamma_, rel=1e-9)
    assert_allclose(repeated.predict(X), weighted.predict(X), atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_curve_has_the_errors_of_refits(weighted):
    """Factors of the weights act on the fit only, and keep the penalty."""
    training = prepare(OperatorKernelRegressor("rbf", gamma=GAMMA, scale=False), X, Y)
    factors = WEIGHTS if weighted else np.ones(N)
    alphas = training.alphas()
    curve = error_curve(training, NormCriterion(), alphas, WEIGHTS if weighted else None)
    K = rbf_kernel(X, gamma=GAMMA)
    residuals = [by_refits(K, None, Y, alpha * N, True, factors) for alpha in curve.alphas]
    errors = [np.linalg.norm(r, axis=1).mean() for r in residuals]
    assert_allclose(curve.errors, errors, rtol=1e-6)
    assert set(curve.alphas) <= set(alphas) and len(curve.alphas) < len(alphas) / 2
    log_losses = [log_trimmed_mean_square(r) for r in residuals]
    assert curve.alpha == pytest.approx(mean_alpha_by_hand(curve.alphas, log_losses, N), rel=1e-6)
    assert curve.penalty == pytest.approx(curve.alpha * N)
    assert curve.error <= min(errors) * (1 + 1e-4)
    assert [trial.error for trial in curve.trials()] == pytest.approx(errors)


def test_some_samples_are_evaluated_under_the_model_of_all():
    training = prepare(OperatorKernelRegressor("rbf", gamma=GAMMA, scale=False), X, Y)
    alphas = training.alphas()[-8:]
    part = error_curve(training, NormCriterion(), alphas, n_evaluated=4)
    residuals = by_refits(rbf_kernel(X, gamma=GAMMA), None, Y, part.alphas[0] * N, True, np.ones(N))
    norms = np.linalg.norm(residuals, axis=1)
    means = [norms[list(rows)].mean() for rows in itertools.combinations(range(N), 4)]
    assert np.isclose(part.errors[0], means, rtol=1e-8).any()


def test_coarse_to_fine_finds_the_minimum_of_a_valley():
    evaluated = []

    def evaluate(indices):
        evaluated.extend(indices)
        return [ErrorEstimate((i - 13.0) ** 2, 0.0, 0.0) for i in indices]

    results = coarse_to_fine(40, evaluate)
    assert min(results, key=results.get) == 13 and list(results) == sorted(results)
    assert len(evaluated) == len(set(evaluated)) == len(results) < 20
    for few in (3, 25):  # of few all are evaluated, so that an average of them does not depend on errors
        assert list(coarse_to_fine(few, evaluate)) == list(range(few))
