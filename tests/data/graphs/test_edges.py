"""Edge lists: what is one, and the matrix of its edges."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hilbertlearn.data.graphs.edges import edge_columns, edge_positions, edge_weights, edges_of, nodes_of
from hilbertlearn.data.graphs.names import as_names


@pytest.mark.parametrize(
    "graph",
    [
        [("a", "b"), ("b", "c"), ("c", "a")],
        (("a", "b"), ("b", "c"), ("c", "a")),
        np.array([["a", "b"], ["b", "c"], ["c", "a"]]),
    ],
)
def test_forms_of_edges(graph):
    first, second, weights = edge_columns(graph, "y")
    assert first.tolist() == ["a", "b", "c"] and second.tolist() == ["b", "c", "a"] and weights is None


@pytest.mark.parametrize("graph", [np.eye(3), [[0, 1], [1, 0]], np.array([[0, 1], [1, 0]]), [1, 2, 1], []])
def test_what_is_no_edge_list(graph):
    assert edge_columns(graph, "y") is None


def test_two_integer_edges_are_an_edge_list_as_tuples():
    first, second, weights = edge_columns([(0, 1, 2.0), (1, 2, 3.0)], "y")
    assert first.tolist() == [0, 1] and second.tolist() == [1, 2] and weights.tolist() == [2.0, 3.0]


def test_matrix_of_edges_is_symmetric_and_counts_an_edge_once():
    nodes, ends = as_names([0, 1, 2, 3], ""), (np.array([0, 1, 3, 2]), np.array([1, 0, 1, 2]))
    expected = np.zeros((4, 4))
    for i, j, w in [(0, 1, 5.0), (3, 1, 2.0), (2, 2, 7.0)]:
        expected[i, j] = expected[j, i] = w
    assert_array_equal(edge_weights(*ends, np.array([5.0, 5.0, 2.0, 7.0]), nodes, "y").toarray(), expected)
    assert_array_equal(edge_weights(*ends, None, nodes, "y").toarray(), expected > 0)


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        ([("a", "b"), ("a",)], "1 or 2 entries"),
        ([("a", None), ("a", "b")], "names no node"),
        ([("a", "b", "c")], "no numbers"),
        ([("a", "b", np.nan)], "NaN or infinity"),
    ],
)
def test_refused(graph, words):
    with pytest.raises(ValueError, match=words):
        edge_columns(graph, "y")


def test_different_weights_of_one_edge():
    with pytest.raises(ValueError, match="different weights, 1 and 2"):
        edge_weights(np.array([0, 1]), np.array([1, 0]), np.array([1.0, 2.0]), as_names([0, 1], ""), "y")


def test_nodes_and_their_positions():
    first, second = as_names(["b", "c"], ""), as_names(["a", "b"], "")
    nodes = nodes_of(first, second)
    assert nodes.tolist() == ["a", "b", "c"]
    i, j = edge_positions(first, second, nodes, "y", "X", "remedy")
    assert i.tolist() == [1, 2] and j.tolist() == [0, 1]
    with pytest.raises(ValueError, match="nodes that X does not have: 'c'; remedy"):
        edge_positions(first, second, nodes[:2], "y", "X", "remedy")


def test_pairs_as_edges():
    assert edges_of([["a", "b"], ("c", "d")]) == [("a", "b"), ("c", "d")]
    assert edges_of(np.array([[0, 1], [2, 3]])) == [(0, 1), (2, 3)]
