"""Unusable structured outputs are refused with a message that names the remedy."""

import numpy as np
import pytest
from helpers.refusals import assert_refused, changed
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeRegressor

from hilbertlearn import RegularizationPathCV, StructuredPredictor, kernels, losses, operators
from hilbertlearn import output_losses as ol
from hilbertlearn.decoders import DECODERS
from hilbertlearn.spaces import OutputKernel

rng = np.random.default_rng(4)
N = 12
X = rng.normal(size=(N, 3))
NUMBERS = X[:, 0] + 1
VECTORS = np.c_[NUMBERS, np.sin(X[:, 1]), X[:, 2]]
LABELS = np.arange(N) % 3
SETS = (VECTORS > 0.5).astype(int)
SHARES = np.abs(VECTORS) / np.abs(VECTORS).sum(axis=1, keepdims=True)
STRINGS = ["ab", "b", "abc"] * 4
OBJECTS = [frozenset(s) for s in STRINGS]
TIES = changed(VECTORS, VECTORS[4, 0], (4, 2))


def overlap(Z, Y):
    return np.array([[len(z & y) / np.sqrt(len(z) * len(y)) for y in Y] for z in Z])


def predictor(**settings):
    return StructuredPredictor(**{"alpha": 0.01, **settings})


BAD_FITS = [
    # losses and decoders by name
    ({"output_loss": "hammming"}, SETS, ["output_loss", "'hammming'", "hamming", "kendall", "edit", "CostMatrix(C)"]),
    ({"output_loss": "l1"}, NUMBERS, ["output_loss", "'l1'", "absolute", "callable"]),
    ({"decoder": "best"}, LABELS, ["decoder", "'best'", "candidates", "gaussian", *DECODERS]),
    ({"decoder": "scalar"}, LABELS, ["decoder='scalar'", "does not fit", "auto", "candidates"]),
    ({"decoder": "threshold"}, NUMBERS, ["decoder='threshold'", "does not fit", "mean"]),
    ({"decoder": "ranking", "output_loss": "spearman"}, VECTORS, ["decoder='ranking'", "assignment"]),
    ({"decoder": "mean", "output_kernel": "rbf"}, VECTORS, ["decoder='mean'", "gaussian"]),
    ({"decoder": "gaussian", "output_kernel": "linear"}, VECTORS, ["decoder='gaussian'", "does not fit"]),
    ({"output_kernel": "rfb"}, VECTORS, ["kernel", "'rfb'", "rbf", "callable"]),
    # outputs that a loss does not take
    ({"output_loss": "kendall"}, TIES, ["y has ties", "row 4", "Kendall", "Rank"]),
    ({"output_loss": "spearman"}, TIES, ["y has ties", "row 4", "Spearman", "Rank"]),
    ({"output_loss": "kendall"}, changed(VECTORS, np.nan), ["NaN", "Kendall", "Rank for gaps"]),
    ({"output_loss": "hellinger"}, changed(SHARES, 2.0, (3, 0)), ["histograms", "sum to one", "row 3", "divide"]),
    ({"output_loss": "chi2"}, 2 * SHARES, ["histograms", "sum to one", "row 0 sums to 2"]),
    ({"output_loss": "wasserstein1d"}, changed(SHARES, -0.1, (2, 1)), ["non-negative", "row 2", "-0.1"]),
    ({"output_loss": "hamming"}, VECTORS, ["0/1 matrix", "got the entry"]),
    ({"output_loss": "f1"}, [*OBJECTS[:-1], "ab"], ["0/1 matrix", "frozenset", "MultiLabelBinarizer"]),
    ({"output_loss": "edit"}, LABELS, ["strings", "edit"]),
    ({"output_loss": "hinge"}, LABELS, ["Hinge", "-1 and 1", "0, 1, 2", "zero_one"]),
    ({"output_loss": "absolute"}, VECTORS, ["Absolute", "numbers (n,)", "(12, 3)"]),
    ({"output_loss": "squared"}, changed(VECTORS, np.nan), ["SquaredError", "NaN", "known output"]),
    ({"output_loss": "diffusion"}, VECTORS, ["Diffusion", "norm 1", "row 0"]),
    ({"output_loss": ol.CostMatrix(np.ones((2, 3)))}, LABELS, ["C must be a square matrix", "(2, 3)"]),
    ({"output_loss": ol.CostMatrix(np.ones((2, 2)))}, LABELS, ["label 2", "(2, 2)", "larger C"]),
    ({"output_loss": ol.CostMatrix(changed(np.eye(3), np.nan))}, LABELS, ["C contains NaN"]),
    ({"output_loss": ol.CostMatrix(np.eye(3))}, STRINGS, ["integers", "number the outputs"]),
    ({"output_loss": ol.Pinball(1.5)}, NUMBERS, ["Pinball", "tau", "1.5"]),
    # outputs that a kernel does not take
    ({"output_kernel": np.ones((3, 2))}, LABELS, ["output_kernel", "square", "(3, 2)"]),
    ({"output_kernel": np.eye(2)}, LABELS, ["PrecomputedKernel", "integers from 0 to 1"]),
    ({"output_kernel": np.eye(3)}, NUMBERS, ["PrecomputedKernel", "integers from 0 to 2"]),
    ({"output_kernel": -np.eye(3)}, LABELS, ["output_kernel", "not positive semi-definite", "-1"]),
    ({"output_kernel": np.triu(np.ones((3, 3)))}, LABELS, ["output_kernel", "not symmetric"]),
    ({"output_kernel": np.zeros((3, 3))}, LABELS, ["output_kernel is zero"]),
    ({"output_kernel": lambda Z, Y: np.ones(len(Z))}, OBJECTS, ["kernel must return", "(3, 3)", "PairwiseKernel"]),
    ({"output_kernel": OutputKernel("rbf", rank=0)}, VECTORS, ["rank", "0"]),
    ({"output_kernel": OutputKernel("rbf", rank=1.5)}, VECTORS, ["rank", "1.5"]),
    ({"output_kernel": kernels.NGrams()}, LABELS, ["NGrams", "strings"]),
    # settings that do not go together
    ({"output_loss": "hamming", "loss": "huber"}, SETS, ["loss='huber'", "squared loss", "output_kernel"]),
    ({"output_loss": "f1", "loss": losses.EpsilonSVR(0.1)}, SETS, ["EpsilonSVR", "output_kernel"]),
    ({"loss": losses.Hinge()}, LABELS, ["Hinge()", "output_kernel"]),
    ({"output_loss": "hamming", "operator": operators.Decay()}, SETS, ["operator=None", "output_kernel"]),
    ({"kernel": [("rbf", None), ("linear", None)]}, LABELS, ["one kernel", "output_kernel"]),
    ({"output_loss": "hamming", "regressor": DecisionTreeRegressor()}, SETS, ["regressor", "output_kernel"]),
    ({"regressor": DecisionTreeRegressor()}, LABELS, ["regressor", "output_kernel"]),
    ({"output_kernel": "linear", "loss": losses.Huber(0.1, p=1)}, VECTORS, ["point values", "p=2"]),
    ({}, [*OBJECTS[:-1], ("a", "b")], ["list of objects", "output_kernel or output_loss", "strings"]),
    ({}, [*STRINGS[:-1], 3], ["list of objects", "output_kernel or output_loss"]),
    # nothing to learn from
    ({}, [None] * N, ["y", "no known output"]),
    ({}, np.full(N, np.nan), ["y", "no known output"]),
    ({}, changed(NUMBERS, np.inf, 3), ["y contains infinity"]),
    ({}, LABELS[:5], ["X and y", "12 and 5"]),
    ({}, None, ["requires y"]),
    ({"alpha": -1}, LABELS, ["alpha", "-1"]),
    ({"center": "mean"}, LABELS, ["center", "'mean'"]),
]


@pytest.mark.parametrize(("settings", "y", "words"), BAD_FITS, ids=[", ".join(words) for *_, words in BAD_FITS])
@pytest.mark.parametrize("alpha", ["auto", 0.01])
def test_fits_that_are_refused(settings, y, words, alpha):
    model = StructuredPredictor(**{"alpha": alpha, **settings})
    before = dict(vars(model))
    assert_refused(lambda: model.fit(X, y), words)
    assert vars(model) == before  # nothing is left of a fit that fails


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"output_loss": 3}, ["output_loss must be", "3"]),
        ({"output_loss": ol.Hamming}, ["output_loss must be", "Hamming"]),
        ({"output_kernel": 3}, ["output_kernel must be", "3"]),
        ({"output_kernel": "linear", "regressor": DecisionTreeRegressor}, ["regressor", "DecisionTreeRegressor()"]),
        ({"output_kernel": "linear", "regressor": "tree"}, ["regressor", "'tree'"]),
    ],
)
def test_settings_of_the_wrong_kind(settings, words):
    assert_refused(lambda: predictor(**settings).fit(X, SETS), words, TypeError)


@pytest.mark.parametrize("weight", [np.zeros(N), -np.ones(N)], ids=["zero", "negative"])
def test_sample_weights(weight):
    with pytest.raises(ValueError, match=r"weight|Negative"):
        predictor().fit(X, LABELS, weight)


# ---------------------------------------------------------------- losses and kernels of one's own


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda Z, Y: np.ones((len(Y), len(Z) + 1)), ["output_loss must return", "shape", "two lists"]),
        (lambda Z, Y: np.full((len(Z), len(Y)), np.nan), ["NaN"]),
        (lambda Z, Y: 1.0, ["output_loss must return", "()"]),
    ],
)
def test_losses_that_return_something_else(function, words):
    assert_refused(lambda: predictor(output_loss=function).fit(X, OBJECTS).predict(X), words)


# ---------------------------------------------------------------- predict


@pytest.mark.parametrize(
    ("settings", "y", "good"),
    [
        ({}, LABELS, [0, 1]),
        ({}, STRINGS, ["ab", "b"]),
        ({"output_loss": "absolute"}, NUMBERS, [0.5, 1.0]),
        ({"output_kernel": "rbf"}, VECTORS, VECTORS[:2]),
        ({"output_kernel": overlap}, OBJECTS, OBJECTS[:2]),
    ],
    ids=["labels", "strings", "numbers", "rows", "sets"],
)
def test_candidates_that_are_refused(settings, y, good):
    model = predictor(**settings).fit(X, y)
    for candidates, words in [
        ([good, good, []], ["candidates of query 2", "at least one"]),
        ([good, [], good], ["candidates of query 1", "at least one"]),
        ([good, good], ["2 lists for 3 queries"]),
        ([good, good, [None]], ["candidates of query 2", "known"]),
    ]:
        assert_refused(lambda pool=candidates: model.predict(X[:3], candidates_per_query=pool), words)
        assert_refused(lambda pool=candidates: model.predict_topk(X[:3], 2, candidates_per_query=pool), words)
    for call in (lambda: model.predict(X[:3], []), lambda: model.predict_topk(X[:3], 2, [])):
        assert_refused(call, ["candidates", "at least one"])
    assert_refused(lambda: predictor(**settings, candidates=[]).fit(X, y).predict(X), ["candidates", "at least one"])


def test_candidates_are_checked_like_outputs():
    model = predictor(output_loss="kendall").fit(X, VECTORS)
    assert_refused(lambda: model.predict(X, candidates=[[1, 1, 2], [1, 2, 3]]), ["ties", "row 0"])
    shares = predictor(output_loss="hellinger").fit(X, SHARES)
    assert_refused(lambda: shares.predict(X, candidates=SHARES * 3), ["sum to one"])


@pytest.mark.parametrize("k", [0, -1, 1.5, "all"])
def test_k(k):
    assert_refused(lambda: predictor().fit(X, LABELS).predict_topk(X, k), ["k must be an integer", repr(k)])


def test_weights_of_another_regressor():
    model = predictor(output_kernel="linear", regressor=DecisionTreeRegressor()).fit(X, VECTORS)
    assert_refused(lambda: model.weights(X), ["weights", "regressor=None"])
    assert_refused(
        lambda: RegularizationPathCV(clone(model), [0.1]).fit(X, VECTORS),
        ["regressor has no path", "regressor=None"],
    )


@pytest.mark.parametrize("method", ["predict", "weights", "score", "predict_topk"])
def test_before_fit(method):
    arguments = {"score": (X, LABELS), "predict_topk": (X, 2)}.get(method, (X,))
    with pytest.raises(NotFittedError):
        getattr(StructuredPredictor(), method)(*arguments)


def test_score_without_a_known_output():
    assert_refused(lambda: predictor().fit(X, NUMBERS).score(X, np.full(N, np.nan)), ["no known output to score"])


@pytest.mark.parametrize("settings", [{}, {"output_kernel": "rbf"}, {"output_loss": "absolute"}])
def test_inputs_of_another_width(settings):
    model = predictor(**settings).fit(X, NUMBERS)
    for call in (model.predict, model.weights, lambda A: model.predict_topk(A, 2)):
        with pytest.raises(ValueError, match="features"):
            call(X[:, :2])


# ---------------------------------------------------------------- odd, and fine


@pytest.mark.parametrize("alpha", ["auto", 0.1])
@pytest.mark.parametrize(
    ("settings", "y"),
    [({}, LABELS), ({}, STRINGS), ({"output_loss": "absolute"}, NUMBERS), ({"output_kernel": "rbf"}, VECTORS)],
)
def test_one_sample_or_one_output(settings, y, alpha):
    one = StructuredPredictor(alpha=alpha, **settings).fit(X[:1], y[:1])
    assert_array_equal(np.asarray(one.predict(X[:2])), np.asarray([y[0]] * 2))
    same = StructuredPredictor(alpha=alpha, **settings).fit(X, [y[0]] * N)
    assert_array_equal(np.asarray(same.predict(X[:2])), np.asarray([y[0]] * 2))
    assert same.score(X, [y[0]] * N) == pytest.approx(0, abs=1e-12)


def test_fewer_candidates_than_asked_for():
    model = predictor(output_kernel=overlap).fit(X, OBJECTS)
    found, scores = model.predict_topk(X[:2], 5, candidates_per_query=[OBJECTS[:1], OBJECTS[:3]])
    assert [len(f) for f in found] == [1, 3] == [len(s) for s in scores]
