"""c_Delta, the comparison inequality and the rates of Ciliberto et al. 2016, by brute force on finite problems."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from hilbertlearn import StructuredPredictor, bounds, output_losses

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
def test_losses_that_are_a_constant_less_a_kernel(name):
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
    found = bounds.excess_risk_bound_of(model, X, y, norm=2.0, delta=0.2)
    constant = bounds.comparison_constant("absolute", y)
    assert found.value == pytest.approx(bounds.excess_risk_bound(constant, n=50, norm=2.0, delta=0.2).value)
    assert "ComparisonConstant" in repr(found)
    assert bounds.excess_risk_bound_of(model, X, y, norm=2.0, delta=0.2, sharp=True).value < found.value


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
        bounds.excess_risk_bound_of(StructuredPredictor(), X, y, norm=1.0)
    kernel = StructuredPredictor("rbf", alpha=0.1, output_kernel="rbf").fit(X, X)
    with pytest.raises(ValueError, match="loss trick"):
        bounds.excess_risk_bound_of(kernel, X, X, norm=1.0)
