"""Radial losses against their mathematics: every formula is written again, every minimum is searched for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import lambertw

from hilbertlearn.losses import (
    Ball,
    EpsilonInsensitive,
    EpsilonSVR,
    ExpNorm,
    Huber,
    InfConv,
    LogNorm,
    Norm,
    PowerNorm,
    Squared,
)

INF = np.inf


# ------------------------------------------------------------------ scalar functions, by hand


def inside(x, radius):
    """Indicator of [0, radius], which admits its end."""
    return np.where(x <= radius + 1e-12, 0.0, INF)


def r_log_r(r):
    r = np.maximum(r, 1 / np.e)
    return r * np.log(r)


# loss: (c, loss at a norm r, g* at a norm a); the conjugate of the loss is c/2 a^2 + g*(a)
BY_HAND = [
    (Squared(), 1, lambda r: r**2 / 2, lambda a: 0 * a),
    (Huber(0.7), 1, lambda r: np.where(r <= 0.7, r**2 / 2, 0.7 * r - 0.245), lambda a: inside(a, 0.7)),
    (Huber(0.7, p=1), 1, lambda r: np.where(r <= 0.7, r**2 / 2, 0.7 * r - 0.245), lambda a: inside(a, 0.7)),
    (Huber(INF), 1, lambda r: r**2 / 2, lambda a: 0 * a),
    (EpsilonInsensitive(0.4), 1, lambda r: np.maximum(r - 0.4, 0) ** 2 / 2, lambda a: 0.4 * a),
    (EpsilonInsensitive(0), 1, lambda r: r**2 / 2, lambda a: 0 * a),
    (EpsilonSVR(0.4), 0, lambda r: np.maximum(r - 0.4, 0), lambda a: 0.4 * a + inside(a, 1)),
    (EpsilonSVR(0), 0, lambda r: r, lambda a: inside(a, 1)),
    (Norm(), 0, lambda r: r, lambda a: inside(a, 1)),
    (Norm(0.6), 0, lambda r: 0.6 * r, lambda a: inside(a, 0.6)),
    (PowerNorm(1.5), 0, lambda r: r**1.5 / 1.5, lambda a: a**3 / 3),
    (PowerNorm(3), 0, lambda r: r**3 / 3, lambda a: a**1.5 / 1.5),
    (PowerNorm(2, scale=0.5), 0, lambda r: r**2 / 4, lambda a: a**2),
    (PowerNorm(4, scale=2), 0, lambda r: r**4 / 2, lambda a: 0.75 * 2 ** (-1 / 3) * a ** (4 / 3)),
    (LogNorm(), 0, r_log_r, lambda a: np.exp(a - 1)),
    (LogNorm(0.5), 0, lambda r: 0.5 * r_log_r(r), lambda a: 0.5 * np.exp(2 * a - 1)),
    (ExpNorm(), 0, lambda r: np.exp(r) - 1, lambda a: np.where(a > 1, a * np.log(np.maximum(a, 1)) - a + 1, 0)),
    (
        ExpNorm(0.3),
        0,
        lambda r: 0.3 * (np.exp(r) - 1),
        lambda a: np.where(a > 0.3, a * np.log(np.maximum(a, 0.3) / 0.3) - a + 0.3, 0),
    ),
    (Ball(), 0, lambda r: inside(r, 1), lambda a: a),
    (Ball(0.8), 0, lambda r: inside(r, 0.8), lambda a: 0.8 * a),
    # infimal convolutions that have a closed form, with another name or without
    (
        InfConv(Squared(), Norm(0.7)),
        1,
        lambda r: np.where(r <= 0.7, r**2 / 2, 0.7 * r - 0.245),
        lambda a: inside(a, 0.7),
    ),
    (InfConv(Squared(), Ball(0.4)), 1, lambda r: np.maximum(r - 0.4, 0) ** 2 / 2, lambda a: 0.4 * a),
    (InfConv(Norm(), Ball(0.4)), 0, lambda r: np.maximum(r - 0.4, 0), lambda a: 0.4 * a + inside(a, 1)),
    (InfConv(Squared(), Squared()), 2, lambda r: r**2 / 4, lambda a: 0 * a),
    (InfConv(Norm(0.6), Norm(1.3)), 0, lambda r: 0.6 * r, lambda a: inside(a, 0.6)),
    (InfConv(Ball(0.5), Ball(0.25)), 0, lambda r: inside(r, 0.75), lambda a: 0.75 * a),
    (InfConv(PowerNorm(3), Ball(0.5)), 0, lambda r: np.maximum(r - 0.5, 0) ** 3 / 3, lambda a: a**1.5 / 1.5 + a / 2),
    (
        InfConv(Squared(), EpsilonSVR(0.4)),  # the tube of the epsilon-SVR, then Huber with kappa = 1
        1,
        lambda r: np.where(r <= 1.4, np.maximum(r - 0.4, 0) ** 2 / 2, r - 0.9),
        lambda a: 0.4 * a + inside(a, 1),
    ),
    (
        InfConv(InfConv(Squared(), Norm(0.7)), Ball(0.4)),
        1,
        lambda r: np.where(r <= 1.1, np.maximum(r - 0.4, 0) ** 2 / 2, 0.7 * r - 0.525),
        lambda a: 0.4 * a + inside(a, 0.7),
    ),
    (
        InfConv(ExpNorm(), Norm(2)),  # linear from the point where the slope e^r is 2
        0,
        lambda r: np.where(r < np.log(2), np.exp(np.minimum(r, 1)) - 1, 1 + 2 * (r - np.log(2))),
        lambda a: np.where(a > 1, a * np.log(np.maximum(a, 1)) - a + 1, 0) + inside(a, 2),
    ),
    (
        InfConv(Squared(), LogNorm()),  # a + e^(a - 1) = r at the maximiser a: by Lambert's function
        1,
        lambda r: square_log(r),
        lambda a: np.exp(a - 1),
    ),
    (InfConv(Squared(), PowerNorm(1.5)), 1, lambda r: square_power(r), lambda a: a**3 / 3),
]


def square_log(r):
    a = np.maximum(r - lambertw(np.exp(r - 1)).real, 0)
    return a * r - a**2 / 2 - np.exp(a - 1)


def square_power(r):
    a = (np.sqrt(1 + 4 * r) - 1) / 2  # a + a^2 = r
    return a * r - a**2 / 2 - a**3 / 3


scalar_losses = pytest.mark.parametrize(("loss", "c", "value", "conjugate"), BY_HAND, ids=[repr(x[0]) for x in BY_HAND])
NORMS = np.array([0, 1e-9, 0.05, 0.2, 1 / np.e, 0.4, 0.41, 0.6, 0.7, 0.71, 0.8, 1, 1.001, 1.1, 1.4, 1.8, 2.5, 3])


@scalar_losses
def test_value_is_the_formula(loss, c, value, conjugate):
    assert loss.curvature == c
    assert_allclose(loss.value(NORMS), value(NORMS), rtol=1e-10, atol=1e-13)


@scalar_losses
def test_value_is_the_conjugate_of_the_conjugate(loss, c, value, conjugate):
    """loss(r) = sup over a of a r - c/2 a^2 - g*(a), with the library's g*."""
    grid = np.concatenate([np.geomspace(1e-9, 1e-2, 500), np.linspace(0, 60, 120_001)])
    for r in NORMS[np.isfinite(value(NORMS))]:
        best = np.max(grid * r - c / 2 * grid**2 - loss.conjugate(grid))
        assert best == pytest.approx(loss.value(np.array(r)), abs=2e-7)


@scalar_losses
def test_conjugate_is_the_formula_and_the_conjugate_of_the_value(loss, c, value, conjugate):
    grid = np.linspace(0, 80, 400_001)
    values = value(grid)
    duals = np.array([0, 0.1, 0.3, 0.5, 0.6, 0.7, 0.9, 1, 1.3, 2, 2.5])
    assert_allclose(loss.conjugate(duals), conjugate(duals), rtol=1e-12, atol=1e-14)
    for a in duals[np.isfinite(conjugate(duals))]:
        best = np.max(grid * a - values)
        assert best == pytest.approx(c / 2 * a**2 + loss.conjugate(np.array(a)), abs=2e-7)
    for a in duals[np.isinf(conjugate(duals))]:  # unbounded: still growing at the end of the grid
        assert grid[-1] * a - values[-1] > grid[-2] * a - values[-2]


@scalar_losses
def test_prox_conjugate_is_the_minimiser(loss, c, value, conjugate):
    """argmin over x >= 0 of (x - r)^2 / 2 + step g*(x), searched for on a grid, on both sides of the thresholds."""
    grid = np.linspace(0, 4, 100_001)
    for step in (1e-3, 0.1, 0.5, 1, 3, 50):
        penalty = step * conjugate(grid)
        near = np.array([0, 1, step, step * 0.4, step * 0.8, 1 + 0.4 * step, 0.7, 0.7 + 0.4 * step])
        norms = np.unique(np.clip(np.concatenate([NORMS, near - 1e-3, near, near + 1e-3]), 0, 4))
        found = loss.prox_conjugate(norms, step)
        for r, x in zip(norms, found):
            best = grid[np.argmin((grid - r) ** 2 / 2 + penalty)]
            assert abs(x - best) < 4.5e-5, (r, step)


@scalar_losses
def test_properties_follow_from_the_functions(loss, c, value, conjugate):
    grid = np.linspace(1e-3, 20, 20_000)
    finite = np.isfinite(conjugate(grid))
    assert loss.bound == (INF if finite.all() else pytest.approx(grid[finite][-1], abs=1e-3))
    assert loss.quadratic == (c == 1 and not conjugate(grid).any())
    slope_at_zero = (conjugate(np.array(1e-6)) - conjugate(np.array(0.0))) / 1e-6
    assert loss.sparse == bool(slope_at_zero > 0.1)  # then the prox maps small norms to zero
    admitted = grid[np.isfinite(value(grid))]
    assert loss.largest_residual == (INF if len(admitted) == len(grid) else pytest.approx(admitted[-1], abs=1e-3))
    assert not loss.on_margins and loss.pointwise == (getattr(loss, "p", 2) != 2)


@scalar_losses
def test_conjugate_slope_is_the_derivative(loss, c, value, conjugate):
    a, h = np.array([0.05, 0.2, 0.5, 0.9, 1.5, 2.3]), 1e-5
    a = a[np.isfinite(conjugate(a + h))]
    slope = (conjugate(a + h) - conjugate(a - h)) / (2 * h)
    assert_allclose(loss.conjugate_slope(a), slope, rtol=1e-6, atol=1e-8)
    if np.isfinite(loss.bound):
        assert loss.conjugate_slope(np.array(loss.bound)) == INF


@scalar_losses
def test_radial_losses_act_on_rows_through_the_norm(loss, c, value, conjugate):
    R = np.random.default_rng(1).normal(size=(9, 4))
    R *= np.linspace(0, 2.5, 9)[:, None] / np.sqrt((R**2).sum(axis=1, keepdims=True))
    norms = np.sqrt((R**2).sum(axis=1))
    if getattr(loss, "p", 2) == 2:
        assert_allclose(loss.row_value(R), value(norms), rtol=1e-9, atol=1e-12)
        P = loss.row_prox(R, 0.8)
        # along the row, at the distance that the scalar prox gives
        assert_allclose(P * norms[:, None], R * np.sqrt((P**2).sum(axis=1, keepdims=True)), atol=1e-13)
        assert_allclose(np.sqrt((P**2).sum(axis=1)), loss.prox_conjugate(norms, 0.8), atol=1e-13)
        assert_allclose(loss.row_conjugate(P), conjugate(np.sqrt((P**2).sum(axis=1))), rtol=1e-9, atol=1e-12)
    one = R[:, :1]  # on the real line every p is the same
    assert_allclose(loss.row_value(one), value(np.abs(one[:, 0])), rtol=1e-9, atol=1e-12)
    assert_allclose(np.abs(loss.row_prox(one, 0.8)), loss.prox_conjugate(np.abs(one), 0.8), atol=1e-13)
