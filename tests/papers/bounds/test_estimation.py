"""Riesz constants, and proposition 3.3 of Bouche et al. 2021."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, bounds, losses, spaces

T = np.linspace(0, 1, 41)


def curves(n=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 1))
    return X, np.sin(2 * np.pi * T + 2 * X) + 0.1 * rng.normal(size=(n, 41))


def fitted(space, **settings):
    X, Y = curves()
    model = FunctionalRegressor("rbf", gamma=1.0, alpha=1e-2, center=False, space=space, **settings)
    return model.fit(X, Y), X, Y


def test_orthonormal_dictionaries_have_constants_one():
    for dictionary in (np.eye(4), spaces.Fourier(7), "fourier", spaces.Dictionary(spaces.Fourier(4))):
        found = bounds.riesz_constants(dictionary)
        assert (found.lower, found.upper) == pytest.approx((1.0, 1.0), abs=1e-6)
        assert found.normed


def test_constants_by_brute_force():
    """The norm of sum_d w_d phi_d over that of w, over many w, integrated on a fine grid."""
    basis, fine = spaces.BSpline(6, degree=2), np.linspace(0, 1, 4001)
    values = basis.atoms(fine, None)(fine)
    found = bounds.riesz_constants(basis)
    W = np.random.default_rng(0).normal(size=(200_000, 6))
    gram = values @ values.T / 4000
    ratios = np.sqrt(np.einsum("ij,jk,ik->i", W, gram, W) / (W**2).sum(axis=1))
    assert found.lower - 1e-3 <= ratios.min() < 1.1 * found.lower
    assert 0.98 * found.upper < ratios.max() <= found.upper + 1e-3
    assert not found.normed
    assert found.n_atoms == 6


def test_redundant_and_scaled_dictionaries():
    twice = bounds.riesz_constants([spaces.Fourier(3), spaces.Fourier(3)])
    assert (twice.lower, twice.upper) == pytest.approx((0.0, np.sqrt(2)), abs=1e-6)
    assert bounds.riesz_constants(9.0 * np.eye(2)).upper == pytest.approx(3.0)
    own = bounds.riesz_constants(spaces.BSpline(5), grid=T)
    model, _, _ = fitted(spaces.BSpline(5))
    assert bounds.riesz_constants(model).upper == pytest.approx(own.upper)


def test_proposition_3_3_as_printed():
    a, b, k, C, D, n, delta = 1.3, 0.7, 2.0, 1.5, 12, 250, 0.1
    printed = 8 * np.sqrt(2) * a * C * (b * np.sqrt(k) + a * k * C) * np.sqrt(D) / np.sqrt(n) + 6 * np.sqrt(2) * (
        b**2 + a**2 * C**2 * k + 2 * a * b * C * np.sqrt(k)
    ) * np.sqrt(np.log(4 / delta) / n)
    settings = {"n": n, "n_atoms": D, "radius": a, "output_bound": b, "kernel_bound": k, "riesz_upper": C}
    whole = bounds.estimation_bound(**settings, delta=delta, half=False)
    ours = bounds.estimation_bound(**settings, delta=delta)
    assert whole.value == pytest.approx(printed)
    assert ours.value == pytest.approx(printed / 2)
    assert ours.value == pytest.approx(ours.complexity + ours.deviation)


def test_monotone():
    def value(**changed):
        settings = {"n": 100, "n_atoms": 10, "radius": 1.0, "output_bound": 1.0, "delta": 0.05, **changed}
        return bounds.estimation_bound(**settings).value

    for name, values in (
        ("n", (10, 100, 1000)),
        ("delta", (0.01, 0.1, 0.9)),
        ("n_atoms", (40, 10, 1)),
        ("radius", (2.0, 1.0, 0.0)),
        ("output_bound", (2.0, 1.0, 0.0)),
        ("kernel_bound", (2.0, 1.0)),
        ("riesz_upper", (2.0, 1.0)),
    ):
        found = [value(**{name: one}) for one in values]
        assert found == sorted(found, reverse=True)
        assert found[0] > found[-1]
    assert value(n=400) == pytest.approx(value() / 2)


def test_the_deviation_of_the_risk_stays_below():
    """Risks of the empirical minimiser in a ball of coefficients, 100 draws, never above the smallest by more."""
    rng, n, D, a = np.random.default_rng(0), 20, 3, 1.0
    best = np.array([0.5, -0.3, 0.2])
    noise = 0.2
    bound = bounds.estimation_bound(n=n, n_atoms=D, radius=a, output_bound=3.0, delta=0.05)
    for _ in range(100):  # one input and orthonormal atoms: functions are vectors of coefficients
        seen = best + noise * rng.normal(size=(n, D))
        w = seen.mean(axis=0)
        w *= min(1.0, a / np.linalg.norm(w))
        excess = np.sum((w - best) ** 2) / 2
        assert excess <= bound.value


@pytest.mark.parametrize("space", [spaces.BSpline(6), spaces.Fourier(5), spaces.Wavelet("db2", 3), "grid"])
def test_of_a_fitted_estimator(space):
    model, X, Y = fitted(space)
    found = bounds.estimation_bound_from_estimator(model, X, Y, delta=0.1)
    residuals = model.machine_.residuals(X, Y)
    values = model.machine_.coordinates(X)
    # where the objective is smallest it does not change along the function itself
    norm = np.sqrt(np.mean((residuals * values).sum(axis=1)) / model.alpha_)
    assert found.radius == pytest.approx(norm, rel=1e-4)
    q = model.space_.axes[0].quadrature
    assert found.output_bound == pytest.approx(np.sqrt(Y**2 @ q).max())
    plain = bounds.estimation_bound(
        n=30,
        n_atoms=found.riesz.n_atoms,
        radius=found.radius,
        output_bound=found.output_bound,
        kernel_bound=found.kernel_bound,
        riesz_upper=found.riesz.upper,
        delta=0.1,
    )
    assert found.value == pytest.approx(plain.value)
    assert bounds.estimation_bound_from_estimator(model, X, Y, delta=0.1, whitened=True).value <= found.value * (
        1 + 1e-9
    )
    if space != "grid":
        assert found.kernel_bound == pytest.approx(1.0)  # the atoms' operator is the identity
    assert "RieszConstants" in repr(found)


def test_operators_on_atoms():
    weights = np.linspace(1.0, 3.0, 6)
    model, X, Y = fitted(spaces.Dictionary(spaces.BSpline(6), eigenvalues=weights))
    assert bounds.estimation_bound_from_estimator(model, X, Y).kernel_bound == pytest.approx(3.0)
    larger = bounds.estimation_bound_from_estimator(model, X, Y, radius=100.0, output_bound=10.0)
    assert larger.radius == 100.0
    assert larger.output_bound == 10.0


def test_bad_input():
    settings = {"n": 10, "n_atoms": 3, "radius": 1.0, "output_bound": 1.0}
    for delta in (0, 1, -1.0, np.nan, "x"):
        with pytest.raises(ValueError, match="delta must be"):
            bounds.estimation_bound(**settings, delta=delta)
    for name, value in (("n", 0), ("n_atoms", 0), ("radius", -1.0), ("kernel_bound", 0.0), ("riesz_upper", -1)):
        with pytest.raises(ValueError, match=name):
            bounds.estimation_bound(**{**settings, name: value})
    with pytest.raises(ValueError, match="no atoms"):
        bounds.riesz_constants("grid")
    with pytest.raises(ValueError, match="dictionary must be a square matrix"):
        bounds.riesz_constants(np.ones((2, 3)))
    X, Y = curves()
    with pytest.raises(NotFittedError):
        bounds.estimation_bound_from_estimator(FunctionalRegressor(), X, Y)
    with pytest.raises(TypeError, match="no functions"):
        bounds.estimation_bound_from_estimator(OperatorKernelRegressor(alpha=0.1).fit(X, Y), X, Y)
    model, X, Y = fitted(spaces.BSpline(6), loss=losses.Huber(0.1))
    with pytest.raises(ValueError, match="squared loss"):
        bounds.estimation_bound_from_estimator(model, X, Y)
    two = np.stack([Y, Y], axis=2)
    several = FunctionalRegressor("rbf", gamma=1.0, alpha=1e-2, center=False, space=spaces.BSpline(6)).fit(X, two)
    with pytest.raises(ValueError, match="whitened=True"):
        bounds.estimation_bound_from_estimator(several, X, two)
    assert bounds.estimation_bound_from_estimator(several, X, two, whitened=True).n_atoms == 12
