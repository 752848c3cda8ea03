"""StructuredPredictor: coordinates, the selection of alpha, other regressors, searches, forms of outputs."""

import pickle

import numpy as np
import pytest
from helpers.averages import mean_alpha_by_hand
from helpers.structured_data import (
    FOLDS,
    LABELS,
    NEW,
    NUMBERS,
    OBJECTS,
    SETS,
    STRINGS,
    VECTORS,
    M,
    N,
    X,
    check_same,
    intersections,
    jaccard,
    pick,
    predictor,
    ridge_weights,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics.pairwise import cosine_similarity, laplacian_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score

from hilbertlearn import RegularizationPathCV, StructuredPredictor, kernels, losses
from hilbertlearn import output_losses as ol
from hilbertlearn.spaces import OutputKernel

# ---------------------------------------------------------------- coordinates


OUTPUT_KERNELS = [
    ("rbf", lambda A, B: rbf_kernel(A, B, gamma=0.5)),
    ("laplacian", lambda A, B: laplacian_kernel(A, B, gamma=0.5)),
    ("linear", lambda A, B: A @ B.T),
    ("cosine", cosine_similarity),
]


@pytest.mark.parametrize(("name", "function"), OUTPUT_KERNELS, ids=lambda value: str(value)[:9])
def test_coordinates_have_the_kernel_as_inner_product(name, function):
    repeated = np.r_[VECTORS, VECTORS[:7]]
    space = OutputKernel(kernels.NamedKernel(name, 0.5)).space(repeated)
    V = space.encode(repeated)
    K = function(repeated, repeated)
    assert_allclose(V @ V.T, K, atol=1e-8)
    assert V.shape[1] == np.linalg.matrix_rank(K, tol=1e-7)  # 3 for the linear one
    new = VECTORS[:9] + 0.3
    assert_allclose(space.encode(new) @ V.T, function(new, repeated), atol=1e-4)
    gaps = VECTORS.copy()
    gaps[4] = np.nan
    assert np.isnan(space.encode(gaps)[4]).all() and np.isfinite(np.delete(space.encode(gaps), 4, axis=0)).all()


@pytest.mark.parametrize("rank", [1, 5, 12])
def test_rank_gives_the_approximation_of_nystroem(rank):
    space = OutputKernel(kernels.NamedKernel("rbf", 0.5), rank=rank).space(VECTORS)
    V, pivots = space.encode(VECTORS), space.pivots
    assert V.shape == (N, rank)
    C = rbf_kernel(VECTORS, pivots, gamma=0.5)
    assert_allclose(V @ V.T, C @ np.linalg.solve(rbf_kernel(pivots, gamma=0.5), C.T), atol=1e-8)
    model = predictor(output_kernel=OutputKernel(kernels.NamedKernel("rbf", 0.5), rank=rank)).fit(X, VECTORS)
    assert_allclose(model.machine_.coordinates(NEW), ridge_weights() @ V, atol=1e-8)


def test_gamma_of_an_output_kernel_is_the_median_rule():
    model = predictor(output_kernel="rbf").fit(X, LABELS)  # four labels: squared distances 1, 1, 1, 4, 4, 9
    assert set(LABELS) == {3, 4, 5, 6} and 0.5 / 4 <= model.output_kernel_.gamma <= 0.5
    odd = predictor(output_kernel="rbf").fit(X, np.where(LABELS == 3, 4, LABELS))  # three: 1, 1, 4
    assert odd.output_kernel_.gamma == pytest.approx(0.5)
    assert predictor(output_kernel=kernels.NamedKernel("rbf", 2.0)).fit(X, NUMBERS).output_kernel_.gamma == 2.0


def test_gram_matrix_with_row_numbers_as_outputs():
    K, ids = rbf_kernel(VECTORS, gamma=0.5), np.arange(N)
    by_number, by_name = predictor(output_kernel=K), predictor(output_kernel=kernels.NamedKernel("rbf", 0.5))
    found = by_number.fit(X, ids).predict(NEW)
    assert found.dtype == ids.dtype
    assert_array_equal(VECTORS[found], by_name.fit(X, VECTORS).predict(NEW))
    scores = cross_val_score(by_number, X, ids, cv=FOLDS, error_score="raise")
    assert_allclose(scores, cross_val_score(by_name, X, VECTORS, cv=FOLDS, error_score="raise"))
    assert_array_equal(cross_val_predict(by_number, X, ids, cv=FOLDS).shape, (N,))


# ---------------------------------------------------------------- alpha


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize(
    ("loss", "y"), [("absolute", NUMBERS[:20]), ("zero_one", LABELS[:20]), (jaccard, OBJECTS[:20])]
)
def test_leave_one_out_equals_refits(loss, y, center):
    n, alphas = 20, np.array([1e-3, 1e-2, 0.1, 1.0])
    path = RegularizationPathCV(predictor(output_loss=loss, center=center), alphas, cv="loo").fit(X[:n], y)
    delta = predictor(output_loss=loss).fit(X[:n], y).output_loss_
    checked = delta.check(y)
    losses_of = np.asarray(delta(checked, checked))
    distinct = sorted({list(y).index(one) for one in y})  # each output is a candidate once, the one left out too
    errors = np.zeros((n, len(alphas)))
    for i in range(n):
        rows = np.delete(np.arange(n), i)
        for j, alpha in enumerate(alphas):
            weights = ridge_weights(X[i : i + 1], rows, alpha=alpha * n / (n - 1))[0]  # alpha n is held fixed
            weights = weights + (1 - weights.sum()) / (n - 1) * center
            scores = losses_of[np.ix_(distinct, rows)] @ weights
            chances = np.exp(-(scores - scores.min()) / (0.2 * scores.std()))
            errors[i, j] = chances @ losses_of[distinct, i] / chances.sum()
            model = predictor(output_loss=loss, center=center, alpha=alpha * n / (n - 1)).fit(X[rows], pick(y, rows))
            z = delta.check(model.predict(X[i : i + 1], candidates=y))
            least = np.asarray(delta(z, checked))[0, rows] @ weights
            assert least == pytest.approx(scores.min(), abs=1e-9)  # chances fall from what is predicted
    assert_allclose(path.errors_, errors.mean(axis=0), atol=1e-8)
    assert path.errors_[list(alphas).index(path.alpha_)] <= errors.mean(axis=0).min() * (1 + 1e-3)
    assert np.ptp(path.errors_) > 0


def test_automatic_alpha_is_the_weighted_mean_of_its_grid():
    for loss, y in (("absolute", NUMBERS), ("zero_one", LABELS)):
        model = predictor(output_loss=loss, alpha="auto").fit(X, y)
        path = RegularizationPathCV(predictor(output_loss=loss)).fit(X, y)
        least = 1.0 if loss == "zero_one" else np.ptp(y)  # the largest loss
        expected = mean_alpha_by_hand(path.alphas_[::2], 2 * np.log(path.errors_[::2] + least / len(X)), len(X))
        assert model.alpha_ == pytest.approx(expected, rel=1e-6)
        again = predictor(output_loss=loss, alpha=model.alpha_).fit(X, y)
        assert_allclose(again.predict(NEW), model.predict(NEW), atol=1e-6)
        worst = predictor(output_loss=loss, alpha=path.alphas_[path.errors_.argmax()])
        chosen = cross_val_score(again, X, y, cv=FOLDS).mean()
        assert chosen > cross_val_score(worst, X, y, cv=FOLDS).mean()


@pytest.mark.parametrize(
    ("settings", "y"),
    [({"output_loss": "absolute"}, NUMBERS), ({"output_loss": jaccard}, OBJECTS), ({"output_loss": "f1"}, SETS)],
)
def test_folds(settings, y):
    alphas = [1e-3, 0.1]
    path = RegularizationPathCV(predictor(**settings), alphas, cv=3).fit(X, y)
    by_hand = [
        -np.mean([
            predictor(**settings, alpha=alpha).fit(X[a], pick(y, a)).score(X[b], pick(y, b))
            for a, b in KFold(3).split(X)
        ])
        for alpha in alphas
    ]  # fmt: skip
    assert_allclose(path.errors_, by_hand)
    assert type(path.predict(NEW)) is type(y)


# ---------------------------------------------------------------- regressor


@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_trees_on_coordinates(name):
    trees = ExtraTreesRegressor(5, random_state=0)
    model = StructuredPredictor(output_kernel=kernels.NamedKernel(name, 0.5), regressor=trees).fit(X, VECTORS)
    V = OutputKernel(kernels.NamedKernel(name, 0.5)).space(VECTORS).encode(VECTORS)
    H = clone(trees).fit(X, V).predict(NEW)
    squares = ((H[:, None] - V) ** 2).sum(axis=2)
    assert_array_equal(model.predict(NEW), VECTORS[squares.argmin(axis=1)])
    assert_array_equal(model.predict(NEW, VECTORS[:9]), VECTORS[squares[:, :9].argmin(axis=1)])
    assert model.decoder_ == "candidates" and model.predict_topk(NEW, 3)[0][0].shape == (3, 3)


# ---------------------------------------------------------------- searches


@pytest.mark.parametrize(
    ("model", "y", "grid"),
    [
        (predictor(output_kernel="linear", loss=losses.Huber(1.0)), VECTORS.tolist(), {"loss__kappa": [0.01, 1.0]}),
        (predictor(output_kernel=intersections, loss=losses.Huber(1.0)), OBJECTS, {"loss__kappa": [0.01, 1.0]}),
        (predictor(output_loss=jaccard), OBJECTS, {"alpha": [1e-3, 10.0]}),
        (predictor(), STRINGS, {"alpha": [1e-3, 10.0], "output_kernel": [kernels.NGrams(1), kernels.NGrams(2)]}),
        (predictor(output_kernel=kernels.NGrams()), STRINGS, {"output_kernel__n": [1, 4]}),
        (predictor(output_kernel=kernels.TanimotoGaussian()), SETS.tolist(), {"output_kernel__gamma": [0.1, 9.0]}),
        (predictor(output_kernel=kernels.NamedKernel("rbf")), VECTORS.tolist(), {"output_kernel__gamma": [0.01, 9.0]}),
        (predictor(output_loss=ol.Huber()), NUMBERS.tolist(), {"output_loss__delta": [0.1, 5.0]}),
    ],
)
def test_grid_search_with_lists(model, y, grid):
    search = GridSearchCV(model, grid, cv=FOLDS, error_score="raise").fit(X, y)
    for params, mean in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        one = clone(model).set_params(**clone(params, safe=False))
        by_hand = [one.fit(X[a], pick(y, a)).score(X[b], pick(y, b)) for a, b in FOLDS.split(X)]
        assert mean == pytest.approx(np.mean(by_hand), rel=1e-9)
    assert len(search.predict(NEW)) == M


# ---------------------------------------------------------------- forms of outputs


FORMS = {
    "floats": (predictor(output_loss="absolute"), NUMBERS),
    "labels": (predictor(), LABELS.astype(np.int16)),
    "labels in a list": (predictor(), LABELS.tolist()),
    "true and false": (predictor(), LABELS > 4),
    "rows": (predictor(output_kernel="rbf"), VECTORS),
    "integer rows": (predictor(), SETS),
    "strings": (predictor(), STRINGS),
    "array of strings": (predictor(), np.array(STRINGS)),
    "sets": (predictor(output_loss=jaccard), OBJECTS),
    "array of sets": (predictor(output_loss=jaccard), np.array(OBJECTS)),
    "dictionaries": (
        predictor(output_kernel=kernels.PairwiseKernel(lambda z, y: np.exp(-abs(z["a"] - y["a"])))),
        [{"a": v} for v in NUMBERS],
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_predictions_have_the_form_of_the_outputs(name):
    model, y = FORMS[name]
    model = clone(model).fit(X, y)
    found = model.predict(NEW)
    if isinstance(y, list) and not isinstance(y[0], int):
        assert isinstance(found, list) and type(found[0]) is type(y[0])
        assert all(z in y for z in found)
    else:
        y = np.asarray(y)
        assert found.dtype == y.dtype and found.shape == (M, *y.shape[1:])
    assert np.isfinite(model.score(X, y)) and model.score(X, y) <= 0


@pytest.mark.parametrize("name", [name for name in FORMS if name != "dictionaries"])
def test_refit_clone_and_pickle(name):
    model, y = FORMS[name]
    expected = clone(model).fit(X, y)
    predicted = expected.predict(NEW)
    if isinstance(y, list) or y.dtype == object:
        assert list(clone(model).fit(X, y).predict(NEW)) == list(predicted)
    again = clone(model).fit(X[:20], y[:20]).fit(X, y)  # nothing of the first fit is left
    for other in (again, clone(expected).fit(X, y)):
        check_same(other.predict(NEW), predicted)
        assert_allclose(other.weights(NEW), expected.weights(NEW), atol=1e-12)
    if not callable(model.output_loss):
        copy = pickle.loads(pickle.dumps(expected))
        check_same(copy.predict(NEW), predicted)
        assert copy.score(X, y) == expected.score(X, y)


def test_pandas_outputs():
    pd = pytest.importorskip("pandas")
    index = np.arange(N) + 100
    frame = pd.DataFrame(VECTORS, columns=list("abc"), index=index)
    assert_array_equal(predictor().fit(X, frame).predict(NEW), predictor().fit(X, VECTORS).predict(NEW))
    words = predictor().fit(X, pd.Series(STRINGS, index=index)).predict(NEW)
    assert list(words) == predictor().fit(X, STRINGS).predict(NEW)
