"""Scores of pairs in blocks and one by one."""

import itertools

import numpy as np
import pytest
from helpers.link_combination_data import GAMMA, RNG, X
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn.data.graphs import read_known_graph
from hilbertlearn.kernels import InputKernel
from hilbertlearn.links.pair_scores import AllPairScores, KernelScores, ScoreMatrix, UnknownPairScores


@pytest.mark.parametrize("precomputed", [False, True])
@pytest.mark.parametrize("entries", [2**22, 40, 1])
def test_kernel_values(precomputed, entries, monkeypatch):
    monkeypatch.setattr("hilbertlearn.links.pair_scores._ENTRIES", entries)
    Z = RNG.normal(size=(9, 2))
    gram = rbf_kernel(X, Z, gamma=GAMMA)
    values = (
        KernelScores(InputKernel("precomputed"), gram, Z)
        if precomputed
        else KernelScores(InputKernel("rbf", GAMMA), X, Z)
    )
    i, j = np.random.default_rng(0).integers(9, size=(2, 60))
    assert_allclose(values.at(i, j), gram[i, j], rtol=1e-12)
    assert_allclose(values.at(i[:1], j[:1]), gram[i[:1], j[:1]], rtol=1e-12)
    assert values.at(i[:0], j[:0]).shape == (0,)
    assert_allclose(values.block(slice(2, 7), slice(3, 9)), gram[2:7, 3:], rtol=1e-12)


def quadrants(n=9, l=5):
    rng = np.random.default_rng(0)
    S = rng.normal(size=(n, n))
    S = S + S.T
    return S, AllPairScores(l, ScoreMatrix(S[:l, :l]), ScoreMatrix(S[l:, :l]), ScoreMatrix(S[l:, l:]))


def test_quadrants():
    S, parts = quadrants()
    for rows in itertools.combinations(range(10), 2):
        for columns in ((0, 9), (0, 5), (5, 9), (3, 7), (4, 5), (8, 9)):
            assert_array_equal(parts.block(slice(*rows), slice(*columns)), S[slice(*rows), slice(*columns)])
    i, j = (part.ravel() for part in np.indices((9, 9)))
    assert_array_equal(parts.at(i, j), S[i, j])
    alone = AllPairScores(5, parts.known, None, None)
    assert_array_equal(alone.block(slice(1, 3), slice(0, 5)), S[1:3, :5])
    with pytest.raises(ValueError, match="give X to fit"):
        alone.block(slice(0, 6), slice(0, 5))
    with pytest.raises(ValueError, match="give X to fit"):
        alone.at(np.array([6]), np.array([7]))


@pytest.mark.parametrize("hidden", [[], [(0, 1), (2, 4)]], ids=["none hidden", "some hidden"])
@pytest.mark.parametrize("n", [5, 9])
def test_pairs_that_are_not_settled(n, hidden):
    """Those that are hidden or of a new node; if there are none, those without a link."""
    S, parts = quadrants(n)
    W = np.zeros((5, 5))
    W[0, 1] = W[1, 0] = W[1, 2] = W[2, 1] = W[3, 4] = W[4, 3] = 1.0
    unsettled = UnknownPairScores(parts, read_known_graph(W, hidden=hidden), n)
    expected = S.copy()
    for i, j in itertools.product(range(5), repeat=2):
        asked = (i, j) in hidden or (j, i) in hidden
        if not (asked if hidden or n > 5 else not W[i, j]):
            expected[i, j] = np.nan
    for rows in ((0, n), (0, 2), (2, 5), (1, n), (n - 1, n)):
        for columns in ((0, n), (3, 5), (4, n)):
            assert_array_equal(unsettled.block(slice(*rows), slice(*columns)), expected[slice(*rows), slice(*columns)])
    assert np.isfinite(parts.block(slice(0, n), slice(0, n))).all()  # scores themselves are not written to
