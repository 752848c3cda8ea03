"""Posterior variances against dense formulas and refits, and novelty of all kernel estimators."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from helpers import stored_models
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from hilbertlearn import (
    FunctionalRegressor,
    OperatorKernelRegressor,
    QuantileRegressor,
    StructuredPredictor,
    baselines,
    features,
    kernels,
    load,
    operators,
    save,
)
from hilbertlearn.machine.posterior import _root

RNG = np.random.default_rng(0)
N, ALPHA, GAMMA = 25, 0.02, 0.3
X, NEW = RNG.normal(size=(N, 2)), RNG.normal(size=(7, 2))
Y = np.c_[np.sin(2 * X[:, 0]), X[:, 1] ** 2] + 0.1 * RNG.normal(size=(N, 2))
WEIGHTS = RNG.uniform(0.2, 3.0, size=N)
FAR = np.array([[60.0, -60.0], [1e4, 1e4]])


def vector(**settings):
    return OperatorKernelRegressor(**{"kernel": "rbf", "gamma": GAMMA, "alpha": ALPHA, **settings})


def by_definition(kernel, X, new, s, weights=None):
    """``k(x, x) - k_x' D (D K D + s I)^-1 D k_x`` for rows of `new`, by a dense solve."""
    root = np.ones(len(X)) if weights is None else np.sqrt(weights)
    system = root[:, None] * kernel(X, X) * root + s * np.eye(len(X))
    G = kernel(new, X) * root
    return np.diag(kernel(new, new)) - np.einsum("ij,ij->i", G, np.linalg.solve(system, G.T).T)


def rbf(A, B):
    return rbf_kernel(A, B, gamma=GAMMA)


def variances(model, new=NEW):
    return model.machine_.posterior().variances(model.machine_.check_inputs(new))


# ---------------------------------------------------------------- by definition


def test_variances_and_novelty_by_definition():
    weights = np.where(np.arange(N) % 6 == 0, 0.0, WEIGHTS)
    model, used = vector().fit(X, Y, weights), weights > 0
    s = ALPHA * weights.sum()
    expected = by_definition(rbf, X[used], NEW, s, weights[used])
    assert_allclose(variances(model), expected, rtol=1e-10)
    lowest = by_definition(rbf, X[used], X[used], s, weights[used]).max()
    assert_allclose(model.novelty(NEW), np.clip((expected - lowest) / (1 - lowest), 0, 1), atol=1e-10)
    assert (model.novelty(X[~used]) > 0).any()  # samples of weight zero do not count


def test_an_operator_counts_as_its_mean_positive_eigenvalue():
    M = np.array([[2.0, 1.0], [1.0, 2.0]])  # eigenvalues 1 and 3
    model = vector(operator=M).fit(X, Y)
    assert_allclose(variances(model), by_definition(lambda A, B: 2 * rbf(A, B), X, NEW, ALPHA * N), rtol=1e-10)
    singular = vector(operator=np.ones((2, 2))).fit(X, Y)  # eigenvalues 0 and 2
    assert_allclose(variances(singular), variances(model), rtol=1e-10)


def test_terms_are_summed():
    model = vector(kernel=[("rbf", None), ("linear", 3 * np.eye(2))], center=False).fit(X, Y)
    expected = by_definition(lambda A, B: rbf(A, B) + 3 * linear_kernel(A, B), X, NEW, ALPHA * N)
    assert_allclose(variances(model), expected, rtol=1e-10)


def test_features_have_the_variance_of_their_kernel():
    setting = features.RandomFeatures(12, random_state=0)
    model = vector(feature_map=setting).fit(X, Y, WEIGHTS)
    expected = by_definition(
        lambda A, B: model.feature_map_(A) @ model.feature_map_(B).T, X, NEW, ALPHA * WEIGHTS.sum(), WEIGHTS
    )
    assert_allclose(variances(model), expected, rtol=1e-9)


def test_landmarks_keep_the_variance_that_they_do_not_explain():
    model = vector(feature_map=features.Landmarks(points=X[:6])).fit(X, Y)

    def projected(A, B):
        return rbf(A, X[:6]) @ np.linalg.solve(rbf(X[:6], X[:6]), rbf(X[:6], B))

    rest = 1 - np.diag(projected(NEW, NEW))
    assert_allclose(variances(model), by_definition(projected, X, NEW, ALPHA * N) + rest, rtol=1e-8)
    assert_allclose(model.novelty(FAR), 1.0)


@pytest.mark.parametrize("operator", [None, "diagonal"])
@pytest.mark.parametrize("feature_map", [None, features.RandomFeatures(30, random_state=0)], ids=["gram", "features"])
def test_a_graph_deforms_the_kernel(operator, feature_map):
    """The deformed kernel of Brouard et al. 2016, written out; operator 2 I is the same as twice the kernel."""
    unknown = np.arange(N) % 3 == 0
    targets, beta = np.where(unknown[:, None], np.nan, Y), 0.05
    M = None if operator is None else 2 * np.eye(2)
    settings = {"graph": kernels.Affinity(4), "manifold": beta, "center": False}
    model = vector(operator=M, feature_map=feature_map, **settings).fit(X, targets, WEIGHTS)
    factor = 1.0 if M is None else 2.0

    def kernel(A, B):
        if feature_map is None:
            return factor * rbf(A, B)
        return factor * model.feature_map_(A) @ model.feature_map_(B).T

    K, S = kernel(X, X), model.state_.posterior_data.graph_penalty
    weights = WEIGHTS[~unknown]
    r = beta / ALPHA

    def deformed(A, B):
        return kernel(A, B) - kernel(A, X) @ np.linalg.solve(np.eye(N) + r * S @ K, r * S @ kernel(X, B))

    expected = by_definition(deformed, X[~unknown], NEW, ALPHA * weights.sum(), weights)
    assert_allclose(variances(model), expected, rtol=1e-7)
    assert_allclose(model.novelty(X[~unknown]), 0.0)


def test_losses_that_keep_few_samples_count_all():
    sparse = vector(loss="epsilon_insensitive").fit(X, Y)
    assert len(sparse.X_fit_) < N
    assert_allclose(variances(sparse), variances(vector().fit(X, Y)), rtol=1e-10)


def test_single_precision_and_sparse_inputs_change_little():
    reference = vector().fit(X, Y).novelty(NEW)
    X32, NEW32 = X.astype(np.float32), NEW.astype(np.float32)
    single = vector(loss="huber", precision="auto").fit(X32, Y)
    assert_allclose(single.novelty(NEW32), reference, atol=1e-5)
    assert not single.novelty(X32).any()
    sparse = vector().fit(sklearn.utils._safe_indexing(np.asarray(X), np.arange(N)), Y)
    assert_allclose(sparse.novelty(NEW), reference)


def test_small_alpha_keeps_its_digits():
    """v is about the noise at samples that only inform about themselves."""
    points = np.arange(6.0)[:, None] * 100
    posterior = vector(alpha=1e-9).fit(points, np.arange(6.0)).machine_.posterior()
    assert_allclose(posterior.variances(points), 6e-9, rtol=1e-5)
    assert_allclose(posterior.loo_variances, 1.0, rtol=1e-5)


def test_a_factor_that_rounding_made_indefinite():
    values = np.array([-1e3, 1.0, 1e19])  # the first is rounding of the last
    Q = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
    L = _root((Q * values) @ Q.T)
    assert np.isfinite(L).all() and not np.triu(L, 1).any()
    assert_allclose(L @ L.T, (Q * values) @ Q.T, rtol=1e-6, atol=1e6)


# ---------------------------------------------------------------- leave-one-out


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"operator": np.array([[2.0, 1.0], [1.0, 2.0]])},
        {"feature_map": features.Landmarks(points=X[:9])},
        {"feature_map": features.RandomFeatures(12, random_state=0)},
        {"kernel": [("rbf", None), ("matern32", None)]},
    ],
    ids=["gram", "operator", "landmarks", "features", "terms"],
)
def test_leave_one_out_variances_equal_those_of_refits(settings):
    posterior = vector(**settings).fit(X, Y, WEIGHTS).machine_.posterior()
    total = WEIGHTS.sum()
    at_new = posterior.loo_variances_at(NEW)
    for i in (0, 7, 24):
        others = np.delete(np.arange(N), i)
        alpha = ALPHA * total / (total - WEIGHTS[i])  # alpha times the sum of weights is held fixed
        refit = vector(**{**settings, "alpha": alpha}).fit(X[others], Y[others], WEIGHTS[others])
        assert_allclose(posterior.loo_variances[i], variances(refit, X[[i]])[0], rtol=1e-7)
        assert_allclose(at_new[:, i], variances(refit), rtol=1e-7)


@pytest.mark.parametrize("feature_map", [None, features.RandomFeatures(12, random_state=0)], ids=["gram", "features"])
def test_leave_one_out_under_a_graph_keeps_the_sample_without_its_output(feature_map):
    settings = {"graph": kernels.Affinity(4), "center": False, "feature_map": feature_map}
    posterior = vector(manifold=0.05, **settings).fit(X, Y).machine_.posterior()
    targets, factor = Y.copy(), N / (N - 1)
    targets[5] = np.nan
    refit = vector(**settings, manifold=0.05 * factor, alpha=ALPHA * factor).fit(X, targets)
    assert_allclose(posterior.loo_variances[5], variances(refit, X[[5]])[0], rtol=1e-7)
    assert_allclose(posterior.loo_variances_at(NEW)[:, 5], variances(refit), rtol=1e-7)


def test_the_threshold_is_half_way_beyond_the_most_isolated_sample():
    points = np.r_[np.linspace(0, 1, 20), 1.5][:, None]
    model = vector(gamma=5.0).fit(points, np.sin(points[:, 0]))
    posterior = model.machine_.posterior()
    without = vector(gamma=5.0, alpha=ALPHA * 21 / 20).fit(points[:-1], np.sin(points[:-1, 0]))
    lowest = variances(model, points).max()
    isolated = (variances(without, points[-1:])[0] - lowest) / (1 - lowest)
    assert_allclose(posterior.threshold, (1 + isolated) / 2, rtol=1e-8)
    assert (posterior.loo_novelty <= isolated + 1e-12).all()


# ---------------------------------------------------------------- contract

CURVES = np.sin(2 * X[:, :1] + np.linspace(0, 4, 9))
QUANTILES = {"levels": (0.2, 0.8), "kernel": "rbf", "gamma": GAMMA, "alpha": 0.01}
MODELS = {
    "vector": (vector(), Y),
    "vector, chosen": (OperatorKernelRegressor("rbf"), Y),
    "vector, robust": (vector(loss="huber", operator="covariance"), Y),
    "vector, gaps": (vector(), np.where(RNG.random(Y.shape) < 0.2, np.nan, Y)),
    "vector, landmarks": (vector(feature_map=features.Landmarks(8, method="pivoted")), Y),
    "vector, per output": (vector(alpha="auto", alpha_per_output=True), Y),
    "linear": (vector(kernel="linear", alpha=1e-3), Y),
    "polynomial": (vector(kernel="poly", alpha=1e-3), Y),
    "object": (vector(kernel=kernels.MetricKernel()), Y),
    "curves": (FunctionalRegressor("rbf", gamma=GAMMA, alpha=1e-3), CURVES),
    "curves, decay": (FunctionalRegressor("rbf", gamma=GAMMA, alpha=1e-3, operator=operators.Decay()), CURVES),
    "quantiles": (QuantileRegressor(**QUANTILES), Y),
    "quantiles in order": (QuantileRegressor(**QUANTILES, non_crossing=True), Y[:, 0]),
    "labels": (StructuredPredictor("rbf", gamma=GAMMA, alpha=ALPHA), np.where(Y[:, 0] > 0, "up", "down")),
    "label sets": (StructuredPredictor("rbf", gamma=GAMMA, alpha=ALPHA, output_loss="hamming"), (Y > 0).astype(int)),
}


@pytest.fixture(params=MODELS)
def case(request):
    model, y = MODELS[request.param]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sklearn.clone(model).fit(X, y), y


def fit_again(case, X, y, **settings):
    model = sklearn.clone(case[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.set_params(**settings).fit(X, y)


def test_zero_at_samples_one_far_away(case):
    novelty = case[0].novelty(NEW)
    assert novelty.shape == (7,) and (novelty >= 0).all() and (novelty <= 1).all()
    assert_array_equal(case[0].novelty(X), 0.0)
    assert_allclose(case[0].novelty(FAR), 1.0, rtol=1e-12)


def test_the_order_of_samples_and_repeated_tables_change_nothing(case):
    model, y = case
    if "auto" in (model.alpha, getattr(model, "kernel", None)) or hasattr(getattr(model, "feature_map", None), "fit"):
        pytest.skip("settings or landmarks are selected from the samples")
    order, novelty = RNG.permutation(N), model.novelty(NEW)
    assert_allclose(fit_again(case, X[order], y[order]).novelty(NEW), novelty, atol=1e-9)
    twice = fit_again(case, np.vstack([X, X]), np.concatenate([y, y]))
    assert_allclose(twice.novelty(NEW), novelty, atol=1e-9)


def test_the_unit_of_outputs_changes_nothing(case):
    model, y = case
    if y.dtype.kind != "f" or "covariance" in (model.get_params().get("operator"),):
        pytest.skip("outputs have no unit, or the operator has theirs")
    assert_allclose(fit_again(case, X, 1024 * y).novelty(NEW), model.novelty(NEW), atol=1e-6)


def test_pickles_and_files_have_no_factors_and_give_the_same_bits(case, tmp_path):
    model = pickle.loads(pickle.dumps(case[0]))  # without factors
    size, novelty = len(pickle.dumps(model)), model.novelty(NEW)
    assert len(pickle.dumps(model)) == size
    assert_array_equal(pickle.loads(pickle.dumps(model)).novelty(NEW), novelty)
    save(model, tmp_path / "model.hl")
    assert_array_equal(load(tmp_path / "model.hl").novelty(NEW), novelty)


def test_blocks_of_queries_change_nothing(case):
    many = np.vstack([NEW] * 60)
    expected = case[0].novelty(many)
    with sklearn.config_context(working_memory=0.01):
        assert_allclose(case[0].novelty(many), expected, atol=1e-12)


@pytest.mark.parametrize("name", ["frame", "frame of columns", "polars", "vector, strings", "scikit-fda, inputs"])
def test_inputs_in_containers(name):
    if name not in stored_models.cases():
        pytest.skip("an optional package is missing")
    model, inputs, outputs = stored_models.cases()[name]
    model = sklearn.clone(model).fit(inputs, outputs)
    assert_array_equal(model.novelty(inputs), 0.0)


def test_a_repeated_sample_is_one_of_twice_the_weight():
    repeated = vector().fit(np.vstack([X, X[:1]]), np.vstack([Y, Y[:1]]))
    weighted = vector(alpha=ALPHA).fit(X, Y, 1.0 + (np.arange(N) == 0))
    assert_allclose(repeated.novelty(NEW), weighted.novelty(NEW), atol=1e-12)


def test_screened_samples_do_not_count():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(60, 3))
    y = np.sin(inputs @ rng.normal(size=3)) + 0.1 * rng.normal(size=60)
    y[::10] += 10.0
    model = OperatorKernelRegressor("rbf", gamma=GAMMA, loss="huber").fit(inputs, y)
    kept = np.setdiff1d(np.arange(60), model.screened_)
    assert len(kept) == 54
    expected = by_definition(rbf, inputs[kept], inputs[:9], model.state_.posterior_data.penalty)
    assert_allclose(variances(model, inputs[:9]), expected, rtol=1e-6)
    assert model.novelty(inputs[model.screened_]).max() > 0.05  # some are far from the others


def test_quantiles_of_several_outputs_have_the_mean_of_their_kernels():
    targets = np.c_[Y, np.full(N, np.nan)]
    with pytest.warns(UserWarning, match="output 2 has no observed value"):
        model = QuantileRegressor(**QUANTILES).fit(X, targets)
    parts = [QuantileRegressor(**QUANTILES).fit(X, column) for column in Y.T]
    expected = np.mean([part.novelty(NEW) for part in parts], axis=0)
    assert_allclose(model.novelty(NEW), expected, atol=1e-10)
    threshold = np.mean([part.machine_.posterior().threshold for part in parts])
    assert_allclose(model.machine_.posterior().threshold, threshold)
    assert model.machine_.posterior_size == N


# ---------------------------------------------------------------- limits


def test_one_sample():
    model = vector().fit(X[:1], Y[:1])
    assert_array_equal(model.novelty(X[:1]), 0.0)
    assert_allclose(model.novelty(FAR), 1.0)
    assert 0 < model.novelty(X[:1] + 1)[0] < 1


def test_constant_inputs():
    same = np.ones((N, 2))
    model = vector().fit(same, Y)
    assert_array_equal(model.novelty(same), 0.0)
    assert_array_equal(model.novelty(FAR), 1.0)


def test_a_kernel_that_is_zero_at_all_samples():
    model = vector(kernel="linear").fit(np.ones((N, 2)), Y)  # its origin is the mean
    assert_array_equal(model.novelty([[1.0, 1.0], [1.0, 2.0]]), [0.0, 1.0])


def test_a_penalty_beyond_which_samples_say_nothing():
    model = vector(alpha=1e16).fit(X, Y)
    assert_array_equal(model.novelty(np.vstack([X, FAR])), 0.0)


def test_queries_that_overflow_are_far():
    model = vector(kernel="linear").fit(X, Y)
    assert_array_equal(model.novelty([[1e200, 0.0]]), 1.0)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "poly", "cosine", "auto"])
@pytest.mark.parametrize("center", [True, False])
def test_columns_that_were_constant_are_seen(kernel, center):
    """They change nothing at the samples, and inputs far from the constant are new."""
    with_column = np.c_[X, np.full(N, 3.0)]
    settings = {"kernel": kernel, "gamma": "auto" if kernel == "auto" else GAMMA, "scale_inputs": True}
    model = vector(**settings, center=center).fit(with_column, Y)
    plain = vector(**settings, center=center).fit(X, Y)
    assert_array_equal(model.novelty(with_column), 0.0)
    assert_allclose(model.novelty(np.c_[NEW, np.full(7, 3.0)]), plain.novelty(NEW), atol=1e-6)
    assert_allclose(model.novelty(np.c_[X, np.full(N, 3e6)]), 1.0, atol=1e-6)
    assert_allclose(model.predict(np.c_[X, np.full(N, 3e6)]), model.predict(with_column))


@pytest.mark.parametrize("kernel", ["rbf", "matern32", "linear", "laplacian"])
@pytest.mark.parametrize("size", [1e120, 1e200, -1e300])
def test_inputs_that_overflow_are_far_where_they_are_predicted(kernel, size):
    model = vector(kernel=kernel, gamma="auto", scale_inputs=True).fit(X, Y)
    query = np.array([[size, 0.0], X[0]])
    assert np.isfinite(model.predict(query)).all()
    assert_array_equal(model.novelty(query), [1.0, 0.0])


# ---------------------------------------------------------------- refusals


def test_models_without_novelty_say_why():
    gram = vector(kernel="precomputed").fit(rbf(X, X), Y)
    with pytest.raises(ValueError, match=r"k\(x, x\) of new inputs.*precomputed.*callable"):
        gram.novelty(rbf(NEW, X))
    landmarks = vector(kernel="precomputed", feature_map=5).fit(rbf(X, X), Y)
    with pytest.raises(ValueError, match=r"k\(x, x\) of new inputs"):
        landmarks.novelty(rbf(NEW, X))
    with pytest.raises(ValueError, match="Ridge has no kernel; set regressor=None"):
        FunctionalRegressor(regressor=Ridge()).fit(X, CURVES).novelty(NEW)
    with pytest.raises(ValueError, match="sums over rows, not samples; fit in memory"):
        vector(feature_map=5).partial_fit(X, Y).novelty(NEW)
    field = vector(kernel=kernels.CurlFreeKernel(), gamma="median").fit(X, Y)
    with pytest.raises(ValueError, match="values are numbers"):
        field.novelty(NEW)
    with pytest.raises(ValueError, match="requires a kernel machine"):
        baselines.FunctionalNadarayaWatson().fit(X, CURVES).novelty(NEW)
    assert gram.machine_.posterior_size is field.machine_.posterior_size is None
    with pytest.raises(ValueError, match="3 features"):
        vector().fit(X, Y).novelty(np.ones((2, 3)))
    with pytest.raises(sklearn.exceptions.NotFittedError):
        vector().novelty(NEW)
