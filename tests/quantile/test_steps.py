"""The steps of a fit of quantiles."""

import numpy as np
import pytest

from hilbertlearn import QuantileRegressor, RegularizationPathCV

X = np.random.default_rng(0).uniform(size=(30, 1))
Y = X[:, 0]


def steps(**settings):
    return QuantileRegressor(**settings).spec(Y).steps


def test_settings_become_steps():
    assert steps(levels=0.5).has_level_axis is False and steps().has_level_axis
    assert steps().separate_outputs and not steps(operator=None).separate_outputs
    assert not QuantileRegressor(grid=np.linspace(0, 1, 4)).spec(np.zeros((30, 4))).steps.separate_outputs
    assert not steps().shares_selection
    assert steps().calibrates and not steps(alpha=0.1).calibrates and steps(alpha=0.1, calibrate=True).calibrates
    assert not QuantileRegressor(grid=np.linspace(0, 1, 4)).spec(np.zeros((30, 4))).steps.calibrates


def test_points_of_a_single_input_span_its_range_and_a_little_more():
    spec = QuantileRegressor(non_crossing=True).spec(Y)
    points = spec.steps._points(spec, X)
    width = np.ptp(X)
    np.testing.assert_allclose([points.min(), points.max()], [X.min() - 0.05 * width, X.max() + 0.05 * width])
    assert points.shape == (100, 1)
    assert spec.steps._points(spec, np.hstack([X, X])) is None
    assert QuantileRegressor(non_crossing=True, points=None).spec(Y).steps._points(spec, X) is None


def test_points_need_a_kernel_of_inputs():
    model = QuantileRegressor(kernel="precomputed", alpha=0.1, coupling=1.0, non_crossing=True, points=X[:3])
    with pytest.raises(ValueError, match="points: kernel='precomputed'"):
        model.fit(X @ X.T + np.eye(30), Y)


def test_kernels_with_operators_are_refused():
    from hilbertlearn import kernels

    with pytest.raises(ValueError, match="give a kernel whose values are numbers"):
        QuantileRegressor(kernel=kernels.CurlFreeKernel()).fit(np.hstack([X, X]), np.hstack([X, X]))


GIVEN = {"levels": (0.1, 0.9), "kernel": "rbf", "gamma": 3.0, "coupling": 1.0}
NOISY = np.sin(6 * Y) + 0.3 * np.random.default_rng(1).normal(size=30)


@pytest.mark.parametrize("calibrate", [True, False])
def test_models_of_a_path_are_fits_with_their_alpha(calibrate):
    alphas = [0.1, 0.01]
    for alpha, model in zip(alphas, QuantileRegressor(**GIVEN, calibrate=calibrate).fit_path(X, NOISY, alphas)):
        expected = QuantileRegressor(**GIVEN, calibrate=calibrate, alpha=alpha).fit(X, NOISY)
        np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=0, atol=1e-6)
        assert model.coupling_ == 1.0 and model.summary() == expected.summary()


@pytest.mark.parametrize("calibrate", [True, "auto", False])
def test_the_model_selected_on_a_path_is_calibrated(calibrate):
    path = RegularizationPathCV(QuantileRegressor(**GIVEN, calibrate=calibrate), [0.1, 0.01]).fit(X, NOISY)
    expected = QuantileRegressor(**GIVEN, calibrate=bool(calibrate), alpha=path.alpha_).fit(X, NOISY)
    assert (path.best_estimator_.offsets_ is not None) == bool(calibrate)
    np.testing.assert_allclose(path.predict(X), expected.predict(X), rtol=0, atol=1e-6)
    single = RegularizationPathCV(QuantileRegressor(**GIVEN, calibrate=calibrate), [0.1]).fit(X[:1], NOISY[:1])
    np.testing.assert_allclose(single.predict(X), NOISY[0])
