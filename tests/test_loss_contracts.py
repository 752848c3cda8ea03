"""What losses promise: margins with other targets, convolutions of entries, hard constraints, continuity in gaps."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from helpers.by_hand import (
    ALPHA,
    LOSSES,
    Data,
    check,
    convolution,
    fit,
    inside,
    make,
    norms,
    reference,
    solve,
)
from numpy.testing import assert_allclose

from hilbertlearn import FunctionalRegressor, IrregularFunctions, OperatorKernelRegressor, losses, spaces
from hilbertlearn.core import solvers
from hilbertlearn.core.problem import Problem
from hilbertlearn.core.terms import SeparableTerm
from hilbertlearn.losses import (
    Ball,
    EpsilonInsensitive,
    EpsilonSVR,
    ExpNorm,
    Hinge,
    Huber,
    InfConv,
    LogNorm,
    Norm,
    PowerNorm,
    Squared,
)
from hilbertlearn.training import best_constant

INF = np.inf

# ---------------------------------------------------------------- margins with targets of their own


def mixed(Y):
    """No multiple of the outputs, and no linear map of them either."""
    return np.sign(Y) + 0.3 * Y[:, ::-1]


@pytest.mark.parametrize("structured", [False, True], ids=["identity", "operator"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("many", [False, True], ids=["one", "terms"])
@pytest.mark.parametrize("name", ["hinge", "squared-hinge"])
def test_the_hinge_of_other_targets_is_that_of_clarabel(name, many, weighted, structured):
    data, hand = make(many=many, weighted=weighted, structured=structured), LOSSES[name]
    model = fit(data, Hinge(hand.loss.margin, targets=mixed))
    assert model.dual_gap_ <= 1e-9
    z = Data(data.X, mixed(data.Y), data.weights, data.terms, data.settings)  # the same problem for outputs z
    check(z, hand, model)
    assert reference(data, hand) != pytest.approx(reference(z, hand), rel=1e-3)  # and another one than without


def test_targets_are_functions_of_coordinates_before_weights():
    seen = []

    def remember(Y):
        seen.append(Y.copy())
        return Y

    data = make(weighted=True)
    fit(data, Hinge(targets=remember))
    assert seen and all(np.allclose(Y, data.Y) for Y in seen)


@pytest.mark.parametrize(
    "targets", [lambda Y: Y[:, :1], lambda Y: np.full_like(Y, np.nan), lambda Y: Y[1:]], ids=["narrow", "nan", "short"]
)
def test_targets_of_another_shape_are_refused(targets):
    with pytest.raises(ValueError, match="targets must return finite numbers of shape"):
        fit(make(), Hinge(targets=targets))


# ---------------------------------------------------------------- convolutions of entries

KAPPA, EPSILON = 0.6, 0.35
SCALAR = {  # the loss, its value and its whole conjugate on a number
    "huber": (
        Huber(KAPPA, p=1),
        lambda r: np.where(np.abs(r) <= KAPPA, r**2 / 2, KAPPA * np.abs(r) - KAPPA**2 / 2),
        lambda a: a**2 / 2 + inside(np.abs(a), KAPPA),
    ),
    "wider huber": (
        Huber(2 * KAPPA, p=1),
        lambda r: np.where(np.abs(r) <= 2 * KAPPA, r**2 / 2, 2 * KAPPA * np.abs(r) - 2 * KAPPA**2),
        lambda a: a**2 / 2 + inside(np.abs(a), 2 * KAPPA),
    ),
    "epsilon": (
        EpsilonInsensitive(EPSILON, p=INF),
        lambda r: np.maximum(np.abs(r) - EPSILON, 0) ** 2 / 2,
        lambda a: a**2 / 2 + EPSILON * np.abs(a),
    ),
    "squared": (Squared(), lambda r: r**2 / 2, lambda a: a**2 / 2),
}
ENTRYWISE = [
    ("huber", "squared"),
    ("squared", "huber"),
    ("huber", "epsilon"),
    ("epsilon", "huber"),
    ("epsilon", "squared"),
    ("epsilon", "epsilon"),
    ("huber", "wider huber"),
]
MEASURES = {"plain": None, "measure": np.array([0.2, 1.7, 0.6, 1.0])}
GRID = np.linspace(-8, 8, 16001)
RESIDUALS = np.random.default_rng(3).normal(size=(7, 4)) * np.array([0.2, 0.7, 1.5, 3.0])[np.arange(7) % 4, None]


def pairs(function):
    return pytest.mark.parametrize(("first", "second"), ENTRYWISE, ids=map("*".join, ENTRYWISE))(
        pytest.mark.parametrize("measure", MEASURES)(function)
    )


def convolved(first, second):
    return InfConv(SCALAR[first][0], SCALAR[second][0])


def weights_of(measure):
    m = MEASURES[measure]
    return np.ones(RESIDUALS.shape[1]) if m is None else m


@pairs
def test_the_value_is_the_infimum_of_each_entry(first, second, measure):
    f, g, m = SCALAR[first][1], SCALAR[second][1], weights_of(measure)
    points = RESIDUALS / np.sqrt(m)
    expected = np.array([[np.min(f(GRID) + g(v - GRID)) for v in row] for row in points]) @ m
    found = convolved(first, second).row_value(RESIDUALS, MEASURES[measure])
    assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    assert (found <= expected + 1e-12).all()  # the grid is a part of what the infimum is over


@pairs
def test_the_conjugate_is_the_supremum_of_each_entry(first, second, measure):
    loss, m = convolved(first, second), weights_of(measure)
    bound = min(loss.bound, 2.0)
    duals = np.linspace(-0.99 * bound, 0.99 * bound, 28).reshape(7, 4)  # of point values
    phi = loss.row_value(GRID[:, None])
    expected = np.array([[np.max(a * GRID - phi) for a in row] for row in duals]) @ m
    A = duals * np.sqrt(m)
    found = loss.curvature / 2 * norms(A) ** 2 + loss.row_conjugate(A, MEASURES[measure])
    assert_allclose(found, expected, atol=1e-6)
    both = (SCALAR[first][2](duals) + SCALAR[second][2](duals)) @ m  # conjugates add
    assert_allclose(found, both, rtol=1e-12, atol=1e-12)
    if np.isfinite(loss.bound):
        beyond = A.copy()
        beyond[0, 2] = 1.01 * loss.bound * np.sqrt(m[2])
        assert np.isinf(loss.row_conjugate(beyond, MEASURES[measure])).tolist() == [True] + 6 * [False]


@pairs
@pytest.mark.parametrize("step", [0.3, 2.0])
def test_the_prox_is_the_minimiser_of_each_entry(first, second, measure, step):
    loss, m = convolved(first, second), weights_of(measure)
    found = loss.row_prox(RESIDUALS, step, MEASURES[measure])
    assert (found * RESIDUALS >= 0).all()
    for j, mass in enumerate(m):
        own = None if MEASURES[measure] is None else np.array([mass])
        penalty = step * loss.row_conjugate(GRID[:, None], own)
        for i in range(len(found)):
            objective = (GRID - RESIDUALS[i, j]) ** 2 / 2 + penalty
            best = GRID[np.argmin(objective)]
            assert found[i, j] == pytest.approx(best, abs=1.1e-3)
            value = (found[i, j] - RESIDUALS[i, j]) ** 2 / 2 + step * loss.row_conjugate(
                found[i : i + 1, j : j + 1], own
            )
            assert value[0] <= objective.min() + 1e-9


@pytest.mark.parametrize(("first", "second"), ENTRYWISE, ids=map("*".join, ENTRYWISE))
def test_a_measure_of_ones_is_none(first, second):
    loss, ones = convolved(first, second), np.ones(4)
    assert_allclose(loss.row_value(RESIDUALS, ones), loss.row_value(RESIDUALS), rtol=1e-13)
    assert_allclose(loss.row_prox(RESIDUALS, 0.7, ones), loss.row_prox(RESIDUALS, 0.7), rtol=1e-13)


CVXPY = {
    "huber": lambda R: cp.huber(R, KAPPA) / 2,
    "wider huber": lambda R: cp.huber(R, 2 * KAPPA) / 2,
    "epsilon": lambda R: cp.square(cp.pos(cp.abs(R) - EPSILON)) / 2,
    "squared": lambda R: cp.square(R) / 2,
}


def by_hand(first, second):
    def form(R, S):
        return cp.sum(CVXPY[first](S) + CVXPY[second](R - S), axis=1), []

    def conjugate(A):
        return (SCALAR[first][2](A) + SCALAR[second][2](A)).sum(axis=1)

    return convolution(convolved(first, second), form, conjugate)


@pytest.mark.parametrize(
    "kind",
    [{}, {"structured": True}, {"weighted": True, "missing": True}, {"many": True}],
    ids=lambda kind: "-".join(kind),
)
@pytest.mark.parametrize(("first", "second"), ENTRYWISE[:4], ids=map("*".join, ENTRYWISE[:4]))
def test_fits_of_convolutions_are_those_of_clarabel(first, second, kind):
    data, hand = make(**kind), by_hand(first, second)
    model = fit(data, hand.loss, max_iter=100_000)
    assert model.dual_gap_ <= 1e-9
    check(data, hand, model)


@pytest.mark.parametrize(("first", "second"), ENTRYWISE, ids=map("*".join, ENTRYWISE))
def test_fits_of_convolutions_of_point_values_are_those_of_clarabel(first, second):
    data, m = make(structured=True), np.array([0.3, 1.9, 0.8])
    (K, M), n = data.terms[0], len(data.Y)
    problem = Problem((SeparableTerm(K, M),), data.Y, convolved(first, second), ALPHA * n, measure=m)
    solution = solvers.solve(problem, tol=1e-9, max_iter=100_000)
    assert solution.converged and solution.gap <= 1e-9
    values, vectors = np.linalg.eigh(data.gram)
    u, S = cp.Variable(len(values)), cp.Variable(data.Y.shape)
    F = cp.reshape((vectors * np.sqrt(np.maximum(values, 0))) @ u, data.Y.shape, order="C")
    R = (data.Y - F) @ np.diag(1 / np.sqrt(m))  # point values
    rows = (CVXPY[first](S) + CVXPY[second](R - S)) @ m
    best = solve(cp.sum(rows) + ALPHA * n / 2 * cp.sum_squares(u), [])
    A = solution.dual
    assert problem.primal(A, problem.fitted(A)) == pytest.approx(best, rel=1e-7)


# ---------------------------------------------------------------- bounds

SETTLED = [hand.loss for hand in LOSSES.values()]
LEFT_OPEN = [
    Huber(),
    Huber(p=1),
    Huber(p=INF),
    EpsilonInsensitive(),
    EpsilonInsensitive(p=INF),
    EpsilonSVR(),
    InfConv(Squared(), EpsilonSVR()),
    InfConv(Huber(p=1), EpsilonInsensitive(p=INF)),
]
INTEGERS = [
    Huber(1),
    Norm(2),
    EpsilonSVR(1),
    Ball(1),
    PowerNorm(2, 1),
    LogNorm(1),
    ExpNorm(1),
    InfConv(Huber(1), Norm(2)),
]


@pytest.mark.parametrize("loss", [*SETTLED, *LEFT_OPEN, *INTEGERS], ids=lambda loss: type(loss).__name__)
def test_bounds_are_floats(loss):
    loss = loss.resolve(RESIDUALS)
    assert not loss.needs_residuals
    assert isinstance(loss.bound, float) and loss.bound > 0
    assert isinstance(loss.curvature, float)


# ---------------------------------------------------------------- hard constraints


@pytest.mark.parametrize("structured", [False, True], ids=["identity", "operator"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("missing", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize("many", [False, True], ids=["one", "terms"])
@pytest.mark.parametrize("tol", [1e-4, 1e-8])
def test_a_ball_admits_no_larger_residual(tol, many, missing, weighted, structured):
    data = make(many=many, structured=structured, weighted=weighted, missing=missing)
    scale = 0.5
    model = fit(data, Ball(scale), tol=tol, max_iter=100_000)
    F = model.predict(data.inputs)[data.labelled]
    sizes = norms(np.where(data.mask, data.targets - F, 0.0))
    assert sizes.max() <= scale * (1 + 1e-9)
    assert model.dual_gap_ <= tol
    assert sizes.max() >= 0.99 * scale  # the smoothest function makes use of what is admitted


def test_a_ball_around_the_centre_and_along_a_path():
    data = make()
    base = OperatorKernelRegressor(loss=Ball(0.4), gamma=0.4, alpha=0.1)
    for model in base.fit_path(data.X, data.Y, [1.0, 1e-2, 1e-4]):
        assert norms(data.Y - model.predict(data.X)).max() <= 0.4 * (1 + 1e-9)
        assert model.dual_gap_ <= model.tol


# ---------------------------------------------------------------- one value that is not seen

GRID_POINTS = np.linspace(0, 1, 40)


def curves(seed=0, n=30, rough=0.3):
    """Inputs, and curves some of which are outliers; rough : of what the dictionary does not hold."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 1))
    y = np.sin(2 * np.pi * GRID_POINTS + 2 * X) + rough * np.sin(14 * np.pi * GRID_POINTS) * X
    y += 0.1 * rng.normal(size=y.shape)
    y[::6] += 2 * rng.normal(size=(len(y[::6]), 1))
    return X, y


def dictionary(loss, **settings):
    return FunctionalRegressor(space=spaces.Fourier(5), loss=loss, alpha=1e-3, gamma=1.0, **settings)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("where", [(4, 17), (11, 0), (20, 39)])
@pytest.mark.parametrize("loss", [Huber(0.4), EpsilonInsensitive(0.4), EpsilonSVR(0.4)], ids=repr)
def test_one_value_that_is_not_seen_changes_little(loss, where, center):
    """A curve that has lost one of forty values is nearly the same curve, and the others are what they were.

    Less than half of what leaving out the whole curve changes. If residuals were projected for curves without gaps, and
    whole for all as soon as there is one, it would be as much, or many times that: ``projected`` shows it.
    """
    X, y = curves(rough=1.0)
    gap, others = y.copy(), np.delete(np.arange(len(X)), where[0])
    gap[where] = np.nan

    def fitted(rows, y, **settings):
        return dictionary(loss, center=center, tol=1e-7, max_iter=20_000, **settings).fit(X[rows], y[rows])

    everyone = np.arange(len(X))
    whole, model, less = fitted(everyone, y), fitted(everyone, gap), fitted(others, y)
    projected = fitted(everyone, y, irregular="projected")
    expected, found = whole.predict(X), model.predict(X)
    by_a_curve = np.abs(less.predict(X) - expected).max()
    assert np.abs(found - expected).max() <= 0.5 * by_a_curve
    assert np.abs(found - projected.predict(X)).max() > 0.7 * by_a_curve  # else this would show nothing
    assert abs(int(model.saturated_.sum()) - int(whole.saturated_.sum())) <= 2
    assert abs(len(model.support_) - len(whole.support_)) <= 2


@pytest.mark.parametrize("loss", [Huber(0.4), EpsilonInsensitive(0.4), EpsilonSVR(0.4)], ids=repr)
def test_projected_residuals_stay_projected(loss):
    """``irregular="projected"`` is a model of coordinates: what curves have outside the basis does not count."""
    X, y = curves(rough=2.0)
    model = dictionary(loss, irregular="projected", tol=1e-8, max_iter=20_000, center=False).fit(X, y)
    C = model.machine_.encode(y)
    assert_allclose(model.machine_.residuals(X, y), C - model.machine_.coordinates(X), atol=1e-12)
    alone = OperatorKernelRegressor(
        loss=loss, alpha=1e-3, gamma=1.0, operator=model.operator_, tol=1e-8, max_iter=20_000, center=False
    ).fit(X, C)
    assert_allclose(model.machine_.coordinates(X), alone.predict(X), atol=1e-3)
    assert_allclose(model.saturated_, alone.saturated_)
    seen = dictionary(loss, tol=1e-8, max_iter=20_000, center=False).fit(X, y)  # the whole residual
    assert np.abs(seen.machine_.coordinates(X) - model.machine_.coordinates(X)).max() > 1e-2


@pytest.mark.parametrize("loss", [Huber(0.4), EpsilonSVR(0.4)], ids=repr)
def test_projected_residuals_of_irregular_curves_have_no_part_outside(loss):
    X, y = curves()
    irregular = IrregularFunctions([GRID_POINTS] * len(y), list(y), (0.0, 1.0))
    model = dictionary(loss, irregular="projected", center=False).fit(X, irregular)
    assert_allclose(
        model.machine_.residuals(X, irregular),
        model.machine_.encode(irregular) - model.machine_.coordinates(X),
        atol=1e-12,
    )
    assert model.machine_.residuals(X, irregular).shape == model.machine_.coordinates(X).shape


@pytest.mark.parametrize("epsilon", [0.056, 0.3])
def test_the_constant_of_one_output_is_always_found(epsilon):
    """The sum of losses has flat stretches, in which iterations may go round in circles."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y, loss = rng.normal(size=(rng.integers(5, 60), 1)), losses.EpsilonSVR(epsilon)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            constant = best_constant(y, np.ones(len(y)), loss)
        grid = np.concatenate([y - epsilon, y + epsilon])  # where slopes change
        values = np.maximum(np.abs(y - grid.T) - epsilon, 0.0).sum(axis=0)
        assert np.maximum(np.abs(y - constant) - epsilon, 0.0).sum() <= values.min() + 1e-6 * np.abs(y).sum()
