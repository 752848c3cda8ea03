"""What every loss promises: value, conjugate and prox are their definitions, by brute force.

A radial loss is tested by its line in ``helpers.losses_by_hand``, any loss by its line in ``LOSSES``.
"""

import numpy as np
import pytest
from helpers.losses_by_hand import BY_HAND
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from hilbertlearn import losses
from hilbertlearn.losses import (
    Ball,
    EpsilonInsensitive,
    EpsilonSVR,
    ExpNorm,
    Hinge,
    Huber,
    InfConv,
    LogNorm,
    NonCrossingPinball,
    Norm,
    Pinball,
    PowerNorm,
    Squared,
)

INF = np.inf

# ------------------------------------------------------------------ functions of a norm

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


# ------------------------------------------------------------------ rows, for every loss


class SquaredHinge:
    """``max(0, 1 - t)^2 / 2`` of the margin t."""

    def value(self, t):
        return np.maximum(0.0, 1 - t) ** 2 / 2

    def conjugate(self, b):
        return np.where(b >= -1e-12, b**2 / 2 - b, INF)

    def prox_conjugate(self, b, step):
        return np.maximum((b + step) / (1 + step), 0.0)


# number of columns, and the loss for n rows
LOSSES = {
    "Squared": (2, lambda n: Squared()),
    "Huber": (2, lambda n: Huber(0.7)),
    "Huber p=1": (2, lambda n: Huber(0.7, p=1)),
    "Huber p=3": (2, lambda n: Huber(0.7, p=3)),
    "Huber p=inf": (2, lambda n: Huber(0.7, p=INF)),
    "EpsilonInsensitive": (2, lambda n: EpsilonInsensitive(0.4)),
    "EpsilonInsensitive p=1": (2, lambda n: EpsilonInsensitive(0.4, p=1)),
    "EpsilonInsensitive p=1.5": (2, lambda n: EpsilonInsensitive(0.4, p=1.5)),
    "EpsilonInsensitive p=inf": (2, lambda n: EpsilonInsensitive(0.4, p=INF)),
    "EpsilonSVR": (2, lambda n: EpsilonSVR(0.4)),
    "Norm": (2, lambda n: Norm(0.6)),
    "PowerNorm": (2, lambda n: PowerNorm(3, 0.5)),
    "LogNorm": (2, lambda n: LogNorm(0.8)),
    "ExpNorm": (2, lambda n: ExpNorm(0.3)),
    "Ball": (2, lambda n: Ball(0.8)),
    "InfConv": (2, lambda n: InfConv(Squared(), EpsilonSVR(0.4))),
    "Pinball": (2, lambda n: Pinball([0.2, 0.7])),
    "NonCrossingPinball": (2, lambda n: NonCrossingPinball([0.2, 0.7], np.ones((n, 1), dtype=bool))),
    "Hinge": (1, lambda n: Hinge()),
    "Hinge of another margin": (1, lambda n: Hinge(SquaredHinge())),
}
every_loss = pytest.mark.parametrize("name", LOSSES)


def with_measures(name):
    """None, and quadrature weights for losses of point values; the levels of an output share a weight."""
    columns, make = LOSSES[name]
    measure = np.array([0.7, 0.7]) if name == "NonCrossingPinball" else np.array([0.5, 1.5])
    return [None, measure] if make(1).pointwise and columns == 2 else [None]


def rows(columns, n=12):
    R = np.random.default_rng(0).normal(size=(n, columns))
    R[0] = 0.0
    return R


def maximise(function, columns, width):
    """The largest value of a concave function of rows, on grids that shrink around the best point."""
    centre, best = np.zeros(columns), -INF
    for _ in range(10):
        axes = [x + width * np.linspace(-1, 1, 41) for x in centre]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, columns)
        values = function(grid)
        if values.max() > best:
            best, centre = values.max(), grid[np.argmax(values)]
        width /= 5
    return best


def conjugate(loss, A, measure):
    """That of the loss, with its quadratic part."""
    return loss.curvature / 2 * (A**2).sum(axis=1) + loss.row_conjugate(A, measure)


def test_every_loss_is_listed():
    assert {type(make(1)).__name__ for _, make in LOSSES.values()} == set(losses.__all__) - {"Loss"}


@every_loss
def test_the_value_of_a_row_is_the_supremum_of_its_definition(name):
    columns, make = LOSSES[name]
    for measure in with_measures(name):
        R = rows(columns)
        values = make(len(R)).row_value(R, measure)
        for r, value in zip(R, values, strict=True):
            if np.isfinite(value):
                best = maximise(lambda A, r=r, m=measure: A @ r - conjugate(make(len(A)), A, m), columns, 40.0)
                assert best == pytest.approx(value, abs=2e-4)


@every_loss
def test_the_conjugate_of_a_row_is_the_supremum_of_its_definition(name):
    columns, make = LOSSES[name]
    for measure in with_measures(name):
        A = make(12).row_prox(rows(columns), 0.5, measure)  # feasible dual rows
        values = conjugate(make(len(A)), A, measure)
        assert np.isfinite(values).all()
        for a, value in zip(A, values, strict=True):
            best = maximise(lambda R, a=a, m=measure: R @ a - make(len(R)).row_value(R, m), columns, 20.0)
            assert best == pytest.approx(value, abs=2e-4)


@every_loss
@pytest.mark.parametrize("step", [0.1, 1.0, 5.0])
def test_the_prox_of_a_row_is_the_minimiser_of_its_definition(name, step):
    """The objective is strongly convex: a value as small as that of the grids means the same point."""
    columns, make = LOSSES[name]
    for measure in with_measures(name):
        A = 2 * rows(columns)
        found = make(len(A)).row_prox(A, step, measure)
        reached = ((found - A) ** 2).sum(axis=1) / 2 + step * make(len(A)).row_conjugate(found, measure)

        def objective(X, a, measure=measure):
            return ((X - a) ** 2).sum(axis=1) / 2 + step * make(len(X)).row_conjugate(X, measure)

        for a, value in zip(A, reached, strict=True):
            best = -maximise(lambda X, a=a: -objective(X, a), columns, 8.0)
            assert value <= best + 1e-9
            assert best - value < 1e-3  # the grids come near it


@every_loss
def test_a_clone_is_the_same_function(name):
    columns, make = LOSSES[name]
    R = rows(columns)
    loss = make(len(R))
    copy = clone(loss)
    assert copy is not loss and copy.get_params().keys() == loss.get_params().keys()
    assert_array_equal(copy.row_value(R), loss.row_value(R))
    assert_array_equal(copy.row_prox(R, 0.3), loss.row_prox(R, 0.3))
    loss.validate()


@every_loss
def test_arguments_stay_as_they_are_and_properties_are_plain(name):
    columns, make = LOSSES[name]
    R = rows(columns)
    before, loss = R.copy(), make(len(R))
    loss.row_value(R), loss.row_conjugate(R), loss.row_prox(R, 0.7), loss.saturated(R)
    assert_array_equal(R, before)
    assert isinstance(loss.bound, float) and isinstance(loss.curvature, float)
    for flag in ("on_margins", "pointwise", "quadratic", "sparse", "decreasing_weight", "symmetric", "is_constrained"):
        assert isinstance(getattr(loss, flag), (bool, np.bool_)), flag
    assert not loss.needs_residuals and loss.resolve(R).get_params().keys() == loss.get_params().keys()
