"""Attributes of nodes as columns of features."""

import numpy as np
import pytest
from helpers.club_graph import networkx
from helpers.refusals import assert_refused
from numpy.testing import assert_array_equal

from hilbertlearn.data.graphs import node_attributes


def attributed(**changes):
    graph = networkx.path_graph(["a", "b", "c"])
    values = {
        "age": [3, 4.5, np.int64(6)],
        "club": ["red", "blue", "red"],
        "at": [(0, 1), [2.0, 3.0], np.array([4, 5])],
        "free": [True, False, np.True_],
    }
    for key, column in {**values, **changes}.items():
        for node, value in zip(graph, column, strict=True):
            if value is not Ellipsis:
                graph.nodes[node][key] = value
    return graph


def test_node_attributes():
    X, columns = node_attributes(attributed(), ["c", "a", "b"])
    assert columns == ["age", "at_0", "at_1", "club_blue", "club_red", "free"]
    assert_array_equal(X, [[6, 4, 5, 0, 1, 1], [3, 0, 1, 0, 1, 1], [4.5, 2, 3, 1, 0, 0]])
    assert X.dtype == float
    assert node_attributes(networkx.path_graph(3), range(3)) == (None, [])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"age": [1, Ellipsis, 2]}, ["'b'", "no attribute 'age'", "features X"]),
        ({"age": [1, None, 2]}, ["'b'", "no attribute 'age'"]),
        ({"age": [1, np.nan, 2]}, ["'b'", "no attribute 'age'"]),
        ({"at": [(0, 1), (2, 3), (4, 5, 6)]}, ["attribute 'at'", "one length", "(4, 5, 6)", "'c'"]),
        ({"at": [(0, 1), (2, 3), "here"]}, ["attribute 'at'", "'here'", "'c'"]),
        ({"at": [(0, 1), (2, (3, 4)), (1, 2)]}, ["attribute 'at'", "'b'"]),
        ({"club": ["red", 3, "red"]}, ["attribute 'club'", "'red'"]),
        ({"club": [{}, {}, {}]}, ["attribute 'club'", "{}"]),
    ],
)
def test_attributes_that_are_no_features(changes, words):
    assert_refused(lambda: node_attributes(attributed(**changes), list("abc")), words)


def test_attributes_of_strangers():
    assert_refused(lambda: node_attributes(attributed(), ["a", "z"]), ["nodes", "'z'"])
