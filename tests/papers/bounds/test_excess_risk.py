"""The excess risk of the loss trick, against the theorems as printed and fitted models."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from hilbertlearn import StructuredPredictor, bounds, output_losses

RNG = np.random.default_rng(0)


def test_theorem_5():
    constant = bounds.comparison_constant("hellinger")
    c, Q, n, delta, G = constant.value, constant.target_bound, 400, 0.1, 3.0
    for kappa2 in (1.0, 2.5):
        kappa = np.sqrt(kappa2)
        found = bounds.excess_risk_bound(
            constant, n=n, norm=G, alpha=kappa2 * n**-0.5, kernel_bound=kappa2, delta=delta
        )
        log2 = np.log(8 / delta) ** 2
        assert found.value == pytest.approx(c * (24 * (Q + kappa * G) * log2 + 2 * kappa * G) * n**-0.25)
    named = bounds.excess_risk_bound(constant, n=n, norm=G, delta=delta)
    assert named.alpha == pytest.approx(n**-0.5)
    assert named.value == pytest.approx(named.estimation + named.approximation)
    # the constant at the end of the paper's proof, where the best function has a large norm
    G, delta = 200.0, 0.9
    whole = bounds.excess_risk_bound(constant, n=n, norm=G, delta=delta).value
    printed = 24 * c * (Q + G + 1) * np.log(8 / delta) ** 2 * n**-0.25
    assert printed < whole < 1.05 * printed


def test_lemma_18_for_fitted_models():
    """Exact errors of the surrogate: six inputs, known probabilities, whose function is in the kernel's space."""
    inputs, labels = np.linspace(0, 3, 6)[:, None], np.arange(3)
    P = np.random.default_rng(1).dirichlet(np.ones(3), 6)
    K = np.exp(-((inputs - inputs.T) ** 2))
    norm = np.sqrt(np.sum(P * np.linalg.solve(K, P)))
    constant = bounds.comparison_constant("zero_one", labels, finite=True)
    largest = 0.0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n, rate = int(rng.choice([20, 60, 150])), ["n^-1/2", "n^-1/4"][seed % 2]
        x = rng.integers(6, size=n)
        y = np.array([rng.choice(labels, p=P[i]) for i in x])
        model = StructuredPredictor("rbf", gamma=1.0, alpha=rate, output_loss="zero_one").fit(inputs[x], y)
        W = model.weights(inputs) @ (y[:, None] == labels)
        surrogate = np.mean(((W - P) ** 2).sum(axis=1))
        bound = bounds.excess_risk_bound(constant, n=n, norm=norm, alpha=rate, delta=0.5)
        largest = max(largest, bounds.comparison_bound(constant, surrogate) / bound.value)
        assert bound.alpha == pytest.approx(model.alpha_)
    print(f"share of lemma 18 that is reached {largest:.4f}")
    assert 1e-4 < largest < 1


def test_rates():
    constant = bounds.comparison_constant("zero_one")

    def bound(**changed):
        return bounds.excess_risk_bound(constant, **{"n": 1000, "norm": 2.0, "delta": 0.05, "alpha": 0.1, **changed})

    for name, values in (("n", (10, 100, 10**4)), ("delta", (0.01, 0.1, 0.9)), ("norm", (9.0, 3.0, 1.0))):
        found = [bound(**{name: value}).value for value in values]
        assert found == sorted(found, reverse=True)
    small, large = bound(alpha=0.01), bound(alpha=1.0)
    assert small.estimation > large.estimation
    assert small.approximation < large.approximation
    for rate, power in (("n^-1/2", 0.25), ("n^-1/4", 0.125)):  # sqrt(alpha) at least
        near, far = (bound(n=n, alpha=rate).value for n in (10**10, 10**14))
        assert np.log(near / far) / np.log(10**4) >= power - 0.01
    assert bound(n=16, norm=0.0, alpha=bounds.schedule(16, "n^-1/4")).alpha == 0.5


def test_of_a_fitted_model():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.uniform(0, 1, 50)
    model = StructuredPredictor("rbf", gamma=1.0, alpha="n^-1/2", output_loss="absolute").fit(X, y)
    found = bounds.excess_risk_bound_from_estimator(model, X, y, norm=2.0, delta=0.2)
    constant = bounds.comparison_constant("absolute", y)
    assert found.value == pytest.approx(bounds.excess_risk_bound(constant, n=50, norm=2.0, delta=0.2).value)
    assert "ComparisonConstant" in repr(found)
    assert bounds.excess_risk_bound_from_estimator(model, X, y, norm=2.0, delta=0.2, sharp=True).value < found.value


def test_bad_input():
    constant = bounds.comparison_constant("zero_one")
    X, y = RNG.normal(size=(12, 2)), list("abc" * 4)
    with pytest.raises(ValueError, match="interval=\\(low, high\\)"):
        bounds.comparison_constant("absolute")
    for interval in ((1, 0), (0, np.inf), (0, 0)):
        with pytest.raises(ValueError, match="interval must be two finite numbers"):
            bounds.comparison_constant("cauchy", interval=interval)
    for name in ("edit", "rank", "wasserstein1d", output_losses.KernelLoss("poly")):
        with pytest.raises(ValueError, match="outputs"):
            bounds.comparison_constant(name)
    with pytest.raises(ValueError, match="unknown name"):
        bounds.comparison_constant("hamm")
    for delta in (0, 1.0, np.nan):
        with pytest.raises(ValueError, match="delta must be"):
            bounds.excess_risk_bound(constant, n=10, norm=1.0, delta=delta)
    with pytest.raises(ValueError, match="alpha must be at most kernel_bound"):
        bounds.excess_risk_bound(constant, n=10, norm=1.0, alpha=2.0)
    with pytest.raises(ValueError, match="alpha must be a finite number > 0 or 'n\\^-1/2'"):
        bounds.excess_risk_bound(constant, n=10, norm=1.0, alpha="auto")
    with pytest.raises(TypeError, match="comparison_constant"):
        bounds.excess_risk_bound(1.0, n=10, norm=1.0)
    with pytest.raises(ValueError, match="excess"):
        bounds.comparison_bound(constant, -1.0)
    with pytest.raises(ValueError, match="rate"):
        bounds.schedule(10, "n^-1/3")
    with pytest.raises(NotFittedError):
        bounds.excess_risk_bound_from_estimator(StructuredPredictor(), X, y, norm=1.0)
    kernel = StructuredPredictor("rbf", alpha=0.1, output_kernel="rbf").fit(X, X)
    with pytest.raises(ValueError, match="loss trick"):
        bounds.excess_risk_bound_from_estimator(kernel, X, X, norm=1.0)
