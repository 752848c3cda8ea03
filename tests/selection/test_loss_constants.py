"""Constants of losses that are left to the data, against leave-one-out residuals of refits."""

import numpy as np
import pytest
from helpers.small_data import ALPHA, N, X, Y, by_quantile, model, reweighted, with_gaps
from numpy.testing import assert_allclose

from hilbertlearn import OperatorKernelRegressor, kernels, losses


def loo_by_refits(alpha, weights=None):
    """Residuals of the squared loss without each sample, alpha n held fixed."""
    w = np.ones(N) if weights is None else weights
    out = np.empty_like(Y)
    for i in range(N):
        rest = np.arange(N) != i
        without = model(alpha=alpha * w.sum() / w[rest].sum()).fit(X[rest], Y[rest], w[rest])
        out[i] = Y[i] - without.predict(X[i : i + 1])[0]
    return out


def norms(residuals):
    return np.linalg.norm(residuals, axis=1)


def mean_entry(residuals):
    return np.abs(residuals).mean(axis=1)


def median_norm(residuals):
    return by_quantile(norms(residuals), 0.5)


def test_automatic_settings_of_losses_by_hand():
    residuals = loo_by_refits(ALPHA)
    found = {
        losses.EpsilonInsensitive(): ("epsilon", by_quantile(norms(residuals), 0.25)),
        losses.EpsilonInsensitive(p=np.inf): ("epsilon", by_quantile(np.abs(residuals), 0.25)),
    }
    for loss, (name, expected) in found.items():
        fitted = model(loss=loss, scale=False).fit(X, Y)
        assert getattr(fitted.loss_, name) == pytest.approx(expected, rel=1e-6), loss
        assert fitted.alpha_ == ALPHA
        assert getattr(loss, name) == "auto"  # settings stay as they were given


@pytest.mark.parametrize(
    "loss, name, constant, options",
    [
        (losses.Huber(), "kappa", median_norm, {}),
        (losses.Huber(p=1), "kappa", lambda r: by_quantile(np.abs(r), 0.5), {"sizes": mean_entry}),
        (losses.Huber(p=np.inf), "kappa", lambda r: by_quantile(np.abs(r).sum(axis=1), 0.5), {"sizes": mean_entry}),
        (losses.EpsilonSVR(), "epsilon", lambda r: by_quantile(norms(r), 0.25), {"bend": median_norm, "linear": True}),
        (losses.InfConv(losses.PowerNorm(1.5), losses.Huber()), "second__kappa", median_norm, {}),
    ],
    ids=["huber", "entries", "maximum", "svr", "convolution"],
)
def test_automatic_settings_of_losses_with_a_bound_by_hand(loss, name, constant, options):
    residuals = reweighted(loo_by_refits, Y, ALPHA, **{"bend": constant, **options})
    fitted = model(loss=loss, scale=False).fit(X, Y)
    assert fitted.loss_.get_params()[name] == pytest.approx(constant(residuals), rel=1e-6)
    assert fitted.alpha_ == ALPHA
    assert loss.get_params()[name] == "auto"


def test_outliers_do_not_change_the_constants():
    """With alpha given as with alpha chosen: the median residual is that of the good samples."""
    rng = np.random.default_rng(2)
    Z = rng.uniform(-1, 1, size=(240, 2))
    truth = np.c_[-Z[:, 1], Z[:, 0]] * np.exp(-2 * (Z**2).sum(axis=1))[:, None]
    T = truth[:40] + 0.02 * rng.normal(size=(40, 2))
    T[:5] = 3 * rng.normal(size=(5, 2))
    for settings in ({"kernel": kernels.DivergenceFreeKernel(gamma=1.0)}, {"gamma": 1.0}):
        for alpha in (1e-3, 1e-2):
            fitted = OperatorKernelRegressor(loss="huber", alpha=alpha, **settings).fit(Z[:40], T)
            assert fitted.score(Z[40:], truth[40:]) > 0.9
            assert fitted.loss_.kappa < 0.2


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_automatic_settings_with_gaps(loss):
    T = with_gaps(Y)
    fitted = OperatorKernelRegressor(loss=loss).fit(X, T)
    assert fitted.score(X, Y) > 0.7  # the entries that were not seen too
    repeated = OperatorKernelRegressor(loss=loss).fit(X.tolist(), T.tolist())
    assert repeated.alpha_ == fitted.alpha_


@pytest.mark.parametrize("seed", [1, 2])
def test_predictions_are_continuous_where_residuals_cross_the_bound(seed):
    """Steps of the bound by 3 %; before, the criterion changed with the first residual, and predictions by 0.05."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=30)
    bounds = np.geomspace(0.5, 1.5, 36)
    predicted = [OperatorKernelRegressor(loss=losses.Huber(bound)).fit(X, y).predict(X) for bound in bounds]
    assert np.abs(np.diff(predicted, axis=0)).max() < 0.03
    assert_allclose(predicted[-1], OperatorKernelRegressor().fit(X, y).predict(X), atol=2e-3)
