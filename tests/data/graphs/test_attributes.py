"""Features of nodes from the attributes of a networkx graph."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hilbertlearn.data.graphs import node_attributes

networkx = pytest.importorskip("networkx")


def graph(**attributes):
    made = networkx.Graph([("a", "b"), ("b", "c")])
    for name, values in attributes.items():
        networkx.set_node_attributes(made, dict(zip("abc", values, strict=True)), name)
    return made


def test_numbers_vectors_and_text_are_columns():
    made = graph(size=[1, 2.5, True], place=[[0, 1], (2, 3), np.array([4, 5])], kind=["x", "y", "x"])
    X, columns = node_attributes(made, ["c", "a"])
    assert columns == ["kind_x", "place_0", "place_1", "size"]  # kinds of the nodes that are asked for
    expected = {"kind_x": [1, 1], "place_0": [4, 0], "place_1": [5, 1], "size": [1, 1]}
    assert_array_equal(X, np.column_stack([expected[name] for name in columns]))


def test_no_attributes():
    X, columns = node_attributes(graph(), "abc")
    assert X is None and columns == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, None, 2], "node 'b' has no attribute 'z'"),
        ([1, "x", 2], "must be a number, text, or a vector of one length"),
        ([[1], [1, 2], [3]], "must be a number, text, or a vector of one length"),
    ],
)
def test_refused(values, words):
    with pytest.raises(ValueError, match=words):
        node_attributes(graph(z=values), "abc")


def test_other_nodes_are_refused():
    with pytest.raises(ValueError, match="nodes has 'q'"):
        node_attributes(graph(), ["a", "q"])
