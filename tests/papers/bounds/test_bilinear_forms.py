"""Bilinear forms of output losses, against the losses themselves on random outputs."""

import numpy as np
import pytest

from hilbertlearn import bounds, output_losses

RNG = np.random.default_rng(0)
SETS = (RNG.random((14, 5)) < 0.5).astype(float)
HISTOGRAMS = RNG.dirichlet(np.full(4, 0.5), 14)
RANKINGS = np.array([RNG.permutation(5) + 1.0 for _ in range(14)])
NUMBERS = np.sort(RNG.uniform(-1.0, 2.0, 14))
# a constant less a kernel: the factor before the kernel
KERNELS = {
    "zero_one": (list("abcdefg"), 1.0),
    "hamming": (SETS, 0.5),
    "f1": (np.vstack([SETS, np.zeros(5)]), 1.0),
    "jaccard": (np.vstack([SETS, np.zeros(5)]), 1.0),
    "kendall": (RANKINGS, 0.5),
    "spearman": (RANKINGS, 0.5),
    "hellinger": (HISTOGRAMS, np.sqrt(2)),
    "chi2": (HISTOGRAMS, 2.0),
    "diffusion": (RNG.uniform(0, 2 * np.pi, 14), 2.0),
}
SCALARS = {
    "absolute": output_losses.Absolute(),
    "pinball": output_losses.Pinball(0.2),
    "epsilon": output_losses.EpsilonAbsolute(0.3),
    "epsilon, wide": output_losses.EpsilonAbsolute(2.0),
    "huber": output_losses.Huber(0.4),
    "cauchy": output_losses.Cauchy(0.3),
    "geman_mcclure": output_losses.GemanMcClure(0.5),
    "fair": output_losses.Fair(0.7),
    "l2_l1": output_losses.L2L1(),
}


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


@pytest.mark.parametrize("name", KERNELS)
def test_losses_that_are_a_constant_minus_a_kernel(name):
    outputs, factor = KERNELS[name]
    D = matrix(name, outputs)
    K = 1 - D / factor
    assert np.allclose(np.diag(K), 1)
    assert np.linalg.eigvalsh(K)[0] > -1e-9  # so features exist
    printed, sharp = (bounds.comparison_constant(name, outputs, sharp=s) for s in (False, True))
    assert printed.value == pytest.approx(np.sqrt(2) * factor)
    assert sharp.value == pytest.approx(factor)
    assert (printed.operator_norm, printed.feature_bound) == pytest.approx((factor, np.sqrt(2)))
    shares = largest_share(D, K + 1, printed.value), largest_share(D, K, sharp.value)
    print(f"{name}: share of the comparison inequality that is reached, paper's {shares[0]:.2f}, sharp {shares[1]:.2f}")
    assert max(shares) <= 1
    assert shares[1] > 0.02


def on_interval(loss, low, high, outputs):
    """u, v at outputs, their extremes, and the norm of T in a basis of step functions, from differences of the loss."""
    z = np.linspace(low, high, 801)
    cells = np.linspace(low, high, 401)
    table = loss.value(cells[:, None], cells)
    T = np.diff(np.diff(table, axis=0), axis=1) / (cells[1] - cells[0])
    corner = np.mean([loss.value(a, b) for a in (low, high) for b in (low, high)])

    def u(at):
        return (loss.value(at, low) + loss.value(at, high) - corner) / 2

    def v(at):
        return (loss.value(low, at) + loss.value(high, at) - corner) / 2

    return u(outputs), v(outputs), u(z), v(z), np.linalg.norm(T, 2)


@pytest.mark.parametrize("name", SCALARS)
def test_losses_of_numbers_in_an_interval(name):
    loss, (low, high), Y = SCALARS[name], (-1.0, 2.0), NUMBERS
    printed, sharp = (bounds.comparison_constant(loss, interval=(low, high), sharp=s) for s in (False, True))
    u, v, all_u, all_v, norm = on_interval(loss, low, high, Y)
    tau, width = printed.operator_norm, high - low
    assert norm <= tau * (1 + 1e-9)
    assert norm > 0.3 * tau
    K = width / 4 - np.abs(Y[:, None] - Y) / 2  # of signs on the interval
    same = np.allclose(all_u, all_v)
    offset = np.abs(all_u).max() if same else np.hypot(np.abs(all_u).max(), np.abs(all_v).max())
    assert printed.feature_bound**2 == pytest.approx(width / 4 + 2 * offset / tau, rel=1e-5)
    half = np.ptp(all_u) / 2
    assert sharp.feature_bound**2 == pytest.approx(width / 4 + half / tau, rel=1e-5)
    D = matrix(loss, Y)
    G = K + offset / tau + np.outer(u, u) / (offset * tau) + (0 if same else np.outer(v, v) / (offset * tau))
    shares = largest_share(D, G, printed.value), largest_share(D, K + half / tau, sharp.value)
    print(f"{name}: share of the comparison inequality that is reached, paper's {shares[0]:.2f}, sharp {shares[1]:.2f}")
    assert max(shares) <= 1
    assert sharp.value <= printed.value


def test_the_bilinear_form_on_an_interval():
    """<phi(z), T phi(y)> + u(z) + v(y) is the loss, with T integrated numerically."""
    loss, low, high = output_losses.Cauchy(0.5), -1.0, 2.0
    t = low + (np.arange(1500) + 0.5) * (high - low) / 1500
    L = -loss.derivatives(t[:, None], t)[1] * ((high - low) / 1500) ** 2
    u, v, _, _, _ = on_interval(loss, low, high, NUMBERS)
    phi = np.sign(NUMBERS[:, None] - t) / 2
    assert np.allclose(phi @ L @ phi.T + u[:, None] + v, matrix(loss, NUMBERS), atol=2e-3)


def test_squared_distances():
    Y = RNG.normal(size=(14, 3))
    middle = (Y.min(axis=0) + Y.max(axis=0)) / 2
    gamma = {"rbf": 0.5, "linear": 1.0, "poly": 0.3}
    for loss, K in [
        (output_losses.SquaredError(), (Y - middle) @ (Y - middle).T),
        (output_losses.KernelLoss("rbf", 0.5), np.exp(-0.5 * ((Y[:, None] - Y) ** 2).sum(axis=2))),
        (output_losses.KernelLoss("poly", gamma["poly"]), (0.3 * Y @ Y.T + 1) ** 3),
    ]:
        printed, sharp = (bounds.comparison_constant(loss, Y, sharp=s) for s in (False, True))
        k = np.diag(K)
        b = k.max()
        low = 0.0 if isinstance(loss, output_losses.SquaredError) else k.min()
        assert printed.value == pytest.approx(2 * np.sqrt(2 * b))
        assert sharp.value == pytest.approx(2 * np.sqrt(b + (b - low) / 4))
        D = matrix(loss, Y)
        assert np.allclose(D, k[:, None] - 2 * K + k)
        assert largest_share(D, K + b / 2 + np.outer(k, k) / (2 * b), printed.value) <= 1
        assert largest_share(D, K + (b - low) / 4, sharp.value) <= 1
    unit = bounds.comparison_constant("squared_error", interval=(0.0, 1.0))
    assert unit.value == pytest.approx(np.sqrt(2))


def test_ordered_bins():
    D = matrix("wasserstein1d", HISTOGRAMS)
    F = np.cumsum(HISTOGRAMS, axis=1)[:, :-1]
    K = (1 / 4 - np.abs(F[:, None] - F) / 2).sum(axis=2)
    assert np.allclose(D, 3 / 2 - 2 * K)
    found = bounds.comparison_constant("wasserstein1d", HISTOGRAMS, sharp=True)
    assert found.value == pytest.approx(np.sqrt(3))
    assert largest_share(D, K, found.value) <= 1


@pytest.mark.parametrize("normalize", [False, True])
def test_ratings(normalize):
    Y = RNG.integers(1, 6, (12, 4)).astype(float)
    Y[0, 1] = np.nan
    loss = output_losses.Rank(normalize)
    D = np.asarray(loss(RANKINGS[:, :4], Y))
    i, j = np.triu_indices(4, 1)
    gamma = np.nan_to_num(Y[:, i] - Y[:, j])
    scale = np.abs(gamma).sum(axis=1)
    gamma, v = (gamma / scale[:, None], np.full(12, 0.5)) if normalize else (gamma, scale / 2)
    signs = np.sign(RANKINGS[:, i] - RANKINGS[:, j])
    assert np.allclose(D, v - signs @ gamma.T / 2)
    found = bounds.comparison_constant(loss, Y, sharp=True)
    g, root = np.linalg.norm(gamma, axis=1).max(), np.sqrt(6)
    assert found.value == pytest.approx(np.sqrt(root * g) / 2)
    assert largest_share(D, gamma @ gamma.T * root / g, found.value) <= 1
    assert bounds.comparison_constant(loss, Y).value > found.value


@pytest.mark.parametrize("name", ["hinge", "logistic"])
def test_margins(name):
    loss = output_losses.as_output_loss(name)
    z = np.linspace(*loss.span(None), 101)
    D = np.column_stack([loss.value(z, 1.0), loss.value(z, -1.0)])
    labels = np.array([1.0, -1.0])
    u, d = D.mean(axis=1), (D[:, 0] - D[:, 1]) / 2
    found = bounds.comparison_constant(loss, sharp=True)
    largest, half = np.abs(d).max(), np.ptp(u) / 2
    assert found.value == pytest.approx(np.sqrt(largest + half))
    assert largest_share(D, largest * np.outer(labels, labels) + half, found.value) <= 1


def test_sums():
    loss = output_losses.Hamming() + 0.5 * output_losses.F1()
    D = matrix(loss, SETS)
    K = 0.5 * (1 - matrix("hamming", SETS) / 0.5) + 0.5 * (1 - matrix("f1", SETS))
    found = bounds.comparison_constant(loss, SETS, sharp=True)
    assert found.value == pytest.approx(1.0)
    assert largest_share(D, K, found.value) <= 1
    twice, once = (
        bounds.comparison_constant(loss, interval=(0, 1)) for loss in (2 * output_losses.Absolute(), "absolute")
    )  # the largest loss that the features allow, whatever their scale
    assert twice.operator_norm * twice.feature_bound**2 == pytest.approx(2 * once.operator_norm * once.feature_bound**2)
