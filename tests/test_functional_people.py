"""Functional data as people have them: one value missing, scikit-fda's containers, scikit-learn's tools."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import FunctionalRegressor, IrregularFunctions, losses, spaces

N, M = 20, 30
GRID = np.linspace(0.0, 1.0, M)
UNEVEN = np.linspace(0.0, 1.0, M) ** 2


def data(noise=0.02, grid=GRID, seed=0):
    """Curves with a jump, which no small dictionary expresses, one of them far from the others."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(N, 1))
    Y = np.sin(6 * (grid + X)) + 0.5 * np.sign(np.sin(9 * grid)) * X + noise * rng.normal(size=(N, len(grid)))
    Y[3] += 4
    return X, Y


def one_gap(Y, where=(5, 7)):
    Y = Y.copy()
    Y[where] = np.nan
    return Y


def atoms(t):
    return np.array([np.ones(len(t)), *(np.sqrt(2) * f(2 * np.pi * k * t) for k in (1, 2) for f in (np.cos, np.sin))])


def trapezoid(t):
    steps = np.diff(t)
    q = np.zeros(len(t))
    q[:-1] += steps / 2
    q[1:] += steps / 2
    return q


def model(**settings):
    return FunctionalRegressor(**{"kernel": "rbf", "gamma": 5.0, "alpha": 1e-2, **settings})


# ------------------------------------------------------------------ one value of 600


LOSSES = [
    losses.Squared(),
    *(losses.Huber(kappa) for kappa in (0.02, 0.05, 0.2, 0.5, 2.0)),
    *(losses.EpsilonInsensitive(epsilon) for epsilon in (0.05, 0.1, 0.2)),
]


@pytest.mark.parametrize("center", ["auto", True, False])
@pytest.mark.parametrize("space", [spaces.Fourier(5), spaces.BSpline(6)], ids=["fourier", "bspline"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_one_missing_value_makes_no_jump(loss, space, center):
    """Residuals are whole with a gap and without, those that the constant comes from too."""
    X, Y = data()
    settings = {"loss": loss, "space": space, "center": center, "tol": 1e-7, "max_iter": 10_000}
    whole, gap = (model(**settings).fit(X, y).predict(X) for y in (Y, one_gap(Y)))
    assert np.abs(whole - gap).max() < 0.01


@pytest.mark.parametrize("space", [spaces.Fourier(5), spaces.BSpline(6)], ids=["fourier", "bspline"])
def test_one_missing_value_changes_no_choice(space):
    """Neither alpha nor kappa, left to the data, is another one."""
    X, Y = data()
    whole, gap = (model(loss="huber", space=space, alpha="auto").fit(X, y) for y in (Y, one_gap(Y)))
    assert_allclose(gap.loss_.kappa, whole.loss_.kappa, rtol=0.05)
    assert_allclose(gap.alpha_, whole.alpha_, rtol=0.05)
    assert np.abs(whole.predict(X) - gap.predict(X)).max() < 0.01


@pytest.mark.parametrize("y", ["whole", "gap"])
def test_the_loss_is_of_the_whole_residual(y):
    """Equation 8 of Bouche et al. 2021: the primal value at the observed points, by hand, is least for the model."""
    X, Y = data()
    Y = Y if y == "whole" else one_gap(Y)
    kappa, alpha = 0.3, 1e-2
    found = model(
        space=spaces.Fourier(5), loss=losses.Huber(kappa), alpha=alpha, center=False, tol=1e-9, max_iter=10_000
    )
    found.fit(X, Y)
    q, Phi = trapezoid(GRID), atoms(GRID)
    weights = q * np.isfinite(Y)
    weights /= weights.sum(axis=1, keepdims=True)
    K = np.exp(-5.0 * (X - X.T) ** 2)

    def primal(A):
        """Coefficients of atoms are K A; their norm is that of the operator I on atoms."""
        squares = (weights * (np.nan_to_num(Y) - K @ A @ Phi) ** 2).sum(axis=1)
        r = np.sqrt(squares)
        return np.mean(np.where(r <= kappa, r**2 / 2, kappa * (r - kappa / 2))) + alpha / 2 * np.sum(A * (K @ A))

    A = np.linalg.lstsq(K, np.linalg.lstsq(Phi.T, found.predict(X).T, rcond=None)[0].T, rcond=1e-13)[0]
    best = primal(A)
    rng = np.random.default_rng(1)
    assert all(
        primal(A + size * rng.normal(size=A.shape)) >= best - 1e-7 for size in (1e-3, 1e-2, 0.1) for _ in range(20)
    )


# ------------------------------------------------------------------ equation 13, as printed and by quadrature


@pytest.mark.parametrize("irregular", ["projected", "projected_trapezoid"])
@pytest.mark.parametrize("gaps", [0, 1, 200])
def test_averages_over_observed_points(irregular, gaps):
    """Equation 13 by hand on an uneven grid, then the linear system of equation 12."""
    X, Y = data(grid=UNEVEN)
    hidden = np.random.default_rng(2).permutation(N * M)[:gaps]
    Y.ravel()[hidden] = np.nan
    q, Phi, K = trapezoid(UNEVEN), atoms(UNEVEN), np.exp(-5.0 * (X - X.T) ** 2)
    eta = np.zeros((N, 5))
    for i, row in enumerate(Y):
        total = 0.0
        for j in range(M):
            if np.isfinite(row[j]):
                weight = 1.0 if irregular == "projected" else q[j]
                eta[i] += weight * row[j] * Phi[:, j]
                total += weight
        eta[i] /= total
    G, alpha = (Phi * q) @ Phi.T, 1e-2
    A = np.linalg.solve(np.kron(K, G) + N * alpha * np.eye(5 * N), eta.ravel()).reshape(N, -1)
    found = model(space=spaces.Fourier(5), grid=UNEVEN, irregular=irregular, alpha=alpha, center=False).fit(X, Y)
    assert_allclose(found.predict(X), K @ A @ Phi, atol=1e-8)


@pytest.mark.parametrize("irregular", ["projected", "projected_trapezoid"])
def test_averages_over_points_of_their_own(irregular):
    rng = np.random.default_rng(3)
    points = [rng.uniform(size=m) for m in rng.integers(5, 12, size=N)]
    values = [np.cos(3 * p) for p in points]
    X = rng.uniform(size=(N, 1))
    y = IrregularFunctions(points, values, (0.0, 1.0))
    found = model(space=spaces.Fourier(5), irregular=irregular, center=False).fit(X, y)
    for p, v, coordinates in zip(points, values, found.encode(y), strict=True):
        order = np.argsort(p)
        w = np.ones(len(p)) if irregular == "projected" else trapezoid(p[order])
        assert_allclose(coordinates, atoms(p[order]) @ (w * v[order]) / w.sum(), atol=1e-9)
    assert irregular == "projected" or np.ptp([w.sum() for w in map(trapezoid, map(np.sort, points))]) > 0


def test_projected_by_quadrature_is_exact_without_gaps():
    X, Y = data(grid=UNEVEN)
    settings = {"space": spaces.BSpline(6), "grid": UNEVEN}
    exact, plain, trapezoids = (
        model(irregular=how, **settings).fit(X, Y).predict(X) for how in ("exact", "projected", "projected_trapezoid")
    )
    assert_allclose(trapezoids, exact, atol=1e-9)
    assert np.abs(plain - exact).max() > 0.05
