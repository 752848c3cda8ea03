"""Models of parts of the samples with what was chosen by all of them: the same as fits with these numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import ConformalPredictor, FunctionalRegressor, OperatorKernelRegressor, losses
from hilbertlearn.machine.steps import FitSteps
from hilbertlearn.machine.wrapping import fit_with_parts

rng = np.random.default_rng(0)
N = 60
X = rng.uniform(-1, 1, size=(N, 2))
Y = np.column_stack([np.sin(3 * X[:, 0]), X[:, 1] ** 2]) + 0.1 * rng.normal(size=(N, 2))
GAPS = np.where(rng.random(Y.shape) < 0.1, np.nan, Y)
WEIGHTS = np.r_[0.0, rng.uniform(0.5, 2.0, N - 1)]
NEW = rng.uniform(-1, 1, size=(7, 2))
ROWS = np.setdiff1d(np.arange(N), np.arange(0, N, 7))
TIGHT = {"tol": 1e-14, "max_iter": 1000}


def assert_same_as_alone(fitted, part, X_part, y_part, weights, total, **settings):
    """A model of a part against a fit to it with the numbers that the model of all has chosen."""
    own = np.isfinite(y_part).any(axis=1).sum() if weights is None else weights.sum()
    alpha = fitted.alpha_ * total / own
    alone = type(fitted)("rbf", gamma=fitted.gamma_, alpha=alpha, loss=fitted.loss_, **settings, **TIGHT)
    alone.fit(X_part, y_part, sample_weight=weights)
    assert_allclose(part.predict(NEW), alone.predict(NEW), atol=1e-7)
    assert part.dual_gap_ <= 1e-11


@pytest.mark.parametrize("loss", [losses.Huber(0.1), losses.EpsilonInsensitive(0.05), losses.Huber(0.1, p=1)])
@pytest.mark.parametrize("y", [Y, GAPS], ids=["whole", "gaps"])
def test_a_part_is_a_fit_with_the_same_numbers(loss, y):
    model = OperatorKernelRegressor("rbf", gamma=1.0, alpha=1e-3, loss=loss, **TIGHT)
    part = fit_with_parts(model, X, y)(ROWS)
    assert_same_as_alone(model, part, X[ROWS], y[ROWS], None, np.isfinite(y).any(axis=1).sum())


def test_weights_and_functions():
    model = OperatorKernelRegressor("rbf", gamma=1.0, alpha=1e-3, loss=losses.Huber(0.1), **TIGHT)
    part = fit_with_parts(model, X, Y, WEIGHTS)(ROWS)
    assert_same_as_alone(model, part, X[ROWS], Y[ROWS], WEIGHTS[ROWS], WEIGHTS.sum())
    curves = np.sin(3 * np.linspace(0, 1, 15) + X[:, :1]) + 0.05 * rng.normal(size=(N, 15))
    model = FunctionalRegressor("rbf", gamma=1.0, alpha=1e-3, operator="integral", loss=losses.Huber(0.1), **TIGHT)
    part = fit_with_parts(model, X, curves)(ROWS)
    assert_same_as_alone(model, part, X[ROWS], curves[ROWS], None, N, operator="integral")


def test_kernel_values_are_those_with_all_samples():
    K, K_new = rbf_kernel(X, gamma=1.0), rbf_kernel(NEW, X, gamma=1.0)
    by_values = OperatorKernelRegressor("precomputed", loss=losses.Huber(0.1), alpha=1e-3, **TIGHT)
    by_inputs = OperatorKernelRegressor("rbf", gamma=1.0, loss=losses.Huber(0.1), alpha=1e-3, **TIGHT)
    one, other = fit_with_parts(by_values, K, Y)(ROWS), fit_with_parts(by_inputs, X, Y)(ROWS)
    assert_allclose(one.predict(K_new), other.predict(NEW), atol=1e-7)
    bands = [
        ConformalPredictor(model, random_state=0).fit(inputs, Y).predict_interval(new)
        for model, inputs, new in ((by_values, K, K_new), (by_inputs, X, NEW))
    ]
    assert_allclose(*bands, atol=1e-6)


def test_intervals_of_many_samples_select_once(monkeypatch):
    """With method="auto" a loss without a formula is searched once; with "cv+", or few samples, in every fold."""
    calls, select = [], FitSteps.select
    monkeypatch.setattr(FitSteps, "select", lambda self, *given: calls.append(1) or select(self, *given))
    for method, few, expected in (("auto", N - 1, 1), ("auto", N, 11), ("cv+", N - 1, 11)):
        calls.clear()
        monkeypatch.setattr("hilbertlearn.conformal.fold_settings.SELECT_BY_FOLD_UP_TO", few)
        model = ConformalPredictor(OperatorKernelRegressor("rbf", loss="huber"), method, random_state=0).fit(X, Y)
        assert model.method_ == "cv+" and not model.closed_form_ and len(calls) == expected
        assert np.isfinite(model.predict_interval(NEW)).all()


def test_where_there_are_no_parts():
    from sklearn.linear_model import Ridge

    assert fit_with_parts(FunctionalRegressor(regressor=Ridge()), X, Y) is None
