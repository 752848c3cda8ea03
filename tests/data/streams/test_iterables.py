"""Batches that come one after another."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from hilbertlearn.data import streams

N, P, D = 103, 3, 2
rng = np.random.default_rng(0)
X, Y, W = rng.normal(size=(N, P)), rng.normal(size=(N, D)), rng.uniform(size=N)


def batches():
    for rows in np.array_split(np.arange(N), 7):
        yield X[rows], Y[rows], W[rows]


def rows_of(source):
    return [np.concatenate(parts) for parts in zip(*source, strict=True)]


def test_an_iterator_is_read_once():
    source = streams.from_batches(batches())
    assert not source.repeatable
    with pytest.raises(ValueError, match="pass of its own"):
        source.sample(3)
    assert_array_equal(rows_of(source)[0], X)
    with pytest.raises(ValueError, match="read before"):
        list(source)


def test_sparse_rows_and_lists_of_objects():
    source = streams.from_arrays(scipy.sparse.csr_matrix(X), Y, batch_size=20)
    assert_array_equal(source.sample(50).X.toarray(), streams.from_arrays(X, Y).sample(50).X)
    words = [chr(97 + i) for i in range(26)]
    parts = streams.from_batches([(words[:10], np.arange(10)), (words[10:], np.arange(10, 26))])
    some = parts.sample(8)
    assert [words.index(word) for word in some.X] == list(some.y)


def test_weights_of_some_batches_alone():
    source = streams.from_batches([(X[:50], Y[:50]), (X[50:], Y[50:], W[50:])])
    some = source.sample(N)
    assert_array_equal(some.sample_weight, np.r_[np.ones(50), W[50:]])
