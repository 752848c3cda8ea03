"""Classes whose costs are known for each pair: tables, functions and hierarchies, decoded over all labels."""

import itertools

import networkx as nx
import numpy as np
import pytest
from helpers.loss_matrices import assert_pairs
from helpers.refusals import assert_refused
from helpers.structured_data import LABELS, NEW, STRINGS, WEIGHTS, X, predictor, ridge_weights
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from hilbertlearn import StructuredPredictor, kernels
from hilbertlearn.decoders.candidates import decode_classes
from hilbertlearn.output_losses import (
    CostMatrix,
    Hierarchy,
    ZeroOne,
)

rng = np.random.default_rng(3)
NAMES = ["abc", "abd", "xyz", "xy", "never", "nor this"]
C = rng.uniform(size=(6, 6))
C[4:] *= 0.7
NUMBERS = np.array([NAMES.index(word) for word in STRINGS])


def best(C, labels=NUMBERS, W=None):
    """Numbers (m,) of the smallest weighted cost, over all rows of C."""
    W = ridge_weights() if W is None else W
    return (W @ C[:, labels].T).argmin(axis=1)


# ------------------------------------------------------------------ tables


def as_pairs():
    return {(z, y): C[i, j] for i, z in enumerate(NAMES) for j, y in enumerate(NAMES)}


def as_dicts():
    return {z: {y: C[i, j] for j, y in enumerate(NAMES)} for i, z in enumerate(NAMES)}


@pytest.mark.parametrize(
    "loss",
    [
        CostMatrix(C, labels=NAMES),
        CostMatrix(C.tolist(), labels=np.array(NAMES)),
        CostMatrix(as_pairs()),
        CostMatrix(as_dicts()),
        CostMatrix(as_dicts(), labels=NAMES),
        CostMatrix(lambda z, y: C[NAMES.index(z), NAMES.index(y)], labels=NAMES),
    ],
    ids=["matrix", "lists", "pairs", "dicts", "dicts with labels", "function"],
)
def test_every_way_to_give_costs_of_strings(loss):
    model = predictor(output_loss=loss).fit(X, STRINGS)
    expected = [NAMES[i] for i in best(C)]
    assert {*expected} - {*STRINGS}  # some are labels that training has not seen
    assert model.predict(NEW) == expected
    assert_array_equal(model.classes_, NAMES)
    assert model.decoder_ == "classes" and model.predict_topk(NEW, 1)[0] == [[z] for z in expected]
    mean = np.mean([C[NAMES.index(z), NAMES.index(y)] for z, y in zip(expected, STRINGS)])
    assert model.score(NEW, STRINGS[: len(NEW)]) == pytest.approx(-mean)
    assert predictor(output_loss=clone(loss)).fit(X, STRINGS).predict(NEW) == expected


def test_costs_from_a_data_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(C, index=NAMES, columns=NAMES)
    shuffled = frame.loc[NAMES[::-1]]  # rows are predictions by their names, not by their places
    for C_frame in (frame, shuffled):
        model = predictor(output_loss=CostMatrix(C_frame, labels=NAMES)).fit(X, np.array(STRINGS))
        found = model.predict(NEW)
        assert isinstance(found, np.ndarray) and found.tolist() == [NAMES[i] for i in best(C)]


def test_pairs_given_once_count_for_both_and_a_label_is_right_for_itself():
    once = {("a", "b"): 1.0, ("c", "a"): 2.0, ("b", "c"): 5.0}
    loss = CostMatrix(once)
    Z = loss.check(["a", "b", "c"])
    assert_array_equal(loss(Z, Z), [[0, 1, 2], [1, 0, 5], [2, 5, 0]])
    nested = CostMatrix({"a": {"b": 1.0, "c": 2.0}, "b": {"c": 5.0, "b": -1.0}})
    assert_array_equal(nested(Z, Z), [[0, 1, 2], [1, -1, 5], [2, 5, 0]])


def test_a_function_without_labels_has_those_of_training_in_order():
    model = predictor(output_loss=CostMatrix(lambda z, y: abs(len(z) - len(y)))).fit(X, STRINGS)
    assert_array_equal(model.classes_, ["abc", "abd", "xy", "xyz"])
    assert_array_equal(model.output_loss_.C, [[0, 0, 1, 0], [0, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])


def test_labels_that_are_numbers_keep_their_type():
    labels = [30, 10, 20, 5, 3, 4, 6]
    C = rng.uniform(size=(7, 7))
    model = predictor(output_loss=CostMatrix(C, labels=labels)).fit(X, LABELS)
    numbers = np.array([labels.index(label) for label in LABELS])
    found = model.predict(NEW)
    assert found.dtype == LABELS.dtype
    assert_array_equal(found, np.array(labels)[best(C, numbers)])
    assert_array_equal(model.classes_, labels)


def test_with_an_output_kernel_and_with_sample_weights():
    loss = CostMatrix(C, labels=NAMES)
    expected = [NAMES[i] for i in best(C)]
    assert predictor(output_kernel=kernels.NGrams(2), output_loss=loss).fit(X, STRINGS).predict(NEW) == expected
    counted = WEIGHTS > 0
    W = ridge_weights(rows=counted, weights=WEIGHTS)
    model = predictor(output_loss=loss).fit(X, STRINGS, sample_weight=WEIGHTS)
    assert model.predict(NEW) == [NAMES[i] for i in best(C, NUMBERS[counted], W)]


def test_chosen_settings_see_all_labels():
    # whatever is true, the label that training has not seen costs less than any other
    C = np.array([[0, 1, 0.9], [1, 0, 0.9], [0.1, 0.1, 0]])
    y = np.arange(30) % 2
    inputs = rng.normal(size=(30, 2))
    model = predictor(alpha="auto", gamma="auto", output_loss=CostMatrix(C)).fit(inputs, y)
    assert (model.predict(inputs) == 2).all()
    errors = model.space_.sample_errors(np.eye(2)[y], np.eye(2)[y] - [0.5, 0.5])  # each weighs one half
    assert_allclose(errors, 0.1, atol=0.02)  # 0.5, were it not among the predictions


def test_zero_one_with_labels_that_training_has_not_seen():
    model = predictor(output_loss=ZeroOne(labels=NAMES)).fit(X, STRINGS)
    assert_array_equal(model.classes_, NAMES)
    assert model.predict(NEW) == predictor(output_loss="zero_one").fit(X, STRINGS).predict(NEW)
    # a label that is never true is the best where all that are true weigh less than nothing
    assert decode_classes(-np.ones((1, 4)), NAMES[:4], ZeroOne(labels=NAMES)) == ["never"]


# ------------------------------------------------------------------ hierarchies

EDGES = [("all", "letters"), ("all", "ends"), ("letters", "abc"), ("letters", "abd"), ("ends", "xyz"), ("ends", "xy")]


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("weight", [None, "length"])
def test_hierarchy_is_the_length_of_paths(kind, weight):
    tree = kind()
    for i, (a, b) in enumerate(EDGES):
        tree.add_edge(a, b, length=(i % 3) + 0.5)
    loss = Hierarchy(tree, weight=weight)
    nodes = list(tree.nodes)
    lengths = dict(nx.shortest_path_length(tree.to_undirected(), weight=weight))
    C = np.array([[lengths[z][y] for y in nodes] for z in nodes])
    at = loss.check(nodes)
    assert_allclose(loss(at, at), C)
    model = predictor(output_loss=loss).fit(X, STRINGS)
    numbers = np.array([nodes.index(word) for word in STRINGS])
    costs = ridge_weights() @ C[:, numbers].T
    found = [nodes.index(z) for z in model.predict(NEW)]
    assert_allclose(costs[np.arange(len(costs)), found], costs.min(axis=1))
    assert_array_equal(model.classes_, nodes)


@pytest.mark.parametrize("seed", range(4))
def test_random_trees(seed):
    tree = nx.random_labeled_tree(30, seed=seed)
    lengths = dict(nx.all_pairs_shortest_path_length(tree))
    everything = Hierarchy(tree).check(list(range(30)))
    expected = [[lengths[a][b] for b in range(30)] for a in range(30)]
    assert_array_equal(Hierarchy(tree)(everything, everything), expected)


def test_leaves_only():
    tree = nx.Graph(EDGES)
    model = predictor(output_loss=Hierarchy(tree, labels=["abc", "abd", "xyz", "xy"])).fit(X, STRINGS)
    assert {*model.predict(NEW)} <= {*STRINGS}
    assert_array_equal(model.classes_, ["abc", "abd", "xyz", "xy"])
    inner = predictor(output_loss=Hierarchy(tree)).fit(X, STRINGS).predict_scores(NEW)
    assert inner.shape == (len(NEW), 7)


# ------------------------------------------------------------------ scores and weights


def test_scores_and_weights_of_classes_by_hand():
    W = ridge_weights()
    model = predictor(output_loss=CostMatrix(C, labels=NAMES)).fit(X, STRINGS)
    scores, weights = model.predict_scores(NEW), model.predict_weights(NEW)
    assert_allclose(scores, -(W @ C[:, NUMBERS].T), atol=1e-9)
    assert_allclose(weights, W @ (NUMBERS[:, None] == np.arange(6)), atol=1e-9)
    assert model.predict(NEW) == model.classes_[scores.argmax(axis=1)].tolist()
    assert_allclose(model.predict_scores(NEW, ["xy", "abc", "xy"]), scores[:, [3, 0, 3]])
    top, best_scores = model.predict_topk(NEW, 6)
    for row, names, values in zip(scores, top, best_scores):
        assert_allclose(row[[NAMES.index(name) for name in names]], values)


def test_scores_of_integer_classes_are_in_the_order_of_classes():
    model = predictor().fit(X, LABELS)
    assert_array_equal(model.classes_, np.unique(LABELS))
    assert model.classes_.dtype == LABELS.dtype
    W = ridge_weights()
    weights = W @ (LABELS[:, None] == np.unique(LABELS))
    assert_allclose(model.predict_weights(NEW), weights, atol=1e-9)
    assert_allclose(model.predict_scores(NEW), weights - W.sum(axis=1, keepdims=True), atol=1e-9)
    assert_array_equal(model.classes_[model.predict_scores(NEW).argmax(axis=1)], model.predict(NEW))


def test_scores_of_outputs_that_are_no_classes():
    y = rng.integers(0, 2, size=(len(X), 3))
    model = predictor(output_loss="hamming").fit(X, y)
    assert not hasattr(model, "classes_")
    differ = np.array([[np.mean(z != row) for row in y] for z in model.outputs_])
    assert_allclose(model.predict_scores(NEW), -ridge_weights() @ differ.T, atol=1e-9)
    assert model.predict_weights(NEW).shape == (len(NEW), len(model.outputs_))
    words = predictor(output_kernel=kernels.NGrams(2)).fit(X, STRINGS)
    found = words.predict_scores(NEW)
    assert [words.outputs_[i] for i in found.argmax(axis=1)] == words.predict(NEW)


# ------------------------------------------------------------------ what is refused

CYCLE = nx.Graph([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
APART = nx.Graph([("a", "b"), ("c", "d")])
MULTI = nx.MultiGraph([("a", "b"), ("a", "b")])
DEEP = nx.MultiGraph([("r", "a"), ("a", "b"), ("a", "b")])
LOOP = nx.Graph([("a", "b"), ("b", "b")])
NO_LENGTH = nx.Graph([("a", "b")])
NEGATIVE = nx.Graph()
NEGATIVE.add_edge("a", "b", w=-1.0)

BAD = [
    (Hierarchy(CYCLE), ["cycle", "CostMatrix", "remove an edge"]),
    (Hierarchy(MULTI), ["cycle"]),
    (Hierarchy(DEEP), ["cycle"]),
    (Hierarchy(LOOP), ["cycle"]),
    (Hierarchy(APART), ["not connected", "'a'", "'c'", "add the edges"]),
    (Hierarchy(nx.Graph()), ["no nodes"]),
    (Hierarchy(NO_LENGTH, weight="w"), ["'a' - 'b'", "'w'", "weight=None"]),
    (Hierarchy(NEGATIVE, weight="w"), ["'a' - 'b'", "-1.0", ">= 0"]),
    (Hierarchy(nx.Graph([("a", "b")])), ["y has 'c'", "labels of the costs"]),
    (Hierarchy(nx.Graph([("a", "b")]), labels=["a", "z"]), ["labels has 'z'", "nodes of the hierarchy"]),
    (CostMatrix(np.eye(2), labels=["a", "b"]), ["y has 'c'", "'a', 'b'", "add it"]),
    (CostMatrix(np.eye(2), labels=["a", "a"]), ["labels must differ"]),
    (CostMatrix(np.eye(2), labels=["a", "b", "c"]), ["labels: 3", "(2, 2)"]),
    (CostMatrix({("a", "b"): 1.0, ("c", "a"): 1.0}), ["no cost", "'b'", "'c'", "add it"]),
    (CostMatrix({("a", "b"): 1.0, ("c", "a"): 1.0, ("b", "c"): np.nan}), ["finite", "nan"]),
    (CostMatrix({"a": {"b": 1.0}, "c": 2.0}), ["{z: {y: cost}}"]),
    (CostMatrix(lambda z, y: "much"), ["finite number", "'much'"]),
    (ZeroOne(labels=["a", "b"]), ["y has 'c'", "labels of ZeroOne"]),
]  # fmt: skip


@pytest.mark.parametrize(("loss", "words"), BAD, ids=lambda value: str(value)[:30])
def test_refusals_come_before_the_fit(loss, words):
    y = ["a", "b", "c", "a"] * 3
    assert_refused(lambda: predictor(output_loss=loss).fit(X[:12], y), words)


def test_other_refusals():
    assert_refused(lambda: Hierarchy({"a": "b"}).check(["a"]), ["networkx", "dict"], TypeError)
    assert_refused(lambda: CostMatrix(nx.Graph([("a", "b")])).check(["a"]), ["Hierarchy(tree)"], TypeError)
    assert_refused(lambda: CostMatrix(lambda z, y: 1.0).check(["a"]), ["labels", "function"])
    assert_refused(lambda: CostMatrix(np.eye(2), labels="ab").check([["a"], ["b"]]), ["y must be labels", "list"])
    model = predictor(output_loss=CostMatrix(C, labels=NAMES)).fit(X, STRINGS)
    assert_refused(lambda: model.predict(NEW, candidates=["abc", "other"]), ["'other'", "not among"])
    assert_refused(lambda: model.score(X, ["other"] * len(X)), ["'other'", "not among"])


def test_all_pairs_of_small_tables_by_enumeration():
    for labels in itertools.permutations("abc"):
        C = rng.normal(size=(3, 3))
        loss = CostMatrix(C, labels=labels)
        at = loss.check(["a", "b", "c"])
        expected = [[C[labels.index(z), labels.index(y)] for y in "abc"] for z in "abc"]
        assert_array_equal(loss(at, at), expected)


def test_labels_that_became_floats_beside_nan_are_told():
    y = np.repeat([0.0, 1.0, 2.0], 10)
    y[4] = np.nan
    X = np.arange(30.0)[:, None]
    with pytest.warns(UserWarning, match="zero_one"):
        StructuredPredictor(alpha=1e-3).fit(X, y)
    labels = StructuredPredictor(alpha=1e-3).fit(X, [None if np.isnan(one) else int(one) for one in y])
    assert labels.decoder_ == "classes"


rng = np.random.default_rng(5)
NAN = np.nan


def test_cost_matrix_has_predictions_as_rows():
    C = rng.normal(size=(4, 4))
    Z, Y = np.array([0.0, 3, 3]), [1, 2, 0, 3]
    loss = CostMatrix(C)
    assert_pairs(loss, lambda z, y: C[z, y], Z, Y)
    assert loss.check(Z).dtype.kind == "i"


RATINGS = rng.integers(1, 6, size=(12, 6)).astype(float)
RATINGS[rng.random(RATINGS.shape) < 0.3] = NAN
RATINGS[0], RATINGS[1], RATINGS[2] = 3, [NAN, NAN, 4, NAN, NAN, NAN], [1, 2, 3, 4, 5, 6]
