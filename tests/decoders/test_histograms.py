"""Decoders of vectors and histograms against enumeration, for weights of either sign."""

from itertools import product

import numpy as np
import pytest
from helpers.decoders_by_hand import signed_weights
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.decoders.histograms import decode_hellinger, decode_mean
from hilbertlearn.output_losses import Hellinger, SquaredError

rng = np.random.default_rng(11)


# ------------------------------------------------------------------ histograms


def simplex(bins, steps):
    """All histograms whose entries are multiples of 1 / steps."""
    counts = np.array([c for c in product(range(steps + 1), repeat=bins) if sum(c) == steps])
    return counts / steps


@pytest.mark.parametrize(("bins", "steps"), [(2, 400), (3, 60), (4, 20)])
def test_hellinger_on_the_simplex_against_a_grid(bins, steps):
    loss, n = Hellinger(), 6
    Y = rng.dirichlet(np.full(bins, 0.4), size=n)
    W = signed_weights(rng, 60, n)
    Z = decode_hellinger(W, Y, loss)
    assert_allclose(loss.check(Z), Z)  # histograms, so that none on the simplex can be better than the best
    found = np.einsum("qi,qi->q", W, loss(Z, Y))
    assert (found <= (W @ loss(simplex(bins, steps), Y).T).min(axis=1) + 1e-12).all()


def test_negative_weights_take_the_best_vertex():
    loss, Y = Hellinger(), rng.dirichlet(np.ones(4), size=5)
    W = -rng.random((10, 5))
    vertices = np.eye(4)
    assert_array_equal(decode_hellinger(W, Y, loss), vertices[(W @ loss(vertices, Y).T).argmin(axis=1)])


# ------------------------------------------------------------------ vectors and numbers


def objective(w, Z, Y):
    return ((Z[:, None, :] - Y) ** 2).sum(axis=2) @ w


def test_weighted_mean_is_the_minimum_in_its_box():
    Y = rng.normal(size=(6, 2))
    for w in rng.normal(size=(60, 6)) + 0.1:
        z, plain = decode_mean(w[None], Y, SquaredError())[0], w @ Y
        low, high = np.minimum(Y.min(axis=0), plain), np.maximum(Y.max(axis=0), plain)
        assert (z >= low - 1e-12).all() and (z <= high + 1e-12).all()
        axes = [np.linspace(a, b, 41) for a, b in zip(low, high)]
        grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
        assert objective(w, z[None], Y)[0] <= objective(w, grid, Y).min() + 1e-9


def test_positive_weights_give_the_weighted_mean_and_sum_one_gives_regression():
    Y, W = rng.normal(size=(9, 3)), rng.random((5, 9))
    expected = [np.average(Y, axis=0, weights=w) for w in W]
    assert_allclose(decode_mean(W, Y, SquaredError()), expected)
    W = rng.normal(size=(50, 9))
    W /= W.sum(axis=1, keepdims=True)
    assert_allclose(decode_mean(W, Y, SquaredError()), W @ Y, rtol=1e-9)


def test_numbers_are_decoded_as_vectors_of_one_entry():
    y, W = rng.normal(size=7), rng.normal(size=(20, 7))
    assert_allclose(decode_mean(W, y, SquaredError()), decode_mean(W, y[:, None], SquaredError())[:, 0])


def test_weights_that_say_nothing_give_the_value_of_regression():
    assert_array_equal(decode_mean(np.zeros((2, 3)), np.array([1.0, 2.0, 4.0]), SquaredError()), [0, 0])
    # the sum is 0 and so is W Y: every z has the same loss
    assert_array_equal(decode_mean(np.array([[1.0, -2.0, 1.0]]), np.array([1.0, 2.0, 3.0]), SquaredError()), [0])


def test_weights_that_almost_cancel_stay_among_the_outputs():
    y = np.array([0.0, 1.0])
    z = decode_mean(np.array([[-1.0, 1 + 1e-320], [-1.0, 1 + 1e-15]]), y, SquaredError())
    assert (np.abs(z) <= 1 + 1e-9).all()
