"""The pinball loss: its three functions by brute force, its constant, and the order of levels."""

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import isotonic_regression
from sklearn.metrics import mean_pinball_loss

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor
from hilbertlearn.losses import EpsilonSVR, Huber, InfConv, NonCrossingPinball, Pinball
from hilbertlearn.losses.pinball import antitonic_regression
from hilbertlearn.training import best_constant

LEVELS = (0.1, 0.5, 0.8)
rng = np.random.default_rng(0)


def test_value_is_that_of_scikit_learn():
    y, q = rng.normal(size=40), rng.normal(size=40)
    for tau in LEVELS:
        assert_allclose(Pinball(tau).row_value((y - q)[:, None]).mean(), mean_pinball_loss(y, q, alpha=tau))


@pytest.mark.parametrize("measure", [None, np.array([0.5, 0.5, 0.5, 2.0, 2.0, 2.0])], ids=["plain", "measure"])
def test_conjugate_and_value_are_each_other_s(measure):
    """value(r) = max <a, r> over the vertices of the box; the conjugate is zero there, infinite beyond."""
    loss, R = Pinball(LEVELS), rng.normal(size=(20, 6))
    root = np.ones(6) if measure is None else np.sqrt(measure)
    taus = np.tile(LEVELS, 2)
    low, high = (taus - 1) * root, taus * root
    assert_allclose(loss.row_value(R, measure), np.maximum(low * R, high * R).sum(axis=1))
    assert (loss.row_conjugate(np.vstack([low, high]), measure) == 0).all()
    assert np.isinf(loss.row_conjugate(np.vstack([low - 0.01, high + 0.01]), measure)).all()


def test_a_measure_weighs_point_values():
    """Coordinates are sqrt(m) v, and the loss is the sum of m pinball(v)."""
    v, measure = rng.normal(size=(5, 4)), np.array([0.1, 0.2, 0.3, 0.4])
    assert_allclose(Pinball(0.3).row_value(np.sqrt(measure) * v, measure), Pinball(0.3).value(v) @ measure)


def by_clarabel(A, loss, measure, seen=None, levels=LEVELS):
    """Projection of A on the dual box, plus the polar cone of antitonic_regression residuals where `seen` is given."""
    n, d = A.shape
    root, taus = np.sqrt(measure), np.tile(levels, d // len(levels))
    B = cp.Variable((n, d))
    box = B if seen is None else None
    constraints = []
    if seen is not None:
        box, mask = cp.Variable((n, d)), np.repeat(seen, len(levels), axis=1)
        D = np.kron(np.eye(d // len(levels)), np.diff(np.eye(len(levels)), axis=0))
        U = cp.Variable((n, D.shape[0]), nonneg=True)
        constraints = [box + U @ D == B, box[~mask] == 0] if (~mask).any() else [box + U @ D == B]
        low, high = np.where(mask, (taus - 1) * root, 0), np.where(mask, taus * root, 0)
    else:
        low, high = np.tile((taus - 1) * root, (n, 1)), np.tile(taus * root, (n, 1))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(B - A)), [*constraints, box >= low, box <= high])
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return B.value


@pytest.mark.parametrize("measure", [np.ones(6), np.array([0.5, 0.5, 0.5, 2.0, 2.0, 2.0])], ids=["plain", "measure"])
def test_prox_is_the_projection(measure):
    A = rng.normal(size=(30, 6))
    assert_allclose(Pinball(LEVELS).row_prox(A, 0.7, measure), by_clarabel(A, None, measure), atol=1e-6)
    seen = rng.random((30, 2)) < 0.7
    loss = NonCrossingPinball(LEVELS, seen)
    found = loss.row_prox(A, 0.7, measure)
    assert_allclose(found, by_clarabel(A, None, measure, seen), atol=1e-5)
    assert (loss.row_conjugate(found, measure) == 0).all()  # the projection is in the set
    assert_allclose(loss.row_prox(found, 1.0, measure), found, atol=1e-12)  # and stays there


def test_falling_is_isotonic_regression():
    A = rng.normal(size=(50, 7))
    by_row = np.array([isotonic_regression(row, increasing=False).x for row in A])
    assert_allclose(antitonic_regression(A), by_row, atol=1e-12)


def test_moreau_of_the_ordered_loss():
    """a - prox(a) are residuals in order, and <a, r> is the loss there: both sides of Fenchel's equality."""
    seen = np.ones((40, 2), dtype=bool)
    loss, A = NonCrossingPinball(LEVELS, seen), 2 * rng.normal(size=(40, 6))
    B = loss.row_prox(A, 1.0)
    R = A - B
    assert loss.violation(R).max() <= 1e-12
    assert_allclose(np.sum(B * R, axis=1), loss.row_value(R), atol=1e-10)


def test_constant_is_the_weighted_quantile():
    Y, weights = rng.normal(size=(31, 3)), rng.integers(1, 4, 31).astype(float)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    found = best_constant(Y, weights, Pinball(LEVELS))
    for j, tau in enumerate(LEVELS):
        seen = np.isfinite(Y[:, j])
        loss = [weights[seen] @ Pinball(tau).value((Y[seen, j] - c)[:, None])[:, 0] for c in (*Y[seen, j], found[j])]
        assert loss[-1] <= min(loss[:-1]) + 1e-12
    repeated = np.repeat(Y, weights.astype(int), axis=0)
    assert_allclose(found, best_constant(repeated, np.ones(len(repeated)), Pinball(LEVELS)))


def test_the_median_is_half_the_absolute_loss():
    X = rng.uniform(size=(60, 1))
    y = np.sin(6 * X[:, 0]) + 0.3 * rng.standard_t(2, size=60)
    given = {"kernel": "rbf", "gamma": 5.0, "tol": 1e-9}
    median = OperatorKernelRegressor(loss=Pinball(0.5), alpha=0.01, **given).fit(X, y)
    absolute = OperatorKernelRegressor(loss=EpsilonSVR(0.0), alpha=0.02, max_iter=20000, **given).fit(X, y)
    assert_allclose(median.predict(X), absolute.predict(X), atol=1e-3)


def test_a_single_level_is_for_all_columns_and_curves():
    X = rng.uniform(size=(40, 1))
    grid = np.linspace(0, 1, 12)
    Y = np.sin(6 * (X + grid)) + 0.1 * rng.normal(size=(40, 12))
    model = FunctionalRegressor(kernel="rbf", gamma=5.0, loss=Pinball(0.8), alpha=1e-3, grid=grid, tol=1e-6).fit(X, Y)
    assert model.dual_gap_ <= 1e-6
    assert 0.7 < np.mean(model.predict(X) >= Y) < 0.9


def test_alpha_is_chosen_by_the_loss_itself():
    X = rng.uniform(size=(50, 1))
    y = np.sin(6 * X[:, 0]) + X[:, 0] * rng.normal(size=50)
    model = OperatorKernelRegressor(kernel="rbf", gamma=5.0, loss=Pinball(0.9)).fit(X, y)
    folds = model.search_results_["method"] == "folds"
    assert folds.any() and model.alpha_ in model.search_results_["alpha"][folds]
    assert 0.8 < np.mean(model.predict(X) >= y) < 0.98


@pytest.mark.parametrize(
    "levels, text",
    [
        ((), "at least one"),
        ((0.5, 0.2), "increasing"),
        ((0.2, 0.2), "increasing"),
        ((0.0, 0.5), "strictly between 0 and 1"),
        (1.5, "strictly between 0 and 1"),
        ("high", "numbers"),
        ([[0.1, 0.9]], "a number or a list"),
        ((0.1, np.nan), "strictly between"),
    ],
)
def test_bad_levels(levels, text):
    with pytest.raises(ValueError, match=text):
        OperatorKernelRegressor(loss=Pinball(levels)).fit(np.eye(4), np.ones(4))


def test_columns_must_be_a_multiple_of_the_levels():
    with pytest.raises(ValueError, match="no multiple"):
        OperatorKernelRegressor(loss=Pinball((0.1, 0.9))).fit(np.eye(4), np.ones((4, 3)))


def test_convolutions_refuse_it():
    with pytest.raises(ValueError, match="InfConv: second"):
        InfConv(Huber(1.0, p=1), Pinball(0.5)).validate()
