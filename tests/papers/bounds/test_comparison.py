"""The comparison constant of output losses and the inequality that it is for."""

import numpy as np
import pytest

from hilbertlearn import StructuredPredictor, bounds, output_losses

RNG = np.random.default_rng(0)


def matrix(loss, outputs):
    """Losses (m, m) of outputs."""
    loss = output_losses.as_output_loss(loss).resolve(outputs)
    canonical = loss.check(outputs)
    return np.asarray(loss(canonical, canonical), dtype=float)


def largest_share(D, G, c, draws=1500, seed=0):
    """Largest excess risk of the decoded weights over ``2 c sqrt(R)``, R by the Gram matrix G of the truths' features.

    The surrogate's best function is g* = sum_i p_i psi(y_i), and g has other weights.
    """
    rng = np.random.default_rng(seed)
    shares = []
    for _ in range(draws):
        p = rng.dirichlet(np.full(len(G), rng.choice([0.1, 1.0, 10.0])))
        w = p + rng.normal(size=len(G)) * rng.choice([1e-3, 1e-2, 0.1, 1.0])
        if rng.random() < 0.5:
            w = w / w.sum() if abs(w.sum()) > 0.1 else rng.dirichlet(np.ones(len(G)))
        risks = D @ p
        excess = risks[np.argmin(D @ w)] - risks.min()
        R = max((w - p) @ G @ (w - p), 0.0)
        if excess > 0:
            shares.append(excess / (2 * c * np.sqrt(R)))
    return max(shares)


def test_any_loss_on_a_finite_list():
    words = ["a", "ab", "abc", "b", "bcd", ""]
    costs = RNG.uniform(0, 3, (6, 6))
    for loss, outputs in (
        ("edit", words),
        (output_losses.CostMatrix(costs), np.arange(6)),
        (lambda Z, Y: np.abs(np.subtract.outer([len(z) for z in Z], [len(y) for y in Y])) + 0.0, words),
        ("zero_one", words),
    ):
        D = matrix(loss, outputs)
        printed, sharp = (bounds.comparison_constant(loss, outputs, finite=True, sharp=s) for s in (False, True))
        assert printed.value == pytest.approx(np.sqrt(np.linalg.eigvalsh(D.T @ D)[-1]))
        assert sharp.value <= printed.value
        assert printed.target_bound == 1
        assert largest_share(D, np.eye(6), printed.value) <= 1
        assert largest_share(D, np.eye(6), sharp.value) <= 1
    assert bounds.comparison_constant("zero_one", words, finite=True).value == pytest.approx(5)
    assert bounds.comparison_constant("edit", words * 3).value == bounds.comparison_constant("edit", words).value
    assert bounds.comparison_constant(output_losses.CostMatrix(costs)).value == pytest.approx(np.linalg.norm(costs, 2))


def test_the_comparison_inequality_for_fitted_models():
    """Exact risks: five inputs, known probabilities of the outputs, weights of a model fitted to draws."""
    labels = np.arange(4)
    costs = RNG.uniform(0, 1, (4, 4)) * (1 - np.eye(4))
    P = RNG.dirichlet(np.ones(4), 5)
    inputs = np.arange(5.0)[:, None]
    constant = bounds.comparison_constant(output_losses.CostMatrix(costs), finite=True)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.integers(5, size=60)
        y = np.array([rng.choice(labels, p=P[i]) for i in x])
        model = StructuredPredictor("rbf", gamma=1.0, alpha="n^-1/2", output_loss=output_losses.CostMatrix(costs))
        W = model.fit(inputs[x], y).weights(inputs) @ (y[:, None] == labels)
        risks = P @ costs.T
        excess = np.mean(risks[np.arange(5), model.predict(inputs).astype(int)] - risks.min(axis=1))
        surrogate = np.mean(((W - P) ** 2).sum(axis=1))
        assert 0 <= excess <= bounds.comparison_bound(constant, surrogate)
    assert bounds.comparison_bound(2.0, 0.25) == pytest.approx(2.0)
