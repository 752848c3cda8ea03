"""The diffusion loss against heat kernels of the circle and the sphere."""

import numpy as np
import pytest
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import eval_gegenbauer, eval_legendre

from hilbertlearn.decoders import directions
from hilbertlearn.output_losses.directions import Diffusion

rng = np.random.default_rng(0)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


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
    z, v = (
        directions.decode_directions(W, Y, Diffusion(0.2)),
        directions.decode_directions(W, as_vectors[1], Diffusion(0.2)),
    )
    assert_allclose(v, np.c_[np.cos(z), np.sin(z)], atol=1e-6)


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
