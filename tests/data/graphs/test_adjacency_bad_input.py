"""Bad graphs: what is refused, what is dropped with a warning."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from helpers.graph_data import KNOWN, NEW, A, W, X, Y, links, regressor
from helpers.refusals import assert_refused, changed
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.data.graphs import laplacian, read_graph

PAIR = tuple(np.argwhere(A)[0])


def as_sparse(graph):
    return scipy.sparse.csr_array(graph)


BAD_GRAPHS = {
    "asymmetric": (changed(A, 3.0, PAIR), ["not symmetric", "up to 2", "np.maximum(A, A.T)"]),
    "one-sided": (np.triu(A), ["not symmetric", "np.maximum(A, A.T)"]),
    "negative": (-0.5 * A, ["negative", "-0.5", "non-negative"]),
    "NaN": (changed(A, np.nan), ["NaN or infinity", "0 where there is no link"]),
    "infinite": (changed(A, np.inf), ["NaN or infinity"]),
    "not square": (A[:, :-1], ["square", "(9, 8)"]),
    "three dimensions": (np.zeros((KNOWN, KNOWN, 2)), ["square matrix", "(9, 9, 2)"]),
    "words": (np.full((KNOWN, KNOWN), "no"), ["square matrix of numbers", "networkx", "groups"]),
}


@pytest.mark.parametrize("name", BAD_GRAPHS)
def test_graphs_that_are_none(name):
    graph, words = BAD_GRAPHS[name]
    assert_refused(lambda: read_graph(graph), ["adjacency", *words])
    if graph.ndim == 2 and graph.dtype == float:
        assert_refused(lambda: read_graph(as_sparse(graph)), words)
    if name != "NaN":  # a pair that is not known
        assert_refused(lambda: links().fit(X, graph), ["y", *words])
    assert_refused(lambda: regressor(graph=graph).fit(X[:KNOWN], Y[:KNOWN]), ["graph", *words])


def test_directed_networkx_graph():
    networkx = pytest.importorskip("networkx")
    graph = networkx.from_numpy_array(A, create_using=networkx.DiGraph)
    assert_refused(lambda: links().fit(X[:KNOWN], graph), ["y", "directed", "y.to_undirected()"])
    assert_refused(lambda: regressor(graph=graph).fit(X, Y), ["graph", "directed", "graph.to_undirected()"])


@pytest.mark.parametrize("form", [np.asarray, as_sparse], ids=["dense", "sparse"])
def test_self_loops_are_said_and_dropped(form):
    loops = A + np.diag([1.0, 2.0] + [0.0] * (KNOWN - 2))
    with pytest.warns(UserWarning, match="adjacency has 2 self-loops, which were dropped"):
        assert_array_equal(read_graph(form(loops)).toarray(), A)
    with pytest.warns(UserWarning, match="y has 2 self-loops"):
        model = links(output_kernel="normalized_laplacian").fit(X[:KNOWN], form(loops))
    expected = links(output_kernel="normalized_laplacian").fit(X[:KNOWN], A).pair_scores(NEW)
    assert_allclose(model.pair_scores(NEW), expected, atol=1e-12)
    with pytest.warns(UserWarning, match="graph has 2 self-loops"):
        model = regressor(graph=form(loops)).fit(X[:KNOWN], Y[:KNOWN])
    expected = regressor(graph=A).fit(X[:KNOWN], Y[:KNOWN]).predict(NEW)
    assert_allclose(model.predict(NEW), expected, atol=1e-12)


def test_no_warning_without_self_loops():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        links().fit(X, as_sparse(A))
        regressor(graph=as_sparse(W)).fit(X, Y)
    assert not said


def test_power_of_a_laplacian():
    assert_refused(lambda: laplacian(W, power=0), ["power", "0"])
    assert_refused(lambda: laplacian(W, power=1.5), ["power", "1.5"])


@pytest.mark.filterwarnings("ignore:.*self-loops")
def test_a_graph_with_self_loops_is_not_changed():
    given = scipy.sparse.csr_array(A + np.eye(KNOWN))
    before = given.toarray()
    read_graph(given)
    assert_array_equal(given.toarray(), before)


def test_numbered_nodes_may_be_added_in_any_order():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_edges_from([(2, 0), (0, 1)])
    assert_array_equal(read_graph(graph).toarray(), [[0, 1, 1], [1, 0, 0], [1, 0, 0]])
