"""Axes: bases are orthonormal under the quadrature weights, against definitions."""

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
    X,
    curves,
    laplace,
    trapezoid,
)
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import FunctionalRegressor, spaces
from hilbertlearn.data.functions import quadrature

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
each_space_and_rule = pytest.mark.parametrize(("space", "name"), CASES)


def axis_of(space, name):
    return SPACES[space](WEIGHTS[name]).axis(UNEVEN, curves(UNEVEN), np.ones(N))


def fit(Y, **settings):
    return FunctionalRegressor(**{**SHARED, **settings}).fit(X, Y)


@each_space_and_rule
def test_basis_is_orthonormal_under_the_quadrature(space, name):
    axis = axis_of(space, name)
    B = axis.basis(UNEVEN)
    assert_allclose((B * BY_HAND[name]) @ B.T, np.eye(axis.size), atol=1e-9)


@each_space_and_rule
def test_norms_are_weighted_sums_and_decoding_undoes_encoding(space, name):
    axis = axis_of(space, name)
    rng = np.random.default_rng(0)
    coordinates = rng.normal(size=(4, axis.size))
    f = coordinates @ axis.basis(UNEVEN)
    assert_allclose(axis.decode(coordinates), f, atol=1e-12)
    assert_allclose(axis.encode(f), coordinates, atol=1e-9)
    assert_allclose(axis.decode(axis.encode(f)), f, atol=1e-9)
    assert_allclose((axis.encode(f) ** 2).sum(axis=1), f**2 @ BY_HAND[name], rtol=1e-9)
    any_function = rng.normal(size=(4, M))
    inner = (any_function * BY_HAND[name]) @ axis.basis(UNEVEN).T
    assert_allclose(axis.encode(any_function), inner, atol=1e-12)


def test_sum_of_the_weights_does_not_matter():
    for scale in (1e-300, 7.0, 5e307):
        assert_allclose(quadrature(UNEVEN, scale * GIVEN), quadrature(UNEVEN, GIVEN), rtol=1e-12)
    assert quadrature(UNEVEN, [0] * (M - 1) + [3]).sum() == 1
    assert_array_equal(quadrature(UNEVEN[:1], [0.2]), [1.0])


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("number", [M, 4])
def test_eigenfunctions_by_hand(number, name):
    """Eigenfunctions of f -> sum_j q_j k(., t_j) f(t_j), then equation 12 of projection learning with G = I."""
    Y, q, k = curves(UNEVEN), BY_HAND[name], laplace(6.0)
    values, vectors = np.linalg.eig(k(UNEVEN, UNEVEN) * q)
    top = np.argsort(-values.real)[: min(number, np.count_nonzero(q))]
    delta, psi = values.real[top], vectors.real[:, top].T
    psi = psi / np.sqrt(psi**2 @ q)[:, None]
    eta = (Y * q) @ psi.T
    coef = np.array([np.linalg.solve(d * K + N * ALPHA * np.eye(N), e) for d, e in zip(delta, eta.T)]).T
    extended = (psi * q) @ k(UNEVEN, FINE)  # delta psi at any point
    model = fit(Y, grid=UNEVEN, space=spaces.Eigen("laplacian", number, 6.0, weights=WEIGHTS[name]))
    assert_allclose(model.predict(NEW, FINE), K_NEW @ coef @ extended, rtol=1e-7, atol=1e-8)
    assert_allclose(model.predict(NEW), model.predict(NEW, UNEVEN), rtol=1e-9, atol=1e-10)
