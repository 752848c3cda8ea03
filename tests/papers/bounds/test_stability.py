"""Stability constants and bounds, against the paper as printed and refits with one sample replaced."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import (
    KernelAutoencoder,
    OperatorKernelRegressor,
    bounds,
    losses,
)

LOSSES = {
    "squared": losses.Squared(),
    "ridge": losses.EpsilonInsensitive(0.1),
    "svr": losses.EpsilonSVR(0.1),
    "huber": losses.Huber(0.4),
    "huber, never linear": losses.Huber(50.0),
}


def figure_1(kind, b, g, Lambda, parameter):
    """M and C as printed."""
    if kind == "svr":
        root = np.sqrt(b - parameter)
        return root * (np.sqrt(2) * g / np.sqrt(Lambda) + root), 1.0
    if kind == "ridge":
        M = (b - parameter) ** 2 * (1 + 2 * np.sqrt(2) * g / np.sqrt(Lambda) + 2 * g**2 / Lambda)
        return M, 2 * (b - parameter) * (1 + g * np.sqrt(2) / np.sqrt(Lambda))
    root = np.sqrt(b - parameter / 2)
    return parameter * root * (g * np.sqrt(2 * parameter) / np.sqrt(Lambda) + root), parameter


@pytest.mark.parametrize("alpha", [0.01, 0.3, 5.0])
@pytest.mark.parametrize("kernel_bound", [1.0, 2.5])
def test_constants_are_those_of_figure_1(alpha, kernel_bound):
    b, g = 1.7, np.sqrt(kernel_bound)
    settings = {"n": 40, "alpha": alpha, "output_bound": b, "kernel_bound": kernel_bound}
    for kind, loss, half in (
        ("svr", losses.EpsilonSVR(0.2), True),
        ("huber", losses.Huber(0.6), True),
        ("ridge", losses.EpsilonInsensitive(0.2), False),
    ):
        parameter = 0.6 if kind == "huber" else 0.2
        found = bounds.stability_constants(loss, half=half, **settings)
        M, C = figure_1(kind, b, g, alpha, parameter)
        assert pytest.approx(M) == found.M
        assert pytest.approx(C) == found.C
        assert found.beta == pytest.approx(C**2 * kernel_bound / (alpha * 40))


def test_the_halved_loss_is_half_of_figure_1_at_twice_alpha():
    b, eps, alpha, g2, n = 1.3, 0.2, 0.07, 1.9, 55
    found = bounds.stability_constants(
        losses.EpsilonInsensitive(eps), n=n, alpha=alpha, output_bound=b, kernel_bound=g2
    )
    M, C = figure_1("ridge", b, np.sqrt(g2), 2 * alpha, eps)
    assert pytest.approx((M / 2, C / 2)) == (found.M, found.C)
    assert found.beta == pytest.approx(C**2 * g2 / (2 * alpha * n) / 2)
    assert pytest.approx((b - eps) ** 2 / 2 * (1 + np.sqrt(g2 / alpha)) ** 2) == found.M


def test_figure_1_is_too_small_for_outputs_below_kappa():
    """b < kappa: the function that fits nothing has the loss b^2 / 2, more than figure 1's M."""
    b, kappa, Lambda = 1.0, 1.9, 1e3
    M, _ = figure_1("huber", b, 1.0, Lambda, kappa)
    found = bounds.stability_constants(losses.Huber(kappa), n=10, alpha=Lambda, output_bound=b)
    X, y = np.zeros((10, 1)), np.where(np.arange(10) % 2, b, -b)
    model = OperatorKernelRegressor("rbf", gamma=1.0, alpha=Lambda, loss=losses.Huber(kappa), center=False).fit(X, y)
    seen = float(losses.Huber(kappa).value(np.abs(b - model.predict(X[:1]))).max())
    assert M < 0.2 < 0.45 < seen <= found.M


@pytest.mark.parametrize("name", ["squared", "ridge", "svr", "huber"])
def test_replacing_a_sample_moves_losses_by_at_most_two_beta(name):
    """60 draws: predictions and losses, at new points and at the sample's own, and the largest loss."""
    loss, rng, b, n, alpha = LOSSES[name], np.random.default_rng(0), 1.0, 10, 0.1
    constants = [bounds.stability_constants(loss, n=n, alpha=alpha, output_bound=b, sharp=s) for s in (False, True)]
    C, beta, M = (np.array([getattr(one, part) for one in constants]) for part in ("C", "beta", "M"))
    largest = np.zeros((4, 2))
    for draw in range(60):
        X, y, z = _samples(rng, n, b, adversary=draw % 2)
        K = rbf_kernel(X, X, gamma=0.5)
        points = np.vstack([X, rng.uniform(-1, 1, (5, 2))])
        cross = rbf_kernel(points, X, gamma=0.5)
        model = OperatorKernelRegressor("precomputed", alpha=alpha, loss=loss, center=False, tol=1e-8)
        values = [model.fit(K, one).predict(cross) for one in (y, z)]
        if draw % 4 == 0:  # leave it out, alpha n held fixed
            model.set_params(alpha=alpha * n / (n - 1)).fit(K[:-1, :-1], y[:-1])
            values.append(model.predict(cross[:, :-1]))
        truths = np.linspace(-b, b, 21)
        own = [loss.value(np.abs(truths[:, None] - one)) for one in values]
        seen = [
            np.abs(values[0] - values[1]).max() / (2 * C / (alpha * n)),
            np.abs(own[0] - own[1]).max() / (2 * beta),
            np.abs(own[0] - own[-1]).max() / ((1 if len(own) == 3 else 2) * beta),
            max(one.max() for one in own) / M,
        ]
        largest = np.maximum(largest, seen)
    print(f"{name}: share that is reached of the bounds on values, losses, left out, M; paper's, sharp")
    print(largest.round(3))
    assert (largest <= 1 + 1e-5).all()
    assert largest.min() > 0.01


def _samples(rng, n, b, adversary):
    """Inputs (n, 2), outputs (n,) of size at most b, and the same with another for the last one."""
    X, y = rng.uniform(-1, 1, (n, 2)), rng.uniform(-b, b, n)
    if adversary:
        X *= 0.5
        y = np.where(np.arange(n) % rng.integers(1, 4), b, -b)
    z = y.copy()
    z[-1] = -y[-1] if adversary else rng.uniform(-b, b)
    return X, y, z


def test_the_bound_is_reached():
    """One input, outputs far out on both sides: every residual is where the loss is linear."""
    n, alpha, b = 20, 0.5, 3.0
    X, y = np.zeros((n, 1)), np.where(np.arange(n) % 2, b, -b)
    z = y.copy()
    z[-1] = -y[-1]
    for loss in (losses.Huber(0.5), losses.EpsilonSVR(0.1), losses.Norm(2.0)):
        constants = bounds.stability_constants(loss, n=n, alpha=alpha, output_bound=b)
        models = [
            OperatorKernelRegressor("rbf", gamma=1.0, alpha=alpha, loss=loss, center=False, tol=1e-12).fit(X, one)
            for one in (y, z)
        ]
        first, second = (loss.value(np.abs(b - model.predict(X[:1])))[0] for model in models)
        assert abs(first - second) == pytest.approx(2 * constants.beta, rel=1e-4)


@pytest.mark.parametrize("name", LOSSES)
def test_bounds_fall_with_n_alpha_and_delta(name):
    def value(**changed):
        settings = {"n": 100, "alpha": 0.1, "output_bound": 1.0, "delta": 0.05, **changed}
        return bounds.stability_bound(LOSSES[name], **settings).value

    for setting, values in (("n", (10, 100, 1000)), ("alpha", (0.01, 0.1, 1.0)), ("delta", (0.01, 0.1, 0.9))):
        found = [value(**{setting: one}) for one in values]
        assert found == sorted(found, reverse=True)
        assert found[0] > found[-1]
    assert value(output_bound=2.0) > value() > value(sharp=True) * 0.999
    assert value(n=10**12) < 1e-3


def test_limits():
    settings = {"n": 50, "alpha": 0.1, "output_bound": 1.0}
    nothing = bounds.stability_constants(losses.EpsilonInsensitive(1.5), **settings)
    assert (nothing.M, nothing.C, nothing.beta, nothing.norm_bound) == (0, 0, 0, 0)
    assert bounds.stability_bound(losses.EpsilonSVR(1.5), **settings).value == 0
    squared, wide = (bounds.stability_constants(loss, **settings) for loss in ("squared", losses.Huber(1e6)))
    assert pytest.approx((wide.M, wide.C)) == (squared.M, squared.C)
    assert pytest.approx(bounds.stability_constants(losses.EpsilonInsensitive(0.0), **settings).M) == squared.M
    convolved = bounds.stability_constants(losses.InfConv(losses.Squared(), losses.Norm(0.4)), **settings)
    assert pytest.approx(bounds.stability_constants(losses.Huber(0.4), **settings).M) == convolved.M


def test_theorem_8_from_its_parts():
    bound = bounds.stability_bound(losses.Huber(0.4), n=30, alpha=0.2, output_bound=1.0, delta=0.1, risk=0.3)
    beta, M = bound.constants.beta, bound.constants.M
    assert bound.value == pytest.approx(0.3 + 2 * beta + (4 * 30 * beta + M) * np.sqrt(np.log(10) / 60))
    assert bound.value == pytest.approx(bound.risk + bound.bias + bound.deviation)
    assert "beta" in repr(bound)
    assert "0.2" in repr(bound)


def data(n=40):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 2))
    return X, np.column_stack([np.sin(X[:, 0]), X[:, 1]]) + 0.1 * rng.normal(size=(n, 2))


def test_of_a_fitted_estimator():
    X, Y = data()
    M = np.array([[1.0, 0.5], [0.5, 2.0]])
    loss = losses.Huber(0.3)
    model = OperatorKernelRegressor("linear", alpha=0.2, loss=loss, operator=M, center=False).fit(X, Y)
    found = bounds.stability_bound_from_estimator(model, X, Y, delta=0.1)
    expected = bounds.stability_bound(
        loss,
        n=40,
        alpha=0.2,
        output_bound=np.linalg.norm(Y, axis=1).max(),
        kernel_bound=(X**2).sum(axis=1).max() * np.linalg.eigvalsh(M)[-1],
        delta=0.1,
        risk=loss.value(np.linalg.norm(Y - model.predict(X), axis=1)).mean(),
    )
    assert found.value == pytest.approx(expected.value)
    assert "kernel_bound" in found.assumptions[1]
    given = bounds.stability_bound_from_estimator(model, X, Y, output_bound=10.0, kernel_bound=100.0)
    assert given.value > found.value
    assert not given.assumptions


def test_bad_input():
    X, Y = data()
    settings = {"n": 10, "alpha": 0.1, "output_bound": 1.0}
    for delta in (0, 1, -0.1, 2.0, float("nan"), "0.1", True):
        with pytest.raises(ValueError, match="delta must be a number between 0 and 1"):
            bounds.stability_bound("squared", delta=delta, **settings)
    unbounded = ("hinge", losses.Ball(1.0), losses.LogNorm(), losses.Huber(1.0, p=1), losses.EpsilonInsensitive(0.1, 3))
    for loss in unbounded:
        with pytest.raises(ValueError, match="no stability constants"):
            bounds.stability_constants(loss, **settings)
    with pytest.raises(ValueError, match="give numbers for its settings"):
        bounds.stability_constants("huber", **settings)
    for name, value in (("n", 0), ("n", 2.5), ("alpha", 0.0), ("output_bound", -1.0), ("kernel_bound", np.inf)):
        with pytest.raises(ValueError, match=name):
            bounds.stability_constants("squared", **{**settings, name: value})
    with pytest.raises(NotFittedError):
        bounds.stability_bound_from_estimator(OperatorKernelRegressor(), X, Y)
    with pytest.raises(TypeError, match="estimator must be"):
        bounds.stability_bound_from_estimator(KernelAutoencoder(1).fit(X), X, Y)
    model = OperatorKernelRegressor("rbf", gamma=1.0, alpha=0.1)
    with pytest.raises(ValueError, match="training samples, 40 of them"):
        bounds.stability_bound_from_estimator(model.fit(X, Y), X[:5], Y[:5])
    with pytest.raises(ValueError, match="sample_weight"):
        bounds.stability_bound_from_estimator(model.fit(X, Y, np.arange(1.0, 41.0)), X, Y)
    with pytest.raises(ValueError, match="manifold"):
        bounds.stability_bound_from_estimator(OperatorKernelRegressor("rbf", alpha=0.1, manifold=0.1).fit(X, Y), X, Y)
    with pytest.raises(ValueError, match="keep no samples"):
        streamed = OperatorKernelRegressor("rbf", gamma=1.0, alpha=0.1, feature_map=10).partial_fit(X, Y)
        bounds.stability_bound_from_estimator(streamed, X, Y)
    terms = OperatorKernelRegressor([("rbf", None), ("linear", np.eye(2))], gamma=1.0, alpha=0.1).fit(X, Y)
    with pytest.raises(ValueError, match="kernel_bound="):
        bounds.stability_bound_from_estimator(terms, X, Y)
    assert bounds.stability_bound_from_estimator(terms, X, Y, kernel_bound=3.0).value > 0
    with pytest.raises(ValueError, match="no stability constants"):
        bounds.stability_bound_from_estimator(
            OperatorKernelRegressor(loss=losses.Huber(1.0, p=1), alpha=0.1).fit(X, Y), X, Y
        )
