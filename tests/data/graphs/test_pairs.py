"""Pairs of nodes as samples, against loops over a matrix."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import train_test_split

from hilbertlearn.graphs import Pairs

W = np.array([[0, 2.0, 0, np.nan], [2, 0, 3, 0], [0, 3, 0, 0], [np.nan, 0, 0, 0]])
KNOWN = [(0, 1, 2.0), (0, 2, 0.0), (1, 2, 3.0), (1, 3, 0.0), (2, 3, 0.0)]


def test_all_known_pairs_in_order():
    pairs = Pairs(W)
    assert list(zip(pairs.first, pairs.second, pairs.weights)) == KNOWN
    assert_array_equal(pairs.linked, [1, 0, 1, 0, 0])
    assert pairs.shape == (5, 2) and len(pairs) == 5 and "5 of 4 nodes, 2 linked" in repr(pairs)


def test_hidden_pairs_are_left_out():
    pairs = Pairs(W, hidden=[(0, 1)])
    assert list(zip(pairs.first, pairs.second)) == [(i, j) for i, j, _ in KNOWN[1:]]


def test_rows_are_taken_as_those_of_arrays():
    pairs = Pairs(W)
    for key in ([3, 0], slice(1, 3), np.array([True, False, True, False, False])):
        assert_array_equal(pairs[key].weights, pairs.weights[key])
    assert len(pairs[2]) == 1
    train, test = train_test_split(pairs, test_size=2, random_state=0)
    assert len(train) == 3 and len(test) == 2


def test_the_graph_of_some_pairs_hides_the_others():
    expected = np.full((4, 4), np.nan)
    np.fill_diagonal(expected, 0)
    for i, j, w in KNOWN[:2]:
        expected[i, j] = expected[j, i] = w
    assert_array_equal(Pairs(W)[:2].graph().toarray(), expected)


def test_links_without_a_weight_have_the_mean_weight():
    made = Pairs(W).graph([1, 1, np.nan, 0, 0]).toarray()
    assert made[0, 1] == 2.0 and made[0, 2] == 2.5 and np.isnan(made[1, 2]) and made[1, 3] == 0


def test_other_pairs_of_the_same_nodes():
    pairs = Pairs(W).with_pairs(np.array([0]), np.array([3]))
    assert_array_equal(pairs.names, [[0, 3]])
    assert_array_equal(pairs.weights, [0.0])


@pytest.mark.parametrize("linked", [["a"] * 5, [1, 0]])
def test_labels_are_checked(linked):
    with pytest.raises(ValueError, match="linked must be"):
        Pairs(W).graph(linked)
