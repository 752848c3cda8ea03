"""The automatic selection as a whole: accuracy, and settings at the limits."""

import numpy as np
import pytest
from helpers.machines import prepare, read
from helpers.small_data import ALPHA, GAMMA, NEW, N, X, Y, model
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score as sklearn_r2
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, ShuffleSplit

from hilbertlearn import OperatorKernelRegressor, kernels, losses
from hilbertlearn.kernels import resolve_gamma
from hilbertlearn.selection import select, select_kernels
from hilbertlearn.training import Options


def test_automatic_alpha_of_losses_without_a_bound_is_that_of_the_squared_loss():
    settings = {"gamma": GAMMA}
    expected = OperatorKernelRegressor(**settings).fit(X, Y).alpha_
    for loss in ("epsilon_insensitive", losses.PowerNorm(1.5)):
        assert OperatorKernelRegressor(loss=loss, **settings).fit(X, Y).alpha_ == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("loss", ["huber", "epsilon_svr", losses.Huber(p=1)], ids=str)
def test_automatic_alpha_of_robust_losses_is_not_blown_up_by_outliers(loss):
    """The squared loss smooths gross errors away and takes the signal along; a robust loss need not."""
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(500, 3))
    truth = np.sin(Z @ rng.normal(size=(3, 4)))
    T = truth + 0.05 * rng.normal(size=truth.shape)
    T[:15] += 10 * rng.normal(size=(15, 4))  # of the 150 training samples
    ridge = OperatorKernelRegressor().fit(Z[:150], T[:150])
    robust = OperatorKernelRegressor(loss=loss).fit(Z[:150], T[:150])
    assert robust.alpha_ < ridge.alpha_ / 10
    assert robust.score(Z[150:], truth[150:]) > ridge.score(Z[150:], truth[150:]) + 0.2
    alphas = ridge.alpha_ * np.geomspace(1e-4, 10, 6)
    scores = [
        OperatorKernelRegressor(loss=robust.loss_, alpha=a).fit(Z[:150], T[:150]).score(Z[150:], truth[150:])
        for a in alphas
    ]
    assert robust.score(Z[150:], truth[150:]) > max(scores) - 0.15


def diabetes():
    Z, y = load_diabetes(return_X_y=True)
    return Z, y[:, None]


def friedman(n=400):
    Z, y = make_friedman1(n, noise=1.0, random_state=0)
    r = np.random.default_rng(0)
    other = 10 * np.sin(np.pi * Z[:, 3] * Z[:, 4]) + 5 * Z[:, 0] + r.normal(size=n)
    return Z, np.c_[y, other, y - other + r.normal(size=n)]


def held_out_scores(Z, T, splits):
    """Mean R2 on held-out thirds: ours with no setting, and a search over alpha and gamma on centred outputs."""
    scores = []
    for train, test in ShuffleSplit(splits, test_size=1 / 3, random_state=0).split(Z):
        ours = OperatorKernelRegressor().fit(Z[train], T[train])
        median = resolve_gamma("rbf", "median", Z[train])
        grid = {"alpha": np.logspace(-3, 1, 5), "gamma": median * 4.0 ** np.arange(-5, 2)}
        search = GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=3, scoring="r2")
        mean = T[train].mean(axis=0)
        tuned = search.fit(Z[train], T[train] - mean).predict(Z[test]) + mean
        scores.append([ours.score(Z[test], T[test]), sklearn_r2(T[test], tuned)])
    return np.mean(scores, axis=0)


@pytest.mark.parametrize("data", [diabetes, friedman])
def test_no_tuning_is_as_good_as_a_grid_search(data):
    ours, tuned = held_out_scores(*data(), splits=3)
    assert ours > tuned - 0.02
    assert tuned > 0.4  # the search is worth comparing with


@pytest.mark.parametrize("operator", [None, np.array([[1.0, 0.3], [0.3, 1.0]])], ids=["identity", "full"])
def test_tiny_alpha_is_refined_to_the_tolerance_or_warns(operator):
    Z = np.random.default_rng(0).uniform(size=(200, 1))
    T = np.hstack([np.sin(6 * Z), Z])
    K = rbf_kernel(Z, gamma=5)
    for alpha in (1e-9, 1e-11):
        fitted = OperatorKernelRegressor(gamma=5, alpha=alpha, operator=operator, center=False).fit(Z, T)
        P = np.eye(2) if operator is None else operator
        residual = T - K @ fitted.dual_coef_ @ P
        norm = np.vdot(fitted.dual_coef_, K @ fitted.dual_coef_ @ P) * alpha * 200 / 2
        gap = ((residual - alpha * 200 * fitted.dual_coef_) ** 2).sum() / 2 / ((residual**2).sum() / 2 + norm)
        assert gap <= 2e-6 and fitted.dual_gap_ <= 1e-6
    with pytest.warns(ConvergenceWarning, match=r"raise alpha, .* or tol"):
        OperatorKernelRegressor(gamma=5, alpha=1e-17, operator=operator).fit(Z, T)


def test_two_squared_losses_are_ridge_with_half_the_weight():
    """``inf_s ||s||^2/2 + ||r - s||^2/2 = ||r||^2/4``, so alpha counts twice."""
    twice = model(loss=losses.InfConv(losses.Squared(), losses.Squared()), center=False, tol=1e-12).fit(X, Y)
    assert_allclose(twice.predict(NEW), model(alpha=2 * ALPHA, center=False).fit(X, Y).predict(NEW), atol=1e-5)
    with pytest.raises(ValueError, match="closed form"):
        twice.loo_residuals()


def test_automatic_alpha_of_a_loss_with_negative_values():
    loss = losses.InfConv(losses.LogNorm(), losses.Norm(2.0))  # constant and negative below 1/e
    fitted, ridge = (OperatorKernelRegressor(gamma=GAMMA, loss=one).fit(X, 10 * Y) for one in (loss, "squared"))
    assert fitted.alpha_ < 9 * ridge.alpha_  # the first and largest tried is 10 times it


@pytest.mark.parametrize("form", ["ii", "iii"])
def test_gram_matrix_inside_an_output_tensor_kernel(form):
    K = rbf_kernel(X, gamma=GAMMA)
    given = OperatorKernelRegressor(kernels.OutputTensorKernel(form, "precomputed"), tol=1e-10).fit(K, Y)
    computed = OperatorKernelRegressor(kernels.OutputTensorKernel(form), gamma=GAMMA, tol=1e-10).fit(X, Y)
    assert given.alpha_ == pytest.approx(computed.alpha_, rel=0.5)  # errors by folds of (iii) are flat around it
    again = given if form == "ii" else given.set_params(alpha=computed.alpha_).fit(K, Y)
    assert_allclose(again.predict(K), computed.predict(X), atol=1e-4)


@pytest.mark.parametrize("form", ["i", "iii", "vi"])
def test_default_alphas_of_output_tensor_kernels_do_not_tell_weights_from_copies(form):
    times = np.arange(N) % 3 + 1
    settings = {"kernel": kernels.OutputTensorKernel(form), "gamma": GAMMA}
    weighted = prepare(OperatorKernelRegressor(**settings), X, Y, times)
    repeated = prepare(OperatorKernelRegressor(**settings), X.repeat(times, axis=0), Y.repeat(times, axis=0))
    assert_allclose(weighted.alphas(), repeated.alphas(), rtol=0.02)


def test_loss_of_a_subclass_stays_one():
    class Careful(losses.Huber):
        pass

    assert type(OperatorKernelRegressor(loss=Careful()).fit(X, Y).loss_) is Careful


def test_features_are_counted_for_callable_kernels():
    fitted = model(kernel=lambda A, B: A @ B.T).fit(X, Y)
    assert fitted.n_features_in_ == 2
    with pytest.raises(ValueError, match="3 features"):
        fitted.predict(np.ones((4, 3)))


# ---------------------------------------------------------------- select


def test_a_schedule_is_a_number_of_the_samples():
    selection = select(read(model(), X, Y), losses.Squared(), "n^-1/2", Options())
    assert selection.alpha == pytest.approx(N**-0.5) and not selection.selected_alpha


def test_given_settings_stay():
    selection = select(read(model(), X, Y), losses.Huber(0.3), ALPHA, Options())
    assert selection.alpha == ALPHA and selection.loss.kappa == 0.3 and selection.trials == ()
    assert selection.training.kernels[0].rate == GAMMA


def test_only_the_kernel():
    samples = read(OperatorKernelRegressor("rbf"), X, Y)
    training = select_kernels(samples, losses.Squared(), "auto", Options())
    assert training.kernels[0].rate == select(samples, losses.Squared(), "auto", Options()).training.kernels[0].rate
    assert select_kernels(read(model(), X, Y), losses.Squared(), "auto", Options()).kernels[0].rate == GAMMA
