"""Decoders of sets against enumeration, for weights of either sign."""

from itertools import product

import numpy as np
import pytest
from helpers.decoders_by_hand import f1_sets_of_every_size, signed_weights, subsets
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.decoders import sets
from hilbertlearn.decoders.sets import decode_f1, decode_hamming
from hilbertlearn.output_losses import F1, Hamming

rng = np.random.default_rng(11)


def assert_best_of_all(decode, loss, Y, W, everything):
    Z = decode(W, Y, loss)
    assert Z.shape == (len(W), Y.shape[1])
    assert_allclose(np.einsum("qi,qi->q", W, loss(Z, Y)), (W @ loss(everything, Y).T).min(axis=1), atol=1e-10)


@pytest.mark.parametrize(("decode", "loss"), [(decode_hamming, Hamming()), (decode_f1, F1())], ids=["hamming", "f1"])
@pytest.mark.parametrize("labels", [1, 2, 5, 8])
@pytest.mark.parametrize("density", [0.1, 0.6])
def test_sets_against_all_subsets(decode, loss, labels, density):
    everything = np.array(list(product([0.0, 1.0], repeat=labels)))
    for n in (1, 7, 30):
        Y = (rng.random((n, labels)) < density).astype(float)
        assert_best_of_all(decode, loss, Y, signed_weights(rng, 40, n), everything)


@pytest.mark.parametrize(("decode", "loss"), [(decode_hamming, Hamming()), (decode_f1, F1())], ids=["hamming", "f1"])
def test_only_empty_sets(decode, loss):
    Y = np.zeros((3, 4))
    assert_array_equal(decode(np.ones((2, 3)), Y, loss), np.zeros((2, 4)))
    everything = np.array(list(product([0.0, 1.0], repeat=4)))
    assert_best_of_all(decode, loss, Y, signed_weights(rng, 10, 3), everything)


def test_a_label_set_of_all_the_weight_is_predicted():
    Y = (rng.random((20, 30)) < 0.2).astype(float)
    for decode, loss in ((decode_hamming, Hamming()), (decode_f1, F1())):
        assert_array_equal(decode(np.eye(20), Y, loss), Y)


@pytest.mark.parametrize("labels", [1, 2, 3, 4, 6, 8])
@pytest.mark.parametrize("empty", [0.0, 0.3, 1.0])
def test_f1_sets_with_empty_and_repeated_outputs(labels, empty):
    for n in (1, 2, 12):
        Y = (rng.random((n, labels)) < 0.4).astype(float)
        Y[rng.random(n) < empty] = 0
        Y = Y[rng.integers(n, size=2 * n)]
        for W in (
            signed_weights(rng, 40, 2 * n),
            rng.integers(-1, 2, size=(40, 2 * n)).astype(float),
            np.zeros((2, 2 * n)),
        ):
            assert_best_of_all(decode_f1, F1(), Y, W, subsets(labels))


def test_f1_sets_with_weights_of_ridge_regression_against_all_subsets():
    for noise in (0.1, 1.0, 10.0):
        Y = (rng.random((60, 8)) < 0.3).astype(float)
        X = Y @ rng.normal(size=(8, 5)) + noise * rng.normal(size=(60, 5))
        W = X[30:] @ np.linalg.solve(X[:30].T @ X[:30] + np.eye(5), X[:30].T)
        assert_best_of_all(decode_f1, F1(), Y[:30], W, subsets(8))


@pytest.mark.parametrize("labels", [8, 50])
def test_a_large_f1_set_where_smaller_ones_are_worse_than_none(labels):
    # weights of the outputs {k} that make gains positive only for more than two thirds of the labels
    small = -(2 / 3 * labels + 1) / (5 / 3 * labels)
    Y = np.concatenate([np.ones((1, labels)), np.eye(labels)])
    assert_array_equal(decode_f1(np.array([[1.0] + labels * [small]]), Y, F1()), np.ones((1, labels)))


def test_of_f1_sets_of_the_same_value_the_smaller_is_taken():
    one = np.array([[1.0, 0, 0]])
    assert_array_equal(decode_f1(np.zeros((1, 1)), one, F1()), 0 * one)
    assert_array_equal(decode_f1(np.full((1, 2), 0.5), np.concatenate([0 * one, one]), F1()), 0 * one)
    # {0}, {0, 1} and all have the value 1
    assert_array_equal(decode_f1(np.array([[1.0, 0.5, 0.5]]), np.eye(3), F1()), one)


@pytest.mark.parametrize(("labels", "entries"), [(17, 1), (60, 2**14), (300, 2**18)])  # blocks of 1, some, all queries
def test_f1_sets_against_the_best_of_every_size(labels, entries, monkeypatch):
    monkeypatch.setattr(sets, "_ENTRIES", entries)
    frequencies, n, m = 0.5 / np.arange(1, labels + 1) ** 0.7, 120, 50
    Y = (rng.random((n, labels)) < frequencies).astype(float)
    X = np.c_[Y @ rng.normal(size=(labels, 10)) + rng.normal(size=(n, 10)), np.ones(n)]
    ridge = (X + 0.5 * rng.normal(size=X.shape)) @ np.linalg.solve(X.T @ X + np.eye(11), X.T)
    small = rng.dirichlet(np.full(n, 0.05), size=m)
    found = []
    for W in (ridge, small, signed_weights(rng, m, n), signed_weights(rng, m, n) + 0.1, rng.normal(size=(m, n)) - 0.3):
        Z, expected = decode_f1(W, Y, F1()), f1_sets_of_every_size(W, Y)
        assert_allclose(np.einsum("qi,qi->q", W, F1()(Z, Y)), np.einsum("qi,qi->q", W, F1()(expected, Y)), atol=1e-10)
        found.extend(Z.sum(axis=1))
    assert min(found) < 4 <= max(found)  # sizes that are tried first, and those only where they might be better
