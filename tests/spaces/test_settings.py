"""Quadrature weights as settings of spaces of functions: fits against dense computations."""

from functools import partial

import numpy as np
import pytest
from helpers.curves_by_hand import (
    ALPHA,
    K_NEW,
    NEW,
    SHARED,
    UNEVEN,
    K,
    N,
    Observed,
    X,
    curves,
    laplace,
    ridge,
    trapezoid,
    with_gaps,
)
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from hilbertlearn import FunctionalRegressor, operators, spaces
from hilbertlearn.data.functions import IrregularFunctions

M = len(UNEVEN)
FINE = np.linspace(0, 1, 33)
GIVEN = np.random.default_rng(5).uniform(0.5, 3.0, size=M)
ZEROS = np.where(np.isin(np.arange(M), (2, 6, 7)), 0.0, GIVEN)
WEIGHTS = {"trapezoid": "trapezoid", "equal": "equal", "given": GIVEN, "a list": GIVEN.tolist(), "zeros": ZEROS}
BY_HAND = {
    "trapezoid": trapezoid(UNEVEN),
    "equal": np.full(M, 1 / M),
    "given": GIVEN / GIVEN.sum(),
    "a list": GIVEN / GIVEN.sum(),
    "zeros": ZEROS / ZEROS.sum(),
}


def redundant(t):
    """Five atoms of rank three."""
    return np.array([np.ones_like(t), t, t**2, 2 + 3 * t, t - t**2])


SPACES = {
    "grid": lambda weights: spaces.Grid(weights),
    "all eigenfunctions": lambda weights: spaces.Eigen("laplacian", M, 4.0, weights),
    "four eigenfunctions": lambda weights: spaces.Eigen("rbf", 4, 4.0, weights),
    "fourier": lambda weights: spaces.Dictionary(spaces.Fourier(5), weights=weights),
    "redundant": lambda weights: spaces.Dictionary(redundant, weights=weights),
    "principal components": lambda weights: spaces.Dictionary(spaces.PrincipalComponents(3), weights=weights),
}
CASES = [(space, name) for space in SPACES for name in WEIGHTS if (space, name) != ("grid", "zeros")]


def fit(Y, **settings):
    return FunctionalRegressor(**{**SHARED, **settings}).fit(X, Y)


@pytest.mark.parametrize("name", WEIGHTS)
def test_dictionary_by_hand(name):
    Y, q, Phi = curves(UNEVEN), BY_HAND[name], redundant(UNEVEN)
    B = np.diag(np.linspace(1, 0.2, len(Phi)))
    G, eta = (Phi * q) @ Phi.T, (Y * q) @ Phi.T
    coef = np.linalg.solve(np.kron(K, G @ B) + N * ALPHA * np.eye(N * len(Phi)), eta.ravel()).reshape(N, -1)
    model = fit(Y, grid=UNEVEN, space=spaces.Dictionary(redundant, np.diag(B), WEIGHTS[name]))
    assert_allclose(model.predict(NEW, FINE), K_NEW @ coef @ B @ redundant(FINE), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", ["equal", "given", "a list"])
@pytest.mark.parametrize("space", ["grid", "all eigenfunctions"])
def test_grid_by_hand(space, name):
    """All eigenfunctions are the whole grid."""
    Y = curves(UNEVEN)
    setting = spaces.Grid if space == "grid" else lambda weights: spaces.Eigen(n_components=M, weights=weights)
    model = fit(Y, grid=UNEVEN, space=setting(WEIGHTS[name]))
    expected = ridge(Observed.on_grid(Y, UNEVEN, BY_HAND[name]), laplace(10), FINE)
    assert_allclose(model.predict(NEW, FINE), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("space", ["all eigenfunctions", "fourier", "redundant", "principal components"])
def test_points_of_weight_zero_have_no_part(space):
    Y, seen = curves(UNEVEN), ZEROS > 0
    model = fit(Y, grid=UNEVEN, space=SPACES[space](ZEROS))
    without = fit(Y[:, seen], grid=UNEVEN[seen], space=SPACES[space](ZEROS[seen]))
    assert_allclose(model.predict(NEW, FINE), without.predict(NEW, FINE), rtol=1e-8, atol=1e-9)
    elsewhere = fit(np.where(seen, Y, 99.0), grid=UNEVEN, space=SPACES[space](ZEROS))
    assert_allclose(elsewhere.predict(NEW, FINE), model.predict(NEW, FINE), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", ["equal", "given"])
def test_gaps_in_a_dictionary(name):
    """The mean over the points that a curve has, by their weights."""
    Y = with_gaps(curves(UNEVEN))
    model = fit(Y, grid=UNEVEN, space=spaces.Dictionary(redundant, weights=WEIGHTS[name]))
    seen = Observed.on_grid(Y, UNEVEN, BY_HAND[name]).normalised()
    expected = ridge(seen, lambda s, t: redundant(s).T @ redundant(t), FINE)
    assert_allclose(model.predict(NEW, FINE), expected, rtol=1e-5, atol=1e-6)


def test_each_variable_has_the_same_weights():
    other = UNEVEN**2
    Y = np.sin(4 * UNEVEN[:, None] + other + X[:, :1, None]) + X[:, 1:, None] * other
    k, q = laplace(3.0), BY_HAND["given"]
    model = fit(Y, grid=(UNEVEN, other), space=spaces.Grid(GIVEN), operator=operators.Integral("laplacian", 3.0))
    G = np.kron(k(UNEVEN, UNEVEN), k(other, other))
    system = np.kron(K, G) + np.diag(np.tile(N * ALPHA / np.kron(q, q), N))
    coef = np.linalg.solve(system, Y.ravel()).reshape(N, -1)
    assert_allclose(model.predict(NEW).reshape(len(NEW), -1), K_NEW @ coef @ G, rtol=1e-7, atol=1e-8)
    for space in (spaces.Grid(GIVEN), spaces.Eigen(weights=GIVEN), spaces.Dictionary("fourier", weights=GIVEN)):
        words = [f"{type(space).__name__}: weights", "5 non-negative", "each point", f"({M},)"]
        assert_refused(partial(fit, Y[:, :, :5], grid=(UNEVEN, other[:5]), space=space), words)


def test_irregular_functions_have_the_weights_of_the_space_s_points():
    """Their loss is a mean over their own points, so only what the coordinates are changes, not the fit."""
    points = [np.random.default_rng(i).random(4 + i % 5) for i in range(N)]
    own = IrregularFunctions(points, [np.sin(5 * p + x[0]) for p, x in zip(points, X)], (0, 1))
    kinds = [spaces.Grid, lambda weights: spaces.Dictionary(redundant, weights=weights)]
    for space in kinds:
        plain = fit(own, grid=UNEVEN, space=space("trapezoid")).predict(NEW, FINE).to_array()
        for weights in ("equal", GIVEN):
            found = fit(own, grid=UNEVEN, space=space(weights)).predict(NEW, FINE).to_array()
            assert_allclose(found, plain, rtol=1e-4, atol=1e-5)
        assert_refused(partial(fit, own, space=space(GIVEN)), ["weights", "101 non-negative", f"({M},)"])


@pytest.mark.parametrize(
    ("weights", "seen"),
    [
        ("simpson", "'simpson'"),
        (None, "None"),
        (0.5, "0.5"),
        (GIVEN[1:], f"({M - 1},)"),
        (GIVEN[None], f"(1, {M})"),
        ([], "[]"),
        (["a"] * M, "'a'"),
        (np.where(np.arange(M) == 3, -0.5, GIVEN), "-0.5 at index 3"),
        (np.where(np.arange(M) == 4, np.nan, GIVEN), "nan at index 4"),
        (np.where(np.arange(M) == 0, np.inf, GIVEN), "inf at index 0"),
        (np.zeros(M), "zeros only"),
    ],
)
def test_other_weights_are_refused(weights, seen):
    for space in (spaces.Grid(weights), spaces.Eigen(weights=weights), spaces.Dictionary("fourier", weights=weights)):
        words = [f"{type(space).__name__}: weights", "'trapezoid'", "'equal'", seen]
        assert_refused(partial(fit, curves(UNEVEN), grid=UNEVEN, space=space), words)


def test_grid_needs_positive_weights():
    words = ["Grid: weights must be > 0", "0 at index 2", "leave the point out", "Eigen"]
    assert_refused(lambda: fit(curves(UNEVEN), grid=UNEVEN, space=spaces.Grid(ZEROS)), words)


@pytest.mark.parametrize("space", SPACES)
def test_weights_are_settings(space):
    setting = SPACES[space](GIVEN)
    assert_array_equal(clone(setting).get_params()["weights"], GIVEN)
    Y = curves(UNEVEN)
    model = FunctionalRegressor(**SHARED, grid=UNEVEN, space=SPACES[space]("trapezoid"))
    found = clone(model).set_params(space__weights=GIVEN).fit(X, Y).predict(NEW)
    assert_allclose(found, fit(Y, grid=UNEVEN, space=setting).predict(NEW), rtol=1e-10)
