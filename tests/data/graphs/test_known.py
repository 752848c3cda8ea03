"""A graph in any form is the same graph: matrix, frame, edge list, networkx, groups; with names, and pairs hidden."""

import time
import warnings

import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse
from helpers.refusals import assert_refused
from numpy.testing import assert_array_equal

from hilbertlearn.data.graphs import KnownGraph, read_known_graph

networkx = pytest.importorskip("networkx")


def random_weights(rng, l, share=0.4):
    W = np.triu(rng.random((l, l)) < share, 1) * rng.integers(1, 4, size=(l, l)).astype(float)
    return W + W.T


def random_hidden(rng, l, share=0.3):
    mask = np.triu(rng.random((l, l)) < share, 1)
    mask[0, 1] = False
    return mask | mask.T


def assert_same(known, W, mask=None, rows=None, nodes=None):
    """Against dense matrices in the order of rows; W may have links where the mask hides them."""
    mask = np.zeros(W.shape, dtype=bool) if mask is None else mask
    assert isinstance(known, KnownGraph) and known.shape == W.shape
    assert isinstance(known.adjacency, scipy.sparse.csr_array) and isinstance(known.hidden, scipy.sparse.csr_array)
    assert known.hidden.dtype == bool
    assert_array_equal(known.adjacency.toarray(), np.where(mask, 0.0, W))
    assert_array_equal(known.hidden.toarray(), mask)
    assert known.adjacency.nnz == np.count_nonzero(np.where(mask, 0.0, W)) and known.hidden.nnz == mask.sum()
    assert_array_equal(known.rows, np.arange(len(W)) if rows is None else rows)
    assert_array_equal(known.nodes, known.rows if nodes is None else nodes)


def as_graph(W, names, rng):
    """A networkx graph whose nodes and edges were added in any order."""
    graph = networkx.Graph()
    graph.add_nodes_from(names[i] for i in rng.permutation(len(W)))
    edges = np.argwhere(np.triu(W))
    for i, j in rng.permutation(edges):
        graph.add_edge(names[j], names[i], weight=W[i, j])
    return graph


def as_edges(W, names, rng):
    """Edges in any order and direction, some of them twice."""
    edges = [(i, j) if rng.random() < 0.5 else (j, i) for i, j in rng.permutation(np.argwhere(np.triu(W)))]
    return [(names[i], names[j], W[i, j]) for i, j in [*edges, *edges[:2]]]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("named", [False, True])
def test_every_form_gives_the_same_graph(seed, named):
    rng = np.random.default_rng(seed)
    l = int(rng.integers(4, 12))
    W, mask = random_weights(rng, l), random_hidden(rng, l)
    names = [f"n{k}" for k in rng.permutation(100)[:l]] if named else list(range(l))
    nodes = pd.Index(names) if named else range(l)
    order = rng.permutation(l)
    shuffled = [names[i] for i in order]
    frame = pd.DataFrame(W[np.ix_(order, order)], index=shuffled, columns=shuffled)
    edges = as_edges(W, names, rng)
    forms = [W, scipy.sparse.coo_matrix(W), as_graph(W, names, rng), edges, pd.DataFrame(edges, columns=list("uvw"))]
    forms += [tuple(edges), polars.DataFrame(edges, schema=list("uvw"), orient="row"), frame]
    forms.append(read_known_graph(frame, nodes=nodes))
    pairs = [(names[j], names[i]) for i, j in np.argwhere(np.triu(mask))]
    by_name = pd.DataFrame(mask[np.ix_(order, order)], index=shuffled, columns=shuffled)
    for form in forms:
        assert_same(read_known_graph(form, nodes=nodes), W, nodes=names)
        for hidden in (pairs, pd.DataFrame(pairs, columns=["u", "v"]), by_name):
            assert_same(read_known_graph(form, nodes=nodes, hidden=hidden), W, mask, nodes=names)
        own = mask[np.ix_(order, order)] if form is frame else mask  # in the order of the matrix's rows
        for hidden in (own, scipy.sparse.csr_matrix(own), own.tolist()):
            assert_same(read_known_graph(form, nodes=nodes, hidden=hidden), W, mask, nodes=names)


@pytest.mark.parametrize("seed", range(8))
def test_subgraphs_in_any_order(seed):
    """Views of subgraphs have their nodes in an order of their own, which was taken for that of the rows."""
    rng = np.random.default_rng(seed)
    n = 30
    W = random_weights(rng, n, 0.2)
    rows = np.sort(rng.permutation(n)[:9])
    inside = W[np.ix_(rows, rows)]
    graph = as_graph(W, list(range(n)), rng)
    view = graph.subgraph(rng.permutation(rows).tolist())
    frame = pd.DataFrame(inside, index=rows, columns=rows)
    for form in (view, view.copy(), networkx.Graph(view), as_graph(inside, rows.tolist(), rng), frame):
        assert_same(read_known_graph(form, nodes=range(n)), inside, rows=rows)
        assert_same(read_known_graph(form), inside, nodes=rows)
    names = [f"{k:02d}" for k in rng.permutation(n)]
    renamed = networkx.relabel_nodes(graph, dict(enumerate(names)))
    view = renamed.subgraph([names[i] for i in rows])
    for form in (view, view.copy()):
        known = read_known_graph(form, nodes=pd.Index(names))
        assert_same(known, inside, rows=rows, nodes=[names[i] for i in rows])
        again = read_known_graph(known, nodes=pd.Index(names[::-1]))
        assert_same(again, inside[::-1, ::-1], rows=n - 1 - rows[::-1], nodes=[names[i] for i in rows[::-1]])


@pytest.mark.parametrize("nothing", [np.nan, None, pd.NA], ids=str)
def test_nan_hides_a_pair(nothing):
    rng = np.random.default_rng(0)
    W, mask = random_weights(rng, 7), random_hidden(rng, 7)
    given = W.astype(object)
    given[mask] = nothing
    given[2, 2] = nothing  # of no pair
    assert_same(read_known_graph(given), W, mask)
    assert_same(read_known_graph(given.tolist()), W, mask)
    names = list("abcdefg")
    frame = pd.DataFrame(given, index=names, columns=names)
    assert_same(read_known_graph(frame, nodes=names), W, mask, nodes=names)
    assert_same(read_known_graph(frame.convert_dtypes(), nodes=names), W, mask, nodes=names)
    floats = np.where(mask, np.nan, W)
    assert_same(read_known_graph(scipy.sparse.csr_array(floats)), W, mask)
    assert_same(read_known_graph(np.ma.masked_array(W, mask)), W, mask)
    more = np.zeros((7, 7), dtype=bool)
    more[5, 6] = more[6, 5] = True
    assert_same(read_known_graph(floats, hidden=more), W, mask | more)
    assert_array_equal(read_known_graph(floats).toarray(), np.where(mask, np.nan, W))


def test_what_is_given_is_not_changed():
    W = np.array([[1.0, np.nan], [np.nan, 0.0]])
    W = np.block([[W, np.ones((2, 1))], [np.ones((1, 2)), np.zeros((1, 1))]])
    sparse, hidden = scipy.sparse.csr_array(W), np.eye(3, dtype=bool)
    before = W.copy()
    for graph in (W, sparse):
        with pytest.warns(UserWarning, match="y has 1 self-loops, which were dropped"):
            read_known_graph(graph, hidden=hidden)
    assert_array_equal(W, before)
    assert_array_equal(sparse.toarray(), before)
    assert hidden.trace() == 3


def test_rows_are_the_first():
    W = random_weights(np.random.default_rng(1), 4)
    assert_same(read_known_graph(W, nodes=range(9)), W)
    assert_same(read_known_graph(W, nodes=pd.Index(list("dcbaef"))), W, nodes=list("dcba"))
    assert_same(read_known_graph(W, nodes=pd.Index(list("aaaaaa"))), W, nodes=list("aaaa"))  # no name is looked up
    assert_same(read_known_graph(np.array([0, 1, 0]), nodes=range(5)), np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0.0]]))


# ---------------------------------------------------------------- edge lists


def test_edges_are_of_all_rows():
    """Node 3 has no edge and is known to have none; without features there is no such node."""
    edges = np.array([[0, 4], [2, 1], [4, 0]])
    W = np.zeros((6, 6))
    W[0, 4] = W[4, 0] = W[1, 2] = W[2, 1] = 1
    for form in (edges, edges.tolist(), list(map(tuple, edges.tolist())), pd.DataFrame(edges), edges.astype(np.int32)):
        assert_same(read_known_graph(form, nodes=range(6)), W)
        assert_same(read_known_graph(form), W[np.ix_([0, 1, 2, 4], [0, 1, 2, 4])], nodes=[0, 1, 2, 4])
    assert_same(read_known_graph(np.empty((0, 2), dtype=int), nodes=range(3)), np.zeros((3, 3)))
    assert read_known_graph([["c", 7], ["c", "b"]]).nodes.tolist() == ["c", 7, "b"]
    words = np.array([["c", "a"], ["a", "b"]])
    expected = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0.0]])
    assert_same(read_known_graph(words), expected, nodes=list("abc"))
    assert_array_equal(read_known_graph([("c", 7), (7, "b")]).toarray(), np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0.0]]))


def test_names_of_any_kind():
    names = [("x", 1), frozenset([2]), "text", 3.5]
    graph = networkx.path_graph(4)
    graph = networkx.relabel_nodes(graph, dict(enumerate(names)))
    known = read_known_graph(graph, nodes=["other", *names[::-1]])
    assert known.nodes.tolist() == names[::-1] and known.rows.tolist() == [1, 2, 3, 4]
    assert_array_equal(known.adjacency.toarray(), networkx.to_numpy_array(graph, nodelist=names[::-1]))
    assert read_known_graph(graph).nodes.tolist() == names
    assert read_known_graph(graph, hidden=[(names[0], names[3])]).hidden.nnz == 2


def test_two_by_two():
    """Numbers are a matrix, tuples and text are edges, and so is a frame whose index is not its columns."""
    one = np.array([[0.0, 1.0], [1.0, 0.0]])
    for form in ([[0, 1], [1, 0]], np.array([[0, 1], [1, 0]]), pd.DataFrame([[0, 1], [1, 0]])):
        assert_same(read_known_graph(form, nodes=range(2)), one)
    W = np.zeros((4, 4))
    W[0, 1] = W[1, 0] = 1
    for form in ([(0, 1), (1, 0)], pd.DataFrame([[0, 1], [1, 0]], columns=["source", "target"])):
        assert_same(read_known_graph(form, nodes=range(4)), W)
    assert_same(read_known_graph(np.array([["a", "b"], ["b", "a"]])), one, nodes=["a", "b"])


def test_multigraphs_add_weights():
    graph = networkx.MultiGraph([(0, 1, {"weight": 2.0}), (0, 1), (1, 2)])
    assert_same(read_known_graph(graph), np.array([[0, 3, 0], [3, 0, 1], [0, 1, 0.0]]))


def test_many_edges():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 30_000, (300_000, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    start = time.process_time()
    known = read_known_graph(edges, nodes=range(30_000))
    assert time.process_time() - start < 3
    assert known.adjacency.nnz == 2 * len(np.unique(np.sort(edges, axis=1), axis=0))


# ---------------------------------------------------------------- groups


def test_groups():
    expected = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0.0]])
    for groups in (
        ["a", "a", None, None],
        pd.Series(["a", "a", None, None]),
        [1, 1, np.nan, np.nan],
        [[1], [1], [2], [3]],
    ):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A column-vector")
            assert_same(read_known_graph(groups), expected)
    assert_same(read_known_graph(pd.DataFrame({"group": ["a", "a", "b", "c"]})), expected)


@pytest.mark.parametrize("form", [np.array, list, pd.Series, lambda g: np.array(g, dtype=object)], ids=range(4))
def test_minus_one_is_no_label(form):
    groups = [0, 1, -1, 0, 1, -1]
    mask = np.zeros((6, 6), dtype=bool)
    mask[[2, 5]], mask[:, [2, 5]] = True, True
    np.fill_diagonal(mask, False)
    W = np.zeros((6, 6))
    W[0, 3] = W[3, 0] = W[1, 4] = W[4, 1] = 1
    assert_same(read_known_graph(form(groups)), W, mask)


@pytest.mark.parametrize("groups", [[-1, 1, -1], [-1, -2, -1], [-1, 0, -1], ["-1", "2", "-1"], [-1.0, 1.5, -1.0]])
def test_minus_one_may_be_a_group(groups):
    assert_same(read_known_graph(groups), np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0.0]]))


def test_minus_one_beside_missing_groups():
    known = read_known_graph(pd.Series([0, 1, -1, None, 0], dtype="Int64"))
    assert known.hidden.toarray()[2].tolist() == [True, True, False, True, True] and known.hidden.nnz == 8
    assert np.argwhere(known.adjacency.toarray()).tolist() == [[0, 4], [4, 0]]  # None is known to be alone


# ---------------------------------------------------------------- what is refused

A = random_weights(np.random.default_rng(3), 5)
EVERY = np.ones((5, 5), dtype=bool)
ONE_SIDED = np.where(np.arange(25).reshape(5, 5) == 3, np.nan, A)
LETTERS = networkx.path_graph(list("abcde"))
NAMED = {"nodes": list("abcde")}
ROWS = {"nodes": range(5)}
REMEDIES = ["pd.DataFrame(X, index=names)", "nx.to_numpy_array(G, nodelist=names)"]

BAD = {
    "NaN on one side": (ONE_SIDED, {}, ["y", "0 and 3", "one side", "at both"]),
    "NaN on one side, sparse": (scipy.sparse.csr_array(ONE_SIDED), {}, ["y", "0 and 3", "one side"]),
    "infinity": (np.where(A > 0, np.inf, 0), {}, ["y", "infinity"]),
    "negative": (-A, {}, ["y", "negative", "-3"]),
    "asymmetric": (np.triu(A), {}, ["y", "not symmetric", "np.maximum(A, A.T)"]),
    "directed": (networkx.DiGraph([(0, 1)]), {}, ["y", "directed", "to_undirected()"]),
    "not square": (A[:, :4], {}, ["y", "square", "(5, 4)", "Pairs"]),
    "edges in columns": (np.array([[0, 1, 2], [1, 2, 3]]), {}, ["y", "(2, 3)", "y.T"]),
    "edges of floats": (A[:, :2], {}, ["y", "(5, 2)", "integers (m, 2)"]),
    "three dimensions": (np.zeros((5, 5, 5)), {}, ["y", "square", "(5, 5, 5)"]),
    "words": (np.full((5, 5), "no"), {}, ["y", "square matrix of numbers", "edge list", "groups"]),
    "nothing": (None, {}, ["y", "square matrix", "None"]),
    "no nodes": ([], {}, ["y", "no nodes", "at least one"]),
    "no nodes in a matrix": (np.zeros((0, 0)), {}, ["y", "no nodes", "at least one"]),
    "no nodes in a graph": (networkx.Graph(), {}, ["y", "no nodes", "at least one"]),
    "no nodes in edges": (np.empty((0, 2), dtype=int), {}, ["y", "no nodes", "at least one"]),
    "too many nodes": (A, {"nodes": range(4)}, ["y has 5 nodes", "X 4 samples"]),
    "letters for rows": (LETTERS, ROWS, ["y", "'a', 'b', 'c' and 2 more", "from 0 to 4", *REMEDIES]),
    "numbers for letters": (networkx.path_graph(3), NAMED, ["y", "0, 1, 2", "named 'a', 'b', 'c' and 2", *REMEDIES]),
    "a row too many": (networkx.path_graph(6), ROWS, ["y", "have: 5;", *REMEDIES]),
    "a negative row": ([(0, 1), (-1, 2)], ROWS, ["y", "have: -1;", *REMEDIES]),
    "a strange edge": ([("a", "b"), ("b", "z")], NAMED, ["y", "have: 'z';", *REMEDIES]),
    "a strange frame": (pd.DataFrame(A, list("vwxyz"), list("vwxyz")), NAMED, ["y", "'v'", *REMEDIES]),
    "names twice in X": (LETTERS, {"nodes": list("abcdea")}, ["index of X", "'a'", "more than once"]),
    "rows twice in X": ([(0, 1)], {"nodes": pd.Index([0, 1, 1])}, ["index of X", "1", "more than once"]),
    "names twice in y": (pd.DataFrame(A, list("aabcd"), list("aabcd")), NAMED, ["y", "'a'", "more than once"]),
    "names of columns": (pd.DataFrame(A, columns=list("abcde")), NAMED, ["y", "index and columns", "to_numpy()"]),
    "two weights": ([(0, 1, 1.0), (1, 0, 2.0)], ROWS, ["y", "0 and 1", "1 and 2", "once"]),
    "weights that are none": ([(0, 1, "a")], ROWS, ["y", "no numbers"]),
    "weights that are NaN": ([(0, 1, np.nan)], ROWS, ["y", "NaN"]),
    "edges of one": ([(0,), (1,)], ROWS, ["y", "1 entries", "(u, v, weight)"]),
    "edges of two lengths": ([(0, 1), (1, 2, 1.0)], ROWS, ["y", "2 or 3", "(u, v, weight)"]),
    "an end that is missing": (pd.DataFrame({"u": ["a", None], "v": ["b", "c"]}), NAMED, ["y", "None", "no node"]),
    "names that cannot be hashed": ([([1], "a")], NAMED, ["y", "[1]", "hashed"]),
    "infinite groups": ([0.0, np.inf], {}, ["y", "infinity"]),
    "ragged": ([[0, 1], [1]], {}, ["y", "square matrix", "tuples"]),
    "two weights of names": ([("b", "a", 1), ("a", "b", 3)], NAMED, ["'a' and 'b'", "1 and 3"]),
    "all hidden": (A, {"hidden": EVERY}, ["y", "all 10 pairs", "leave some"]),
    "all hidden by NaN": (A * np.nan, {}, ["y", "all 10 pairs", "leave some"]),
    "hidden of a wrong shape": (A, {"hidden": EVERY[:4, :4]}, ["hidden", "(5, 5)", "(4, 4)"]),
    "hidden of numbers": (A, {"hidden": A}, ["hidden", "(5, 5)", "booleans", "pairs"]),
    "hidden of sparse numbers": (A, {"hidden": scipy.sparse.csr_array(A)}, ["hidden", "(5, 5)", "booleans", "pairs"]),
    "hidden on one side": (A, {"hidden": np.triu(EVERY)}, ["hidden", "0 and 1", "mask | mask.T"]),
    "hidden without pairs": (A, {"hidden": [0, 1]}, ["hidden", "(5, 5)", "pairs of names"]),
    "hidden number": (A, {"hidden": 3}, ["hidden", "pairs of names", "3"]),
    "hidden graph": (A, {"hidden": LETTERS}, ["hidden", "pairs of names", "networkx"]),
    "hidden vector": (A, {"hidden": np.arange(5)}, ["hidden", "pairs of names"]),
    "hidden of lengths": (A, {"hidden": [(0, 1), (0, 1, 2)]}, ["hidden", "pairs of names"]),
    "hidden triples": (A, {"hidden": [(0, 1, 2)]}, ["hidden", "pairs of names"]),
    "hidden strangers": (A, {"hidden": [(0, 1), (1, 7)]}, ["hidden", "have: 7;", "0, 1, 2"]),
    "hidden strangers by name": (
        LETTERS,
        {**NAMED, "hidden": pd.DataFrame(EVERY, list("vwxyz"), list("vwxyz"))},
        ["hidden", "'a', 'b', 'c'", "'v', 'w', 'x'"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_refused(case):
    graph, settings, words = BAD[case]
    assert_refused(lambda: read_known_graph(graph, **settings), words)


def test_the_argument_is_named():
    assert_refused(lambda: read_known_graph(np.triu(A), "adjacency"), ["adjacency is not symmetric"])


def test_self_loops_of_edges_and_graphs():
    for graph in ([(0, 1), (1, 1), (2, 0)], networkx.Graph([(0, 1), (1, 1), (2, 0)])):
        with pytest.warns(UserWarning, match="y has 1 self-loops, which were dropped"):
            known = read_known_graph(graph)
        assert_same(known, np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0.0]]))


def test_one_node():
    assert_same(read_known_graph([[0.0]]), np.zeros((1, 1)))


def test_rounding_is_no_asymmetry():
    noisy = A * (1 + 1e-13 * np.random.default_rng(0).normal(size=A.shape))
    W = read_known_graph(noisy).adjacency.toarray()
    assert_array_equal(W, W.T)
