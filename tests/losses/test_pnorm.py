"""Losses on rows: values, conjugates and proximal maps against their definitions."""

import cvxpy as cp
import numpy as np
import pytest
from helpers.p_norms_by_hand import ALL_LOSSES, INF, MEASURES, Minimum, cp_norm, every_p, measures, norm, rows
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.losses import EpsilonInsensitive, EpsilonSVR, Hinge, Huber, as_loss
from hilbertlearn.losses.balls import dual_exponent


@every_p
@measures
def test_row_prox_is_the_minimiser(p, measure):
    """The prox of step g*, from the definition of g*: an indicator (Huber) or a norm (epsilon-insensitive)."""
    x, row, step = cp.Variable(5), cp.Parameter(5), cp.Parameter(nonneg=True)
    A, distance, size = rows(1)[1:6], cp.sum_squares(x - row) / 2, cp_norm(x, dual_exponent(p), measure)
    of_ball, of_norm = Minimum(distance, row, size <= 0.7), Minimum(distance + step * 0.4 * size, row)
    for step.value in (0.3, 1.0, 5.0):
        given = (A, step.value, measure)
        huber, tube = Huber(0.7, p).row_prox(*given), EpsilonInsensitive(0.4, p).row_prox(*given)
        for i, a in enumerate(A):
            slack = 3e-6 * max(1, np.abs(a).max())
            of_ball.at(a)
            assert_allclose(huber[i], x.value, atol=slack)
            of_norm.at(a)
            assert_allclose(tube[i], x.value, atol=slack)


@every_p
@measures
def test_row_value_is_the_infimal_convolution(p, measure):
    s, row = cp.Variable(5), cp.Parameter(5)
    half, size = cp.sum_squares(row - s) / 2, cp_norm(s, p, measure)
    with_norm, in_ball = Minimum(half + 0.7 * size, row), Minimum(half, row, size <= 0.4)
    R = rows(2)
    huber, tube = Huber(0.7, p).row_value(R, measure), EpsilonInsensitive(0.4, p).row_value(R, measure)
    for i, r in enumerate(R):
        assert huber[i] == pytest.approx(with_norm.at(r), rel=2e-8, abs=2e-9)
        assert tube[i] == pytest.approx(in_ball.at(r), rel=2e-8, abs=2e-9)


@every_p
@measures
def test_row_conjugate_is_the_formula(p, measure):
    q = dual_exponent(p)
    A = rows(3)
    assert_allclose(EpsilonInsensitive(0.4, p).row_conjugate(A, measure), [0.4 * norm(a, q, measure) for a in A])
    huber, sizes = Huber(0.7, p), np.array([norm(a, q, measure) for a in A])
    assert_array_equal(huber.row_conjugate(A, measure), np.where(sizes <= 0.7, 0, INF))
    at_bound = A[:6] * (0.7 / sizes[:6])[:, None]  # what a prox returns is admitted, a little more is not
    assert_array_equal(huber.row_conjugate(at_bound, measure), 0)
    assert_array_equal(huber.row_conjugate(at_bound * (1 + 1e-8), measure), INF)


@every_p
@measures
def test_fenchel_young_holds_with_equality_at_the_prox(p, measure):
    """loss(r) + loss*(a) >= <a, r>, with equality at the a that the prox of g*, step 1, gives (c = 1)."""
    R = rows(4)
    for loss in (Huber(0.7, p), EpsilonInsensitive(0.4, p)):
        A = loss.row_prox(R, 1.0, measure)
        conjugate = (A**2).sum(axis=1) / 2 + loss.row_conjugate(A, measure)
        assert_allclose(loss.row_value(R, measure) + conjugate, (A * R).sum(axis=1), rtol=1e-11, atol=1e-13)
        other = 0.5 * np.roll(A, 1, axis=0)
        conjugate = (other**2).sum(axis=1) / 2 + loss.row_conjugate(other, measure)
        assert np.all(loss.row_value(R, measure) + conjugate >= (other * R).sum(axis=1) - 1e-12)


def test_closed_forms_of_pointwise_losses():
    """Huber p = 1 clips at kappa sqrt(q_j), epsilon-insensitive p = inf soft-thresholds at step epsilon sqrt(q_j)."""
    m = MEASURES["measure"]
    A = rows(5)
    limit = 0.7 * np.sqrt(m)
    assert_allclose(Huber(0.7, p=1).row_prox(A, 3.0, m), np.minimum(np.maximum(A, -limit), limit), rtol=1e-15)
    threshold = 3.0 * 0.4 * np.sqrt(m)
    soft = np.sign(A) * np.maximum(np.abs(A) - threshold, 0)
    assert_allclose(EpsilonInsensitive(0.4, p=INF).row_prox(A, 3.0, m), soft, rtol=1e-14, atol=1e-15)
    # of point values v = a / sqrt(m): the integral of the scalar loss
    V = A / np.sqrt(m)
    pointwise = np.where(np.abs(V) <= 0.7, V**2 / 2, 0.7 * np.abs(V) - 0.245)
    assert_allclose(Huber(0.7, p=1).row_value(A, m), pointwise @ m, rtol=1e-12)
    assert_allclose(EpsilonInsensitive(0.4, p=INF).row_value(A, m), np.maximum(np.abs(V) - 0.4, 0) ** 2 / 2 @ m)


@pytest.mark.parametrize("loss", ALL_LOSSES, ids=repr)
@measures
def test_zeros_stay_zeros(loss, measure):
    """An entry held at zero (not observed) stays, and the others are those of the row without it."""
    A = rows(6)
    mask = np.random.default_rng(7).random(A.shape) < 0.6
    mask[3] = False
    hidden = np.where(mask, A, 0.0)
    for step in (1e-3, 1.0, 40.0):
        out = loss.row_prox(hidden, step, measure)
        assert np.isfinite(out).all()
        assert_array_equal(out[~mask], 0.0)
        assert_array_equal(out[6], 0.0)
        for i in (0, 1, 2, 4, 5):
            seen = mask[i]
            alone = loss.row_prox(A[i : i + 1, seen], step, None if measure is None else measure[seen])
            assert_allclose(out[i, seen], alone[0], rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("loss", ALL_LOSSES, ids=repr)
def test_rows_far_apart_in_size_give_numbers(loss):
    A = rows(8)[1:6, :3] * np.array([1e-150, 1e-9, 1, 1e2, 1e3])[:, None]
    for step in (1e-12, 1.0, 1e12):
        out = loss.row_prox(A, step)
        assert np.isfinite(out).all()
        assert np.all(out * A >= 0) and np.all(np.abs(out) <= np.abs(A) * (1 + 1e-12))  # g* is least at zero
    assert not np.isnan(loss.row_value(A[:3])).any() and not np.isnan(loss.row_conjugate(A[:3])).any()
    assert loss.row_prox(np.zeros((0, 3)), 1.0).shape == (0, 3)


sizes = st.floats(-6, 6).map(lambda e: 10.0**e)


def test_arguments_are_not_changed():
    A = rows(10)
    before = A.copy()
    for loss in ALL_LOSSES:
        loss.row_prox(A, 0.5), loss.row_value(A), loss.row_conjugate(A)
    assert_array_equal(A, before)


@pytest.mark.parametrize("loss", [*ALL_LOSSES, Huber("auto"), EpsilonInsensitive("auto"), EpsilonSVR("auto"), Hinge()])
def test_settings_in_range_pass(loss):
    assert as_loss(loss) is loss
