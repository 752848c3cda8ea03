"""Masks of hidden pairs from every form."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from hilbertlearn.data.graphs.hidden import (
    check_any_known,
    check_mask,
    mask_of_rows,
    pair_mask,
    read_hidden,
    union_masks,
)
from hilbertlearn.data.graphs.names import as_names

NAMES = as_names(["a", "b", "c"], "")
MASK = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=bool)


@pytest.mark.parametrize(
    "hidden",
    [
        MASK,
        MASK.tolist(),
        scipy.sparse.csr_array(MASK),
        [("a", "b")],
        [("b", "a"), ("a", "b")],
        [["a", "b"]],
        np.array([["a", "b"]]),
    ],
)
def test_forms(hidden):
    assert_array_equal(read_hidden(hidden, NAMES, 3, "hidden").toarray(), MASK)


def test_frames():
    pandas = pytest.importorskip("pandas")
    order = ["c", "a", "b"]
    square = pandas.DataFrame(MASK, index=list("abc"), columns=list("abc")).loc[order, order]
    assert_array_equal(read_hidden(square, NAMES, 3, "hidden").toarray(), MASK)
    assert_array_equal(read_hidden(pandas.DataFrame([["a", "b"]]), NAMES, 3, "hidden").toarray(), MASK)


@pytest.mark.parametrize("hidden", [None, []])
def test_nothing(hidden):
    assert read_hidden(hidden, NAMES, 3, "hidden") is None


@pytest.mark.parametrize(
    ("hidden", "words"),
    [
        (MASK[:2, :2], r"must be a mask \(3, 3\)"),
        (np.triu(MASK), "on one side of the diagonal only"),
        ([("a", "z")], "nodes that the graph does not have: 'z'"),
        ("ab", "must be a mask"),
        (3.0, "must be a mask"),
    ],
)
def test_refused(hidden, words):
    with pytest.raises(ValueError, match=words):
        read_hidden(hidden, NAMES, 3, "hidden")


def test_masks():
    assert_array_equal(pair_mask(np.array([0, 2]), np.array([1, 2]), 3).toarray(), MASK)
    assert_array_equal(mask_of_rows([np.array([1]), np.array([0]), np.array([], dtype=int)]).toarray(), MASK)
    diagonal = scipy.sparse.csr_array(MASK | np.eye(3, dtype=bool))
    assert_array_equal(check_mask(diagonal, "y").toarray(), MASK)
    other = pair_mask(np.array([1]), np.array([2]), 3)
    assert_array_equal(union_masks(scipy.sparse.csr_array(MASK), other, 3).toarray(), MASK | other.toarray())
    assert union_masks(None, None, 3).nnz == 0


def test_some_pairs_must_be_known():
    check_any_known(scipy.sparse.csr_array(MASK), 3, "y")
    with pytest.raises(ValueError, match="all 3 pairs of its 3 nodes are hidden"):
        check_any_known(scipy.sparse.csr_array(~np.eye(3, dtype=bool)), 3, "y")
