"""Ranks of inputs, which do not depend on their order."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from hilbertlearn.kernels import input_ranks

N = 40
RNG = np.random.default_rng(5)
X, ORDER = RNG.normal(size=(N, 2)), RNG.permutation(N)


@pytest.mark.parametrize(
    "make",
    [
        lambda rows: X.round()[rows],
        lambda rows: np.where(X > 1, np.nan, X.round())[rows],
        lambda rows: scipy.sparse.csr_array(X.round()[rows]),
        lambda rows: [str(x) for x in X.round()[rows, 0]],
        lambda rows: [(int(x), "ab"[int(y > 0)]) for x, y in X[rows]],
        lambda rows: [np.arange(int(2 + abs(x))) for x in X[rows, 0]],
        lambda rows: [object() for _ in rows],
    ],
    ids=["rows", "gaps", "sparse", "texts", "tuples", "arrays", "objects"],
)
def test_ranks_of_inputs(make):
    ranks = input_ranks(make(np.arange(N)))
    assert_array_equal(input_ranks(make(ORDER)), ranks[ORDER])
    assert_array_equal(np.unique(ranks), np.arange(ranks.max() + 1))


def test_equal_inputs_have_equal_ranks():
    rows = X.round()
    ranks = input_ranks(rows)
    assert_array_equal(ranks[:, None] == ranks, (rows[:, None] == rows).all(axis=2))
