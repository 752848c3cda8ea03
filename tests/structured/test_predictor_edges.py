"""Edge cases of structured outputs: new candidates, forms of outputs, refits, groups, messages."""

import numpy as np
import pytest
from helpers.structured_edges import NEW, NUMBERS, VECTORS, M, N, X, predictor, ridge_weights
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import kernels, operators
from hilbertlearn import output_losses as ol
from hilbertlearn.spaces import OutputKernel

LABELS = np.digitize(VECTORS[:, 0], [-1, 0, 1]) + 3
SEQUENCES = [tuple(range(label - 2)) for label in LABELS]


def fold_loss(Z, Y):
    return np.array([[float(z != y) for y in Y] for z in Z])


def test_numbers_that_are_integers_are_not_cut():
    for loss in ("squared", "huber", "cauchy"):
        of_integers = predictor(output_loss=loss).fit(X, LABELS).predict(NEW)
        assert_array_equal(of_integers, predictor(output_loss=loss).fit(X, LABELS * 1.0).predict(NEW))
        assert (of_integers != np.round(of_integers)).any()
    counts = np.c_[LABELS, 2 * LABELS]
    assert_array_equal(predictor().fit(X, counts).predict(NEW), predictor().fit(X, counts * 1.0).predict(NEW))
    signs = np.where(NUMBERS > 0, 1, -1)
    scores = predictor(output_loss="logistic").fit(X, signs).predict(NEW)
    assert (np.abs(scores) % 1 > 0).any()


def test_candidates_unlike_the_training_outputs_are_not_cut():
    assert set(predictor().fit(X, np.array(["aa", "bb"] * 20)).predict(NEW, ["aaaa", "bbbb"])) <= {"aaaa", "bbbb"}
    found, _ = predictor(output_kernel="rbf").fit(X, LABELS.astype(np.int8)).predict_topk(NEW, 2, [3.5, 300.0])
    assert set(found[0]) == {3.5, 300.0}


def test_samples_of_weight_zero_with_outputs_of_their_own():
    weights = np.arange(N) % 4.0
    rows = np.flatnonzero(weights)
    for settings in ({"solver": "spectral"}, {"center": True}, {"alpha": "auto"}):
        predictor(**settings).fit(X, NUMBERS, weights).predict(NEW)
    found = predictor(solver="spectral").fit(X, NUMBERS, weights).weights(NEW)
    assert_allclose(found[:, rows], ridge_weights(rows, weights), atol=1e-9)
    assert (found[:, weights == 0] == 0).all()


def test_sequences_of_one_length_by_chance():
    model = predictor(output_loss="zero_one").fit(X, SEQUENCES)
    for wrong in (0, 1):
        rows = np.flatnonzero([len(z) == 2 for z in model.predict(X)])[:3]
        true = [model.predict(X)[i] for i in rows]
        true[:wrong] = [(0, 1, 2)] * wrong
        assert model.score(X[rows], true) == pytest.approx(-wrong / len(rows))
    pool = [(0, 1), (7, 8)]
    assert set(predictor(output_loss=fold_loss).fit(X, SEQUENCES).predict(NEW, pool)) <= set(pool)


def test_refit_leaves_nothing_behind():
    model = predictor(output_kernel="rbf", regressor=LinearRegression()).fit(X, VECTORS)
    changes = {"regressor": None, "output_kernel": None, "output_loss": "squared"}
    model.set_params(**changes).fit(X, VECTORS)
    assert_array_equal(model.predict(NEW), predictor(output_loss="squared").fit(X, VECTORS).predict(NEW))
    general = predictor(solver="spectral").fit(X, NUMBERS)
    assert general.set_params(solver="auto").fit(X[:20], NUMBERS[:20]).dual_coef_.shape == (20, 20)


def test_labels_with_none():
    y = [None if i % 5 == 0 else int(label) for i, label in enumerate(LABELS)]
    rows = np.flatnonzero(np.arange(N) % 5)
    model = predictor().fit(X, y)
    assert model.decoder_ == "classes"
    found = model.predict(NEW)
    assert found.dtype.kind == "i"
    assert_array_equal(found, predictor().fit(X[rows], LABELS[rows]).predict(NEW))


def test_strings_with_nan():
    words = [np.nan if i % 5 == 0 else "ab" * label for i, label in enumerate(LABELS)]
    as_none = [None if i % 5 == 0 else word for i, word in enumerate(words)]
    assert predictor().fit(X, words).predict(NEW) == predictor().fit(X, as_none).predict(NEW)


def test_containers_of_candidates():
    pd = pytest.importorskip("pandas")
    labels, vectors = predictor().fit(X, LABELS), predictor(output_kernel="rbf").fit(X, VECTORS)
    expected = labels.predict(NEW, [3, 5])
    for pool in (pd.Series([3, 5], index=[7, 8]), {3, 5}, np.array([3, 5])):
        assert_array_equal(labels.predict(NEW, pool), expected)
    assert_array_equal(labels.predict(NEW, candidates_per_query=np.tile([3, 5], (M, 1))), expected)
    expected = vectors.predict(NEW, VECTORS[:4])
    assert_array_equal(vectors.predict(NEW, pd.DataFrame(VECTORS[:4], columns=list("abc"))), expected)
    assert_array_equal(vectors.predict(NEW, candidates_per_query=np.tile(VECTORS[:4], (M, 1, 1))), expected)


@pytest.mark.parametrize(
    ("settings", "y"),
    [({"output_kernel": "rbf"}, VECTORS), ({"output_loss": fold_loss}, [frozenset(s) for s in SEQUENCES])],
    ids=["rows", "sets"],
)
def test_an_empty_list_for_the_first_query_is_named(settings, y):
    model = predictor(**settings).fit(X, y)
    with pytest.raises(ValueError, match="candidates of query 0"):
        model.predict(NEW[:2], candidates_per_query=[[], y[:2]])


def test_array_of_lists():
    y = np.empty(N, dtype=object)
    for i, sequence in enumerate(SEQUENCES):
        y[i] = list(sequence)
    found = predictor(output_loss="zero_one").fit(X, y).predict(NEW)
    assert found.dtype == object and [tuple(z) for z in found] == predictor(output_loss="zero_one").fit(
        X, SEQUENCES
    ).predict(NEW)


def test_gaussian_decoder_of_numbers_and_of_a_loss():
    model = predictor(output_kernel=kernels.NamedKernel("rbf", 0.5), decoder="gaussian").fit(X, NUMBERS)
    grid = np.linspace(-5, 5, 2001)
    W = ridge_weights()
    z = model.predict(NEW)
    found = np.einsum("qi,qi->q", W, rbf_kernel(z[:, None], NUMBERS[:, None], gamma=0.5))
    assert (
        z.shape == (M,)
        and (found >= (W @ rbf_kernel(NUMBERS[:, None], grid[:, None], gamma=0.5)).max(axis=1) - 1e-4).all()
    )
    by_kernel = predictor(output_kernel=kernels.NamedKernel("rbf", 0.5), decoder="gaussian").fit(X, VECTORS)
    by_loss = predictor(output_loss=ol.KernelLoss("rbf", gamma=0.5), decoder="gaussian").fit(X, VECTORS)
    assert_allclose(by_loss.predict(NEW), by_kernel.predict(NEW), atol=1e-5)


def test_summary_of_the_quick_fit():
    text = predictor(output_loss="absolute").fit(X, NUMBERS).summary()
    assert "40 samples" in text and "Squared" in text


@pytest.mark.parametrize(
    ("settings", "y", "words"),
    [
        ({"kernel": [("rbf", operators.Decay())], "output_loss": "absolute"}, NUMBERS, "operator=None"),
        ({"kernel": kernels.OutputTensorKernel("iii"), "output_loss": "absolute"}, NUMBERS, "operator=None"),
        ({"output_kernel": "precomputed"}, LABELS, "Gram matrix itself"),
        ({"output_kernel": "rbf"}, ["a", "b"] * 20, "output_kernel.*rows of numbers.*str"),
        ({"decoder": "mean", "candidates": VECTORS[:3]}, VECTORS, "takes no candidates"),
        ({"decoder": "gaussian", "output_kernel": "rbf", "output_loss": "squared"}, VECTORS, "does not fit"),
    ],
)
def test_refused(settings, y, words):
    with pytest.raises(ValueError, match=words):
        predictor(**settings).fit(X, y)


GRAPHS = [((0, 1), (1, 2), (2, 0)), ((0, 1),), ((0, 1), (1, 2)), ((0, 2),)]


@pytest.mark.parametrize("kind", [tuple, list])
def test_nested_outputs_are_not_lists_of_candidates(kind):
    """Graphs as sequences of edges, as many queries as there are distinct ones."""
    graphs = [kind(graph) for graph in GRAPHS] * 10
    model = predictor(output_loss="zero_one").fit(X, graphs)
    found = model.predict(X[:4])
    assert all(graph in graphs for graph in found)
    assert model.predict(X[:2], candidates=graphs[:1]) == graphs[:1] * 2
    assert model.predict(X[:2], candidates_per_query=[graphs[1:2], graphs[2:3]]) == graphs[1:3]


def test_squared_loss_in_a_kernel_of_low_rank_is_the_loss_trick():
    """One coordinate says nothing about forty weights; those of ridge regression are the ones meant."""
    alone = predictor(output_loss="absolute").fit(X, NUMBERS)
    both = predictor(output_loss="absolute", output_kernel="linear").fit(X, NUMBERS)
    assert_allclose(both.predict(NEW), alone.predict(NEW), atol=1e-8)


def test_scores_need_as_many_outputs_as_inputs():
    with pytest.raises(ValueError, match="as many samples, got 15 and 5"):
        predictor(output_loss="absolute").fit(X, NUMBERS).score(NEW, NUMBERS[:5])


def test_weights_of_outputs_are_repetitions_for_the_median():
    counts = np.arange(N) % 3 + 1
    weighted = predictor(output_kernel="rbf").fit(X, NUMBERS.round(1), counts)
    repeated = predictor(output_kernel="rbf").fit(np.repeat(X, counts, axis=0), np.repeat(NUMBERS.round(1), counts))
    assert weighted.output_kernel_.gamma == pytest.approx(repeated.output_kernel_.gamma)


def test_rank_takes_pivots_without_the_whole_matrix():
    sizes = []

    def kernel(A, B):
        sizes.append(len(A) * len(B))
        return rbf_kernel(A, B, gamma=0.5)

    outputs = np.random.default_rng(0).normal(size=(300, 3))
    space = OutputKernel(kernel, rank=6).space(outputs, np.ones(300))
    assert space.factor.shape == (6, 6) and max(sizes) < 300**2 / 10
    assert all((outputs == pivot).all(axis=1).any() for pivot in space.pivots)
    assert_allclose(space.factor @ space.factor.T, rbf_kernel(space.pivots, gamma=0.5), atol=1e-12)


def test_spaces_in_strings_count():
    assert kernels.NGrams(3)(["a b"], ["a  b"])[0, 0] < 1
    assert_allclose(np.diag(kernels.NGrams(3)(["", "a b", "a  b"], ["", "a b", "a  b"])), 1)


def test_integers_chosen_from_candidates_stay_integers():
    found = predictor(output_loss="absolute").fit(X, LABELS).predict(NEW, candidates=[3, 4])
    assert found.dtype == LABELS.dtype and set(found) <= {3, 4}


def test_rows_with_some_nan_are_refused():
    y = VECTORS.copy()
    y[0, 0] = np.nan
    with pytest.raises(ValueError, match="some NaN"):
        predictor(output_loss="zero_one").fit(X, y)
