"""Ranks of inputs, and rows spread over them, do not depend on the order of the rows."""

import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from hilbertlearn.kernels import input_ranks
from hilbertlearn.kernels.ranks import evenly_spread_rows

N = 60
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 3))
Y = np.sin(X[:, :2]) + 0.1 * rng.normal(size=(N, 2))
ORDER = rng.permutation(N)


def take(inputs, rows):
    if isinstance(inputs, pd.DataFrame):
        return inputs.iloc[rows]
    return [inputs[i] for i in rows] if isinstance(inputs, list) else inputs[rows]


@pytest.mark.parametrize(
    "inputs",
    [X, np.round(X), scipy.sparse.csr_array(X), list(map(str, X[:, 0]))],
    ids=["rows", "ties", "sparse", "text"],
)
def test_spread_rows_are_the_same_values(inputs):
    rows, others = evenly_spread_rows(inputs, 25), ORDER[evenly_spread_rows(take(inputs, ORDER), 25)]
    assert len(rows) == 25
    ranks = input_ranks(inputs)
    assert_array_equal(np.sort(ranks[rows]), np.sort(ranks[others]))
    assert_array_equal(evenly_spread_rows(inputs, N), np.arange(N))


def test_ranks_of_sparse_rows_are_of_their_values():
    rows = scipy.sparse.csr_array(([2.0, 1.0, 0.0, 1.0, 2.0], [1, 0, 2, 0, 1], [0, 3, 5, 5]), shape=(3, 4))
    first, second, empty = input_ranks(rows)
    assert first == second != empty  # indices in another order, and a zero that is stored


def test_ranks_of_sparse_rows_do_not_go_through_all_columns():
    wide = scipy.sparse.random_array((N, 30_000), density=1e-3, format="csr", rng=0)
    begun = time.process_time()
    ranks = input_ranks(scipy.sparse.vstack([wide, wide[:1]], format="csr"))  # equal rows differ in no column
    assert time.process_time() - begun < 0.5
    assert ranks[0] == ranks[-1] and len(np.unique(ranks)) == N
