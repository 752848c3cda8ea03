"""Directions and vectors under a Gaussian kernel, against their definitions and brute force."""

import numpy as np
import pytest
from helpers.decoders_by_hand import decode_gaussian
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import eval_gegenbauer, eval_legendre

from hilbertlearn.decoders import directions
from hilbertlearn.decoders.gaussian import preimage
from hilbertlearn.output_losses import Absolute
from hilbertlearn.output_losses.directions import Diffusion
from hilbertlearn.output_losses.objects import KernelLoss

rng = np.random.default_rng(0)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def weights(kind, m, n):
    return {"positive": rng.random, "signed": rng.standard_normal, "negative": lambda size: -rng.random(size)}[kind](
        (m, n)
    )


# ------------------------------------------------------------------ the loss


@pytest.mark.parametrize("t", [0.01, 0.1, 1.0, 5.0])
def test_heat_kernel_of_the_circle_is_a_wrapped_gaussian(t):
    """Heat on a line has a Gaussian kernel of variance 2 t; on the circle it is wound around."""
    Z, Y = rng.uniform(-4, 4, 9), rng.uniform(-10, 10, 7)
    turns = 2 * np.pi * np.arange(-30, 31)

    def kernel(angle):
        return np.exp(-((angle[..., None] + turns) ** 2) / (4 * t)).sum(axis=-1)

    expected = 2 - 2 * kernel(Z[:, None] - Y) / kernel(np.zeros(1))
    assert_allclose(Diffusion(t)(Z, Y), expected, atol=1e-12)


@pytest.mark.parametrize("t", [0.01, 0.3])
@pytest.mark.parametrize("d", [3, 5])
def test_heat_kernel_of_the_sphere(t, d):
    Z, Y = unit(rng.normal(size=(6, d))), unit(rng.normal(size=(5, d)))
    order = (d - 2) / 2

    def kernel(s):
        degrees = np.arange(200)
        return sum(
            np.exp(-l * (l + d - 2) * t) * (2 * l + d - 2) / (d - 2) * eval_gegenbauer(l, order, s) for l in degrees
        )

    expected = 2 - 2 * kernel(Z @ Y.T) / kernel(np.ones(1))
    assert_allclose(Diffusion(t)(Z, Y), expected, atol=1e-10)
    if d == 3:
        by_legendre = sum((2 * l + 1) * np.exp(-l * (l + 1) * t) * eval_legendre(l, Z @ Y.T) for l in range(200))
        assert_allclose(1 - Diffusion(t)(Z, Y) / 2, by_legendre / kernel(np.ones(1)), atol=1e-10)


def test_circle_by_angles_and_by_vectors():
    Z, Y = rng.uniform(-3, 3, 8), rng.uniform(-3, 3, 6)
    as_vectors = [np.c_[np.cos(angle), np.sin(angle)] for angle in (Z, Y)]
    assert_allclose(Diffusion(0.05)(*as_vectors), Diffusion(0.05)(Z, Y), atol=1e-10)
    W = rng.normal(size=(20, 6))
    z, v = directions.decode(W, Y, Diffusion(0.2)), directions.decode(W, as_vectors[1], Diffusion(0.2))
    assert_allclose(v, np.c_[np.cos(z), np.sin(z)], atol=1e-6)


# ------------------------------------------------------------------ directions


@pytest.mark.parametrize("kind", ["positive", "signed", "negative"])
@pytest.mark.parametrize("t", [0.002, 0.1, 2.0])
def test_circle(t, kind):
    loss, Y = Diffusion(t), rng.uniform(-np.pi, np.pi, 15)
    W = weights(kind, 60, 15)
    z = directions.circle(W, Y, loss)
    assert z.shape == (60,) and (np.abs(z) <= np.pi).all()
    grid = np.linspace(-np.pi, np.pi, 20_001)
    found = np.array([w @ loss(z[q : q + 1], Y)[0] for q, w in enumerate(W)])
    assert (found <= (W @ loss(grid, Y).T).min(axis=1) + 1e-12 * np.abs(W).sum(axis=1)).all()


def test_circle_of_wide_kernel_is_the_mean_direction():
    Y, W = rng.uniform(-1, 1, 12), rng.random((10, 12))
    mean = np.angle(W @ np.exp(1j * Y))
    assert_allclose(directions.circle(W, Y, Diffusion(10.0)), mean, atol=1e-8)


@pytest.mark.parametrize("kind", ["positive", "signed", "negative"])
@pytest.mark.parametrize("t", [0.02, 0.2])
def test_sphere(t, kind):
    loss, Y = Diffusion(t), unit(rng.normal(size=(15, 3)))
    W = weights(kind, 40, 15)
    z = directions.sphere(W, Y, loss)
    assert_allclose(np.linalg.norm(z, axis=1), 1)
    found = np.array([w @ loss(z[q : q + 1], Y)[0] for q, w in enumerate(W)])
    least = (W @ loss(fibonacci(20_000), Y).T).min(axis=1)
    assert (found <= least + 1e-6 * np.abs(W).sum(axis=1)).mean() >= 0.95
    assert (found <= (W @ loss(Y, Y).T).min(axis=1) + 1e-12).all()
    tangent = numerical_gradient(lambda v: (W * loss(unit(v), Y)).sum(axis=1), z)
    assert np.abs(tangent).max() < 1e-5


def fibonacci(n):
    """Points spread over the unit sphere."""
    height = 1 - (2 * np.arange(n) + 1) / n
    angle = np.pi * (1 + np.sqrt(5)) * np.arange(n)
    return np.c_[np.sqrt(1 - height**2) * np.cos(angle), np.sqrt(1 - height**2) * np.sin(angle), height]


def numerical_gradient(function, z, h=1e-5):
    steps = h * np.eye(z.shape[1])
    return np.column_stack([(function(z + step) - function(z - step)) / (2 * h) for step in steps])


def test_sphere_in_more_dimensions():
    loss, Y, W = Diffusion(0.1), unit(rng.normal(size=(12, 6))), rng.random((5, 12))
    z = directions.sphere(W, Y, loss)
    for w, direction in zip(W, z):
        runs = [minimize(lambda v, w=w: w @ loss(unit(v)[None], Y)[0], start) for start in Y]
        assert w @ loss(direction[None], Y)[0] <= min(run.fun for run in runs) + 1e-8


@pytest.mark.parametrize(
    "y, words",
    [
        ([[1.0, 1.0]], ["y", "norm 1", "row 0", "1.41421"]),
        ([[1.0], [1.0]], ["y", "angles", "(2, 1)"]),
        (["north"], ["y", "angles", "unit vectors"]),
        ([0.1, np.inf], ["y", "NaN or infinity"]),
    ],
)
def test_refused_directions(y, words):
    assert_refused(lambda: Diffusion().check(y), words)


@pytest.mark.parametrize("t", [0, -1, "a", 1e-9])
def test_refused_times(t):
    assert_refused(lambda: Diffusion(t).check([0.1]), ["Diffusion: t", repr(t)])


def test_check_keeps_directions():
    Y = unit(rng.normal(size=(4, 3)))
    assert_allclose(Diffusion().check(Y * (1 + 1e-9)), Y)
    assert_array_equal(Diffusion().check([0.5, 7.0]), [0.5, 7.0])


# ------------------------------------------------------------------ Gaussian kernel


def kernel_sum(w, z, Y, gamma):
    return w @ np.exp(-gamma * ((z - Y) ** 2).sum(axis=1))


@pytest.mark.parametrize("kind", ["positive", "signed"])
@pytest.mark.parametrize("gamma", [0.2, 2.0, 50.0])
def test_preimage_in_the_plane(gamma, kind):
    Y, W = 3 + rng.normal(size=(15, 2)), weights(kind, 30, 15)
    z = preimage(W, Y, gamma)
    axis = np.linspace(-0.5, 6.5, 281)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    on_grid = (W @ np.exp(-gamma * ((grid[:, None] - Y) ** 2).sum(axis=2)).T).max(axis=1)
    found = np.array([kernel_sum(w, v, Y, gamma) for w, v in zip(W, z)])
    assert (found >= on_grid - 1e-9).mean() >= 0.95
    at_outputs = np.array([max(kernel_sum(w, y, Y, gamma) for y in Y) for w in W])
    assert (found >= at_outputs - 1e-12).all()


def test_preimage_is_stationary():
    Y, W = rng.normal(size=(20, 4)), rng.normal(size=(10, 20))
    z = preimage(W, Y, 0.5)
    terms = W * np.exp(-0.5 * ((z[:, None] - Y) ** 2).sum(axis=2))
    gradient = terms @ Y - terms.sum(axis=1)[:, None] * z
    assert np.abs(gradient).max() < 1e-5


def test_preimage_of_an_output_itself():
    Y = rng.normal(size=(10, 3))
    assert_allclose(preimage(np.eye(10), Y, 1.0), Y, atol=1e-7)


def test_preimage_of_negative_weights_is_finite_and_away_from_the_outputs():
    Y = rng.normal(size=(6, 2))
    W = -rng.random((4, 6))
    z = preimage(W, Y, 1.0)
    assert np.isfinite(z).all()
    best = np.array([max(kernel_sum(w, y, Y, 1.0) for y in Y) for w in W])  # below the supremum 0
    assert (np.array([kernel_sum(w, v, Y, 1.0) for w, v in zip(W, z)]) > 0.1 * best).all()
    assert np.isfinite(preimage(np.zeros((2, 6)), Y, 1.0)).all()


def test_decoder_of_a_kernel_loss():
    Y, W = rng.normal(size=(8, 2)), rng.random((5, 8))
    loss = KernelLoss("rbf", gamma=0.7)
    z = decode_gaussian(W, Y, loss)
    for w, v in zip(W, z):
        runs = [minimize(lambda u, w=w: w @ loss(u[None], Y)[0], y, tol=1e-10) for y in Y]
        assert w @ loss(v[None], Y)[0] <= min(run.fun for run in runs) + 1e-7
    assert_refused(lambda: decode_gaussian(W, Y, Absolute()), ["gaussian", "KernelLoss('rbf')", "Absolute"])
