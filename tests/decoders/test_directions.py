"""Directions of smallest weighted diffusion loss against brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from hilbertlearn.decoders import directions
from hilbertlearn.output_losses.directions import Diffusion

rng = np.random.default_rng(0)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def weights(kind, m, n):
    return {"positive": rng.random, "signed": rng.standard_normal, "negative": lambda size: -rng.random(size)}[kind](
        (m, n)
    )


# ------------------------------------------------------------------ directions


@pytest.mark.parametrize("kind", ["positive", "signed", "negative"])
@pytest.mark.parametrize("t", [0.002, 0.1, 2.0])
def test_circle(t, kind):
    loss, Y = Diffusion(t), rng.uniform(-np.pi, np.pi, 15)
    W = weights(kind, 60, 15)
    z = directions.decode_circle(W, Y, loss)
    assert z.shape == (60,) and (np.abs(z) <= np.pi).all()
    grid = np.linspace(-np.pi, np.pi, 20_001)
    found = np.array([w @ loss(z[q : q + 1], Y)[0] for q, w in enumerate(W)])
    assert (found <= (W @ loss(grid, Y).T).min(axis=1) + 1e-12 * np.abs(W).sum(axis=1)).all()


def test_circle_of_wide_kernel_is_the_mean_direction():
    Y, W = rng.uniform(-1, 1, 12), rng.random((10, 12))
    mean = np.angle(W @ np.exp(1j * Y))
    assert_allclose(directions.decode_circle(W, Y, Diffusion(10.0)), mean, atol=1e-8)


@pytest.mark.parametrize("kind", ["positive", "signed", "negative"])
@pytest.mark.parametrize("t", [0.02, 0.2])
def test_sphere(t, kind):
    loss, Y = Diffusion(t), unit(rng.normal(size=(15, 3)))
    W = weights(kind, 40, 15)
    z = directions.decode_sphere(W, Y, loss)
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
    z = directions.decode_sphere(W, Y, loss)
    for w, direction in zip(W, z):
        runs = [minimize(lambda v, w=w: w @ loss(unit(v)[None], Y)[0], start) for start in Y]
        assert w @ loss(direction[None], Y)[0] <= min(run.fun for run in runs) + 1e-8
