"""Numbers that bounds read from fitted estimators."""

import numpy as np
import pytest

from hilbertlearn import (
    FunctionalRegressor,
    IrregularFunctions,
    OperatorKernelRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    bounds,
    losses,
    spaces,
)


def data(n=40):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 2))
    return X, np.column_stack([np.sin(X[:, 0]), X[:, 1]]) + 0.1 * rng.normal(size=(n, 2))


def test_assumptions_list_settings_that_were_estimated_from_the_samples():
    X, Y = data()
    known = {"output_bound": 5.0, "kernel_bound": 1.0}
    fixed = {"kernel": "rbf", "gamma": 1.0, "alpha": "n^-1/2", "center": False}

    def notes(model):
        return "; ".join(bounds.stability_bound_from_estimator(model.fit(X, Y), X, Y, **known).assumptions)

    assert notes(OperatorKernelRegressor(**fixed)) == ""
    assert "the constant" in notes(OperatorKernelRegressor(**{**fixed, "center": True}))
    assert "alpha" in notes(OperatorKernelRegressor(**{**fixed, "alpha": "auto"}))
    assert "alpha" in notes(RegularizationPathCV(OperatorKernelRegressor(**fixed)))
    assert "the kernel" in notes(OperatorKernelRegressor(**{**fixed, "gamma": "median"}))
    assert "the kernel" in notes(OperatorKernelRegressor(**{**fixed, "kernel": "auto"}))
    assert "the loss's settings" in notes(OperatorKernelRegressor(**fixed, loss="huber"))
    assert "the operator" in notes(OperatorKernelRegressor(**fixed, operator="covariance"))
    assert "the scale" in notes(OperatorKernelRegressor(**fixed, scale=True))
    assert "features" in notes(OperatorKernelRegressor(**fixed, feature_map=10))


def test_of_estimators_of_every_kind():
    X, Y = data()
    t = np.linspace(0, 1, 15)
    curves = np.sin(2 * np.pi * t + X[:, :1])
    gaps = np.where(np.random.default_rng(2).random(Y.shape) < 0.2, np.nan, Y)
    fits = [
        (OperatorKernelRegressor(alpha=0.1), Y),
        (OperatorKernelRegressor(alpha="n^-1/2", kernel="rbf", gamma=1.0), gaps),
        (OperatorKernelRegressor(alpha=0.1, kernel="rbf", gamma=1.0, feature_map=10), Y),
        (RegularizationPathCV(OperatorKernelRegressor("rbf", gamma=1.0)), Y),
        (FunctionalRegressor(alpha=0.1), curves),
        (FunctionalRegressor(alpha=0.1, space=spaces.Fourier(3), loss=losses.EpsilonSVR(0.1)), curves),
        (StructuredPredictor(alpha=0.1, output_kernel="rbf", loss=losses.Huber(0.2)), Y),
        (StructuredPredictor(alpha=0.1, output_loss="zero_one"), list("abcd" * 10)),
    ]
    for model, y in fits:
        bound = bounds.stability_bound_from_estimator(model.fit(X, y), X, y)
        assert np.isfinite(bound.value)
        assert bound.constants.n == 40 - (np.isnan(y).all(axis=1).sum() if y is gaps else 0)
        assert bound.risk <= bound.constants.M
    # what curves have outside the dictionary counts
    model = fits[5][0]
    projected = model.space_.encode(curves)
    whole = np.sqrt(((curves - 0) ** 2) @ model.space_.axes[0].quadrature)
    constants = bounds.stability_bound_from_estimator(
        model.set_params(center=False).fit(X, curves), X, curves
    ).constants
    assert constants.output_bound == pytest.approx(whole.max())
    assert constants.output_bound >= np.linalg.norm(projected, axis=1).max() - 1e-12


@pytest.mark.parametrize("loss", ["squared", losses.Huber(0.3), losses.EpsilonSVR(0.1)])
def test_weights_that_differ_are_refused_for_every_loss_and_samples_of_weight_zero_do_not_count(loss):
    X, Y = data()
    model = OperatorKernelRegressor("linear", alpha=0.1, loss=loss, center=False)
    with pytest.raises(ValueError, match="sample_weight"):
        bounds.stability_bound_from_estimator(model.fit(X, Y, np.arange(1.0, 41.0)), X, Y)
    weights = np.full(40, 2.0)
    weights[[0, 7, 39]] = 0
    X[7], Y[[0, 39]] = 100.0, 1e6
    rest = weights > 0
    found = bounds.stability_bound_from_estimator(model.fit(X, Y, weights), X, Y)
    expected = bounds.stability_bound_from_estimator(model.fit(X[rest], Y[rest]), X[rest], Y[rest])
    assert found.constants.n == 37
    assert found.value == pytest.approx(expected.value, rel=1e-6)


def test_irregular_functions():
    """Values at points may be larger than a function's norm: the kernel's bound is not that of the coordinates."""
    X, _ = data(12)
    rng = np.random.default_rng(0)
    points = [np.sort(rng.uniform(0, 1, 5)) for _ in X]
    functions = IrregularFunctions(points, [np.sin(3 * t + x[0]) for t, x in zip(points, X)])
    model = FunctionalRegressor("rbf", gamma=1.0, alpha=0.1, space=spaces.Fourier(3)).fit(X, functions)
    for bound in (bounds.stability_bound_from_estimator, bounds.estimation_bound_from_estimator):
        with pytest.raises(ValueError, match="irregular='projected'"):
            bound(model, X, functions)
    assert bounds.stability_bound_from_estimator(model, X, functions, kernel_bound=3.0).value > 0
    projected = model.set_params(irregular="projected").fit(X, functions)
    assert bounds.stability_bound_from_estimator(projected, X, functions).constants.kernel_bound == pytest.approx(1.0)
