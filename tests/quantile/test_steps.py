"""The steps of a fit of quantiles."""

import numpy as np
import pytest

from hilbertlearn import QuantileRegressor

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
