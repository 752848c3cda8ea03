"""Pre-images of Gaussian output kernels against brute force."""

import numpy as np
import pytest
from helpers.decoders_by_hand import decode_gaussian
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from hilbertlearn.decoders.gaussian import find_preimage
from hilbertlearn.output_losses import Absolute
from hilbertlearn.output_losses.objects import KernelLoss

rng = np.random.default_rng(0)


def weights(kind, m, n):
    return {"positive": rng.random, "signed": rng.standard_normal, "negative": lambda size: -rng.random(size)}[kind](
        (m, n)
    )


# ------------------------------------------------------------------ Gaussian kernel


def kernel_sum(w, z, Y, gamma):
    return w @ np.exp(-gamma * ((z - Y) ** 2).sum(axis=1))


@pytest.mark.parametrize("kind", ["positive", "signed"])
@pytest.mark.parametrize("gamma", [0.2, 2.0, 50.0])
def test_preimage_in_the_plane(gamma, kind):
    Y, W = 3 + rng.normal(size=(15, 2)), weights(kind, 30, 15)
    z = find_preimage(W, Y, gamma)
    axis = np.linspace(-0.5, 6.5, 281)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    on_grid = (W @ np.exp(-gamma * ((grid[:, None] - Y) ** 2).sum(axis=2)).T).max(axis=1)
    found = np.array([kernel_sum(w, v, Y, gamma) for w, v in zip(W, z)])
    assert (found >= on_grid - 1e-9).mean() >= 0.95
    at_outputs = np.array([max(kernel_sum(w, y, Y, gamma) for y in Y) for w in W])
    assert (found >= at_outputs - 1e-12).all()


def test_preimage_is_stationary():
    Y, W = rng.normal(size=(20, 4)), rng.normal(size=(10, 20))
    z = find_preimage(W, Y, 0.5)
    terms = W * np.exp(-0.5 * ((z[:, None] - Y) ** 2).sum(axis=2))
    gradient = terms @ Y - terms.sum(axis=1)[:, None] * z
    assert np.abs(gradient).max() < 1e-5


def test_preimage_of_an_output_itself():
    Y = rng.normal(size=(10, 3))
    assert_allclose(find_preimage(np.eye(10), Y, 1.0), Y, atol=1e-7)


def test_preimage_of_negative_weights_is_finite_and_away_from_the_outputs():
    Y = rng.normal(size=(6, 2))
    W = -rng.random((4, 6))
    z = find_preimage(W, Y, 1.0)
    assert np.isfinite(z).all()
    best = np.array([max(kernel_sum(w, y, Y, 1.0) for y in Y) for w in W])  # below the supremum 0
    assert (np.array([kernel_sum(w, v, Y, 1.0) for w, v in zip(W, z)]) > 0.1 * best).all()
    assert np.isfinite(find_preimage(np.zeros((2, 6)), Y, 1.0)).all()


def test_decoder_of_a_kernel_loss():
    Y, W = rng.normal(size=(8, 2)), rng.random((5, 8))
    loss = KernelLoss("rbf", gamma=0.7)
    z = decode_gaussian(W, Y, loss)
    for w, v in zip(W, z):
        runs = [minimize(lambda u, w=w: w @ loss(u[None], Y)[0], y, tol=1e-10) for y in Y]
        assert w @ loss(v[None], Y)[0] <= min(run.fun for run in runs) + 1e-7
    assert_refused(lambda: decode_gaussian(W, Y, Absolute()), ["gaussian", "KernelLoss('rbf')", "Absolute"])
