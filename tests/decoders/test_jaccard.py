"""The search for the set of smallest Jaccard loss against all subsets."""

import numpy as np
import pytest
from helpers.decoders_by_hand import signed_weights, subsets
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn.decoders import jaccard
from hilbertlearn.output_losses import Jaccard

rng = np.random.default_rng(19)


def weighted(W, Z, Y):
    """By Python's sets."""
    as_sets = lambda A: [{*np.flatnonzero(row)} for row in A]  # noqa: E731
    Y = as_sets(Y)
    return np.array(
        [sum(u * (1 - (len(z & y) / len(z | y) if z | y else 1)) for u, y in zip(w, Y)) for w, z in zip(W, as_sets(Z))]
    )


# ------------------------------------------------------------------ Jaccard


@pytest.mark.parametrize("labels", [1, 2, 5, 8])
@pytest.mark.parametrize("density", [0.1, 0.6])
def test_jaccard_against_all_subsets(labels, density):
    for n in (1, 7, 30):
        Y, W = (rng.random((n, labels)) < density).astype(float), signed_weights(rng, 40, n)
        Z = jaccard.decode_jaccard(W, Y, Jaccard())
        assert_allclose(weighted(W, Z, Y), (W @ Jaccard()(subsets(labels), Y).T).min(axis=1), atol=1e-10)


@pytest.mark.parametrize("density", [0.15, 0.5])
def test_the_search_finds_nearly_all_best_sets(density, monkeypatch):
    labels, n, m = 9, 40, 60
    Y = (rng.random((n, labels)) < density).astype(float)
    Y[:3] = 0
    points, new = rng.normal(size=(n, 2)), rng.normal(size=(m, 2))
    K = rbf_kernel(points, gamma=0.5)
    ridge = np.linalg.solve(K + 0.1 * np.eye(n), rbf_kernel(points, new, gamma=0.5)).T
    monkeypatch.setattr(jaccard, "_EXACT_LABELS", 0)
    monkeypatch.setattr(jaccard, "_ENTRIES", 100)  # in blocks of few queries
    for W in (ridge, rng.dirichlet(np.full(n, 0.3), size=m), signed_weights(rng, m, n)):
        found = weighted(W, jaccard.decode_jaccard(W, Y, Jaccard()), Y)
        values = W @ Jaccard()(subsets(labels), Y).T
        assert (found <= (W @ Jaccard()(Y, Y).T).min(axis=1) + 1e-9).all()
        missed = found - values.min(axis=1)
        assert (missed < 1e-9).mean() > 0.9 and (missed < 0.1 * np.ptp(values, axis=1) + 1e-9).all()


def test_no_flip_of_one_label_is_better_where_labels_are_many():
    labels, n = 40, 60
    Y, W = (rng.random((n, labels)) < 0.15).astype(float), signed_weights(rng, 12, n)
    Z = jaccard.decode_jaccard(W, Y, Jaccard())
    for w, z in zip(W, Z):
        flipped = np.abs(z - np.eye(labels))
        assert (Jaccard()(flipped, Y) @ w).min() >= w @ Jaccard()(z[None], Y)[0] - 1e-9
    assert_array_equal(jaccard.decode_jaccard(np.eye(n), Y, Jaccard()), Y)


def test_flips_are_worth_what_they_change():
    Y, W, Z = (rng.random((s, 6)) < 0.4 for s in (20, 8, 8))
    W = rng.normal(size=(8, 20))
    Y, Z = Y.astype(float), Z.astype(float)
    Y[:4], Z[0], Z[1] = 0, 0, np.eye(6)[2]
    gains = jaccard._gains(W, Y, Z)
    for k in range(6):
        flipped = Z.copy()
        flipped[:, k] = 1 - flipped[:, k]
        assert_allclose(gains[:, k], weighted(W, Z, Y) - weighted(W, flipped, Y), atol=1e-12)
