"""Scores of pairs in blocks and one by one."""

import itertools

import numpy as np
import pytest
from helpers.link_combination_data import GAMMA, RNG, X
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn.data.graphs import FactoredMatrix, read_known_graph
from hilbertlearn.data.graphs.similarities import FactoredSum
from hilbertlearn.kernels import InputKernel
from hilbertlearn.links.combination import Combination
from hilbertlearn.links.pair_scores import (
    AllPairScores,
    KernelScores,
    PairScores,
    ScoreMatrix,
    SingleScore,
    UnknownPairScores,
)


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
    assert_allclose(values.entries(i, j), gram[i, j], rtol=1e-12)
    assert_allclose(values.entries(i[:1], j[:1]), gram[i[:1], j[:1]], rtol=1e-12)
    assert values.entries(i[:0], j[:0]).shape == (0,)
    assert_allclose(values.block(slice(2, 7), slice(3, 9)), gram[2:7, 3:], rtol=1e-12)


def all_pair_scores(n=9, l=5):
    rng = np.random.default_rng(0)
    S = rng.normal(size=(n, n))
    S = S + S.T
    return S, AllPairScores(l, ScoreMatrix(S[:l, :l]), ScoreMatrix(S[l:, :l]), ScoreMatrix(S[l:, l:]))


def test_blocks_of_known_mixed_and_new_pairs():
    S, parts = all_pair_scores()
    for rows in itertools.combinations(range(10), 2):
        for columns in ((0, 9), (0, 5), (5, 9), (3, 7), (4, 5), (8, 9)):
            assert_array_equal(parts.block(slice(*rows), slice(*columns)), S[slice(*rows), slice(*columns)])
    i, j = (part.ravel() for part in np.indices((9, 9)))
    assert_array_equal(parts.entries(i, j), S[i, j])
    alone = AllPairScores(5, parts.known, None, None)
    assert_array_equal(alone.block(slice(1, 3), slice(0, 5)), S[1:3, :5])
    with pytest.raises(ValueError, match="give X to fit"):
        alone.block(slice(0, 6), slice(0, 5))
    with pytest.raises(ValueError, match="give X to fit"):
        alone.entries(np.array([6]), np.array([7]))


@pytest.mark.parametrize("hidden", [[], [(0, 1), (2, 4)]], ids=["none hidden", "some hidden"])
@pytest.mark.parametrize("n", [5, 9])
def test_only_unknown_pairs_have_scores(n, hidden):
    """Those that are hidden or of a new node; if there are none, those without a link."""
    S, parts = all_pair_scores(n)
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


# ---------------------------------------------------------------- the interface that all scores share

DENSE = np.random.default_rng(1).normal(size=(8, 8))
DENSE = DENSE + DENSE.T
LEFT = np.random.default_rng(2).normal(size=(8, 3))
GRAM = rbf_kernel(X[:8], gamma=GAMMA)
COMBINATION = Combination(("a", "b"), np.array([2.0, 0.5]), np.array([1.0, 0.3]), -1.0)
LOG_ODDS = np.sign(DENSE) * np.log1p(abs(DENSE) / 2) + 0.3 * np.log1p(GRAM / 0.5) - 1
# for each kind of scores the object, and its matrix of scores
KINDS = {
    "matrix": (ScoreMatrix(DENSE), DENSE),
    "kernel": (KernelScores(InputKernel("rbf", GAMMA), X[:8], X[:8]), GRAM),
    "factors": (FactoredMatrix(LEFT, LEFT.T), LEFT @ LEFT.T),
    "sum of factors": (
        FactoredSum((FactoredMatrix(LEFT, LEFT.T), FactoredMatrix(DENSE, GRAM))),
        LEFT @ LEFT.T + DENSE @ GRAM,
    ),
    "single": (PairScores(SingleScore("a"), {"a": ScoreMatrix(DENSE), "b": ScoreMatrix(GRAM)}), DENSE),
    "combined": (PairScores(COMBINATION, {"a": ScoreMatrix(DENSE), "b": ScoreMatrix(GRAM)}), LOG_ODDS),
    "known, mixed and new": (
        AllPairScores(5, *(ScoreMatrix(part) for part in (DENSE[:5, :5], DENSE[5:, :5], DENSE[5:, 5:]))),
        DENSE,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_and_single_pairs_are_entries_of_one_matrix(kind):
    scores, expected = KINDS[kind]
    for rows, columns in ((slice(0, 8), slice(0, 8)), (slice(2, 7), slice(4, 6)), (slice(6, 8), slice(0, 3))):
        assert_allclose(scores.block(rows, columns), expected[rows, columns])
    i, j = np.array([0, 7, 3, 3, 6]), np.array([1, 2, 6, 0, 7])
    assert_allclose(scores.entries(i, j), expected[i, j])
