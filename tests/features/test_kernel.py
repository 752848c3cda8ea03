"""Features in place of Gram matrices: with as many landmarks as samples every estimator is the exact one."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hilbertlearn import (
    FunctionalRegressor,
    KernelAutoencoder,
    LinkPredictor,
    OperatorKernelRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    features,
    kernels,
    losses,
    spaces,
)
from hilbertlearn._utils import validation
from hilbertlearn.core.terms import DeformedFeatureKernel, DeformedGram, DeformedKernel, FeatureGram, SeparableTerm
from hilbertlearn.data.functions import IrregularFunctions
from hilbertlearn.selection import feature_search
from hilbertlearn.training import samples as samples_module

N, GAMMA = 60, 0.2
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 4))
T = rng.normal(size=(15, 4))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2], X[:, 3]]) + 0.1 * rng.normal(size=(N, 3))
WEIGHTS = rng.integers(0, 4, size=N).astype(float)
GAPS = np.where(rng.random(Y.shape) < 0.2, np.nan, Y)
FEW = np.where(np.arange(N)[:, None] < 25, Y, np.nan)
GRID = np.linspace(0, 1, 15)
CURVES = np.sin(3 * (GRID + X[:, :1])) + 0.05 * rng.normal(size=(N, 15))
HOLES = np.where(rng.random(CURVES.shape) < 0.3, np.nan, CURVES)
IRREGULAR = IrregularFunctions(
    [np.sort(rng.random(5)) for _ in range(N)], [np.sin(3 * x) * np.ones(5) for x in X[:, 0]]
)
SETS = (X[:, :3] > 0).astype(int)
WORDS = ["".join("ab"[int(v)] for v in row > 0) for row in X]
DIAGONAL = np.diag([1.0, 2.0, 3.0])

VECTORS, FUNCTIONS, OBJECTS = OperatorKernelRegressor, FunctionalRegressor, StructuredPredictor
TWO = [("rbf", DIAGONAL), ("linear", None)]
CASES = {
    "squared": (VECTORS, {}, Y, None),
    "weights": (VECTORS, {}, Y, WEIGHTS),
    "operator": (VECTORS, {"operator": "covariance"}, Y, WEIGHTS),
    "gaps": (VECTORS, {}, GAPS, None),
    "gaps under an operator": (VECTORS, {"operator": "covariance"}, GAPS, WEIGHTS),
    "gaps, diagonal": (VECTORS, {"operator": DIAGONAL}, GAPS, None),
    "metric": (VECTORS, {"output_metric": "covariance"}, Y, None),
    "learnt operator": (VECTORS, {"operator": "learned"}, Y, None),
    "sum of terms": (VECTORS, {"kernel": [("rbf", None), ("linear", None)]}, Y, None),
    "sum with gaps": (VECTORS, {"kernel": [("rbf", None), ("linear", None)]}, GAPS, None),
    "sum with operators": (VECTORS, {"kernel": TWO}, Y, WEIGHTS),
    "graph": (VECTORS, {"manifold": 0.01}, FEW, None),
    "graph and operator": (VECTORS, {"manifold": 0.01, "operator": "covariance"}, FEW, None),
    "graph and huber": (VECTORS, {"manifold": 0.01, "loss": "huber"}, FEW, None),
    "curves": (FUNCTIONS, {}, CURVES, None),
    "curves with gaps": (FUNCTIONS, {"tol": 1e-18, "solver": "conjugate_gradient"}, HOLES, None),
    "pointwise huber": (FUNCTIONS, {"loss": losses.Huber(0.1, p=1)}, HOLES, None),
    "dictionary": (FUNCTIONS, {"space": spaces.Fourier(5)}, CURVES, WEIGHTS),
    "dictionary, gaps, huber": (FUNCTIONS, {"space": spaces.Fourier(5), "loss": "huber"}, HOLES, None),
    "irregular": (FUNCTIONS, {}, IRREGULAR, None),
    "sets": (OBJECTS, {}, SETS, None),
    "sets by F1": (OBJECTS, {"output_loss": "f1"}, SETS, WEIGHTS),
    "output kernel": (OBJECTS, {"output_kernel": "rbf"}, Y, None),
    "output kernel, huber": (OBJECTS, {"output_kernel": "rbf", "loss": "huber"}, Y, WEIGHTS),
    "output kernel and loss": (OBJECTS, {"output_kernel": "rbf", "output_loss": "hamming"}, SETS, None),
    "words": (OBJECTS, {}, WORDS, WEIGHTS),
    "objects under a graph": (OBJECTS, {"manifold": 0.01}, SETS, None),
}
LOSSES = {
    "huber": "huber",
    "pointwise huber": losses.Huber(0.3, p=1),
    "epsilon-insensitive": losses.EpsilonInsensitive(0.1),
    "largest entry": losses.EpsilonInsensitive(0.1, p=np.inf),
    "epsilon-SVR": losses.EpsilonSVR(0.1),
    "norm": losses.Norm(),
    "power": losses.PowerNorm(1.5),
    "log": losses.LogNorm(),
    "ball": losses.Ball(1.0),
    "hinge": losses.Hinge(),
}


def pair(estimator, settings, y, weights, feature_map=N):
    """The exact model, and that of features, as near to their optima as rounding lets them: a gap leaves its root."""
    settings = {"kernel": "rbf", "gamma": GAMMA, "alpha": 1e-3, "tol": 1e-15, "max_iter": 500, **settings}
    exact, approximate = (estimator(feature_map=given, **settings) for given in (None, feature_map))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return exact.fit(X, y, sample_weight=weights), approximate.fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("case", CASES)
def test_all_landmarks_are_the_exact_model(case):
    exact, approximate = pair(*CASES[case])
    assert approximate.feature_map_.n_components if len(approximate.state_.kernels) == 1 else True
    assert_allclose(
        approximate.machine_.coordinates(T),
        exact.machine_.coordinates(T),
        atol=1e-8 * np.abs(exact.machine_.coordinates(T)).max(),
    )
    assert approximate.dual_gap_ <= 1e-10
    if isinstance(exact, StructuredPredictor):
        assert_array_equal(np.array(approximate.predict(T)), np.array(exact.predict(T)))
        assert_allclose(approximate.weights(T), exact.weights(T), atol=1e-8)
    if exact.state_.loo_data is not None:
        assert_allclose(approximate.machine_.loo_residuals(), exact.machine_.loo_residuals(), atol=1e-8)
    assert_array_equal(approximate.outlier_scores_ > 2, exact.outlier_scores_ > 2)


@pytest.mark.parametrize("operator", [None, "covariance"], ids=["identity", "operator"])
@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_on_features(name, operator):
    exact, approximate = pair(VECTORS, {"loss": LOSSES[name], "operator": operator}, Y, None)
    assert_allclose(approximate.predict(T), exact.predict(T), atol=1e-8 * np.abs(exact.predict(T)).max())
    assert approximate.dual_gap_ <= 1e-10


@pytest.mark.parametrize("setting", [20, features.Landmarks(20, method="uniform"), features.RandomFeatures(30)])
def test_ridge_on_features_is_ridge_of_the_features(setting):
    model = VECTORS("rbf", gamma=GAMMA, alpha=1e-3, feature_map=setting).fit(X, Y)
    Z = model.feature_map_(X)
    reference = Ridge(alpha=1e-3 * N, fit_intercept=False).fit(Z, Y - Y.mean(axis=0))
    assert_allclose(model.predict(T), reference.predict(model.feature_map_(T)) + Y.mean(axis=0), atol=1e-10)
    assert_allclose(model.dual_coef_, (Y - model.predict(X)) / (1e-3 * N), atol=1e-8)


COUPLED = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 0.5]])


@pytest.mark.parametrize(
    ("estimator", "settings", "y", "weights"),
    [
        (VECTORS, {}, Y, None),
        (VECTORS, {"operator": COUPLED}, Y, WEIGHTS),
        (VECTORS, {"operator": DIAGONAL}, GAPS, WEIGHTS),
        (VECTORS, {"center": False}, GAPS, None),
        (FUNCTIONS, {"center": True}, CURVES, None),
    ],
    ids=["squared", "operator and weights", "gaps", "not centred", "curves"],
)
def test_leave_one_out_on_features_is_refits(estimator, settings, y, weights):
    settings = {"alpha": 1e-2, **settings}
    model = estimator("rbf", gamma=GAMMA, feature_map=25, **settings).fit(X, y, sample_weight=weights)
    left, own = model.loo_residuals(), np.ones(N) if weights is None else weights
    fixed = Prepared(model.feature_map_)
    for i in np.flatnonzero(own)[:8]:
        others = np.arange(N) != i
        alpha = settings["alpha"] * own.sum() / own[others].sum()  # alpha times the sum of weights stays
        refit = estimator(feature_map=fixed, **{**settings, "alpha": alpha})
        refit.fit(X[others], y[others], sample_weight=own[others])
        assert_allclose(left[i], y[i] - refit.predict(X[i : i + 1])[0], atol=1e-9)


class Prepared(TransformerMixin, BaseEstimator):
    """A feature map that is what it is, whatever it is fitted to."""

    def __init__(self, feature_map):
        self.feature_map = feature_map

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return self.feature_map(X)


def test_a_graph_on_features_is_the_dense_deformed_kernel():
    Z, S = rng.normal(size=(30, 8)), None
    graph = kernels.Affinity(n_neighbors=4)
    S = graph.penalty(Z, on_features=True)
    assert_allclose(S.toarray(), graph.penalty(Z @ Z.T).toarray(), atol=1e-12)
    rows, A = np.arange(0, 30, 2), rng.normal(size=(15, 2))
    dense = DeformedGram(DeformedKernel(Z @ Z.T, S), 0.3, rows).term_for_alpha(0.1, None)
    thin = DeformedGram(DeformedFeatureKernel(Z, S), 0.3, rows).term_for_alpha(0.1, None)
    assert_allclose(thin.apply(A), dense.apply(A), atol=1e-10)
    K = Z @ Z.T
    by_hand = K - K @ np.linalg.solve(np.eye(30) + 3 * S.toarray() @ K, 3 * S.toarray() @ K)
    assert_allclose(thin.apply(A), by_hand[np.ix_(rows, rows)] @ A, atol=1e-9)
    assert_allclose(Z @ thin.expand(A), K @ dense.expand(A), atol=1e-9)


def test_gram_of_features_is_the_matrix():
    Z, root, A = rng.normal(size=(12, 5)), rng.uniform(0.5, 2, 12), rng.normal(size=(12, 3))
    gram, other = FeatureGram(Z).scaled(root), FeatureGram(rng.normal(size=(12, 4)))
    K = root[:, None] * (Z @ Z.T) * root
    assert_allclose(gram.dense(), K)
    assert_allclose(gram.apply(A), K @ A)
    assert_allclose(gram.apply_from([1, 5], A[:2]), K[:, [1, 5]] @ A[:2])
    assert_allclose(gram.diagonal, K.diagonal())
    assert_allclose(gram.take([0, 3, 4]).dense(), K[np.ix_([0, 3, 4], [0, 3, 4])])
    assert_allclose(gram.norm, np.linalg.norm(K, 2))
    assert_allclose(gram.times(3.0).dense(), 3 * K)
    assert_allclose(gram.plus(other).dense(), K + other.dense())
    assert_allclose(gram.dot(other), np.vdot(K, other.dense()))
    values, Q = gram.spectrum()
    assert_allclose((Q * values) @ Q.T, K, atol=1e-10)
    M = np.cov(rng.normal(size=(3, 9)))
    for use in ("once", "iterations", "path"):
        for operator in (None, M):
            term = SeparableTerm(gram, operator)
            solved = term.factor(use).solve(A, 0.7, 2.5)
            assert_allclose(0.7 * solved + K @ solved @ (np.eye(3) if operator is None else M) / 2.5, A, atol=1e-10)
    rows = np.array([1, 4, 11])
    for use in ("once", "path"):
        every = list(SeparableTerm(gram).factor(use).loo_residuals(A, None, root[:, None], np.array([0.1, 2.0])))
        some = list(SeparableTerm(gram).factor(use).loo_residuals(A, None, root[:, None], np.array([0.1, 2.0]), rows))
        for one, other in zip(every, some, strict=True):
            assert_allclose(other, one[rows])


def test_residuals_of_some_rows_are_those_of_all():
    exact = SeparableTerm(rbf_kernel(X, gamma=GAMMA))
    shift, root, rows = rng.normal(size=Y.shape), rng.uniform(0.5, 2, (N, 1)), np.array([0, 7, 8, 40])
    terms = [exact, exact.with_operator(np.cov(Y.T)), exact.with_mask(np.isfinite(GAPS))]
    for term in terms:
        for use in ("once", "path"):
            every = term.factor(use).loo_residuals(Y, shift, root, np.array([0.3, 1.0]))
            some = term.factor(use).loo_residuals(Y, shift, root, np.array([0.3, 1.0]), rows)
            for one, other in zip(every, some, strict=True):
                assert_allclose(other, one[rows], atol=1e-12)


# ---------------------------------------------------------------- choices


def test_alpha_is_the_best_by_leave_one_out_on_features():
    model = VECTORS("rbf", gamma=GAMMA, feature_map=20).fit(X, Y)
    Z, alphas = (
        model.feature_map_(X),
        np.unique(model.search_results_["alpha"][model.search_results_["n_samples"] == N]),
    )
    spread = Y.std(axis=0)

    def error(alpha):
        residuals = []
        for i in range(N):
            others = np.arange(N) != i
            mean = Y[others].mean(axis=0)
            W = np.linalg.solve(Z[others].T @ Z[others] + alpha * N * np.eye(20), Z[others].T @ (Y[others] - mean))
            residuals.append(Y[i] - mean - Z[i] @ W)
        return np.mean(np.sqrt(np.mean(np.square(residuals), axis=0)) / spread)

    assert error(model.alpha_) <= min(map(error, alphas)) * (1 + 2e-4)


def test_the_kernel_is_that_of_the_exact_choice():
    exact, approximate = VECTORS(feature_map=None).fit(X, Y), VECTORS(feature_map=N).fit(X, Y)
    assert approximate.gamma_ == exact.gamma_
    assert_allclose(approximate.kernel_.shares, exact.kernel_.shares, rtol=1e-12)


@pytest.fixture
def few_are_exact(monkeypatch):
    """Features from 40 samples on, from 5 landmarks on."""
    monkeypatch.setattr(samples_module, "LARGEST_EXACT", 40)
    monkeypatch.setattr(feature_search, "_FIRST", 5)


def test_automatic_landmarks_grow_while_the_error_falls(few_are_exact):
    inputs = np.linspace(-1, 1, 300)[:, None]
    rough, smooth = np.sin(20 * inputs), inputs + 0.3 * rng.normal(size=(300, 1))
    models = [VECTORS("rbf", gamma=g).fit(inputs, y) for g, y in ((50.0, rough), (0.05, smooth))]
    assert models[0].feature_map_.n_components > models[1].feature_map_.n_components
    for model in models:
        assert f"on {model.feature_map_.n_components} features" in model.summary()
        assert "trace left" in model.summary()
    grid = np.linspace(-0.95, 0.95, 50)[:, None]
    assert np.abs(models[0].predict(grid) - np.sin(20 * grid)).max() < 0.01


def test_few_samples_are_exact():
    assert VECTORS().fit(X, Y).feature_map_ is None


def test_kernels_with_operators_of_their_own_stay_exact(few_are_exact):
    field = VECTORS(kernels.CurlFreeKernel(0.3), alpha=1e-2).fit(X[:, :3], Y)
    assert field.feature_map_ is None
    with pytest.raises(ValueError, match="feature_map requires kernels whose values are numbers"):
        VECTORS(kernels.CurlFreeKernel(0.3), alpha=1e-2, feature_map=10).fit(X[:, :3], Y)


@pytest.mark.parametrize("loss", ["squared", "huber", "epsilon_insensitive"])
def test_everything_automatic_on_features(few_are_exact, loss):
    model, exact = VECTORS(loss=loss).fit(X, Y), VECTORS(loss=loss, feature_map=None).fit(X, Y)
    truth = np.column_stack([np.sin(T[:, 0]), T[:, 1] * T[:, 2], T[:, 3]])
    assert model.feature_map_ is not None
    assert np.mean((model.predict(T) - truth) ** 2) < 2 * np.mean((exact.predict(T) - truth) ** 2) + 0.01


def test_paths_on_features():
    alphas = [1e-1, 1e-3]
    exact = list(VECTORS("rbf", gamma=GAMMA, feature_map=None).fit_path(X, Y, alphas))
    for one, other in zip(exact, VECTORS("rbf", gamma=GAMMA, feature_map=N).fit_path(X, Y, alphas), strict=True):
        assert_allclose(other.predict(T), one.predict(T), atol=1e-8)
    for cv in ("loo", 3):
        chosen = [
            RegularizationPathCV(VECTORS("rbf", gamma=GAMMA, feature_map=given), alphas=[1e-4, 1e-2, 1.0], cv=cv)
            for given in (None, N)
        ]
        one, other = (model.fit(X, Y) for model in chosen)
        assert one.best_estimator_.alpha_ == other.best_estimator_.alpha_
        assert_allclose(other.predict(T), one.predict(T), atol=1e-8)


# ---------------------------------------------------------------- transformers


@pytest.mark.parametrize(
    "transformer",
    [Nystroem(n_components=20, gamma=GAMMA, random_state=0), RBFSampler(n_components=40, random_state=0),
     make_pipeline(StandardScaler(), Nystroem(n_components=10, random_state=0))],
    ids=["nystroem", "sampler", "pipeline"],
)  # fmt: skip
def test_any_transformer(transformer):
    model = VECTORS(alpha=1e-3, feature_map=transformer).fit(X, Y)
    fitted = clone(transformer).fit(X)
    reference = Ridge(alpha=1e-3 * N, fit_intercept=False).fit(fitted.transform(X), Y - Y.mean(axis=0))
    assert_allclose(model.predict(T), reference.predict(fitted.transform(T)) + Y.mean(axis=0), atol=1e-9)
    automatic = VECTORS(feature_map=transformer).fit(X, Y)
    assert automatic.alpha_ > 0 and automatic.gamma_ is None


def test_texts_by_a_vectoriser():
    texts = ["a red apple", "a green apple", "the red car", "the blue car", "an apple pie", "a fast car"]
    labels = ["fruit", "fruit", "car", "car", "fruit", "car"]
    model = StructuredPredictor(feature_map=TfidfVectorizer(), alpha=1e-2).fit(texts, labels)
    assert list(model.predict(["an apple", "my car"])) == ["fruit", "car"]


def test_columns_of_a_frame_by_a_transformer():
    pandas = pytest.importorskip("pandas")
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    frame = pandas.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] > 0, "a", "b")})
    columns = make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(), ["kind"]))
    y = X[:, 0] + 3 * (X[:, 1] > 0)
    model = VECTORS(feature_map=columns, alpha=1e-4).fit(frame, y)
    assert model.score(frame, y) > 0.99
    assert list(model.predict(frame[:3])) == pytest.approx(list(y[:3]), abs=0.1)


def test_features_of_kernel_values_and_of_objects():
    K, K_new = rbf_kernel(X, gamma=GAMMA), rbf_kernel(T, X, gamma=GAMMA)
    given = VECTORS("precomputed", alpha=1e-3, feature_map=features.Landmarks(20)).fit(K, Y)
    by_name = VECTORS("rbf", gamma=GAMMA, alpha=1e-3, feature_map=features.Landmarks(20)).fit(X, Y)
    assert_allclose(given.predict(K_new), by_name.predict(T), atol=1e-8)
    for weights in (None, WEIGHTS):  # all landmarks, in an order of their own
        models = [VECTORS("precomputed", alpha=1e-3, feature_map=r).fit(K, Y, weights) for r in (None, N)]
        assert_allclose(models[1].predict(K_new), models[0].predict(K_new), atol=1e-8)
    exact, approximate = (VECTORS(kernels.NGrams(), alpha=1e-3, feature_map=given).fit(WORDS, Y) for given in (None, N))
    assert_allclose(approximate.predict(WORDS[:5]), exact.predict(WORDS[:5]), atol=1e-8)


def test_settings_can_be_searched_and_models_pickled():
    model = VECTORS("rbf", gamma=GAMMA, alpha=1e-3, feature_map=features.Landmarks(10))
    search = GridSearchCV(model, {"feature_map__n_components": [5, 40]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"feature_map__n_components": 40}
    fitted = search.best_estimator_
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(T), fitted.predict(T))
    fitted.set_params(feature_map=None)
    assert fitted.feature_map_.n_components == 40


def test_only_landmarks_are_kept():
    model = VECTORS("rbf", gamma=GAMMA, alpha=1e-3, loss="huber", feature_map=10).fit(X, Y)
    assert len(model.X_fit_) == 10
    assert_array_equal(model.X_fit_, X[model.state_.columns])


@pytest.mark.parametrize(
    ("setting", "error", "message"),
    [
        ("landmarks", ValueError, "feature_map: unknown name 'landmarks'"),
        (0, ValueError, "feature_map: the number of landmarks must be > 0"),
        (Nystroem, TypeError, "pass Nystroem()"),
        (object(), TypeError, "feature_map must be None, a number of landmarks"),
    ],
)
def test_bad_settings(setting, error, message):
    with pytest.raises(error, match=message.replace("(", r"\(").replace(")", r"\)")):
        VECTORS(feature_map=setting).fit(X, Y)


class Broken(TransformerMixin, BaseEstimator):
    def __init__(self, how="rows"):
        self.how = how

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        if self.how == "rows":
            return X[:-1]
        return np.where(X.mean() < X, np.nan, X)


@pytest.mark.parametrize(("how", "message"), [("rows", "features for each of"), ("nan", "NaN or infinity")])
def test_feature_maps_that_fail_leave_the_model_alone(how, message):
    model = VECTORS("rbf", gamma=GAMMA, alpha=1e-3).fit(X, Y)
    before = model.predict(T)
    model.set_params(feature_map=Broken(how))
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    assert_array_equal(model.predict(T), before)


def test_a_transformer_is_no_part_of_a_sum():
    with pytest.raises(ValueError, match="takes the place of one kernel"):
        VECTORS([("rbf", None), ("linear", None)], feature_map=Nystroem()).fit(X, Y)


def test_the_exact_problem_beyond_memory_is_refused_and_features_are_not(monkeypatch):

    monkeypatch.setattr(validation, "_physical_memory", lambda: 8.0 * N**2)
    with pytest.raises(ValueError, match="feature_map"):
        VECTORS("rbf", gamma=GAMMA, alpha=1e-3, feature_map=None).fit(X, Y)
    approximate = VECTORS("rbf", gamma=GAMMA, alpha=1e-3, feature_map=20).fit(X, Y)
    assert approximate.score(X, Y) > 0.5


# ---------------------------------------------------------------- links


@pytest.mark.parametrize("settings", [{}, {"center": True}, {"similarities": None, "loss": "hinge"}], ids=str)
def test_links_on_features(settings):
    close = (np.abs(X[:, :1] - X[:, 0]) < 0.4).astype(int) - np.eye(N, dtype=int)
    exact, approximate = (
        LinkPredictor("rbf", gamma=GAMMA, alpha=1e-2, feature_map=given, tol=1e-10, **settings).fit(X, close)
        for given in (None, N)
    )
    assert approximate.model_.feature_map_.n_components == N
    assert_allclose(approximate.decision_function(T), exact.decision_function(T), atol=1e-8)


def test_links_take_landmarks_only():
    close = (np.abs(X[:, :1] - X[:, 0]) < 0.4).astype(int) - np.eye(N, dtype=int)
    with pytest.raises(ValueError, match="links take landmarks"):
        LinkPredictor(feature_map=Nystroem()).fit(X, close)


# ---------------------------------------------------------------- autoencoders


def test_autoencoders_on_landmarks():
    exact, approximate = (
        KernelAutoencoder(2, gamma=GAMMA, alpha=1e-4, feature_map=given, tol=1e-9).fit(X) for given in (None, N)
    )
    assert_allclose(approximate.reconstruction_error_, exact.reconstruction_error_, rtol=1e-4)
    few = KernelAutoencoder(2, gamma=GAMMA, alpha=1e-4, feature_map=15).fit(X)
    assert few.X_fit_.shape == (15, 4) and few.inverse_transform(few.transform(T)).shape == (15, 15)
    K, L = rbf_kernel(X, gamma=GAMMA), few.pivots_
    assert_allclose(
        few.coordinates(X) @ few.coordinates(X).T, K[:, L] @ np.linalg.solve(K[np.ix_(L, L)], K[L]), atol=1e-8
    )
    with pytest.raises(ValueError, match="decoded by landmarks"):
        KernelAutoencoder(2, feature_map=Nystroem()).fit(X)


# ---------------------------------------------------------------- parts of the samples, sums of kernels


@pytest.mark.parametrize("feature_map", [None, 25], ids=["exact", "landmarks"])
@pytest.mark.parametrize("kernel", [[("rbf", None), ("linear", None)], [("linear", None), ("rbf", None)]], ids=str)
def test_leave_one_out_of_a_sum_of_kernels_is_refits(kernel, feature_map):
    """The kernel of each fit is that of all samples."""
    K = [rbf_kernel(X, gamma=GAMMA), X @ X.T]
    model = VECTORS(kernel, gamma=GAMMA, alpha=1e-2, center=False, feature_map=feature_map).fit(X, Y)
    left = model.loo_residuals()
    if feature_map is not None:
        K = [Z @ Z.T for Z in (one(X) for one in model.feature_map_)]
    G = sum(K)
    for i in range(6):
        others = np.arange(N) != i
        solved = np.linalg.solve(G[np.ix_(others, others)] + 1e-2 * N * np.eye(N - 1), Y[others])
        assert_allclose(left[i], Y[i] - G[i, others] @ solved, atol=1e-9)


@pytest.mark.parametrize("drop", [False, True])
def test_folds_on_landmarks_are_the_same_for_kernel_values_and_names(drop):
    weights = WEIGHTS if drop else None
    found = [
        RegularizationPathCV(
            VECTORS(kernel, gamma=GAMMA, feature_map=8), [1e-3, 1e-1], cv=4, scoring="neg_mean_squared_error"
        ).fit(inputs, Y, sample_weight=weights)
        for kernel, inputs in (("rbf", X), ("precomputed", rbf_kernel(X, gamma=GAMMA)))
    ]
    assert_allclose(found[0].errors_, found[1].errors_, atol=1e-8)


def test_a_sum_of_kernel_values_on_landmarks_with_samples_that_do_not_count():
    K, K_new = rbf_kernel(X, gamma=GAMMA), rbf_kernel(T, X, gamma=GAMMA)
    both = [("precomputed", DIAGONAL), ("precomputed", None)]
    exact, approximate = (
        VECTORS(both, alpha=1e-2, feature_map=given, tol=1e-10).fit(K, Y, sample_weight=WEIGHTS) for given in (None, N)
    )
    assert_allclose(approximate.predict(K_new), exact.predict(K_new), atol=1e-7)


def test_landmarks_grow_with_gaps_under_an_operator_too(few_are_exact):
    inputs = np.linspace(-1, 1, 200)[:, None]
    y = np.column_stack([np.sin(20 * inputs), np.cos(20 * inputs)])
    gaps = np.where(np.arange(200)[:, None] % 20 == np.arange(2), np.nan, y)
    settings = {"gamma": 50.0, "operator": np.array([[1.0, 0.3], [0.3, 1.0]]), "alpha": 1e-6}
    numbers = [VECTORS("rbf", **settings).fit(inputs, given).feature_map_.n_components for given in (y, gaps)]
    assert min(numbers) > 10


def test_margins_stay_exact_by_default(few_are_exact):
    assert VECTORS("rbf", gamma=GAMMA, loss="hinge", alpha=1e-2).fit(X, Y).feature_map_ is None


def test_numbers_of_features_that_are_none():
    for setting in (features.Landmarks("many"), features.RandomFeatures("auto")):
        with pytest.raises(ValueError, match="n_components"):
            VECTORS("rbf", gamma=GAMMA, alpha=1e-2, feature_map=setting).fit(X, Y)


def test_autoencoders_on_given_landmarks():
    given = KernelAutoencoder(2, gamma=GAMMA, alpha=1e-4, feature_map=features.Landmarks(points=X[:15])).fit(X)
    assert_array_equal(given.X_fit_, X[:15])
    K = rbf_kernel(X, gamma=GAMMA)
    projected = K[:, :15] @ np.linalg.solve(K[:15, :15], K[:15])
    assert_allclose(given.coordinates(X) @ given.coordinates(X).T, projected, atol=1e-8)


def test_long_exact_fits_say_how_long(monkeypatch):
    monkeypatch.setattr(samples_module, "_SPEED", 1.0)  # a very slow machine
    with pytest.warns(UserWarning, match="exact fit of 60 samples may take about .* minutes; feature_map='auto'"):
        VECTORS("rbf", gamma=GAMMA, alpha=1e-3, feature_map=None).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        VECTORS("rbf", gamma=GAMMA, alpha=1e-3, feature_map=20).fit(X, Y)
