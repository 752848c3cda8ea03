"""Features in blocks: the same maps as of features in memory, wherever the blocks are."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn.core.problem import Problem
from hilbertlearn.core.solvers import solve
from hilbertlearn.core.terms import FeatureBlockGram, SeparableTerm
from hilbertlearn.losses import EpsilonInsensitive, Huber, Squared

N, R, D = 60, 5, 3
rng = np.random.default_rng(0)
Z, A, C = rng.normal(size=(N, R)), rng.normal(size=(N, D)), rng.normal(size=(R, D))
WEIGHTS = rng.uniform(0.2, 2, N)
CUTS = [7, 8, 30]


def gram(root=None):
    bounds = [0, *CUTS, N]
    pairs = [(slice(a, b), Z[a:b]) for a, b in itertools.pairwise(bounds)]
    return FeatureBlockGram(lambda: pairs, Z.shape, root)


@pytest.mark.parametrize("root", [None, np.sqrt(WEIGHTS)], ids=["", "weighted"])
def test_the_map_is_that_of_the_matrix(root):
    one, scale = gram(), np.ones(N) if root is None else root
    one = one if root is None else one.scaled(root)
    S = scale[:, None] * Z
    K = S @ S.T
    assert_allclose(one.apply(A), K @ A)
    assert_allclose(one.pull(A), S.T @ A)
    assert_allclose(one.push(C), S @ C)
    assert_allclose(one.diagonal, K.diagonal())
    assert_allclose(one.moment, S.T @ S)
    assert_allclose(one.norm, np.linalg.eigvalsh(K)[-1])
    assert_allclose(one.expand(A), Z.T @ A)
    assert_allclose(one.times(3.0).apply(A), 3 * K @ A)
    rows = [1, 4, 31, 33, 59]
    assert_allclose(one.apply_from(rows, A[:5]), K[:, rows] @ A[:5])
    assert_allclose(one.take(rows).apply(A[:5]), K[np.ix_(rows, rows)] @ A[:5])
    assert_allclose(one.take(rows[::-1]).apply(A[:5]), K[np.ix_(rows[::-1], rows[::-1])] @ A[:5])


def test_many_rows_are_taken_in_blocks(monkeypatch):
    monkeypatch.setattr("hilbertlearn.core.terms.feature_blocks._IN_MEMORY", 3)
    rows = np.array([1, 4, 31, 33, 59])
    part = gram(np.sqrt(WEIGHTS)).take(rows)
    assert isinstance(part, FeatureBlockGram) and part.shape == (5, R)
    S = np.sqrt(WEIGHTS)[rows, None] * Z[rows]
    assert_allclose(part.apply(A[:5]), S @ S.T @ A[:5])


@pytest.mark.parametrize("operator", [None, np.diag([1.0, 0.5, 2.0])], ids=["", "operator"])
@pytest.mark.parametrize("loss", [Squared(), Huber(0.5), EpsilonInsensitive(0.3)], ids=str)
def test_solvers_find_the_optimum_of_the_dense_problem(loss, operator):
    s, tol = 0.5, 1e-9
    found = solve(Problem((SeparableTerm(gram(), operator),), A, loss, s), tol=tol, max_iter=5000)
    dense = Problem((SeparableTerm(Z @ Z.T, operator),), A, loss, s)
    assert found.converged and dense.gap(found.dual) <= 10 * tol
