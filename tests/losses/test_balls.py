"""p-norms with quadrature weights and projections on their balls, against definitions and cvxpy."""

import cvxpy as cp
import numpy as np
import pytest
from helpers.p_norms_by_hand import INF, Minimum, cp_norm, every_p, measures, norm, rows
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from hilbertlearn.losses.balls import dual_exponent, p_norms, project_ball


@every_p
@measures
def test_p_norms_are_the_formula_and_dual_to_each_other(p, measure):
    A = rows()
    assert_allclose(p_norms(A, p, measure), [norm(a, p, measure) for a in A], rtol=1e-13)
    q = dual_exponent(p)
    assert (0 if np.isinf(p) else 1 / p) + (0 if np.isinf(q) else 1 / q) == pytest.approx(1)
    x, row = cp.Variable(5), cp.Parameter(5)
    least = Minimum(-row @ x, row, cp_norm(x, p, measure) <= 1)
    for a in A[[1, 3, 4]]:  # sup of <a, x> over the unit ball
        assert p_norms(a[None], q, measure)[0] == pytest.approx(-least.at(a), rel=1e-7)


@every_p
@measures
def test_projection_is_the_nearest_point(p, measure):
    x, row = cp.Variable(5), cp.Parameter(5)
    for radius in (0.4, 1.0):
        A = rows()
        found = project_ball(A, radius, p, measure)
        nearest = Minimum(cp.sum_squares(x - row), row, cp_norm(x, p, measure) <= radius)
        for a, mine in zip(A, found):
            nearest.at(a)
            assert_allclose(mine, x.value, atol=2e-6 * max(1, np.abs(a).max()))


sizes = st.floats(-6, 6).map(lambda e: 10.0**e)


@st.composite
def balls(draw):
    """Rows (n, d), with zeros and ties, a radius, p in [1, inf] and quadrature weights or None."""
    n, d = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    entries = st.one_of(st.just(0.0), st.sampled_from([1.0, -1.0, 0.5]), st.floats(-10, 10).map(lambda x: round(x, 6)))
    A = draw(arrays(float, (n, d), elements=entries)) * draw(sizes)
    p = draw(st.one_of(st.sampled_from([1, 2, INF]), st.floats(1.001, 1.1), st.floats(1.1, 3), st.floats(3, 60)))
    weights = draw(st.one_of(st.none(), arrays(float, d, elements=st.floats(0.01, 1))))
    return A, draw(sizes), p, weights


@settings(max_examples=300, deadline=None, derandomize=True)
@given(balls())
def test_projection_on_any_ball(ball):
    A, radius, p, measure = ball
    X = project_ball(A, radius, p, measure)
    assert np.isfinite(X).all()
    lengths = np.array([norm(x, p, measure) for x in X])
    assert np.all(lengths <= radius * (1 + 1e-9))  # feasible
    untouched = np.array([norm(a, p, measure) for a in A]) <= radius
    assert_allclose(X[untouched], A[untouched], rtol=1e-12)
    assert np.all(X * A >= 0) and np.all(np.abs(X) <= np.abs(A) * (1 + 1e-12))
    assert_allclose(project_ball(X, radius, p, measure), X, rtol=1e-9, atol=1e-9 * radius)  # idempotent
    # <A - X, X> is the support function of the ball at A - X, so no z in the ball has <A - X, z - X> > 0
    support = radius * np.array([norm(a, dual_exponent(p), measure) for a in A - X])
    scale = np.sqrt((A**2).sum(axis=1)) * np.sqrt((X**2).sum(axis=1))
    assert_allclose(((A - X) * X).sum(axis=1), support, rtol=1e-7, atol=1e-7 * scale.max() + 1e-300)


@pytest.mark.parametrize("p", [1.001, 1.01, 1.05, 1.1, 20, 100, 1000])
@measures
def test_projection_for_p_near_one_and_large(p, measure):
    A = np.random.default_rng(11).normal(size=(40, 5))
    for ratio in (1.01, 3, 30, 1e3, 1e6):
        radius = np.median([norm(a, p, measure) for a in A]) / ratio
        X = project_ball(A, radius, p, measure)
        outside = np.array([norm(a, p, measure) > radius for a in A])
        assert_allclose([norm(x, p, measure) for x in X[outside]], radius, rtol=1e-9)
        support = [radius * norm(a, dual_exponent(p), measure) for a in A - X]
        assert_allclose(((A - X) * X).sum(axis=1), support, rtol=1e-8, atol=1e-10 * radius)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(balls(), st.integers(0, 2**32 - 1))
def test_projection_satisfies_the_variational_inequality(ball, seed):
    A, radius, p, measure = ball
    X = project_ball(A, radius, p, measure)
    Z = np.random.default_rng(seed).normal(size=A.shape)
    Z *= (radius / np.array([norm(z, p, measure) for z in Z]))[:, None]
    products = ((A - X) * (Z - X)).sum(axis=1)
    squares = (A**2).sum(axis=1)
    rounding = 1e-14 * squares  # of the products, also where Z is X
    assert np.all(products <= 1e-7 * np.sqrt(squares) * np.sqrt(((Z - X) ** 2).sum(axis=1)) + rounding)


@every_p
@pytest.mark.parametrize("radius", [0.0, 1e-300, 1e-12, 1e12, 1e300])
@measures
def test_tiny_and_huge_balls(p, radius, measure):
    A = rows(9)
    X = project_ball(A, radius, p, measure)
    if radius > 1:
        assert_allclose(X, A, rtol=1e-14)
    else:
        assert np.isfinite(X).all()
        assert all(norm(x / max(radius, 1e-300), p, measure) <= (1 + 1e-9) * (radius > 0) for x in X)
        if (
            radius == 1e-12
        ):  # far from a small ball the nearest point is nearly where the ball extends most along the row
            reach = (A * X).sum(axis=1)
            assert_allclose(reach, [radius * norm(a, dual_exponent(p), measure) for a in A], rtol=1e-9)
