"""Kernels of a learnt distance: values, gradients against differences, average outer products, the whole recursion."""

import importlib
import pickle

import numpy as np
import pytest
import scipy.sparse
from helpers.refusals import assert_refused, changed
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_friedman1

from hilbertlearn import OperatorKernelRegressor, kernels
from hilbertlearn.kernels import InputKernel, MetricKernel, gram, resolve_gamma

MODULE = importlib.import_module("hilbertlearn.kernels.metric")
BASES = ["rbf", "matern12", "matern32", "matern52"]
GAMMA = 0.3
rng = np.random.default_rng(11)
X = rng.normal(loc=[3, 0, 1], scale=[1, 2, 0.5], size=(14, 3))
Z = rng.normal(loc=[3, 0, 1], size=(9, 3))
C = rng.normal(size=(9, 3))
ROOT = rng.normal(size=(3, 3))
WEIGHTS = np.array([0.2, 0.0, 2.8])
METRICS = {"identity": None, "full": ROOT @ ROOT.T, "diagonal": WEIGHTS, "rank one": np.outer(ROOT[0], ROOT[0])}
SPARSE = [scipy.sparse.csr_matrix, scipy.sparse.csr_array, scipy.sparse.coo_matrix]


def made(base="rbf", which="full", gamma=GAMMA, **settings):
    return MetricKernel(base, diagonal=which == "diagonal", gamma=gamma, metric=METRICS[which], **settings)


def matrix(which):
    M = METRICS[which]
    return np.eye(3) if M is None else np.diag(M) if M.ndim == 1 else M


def ridge(kernel, X, Y, alpha):
    """Coefficients of the model without a constant: the mean of squares and half of alpha times the squared norm."""
    return np.linalg.solve(kernel(X, X) + alpha * len(X) * np.eye(len(X)), Y)


# ---------------------------------------------------------------- values


@pytest.mark.parametrize("base", BASES)
def test_without_a_metric_it_is_the_kernel_by_name(base):
    kernel = MetricKernel(base, gamma=GAMMA)
    assert_allclose(kernel(X, Z), gram(base, X, Z, gamma=GAMMA), rtol=1e-12)
    assert_allclose(kernel(X, X), gram(base, X, gamma=GAMMA), rtol=1e-12)
    assert_allclose(kernel(X[:, 0], Z[:, 0]), gram(base, X[:, :1], Z[:, :1], gamma=GAMMA), rtol=1e-12)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("which", METRICS)
def test_a_metric_is_the_kernel_of_transformed_rows(base, which):
    kernel, M = made(base, which), matrix(which)
    D = cdist(X, Z, lambda x, z: (x - z) @ M @ (x - z))
    one = np.sqrt(D)[:, :, None]  # as rows of one input have this distance
    by_distance = np.array([[gram(base, d[None], np.zeros((1, 1)), gamma=GAMMA)[0, 0] for d in row] for row in one])
    assert_allclose(kernel(X, Z), by_distance, rtol=1e-10)
    rows = kernel.transform(X)
    assert_allclose(cdist(rows, kernel.transform(Z), "sqeuclidean"), D, rtol=1e-10)
    assert_allclose(kernel(X, Z), gram(base, rows, kernel.transform(Z), gamma=GAMMA), rtol=1e-12)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("which", METRICS)
def test_gram_matrices_are_symmetric_and_positive(base, which):
    K = made(base, which)(X, X)
    assert_array_equal(K, K.T)
    assert_array_equal(np.diag(K), 1.0)
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    assert MetricKernel.positive_definite


@pytest.mark.parametrize("as_sparse", SPARSE)
@pytest.mark.parametrize("which", METRICS)
def test_sparse_rows(as_sparse, which):
    x, z = (np.where(np.abs(A) > 0.8, A, 0.0) for A in (X, Z))
    x_sparse, z_sparse = as_sparse(x), as_sparse(z)
    kernel = made("matern32", which)
    assert_allclose(kernel(x_sparse, z_sparse), kernel(x, z), atol=1e-12)
    assert_allclose(kernel(x_sparse, x_sparse), kernel(x, x), atol=1e-12)
    auto = made("matern32", which, gamma="auto")
    assert auto.resolve(x_sparse).gamma == pytest.approx(auto.resolve(x).gamma)
    assert_allclose(kernel.gradients(x_sparse, z_sparse, C), kernel.gradients(x, z, C), atol=1e-12)
    coefficients = np.ones(len(x))
    assert_allclose(kernel.relearn(x_sparse, coefficients).metric, kernel.relearn(x, coefficients).metric, atol=1e-9)


# ---------------------------------------------------------------- settings


@pytest.mark.parametrize("gamma", ["auto", "median", "scale"])
@pytest.mark.parametrize("which", METRICS)
def test_gamma_is_that_of_transformed_rows(gamma, which):
    weights = rng.uniform(0.1, 2, len(X))
    kernel = made("matern12", which, gamma=gamma)
    wanted = resolve_gamma("rbf", gamma, kernel.transform(X), weights)
    resolved = kernel.resolve(X, weights)
    assert resolved.gamma == pytest.approx(wanted)
    assert kernel.gamma == gamma
    assert kernel.rate_is_searched == (gamma == "auto")
    if METRICS[which] is None:
        assert resolved.metric is None
    else:
        assert_array_equal(resolved.metric, METRICS[which])
        assert resolved.metric is not kernel.metric  # later changes do not reach it
    faster = InputKernel.from_settings(kernel, "median", None, X, weights).with_rate(4.0)
    assert faster.rate == pytest.approx(4 * wanted)
    assert_allclose(faster(X, Z), resolved.set_params(gamma=4 * wanted)(X, Z), rtol=1e-12)


def test_settings_are_those_of_an_estimator():
    kernel = MetricKernel()
    defaults = {"base": "rbf", "n_rounds": 5, "diagonal": False, "gamma": "auto", "metric": None, "scaling": None}
    assert kernel.get_params() == defaults
    copied = clone(made("matern52", n_rounds=5))
    assert copied.get_params()["n_rounds"] == 5
    assert_array_equal(copied.metric, METRICS["full"])
    kernel.set_params(base="matern12", diagonal=True, metric=[1.0, 0.0, 2.0], gamma=1.0).validate()
    before = set(vars(kernel))
    kernel(X, Z), kernel.gradients(X, Z, C), kernel.relearn(Z, C)
    assert set(vars(kernel)) == before
    assert_array_equal(pickle.loads(pickle.dumps(kernel))(X, Z), kernel(X, Z))
    assert "metric" in repr(kernel)


def test_the_function_of_the_same_name_stays():
    assert kernels.metric_name("rbf") == "sqeuclidean"


def test_an_estimator_takes_it():
    y = np.sin(X[:, 0])
    kernel = MetricKernel("matern32", n_rounds=0, gamma=0.2)
    model = OperatorKernelRegressor(kernel=kernel, alpha=1e-3).fit(X, y)
    named = OperatorKernelRegressor(kernel="matern32", gamma=0.2, alpha=1e-3).fit(X, y)
    assert_allclose(model.predict(Z), named.predict(Z), rtol=1e-8)
    searched = OperatorKernelRegressor(kernel=MetricKernel("matern32", n_rounds=0)).fit(X, y)
    named = OperatorKernelRegressor(kernel="matern32", scale_inputs=False).fit(X, y)
    assert_allclose(searched.predict(Z), named.predict(Z), rtol=1e-6)


# ---------------------------------------------------------------- gradients


def differences(kernel, x, Z, C, step=1e-5):
    """Central differences (m, p, d) of ``k(x, Z) C``."""
    steps = step * np.eye(x.shape[1])
    both = [(kernel(x + e, Z) @ C - kernel(x - e, Z) @ C) / (2 * step) for e in steps]
    return np.stack(both, axis=1)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("which", METRICS)
@pytest.mark.parametrize("d", [1, 3])
def test_gradients_are_limits_of_differences(base, which, d):
    kernel, c = made(base, which), C[:, :d]
    wanted = differences(kernel, X, Z, c)
    found = kernel.gradients(X, Z, c)
    assert found.shape == (len(X), 3, d)
    assert_allclose(found, wanted, atol=1e-6 * np.abs(wanted).max())
    if d == 1:
        assert_array_equal(kernel.gradients(X, Z, c[:, 0]), found)


@pytest.mark.parametrize("base", BASES)
def test_gradients_far_from_the_origin(base):
    kernel = made(base)
    assert_allclose(kernel.gradients(X + 1e6, Z + 1e6, C), kernel.gradients(X, Z, C), atol=1e-7)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("which", METRICS)
@pytest.mark.parametrize("entries", [1, 40, 200])
def test_gradients_in_blocks(monkeypatch, base, which, entries):
    kernel = made(base, which)
    whole, learnt = kernel.gradients(X, Z, C), kernel.relearn(Z, C).metric
    monkeypatch.setattr(MODULE, "_ENTRIES", entries)
    assert_allclose(kernel.gradients(X, Z, C), whole, atol=1e-12)
    assert_allclose(kernel.relearn(Z, C).metric, learnt, atol=1e-9)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("which", METRICS)
def test_a_sample_has_no_part_in_its_own_gradient(base, which):
    kernel = made(base, which)
    # the kernel is even around its centre
    assert_allclose(kernel.gradients(Z[:1], Z[:1], C[:1]), 0.0, atol=1e-12)
    others = np.delete(np.arange(len(Z)), 2)
    found = kernel.gradients(Z[2:3], Z, C)
    assert_allclose(found, kernel.gradients(Z[2:3], Z[others], C[others]), atol=1e-9 * np.abs(found).max())


@pytest.mark.parametrize("base", BASES)
def test_points_that_differ_along_what_the_metric_does_not_see(base):
    unseen = np.linalg.svd(ROOT[:1])[2][1]
    found = made(base, "rank one").gradients(Z[:1] + 3 * unseen, Z[:1], C[:1])
    assert_allclose(found, 0.0, atol=1e-6)


# ---------------------------------------------------------------- average outer products


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("which", METRICS)
def test_the_metric_is_the_average_outer_product_of_gradients(base, which):
    kernel, weights = made(base, which), rng.uniform(0.1, 2, len(Z))
    gradients = kernel.gradients(Z, Z, C)
    wanted = np.einsum("i,ijl,ikl->jk", weights, gradients, gradients)
    wanted *= 3 / np.trace(wanted)
    found = kernel.relearn(Z, C, weights)
    assert_allclose(found.metric, np.diag(wanted) if kernel.diagonal else wanted, atol=1e-7)
    assert found.metric.shape == ((3,) if kernel.diagonal else (3, 3))
    assert found.gamma == "auto" and found.base == base and found.diagonal == kernel.diagonal
    if not kernel.diagonal:
        assert_array_equal(found.metric, found.metric.T)
        assert np.linalg.eigvalsh(found.metric)[0] > -1e-14
    assert found.metric.sum() == pytest.approx(3) if kernel.diagonal else np.trace(found.metric) == pytest.approx(3)
    found.validate()
    assert kernel.relearn(Z, C, gamma="median").gamma == "median"
    assert kernel.relearn(Z, C, gamma=0.7).gamma == 0.7


@pytest.mark.parametrize("which", METRICS)
def test_weights_are_repetitions_and_scales_do_not_matter(which):
    kernel, times = made("rbf", which), np.array([1, 2, 0, 1, 3, 1, 1, 0, 2])
    twice = kernel.relearn(Z, C, times).metric
    assert_allclose(kernel.relearn(Z, 1e200 * C, 5 * times).metric, twice, atol=1e-10)
    gradients = np.repeat(kernel.gradients(Z, Z, C), times, axis=0)
    wanted = np.einsum("ijl,ikl->jk", gradients, gradients)
    wanted = wanted * 3 / np.trace(wanted)
    assert_allclose(twice, np.diag(wanted) if kernel.diagonal else wanted, atol=1e-9)


def test_many_outputs_are_as_good_as_their_rotation():
    wide = rng.normal(size=(9, 40))
    rotation = np.linalg.qr(rng.normal(size=(40, 40)))[0]
    gradients = made("matern52").gradients(Z, Z, wide)
    wanted = np.einsum("ijl,ikl->jk", gradients, gradients)
    for outputs in (wide, wide @ rotation):
        found = made("matern52").relearn(Z, outputs).metric
        assert_allclose(found, wanted * 3 / np.trace(wanted), atol=1e-9)


@pytest.mark.parametrize("base", BASES)
def test_it_finds_the_direction_that_counts(base):
    own = np.random.default_rng(3)
    rows, direction = own.normal(size=(150, 6)), np.array([2.0, -1, 0, 0, 1, 0]) / np.sqrt(6)
    along = rows @ direction
    Y = np.c_[np.tanh(2 * along), along]
    kernel = MetricKernel(base).resolve(rows)
    for _ in range(2):
        kernel = kernel.relearn(rows, ridge(kernel, rows, Y, 1e-4)).resolve(rows)
    assert np.trace(kernel.metric) == pytest.approx(6)
    leading = np.linalg.eigh(kernel.metric)[1][:, -1]
    assert abs(leading @ direction) > 0.99


@pytest.mark.parametrize("base", BASES)
def test_weights_find_the_inputs_that_count(base):
    own = np.random.default_rng(4)
    rows = own.normal(size=(150, 6))
    y = np.sin(rows[:, 1]) + rows[:, 4]
    kernel = MetricKernel(base, diagonal=True).resolve(rows)
    for _ in range(2):
        kernel = kernel.relearn(rows, ridge(kernel, rows, y, 1e-4)).resolve(rows)
    assert kernel.metric.shape == (6,)
    assert kernel.metric.sum() == pytest.approx(6)
    assert kernel.metric[[1, 4]].sum() > 0.95 * 6


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("which", METRICS)
def test_of_a_constant_nothing_is_learnt(base, which):
    kernel = made(base, which)
    same = np.ones(3) if which == "diagonal" else np.eye(3)
    wanted = same if METRICS[which] is None else METRICS[which]
    assert_array_equal(kernel.relearn(Z, np.zeros((9, 2))).metric, wanted)
    copies = np.repeat(1e5 * Z[:1] / 3, 9, axis=0)
    assert_array_equal(kernel.relearn(copies, C).metric, wanted)
    assert kernel.relearn(copies, C).resolve(copies).gamma == 1.0
    assert_array_equal(made(base, which).relearn(Z[:1], C[:1]).metric, wanted)
    assert_array_equal(MetricKernel(base, diagonal=True, gamma=1.0).relearn(Z[:1], C[:1]).metric, np.ones(3))
    nothing = MetricKernel(base, gamma=1.0, metric=np.zeros((3, 3)))
    assert_array_equal(nothing(X, Z), 1.0)
    assert_array_equal(nothing.relearn(Z, C).metric, 0.0)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("which", METRICS)
def test_copies_of_samples_share_their_coefficients(base, which):
    kernel = made(base, which)
    halves = np.r_[C, C] / 2
    whole = kernel.relearn(Z, C).metric
    assert_allclose(kernel.relearn(np.r_[Z, Z], halves).metric, whole, atol=1e-7)
    # copies to rounding are copies: differences of their own would have no digits
    nearly = Z * (1 + 4e-16 * rng.normal(size=Z.shape))
    assert_allclose(kernel.relearn(np.r_[Z, nearly], halves).metric, whole, atol=1e-6)


def test_of_many_samples_some_are_averaged_over(monkeypatch):
    kernel, weights = made("matern12"), np.array([0, 0, 1, 0, 2, 3, 0, 1, 1.0])
    monkeypatch.setattr(MODULE, "_ROWS", 3)
    counting = np.flatnonzero(weights)
    rows = np.sort(counting[np.argsort(Z[counting, 0])][[0, 2, 4]])  # evenly spread in the order of values
    gradients = kernel.gradients(Z[rows], Z, C)
    wanted = np.einsum("i,ijl,ikl->jk", weights[rows], gradients, gradients)
    assert_allclose(kernel.relearn(Z, C, weights).metric, wanted * 3 / np.trace(wanted), atol=1e-10)


# ---------------------------------------------------------------- the whole recursion


def recursion(X, y, queries, alpha, n_rounds, **settings):
    """Predictions of the fit before the first round and after each, and the last metric."""
    kernel, mean, predictions = MetricKernel(gamma="median", **settings).resolve(X), y.mean(), []
    for step in range(n_rounds + 1):
        coefficients = ridge(kernel, X, y - mean, alpha)
        predictions.append(kernel(queries, X) @ coefficients + mean)
        if step < n_rounds:
            kernel = kernel.relearn(X, coefficients, gamma="median").resolve(X)
    return predictions, kernel.metric


@pytest.mark.parametrize(("diagonal", "share"), [(False, 0.6), (True, 0.1)])
@pytest.mark.parametrize("draw", [0, 1])
def test_irrelevant_inputs_are_left_out(diagonal, share, draw):
    n, settings = 400, {"n_samples": 900, "n_features": 30, "random_state": draw}
    (rows, y), (_, truth) = make_friedman1(noise=0.5, **settings), make_friedman1(noise=0.0, **settings)

    def errors(alpha, n_rounds, **settings):
        predictions, metric = recursion(rows[:n], y[:n], rows[n:], alpha, n_rounds, **settings)
        return [np.mean((predicted - truth[n:]) ** 2) for predicted in predictions], metric

    gaussian = min(errors(alpha, 0)[0][0] for alpha in (1e-5, 1e-4, 1e-3))
    found, metric = errors(1e-5, 5, diagonal=diagonal)
    assert found[-1] < share * gaussian
    importance = metric if diagonal else np.diag(metric)
    assert importance[:5].sum() > 0.9 * 30


# ---------------------------------------------------------------- bad input

BAD = {
    "base": ({"base": "laplacian"}, ["MetricKernel: base", "'laplacian'", "'matern12'"]),
    "negative rounds": ({"n_rounds": -1}, ["MetricKernel: n_rounds", "integer >= 0", "-1"]),
    "half a round": ({"n_rounds": 1.5}, ["MetricKernel: n_rounds", "integer >= 0", "1.5"]),
    "diagonal": ({"diagonal": "yes"}, ["MetricKernel: diagonal", "True or False", "'yes'"]),
    "gamma": ({"gamma": 0.0}, ["MetricKernel: gamma", "> 0", "'median'"]),
    "weights for a matrix": ({"metric": WEIGHTS}, ["MetricKernel: metric", "(p, p)", "(3,)", "diagonal=True"]),
    "a matrix for weights": ({"metric": np.eye(3), "diagonal": True}, ["MetricKernel: metric", "(p,)", "(3, 3)"]),
    "not square": ({"metric": np.ones((3, 2))}, ["MetricKernel: metric", "square", "(3, 2)"]),
    "not symmetric": ({"metric": changed(np.eye(3), 1.0, (0, 1))}, ["MetricKernel: metric", "not symmetric", "None"]),
    "not positive": ({"metric": changed(np.eye(3), -1.0)}, ["MetricKernel: metric", "positive semi-definite", "-1"]),
    "infinite": ({"metric": changed(np.eye(3), np.inf)}, ["MetricKernel: metric", "infinity"]),
    "negative weights": ({"metric": [1, -1, 1], "diagonal": True}, ["MetricKernel: metric", ">= 0", "-1", "give 0"]),
    "unknown weights": ({"metric": [1, np.nan, 1], "diagonal": True}, ["MetricKernel: metric", "finite"]),
    "no numbers": ({"metric": "identity"}, ["MetricKernel: metric", "array of numbers", "str"]),
    "sparse": ({"metric": scipy.sparse.eye_array(3)}, ["MetricKernel: metric", "dense"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_settings(case):
    settings, words = BAD[case]
    kernel = MetricKernel(**{"gamma": 1.0, **settings})
    for action in (
        kernel.validate,
        lambda: kernel(X, Z),
        lambda: kernel.resolve(X),
        lambda: kernel.gradients(X, Z, C),
        lambda: kernel.relearn(Z, C),
    ):
        assert_refused(action, words)
    assert_refused(lambda: OperatorKernelRegressor(kernel=kernel, alpha=0.1).fit(X, X[:, 0]), words)


@pytest.mark.parametrize("which", ["full", "diagonal"])
def test_another_number_of_columns(which):
    kernel = made(which=which)
    words = ["MetricKernel: X has 2 columns", "metric is for 3 inputs", "metric=None"]
    for action in (
        lambda: kernel(X[:, :2], X[:, :2]),
        lambda: kernel.resolve(X[:, :2]),
        lambda: kernel.transform(X[:, :2]),
        lambda: kernel.relearn(X[:, :2], X),
    ):
        assert_refused(action, words)
    assert_refused(lambda: kernel.gradients(X[:, :2], Z[:, :2], C), ["MetricKernel: Z has 2 columns"])
    assert_refused(lambda: kernel(X, Z[:, :2]), ["MetricKernel: Z has 2 columns and X has 3"])
    assert_refused(lambda: kernel.gradients(X[:, :2], Z, C), ["MetricKernel: x has 2 columns and Z has 3"])


def test_bad_data():
    kernel = made()
    assert_refused(lambda: kernel(X[None], Z), ["MetricKernel: X", "rows of numbers", "(1, 14, 3)"])
    assert_refused(lambda: kernel(X, ["a", "b"]), ["MetricKernel: Z", "rows of numbers", "list"])
    assert_refused(lambda: kernel(changed(X, np.nan), Z), ["X contains NaN"])
    assert_refused(lambda: kernel(1e200 * X, Z), ["X is too large", "StandardScaler"])
    assert_refused(lambda: kernel.gradients(X, Z, C[:4]), ["MetricKernel: C", "9 samples", "(4, 3)"])
    assert_refused(lambda: kernel.relearn(Z, changed(C, np.nan)), ["MetricKernel: C contains NaN"])
    for weights in ([1, 2], np.zeros(9), -np.ones(9), changed(np.ones(9), np.nan, 0)):
        assert_refused(lambda weights=weights: kernel.relearn(Z, C, weights), ["MetricKernel: sample_weight", "9"])
    assert_refused(lambda: kernel.relearn(Z, C, gamma="best"), ["MetricKernel: gamma", "'best'"])


def test_gamma_must_be_a_number_by_now():
    kernel, words = MetricKernel(), ["MetricKernel: gamma='auto'", "resolve(X)"]
    assert_refused(lambda: kernel(X, Z), words)
    assert_refused(lambda: kernel.gradients(X, Z, C), words)
    assert_refused(lambda: kernel.relearn(Z, C), words)


def test_landmarks_of_a_learnt_metric():
    """All samples as landmarks give the exact model."""
    y = np.sin(X[:, 0])
    settings = {"kernel": MetricKernel("matern32", n_rounds=0, gamma=0.2), "alpha": 1e-2}
    exact = OperatorKernelRegressor(**settings, feature_map=None).fit(X, y)
    landmarks = OperatorKernelRegressor(**settings, feature_map=len(X)).fit(X, y)
    assert_allclose(landmarks.predict(Z), exact.predict(Z), atol=1e-7)
