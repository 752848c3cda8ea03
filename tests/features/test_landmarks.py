"""Landmarks: Nyström features against dense linear algebra, for every kind of kernel and input."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from scipy.linalg import pinvh

from hilbertlearn import features, kernels
from hilbertlearn.features.landmark_selection import METHODS

RBF = kernels.InputKernel("rbf", gamma=0.15)


def rows(n=120, p=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def words(n=60, seed=1):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("abcde"), size=rng.integers(3, 9))) for _ in range(n)]


def table(n=80, seed=2):
    rng = np.random.default_rng(seed)
    cells = np.empty((n, 3), dtype=object)
    cells[:, 0], cells[:, 1] = rng.normal(size=n), rng.normal(size=n)
    cells[:, 2] = rng.choice(["north", "south"], size=n)
    return kernels.InputTable.from_data(cells, names=["a", "b", "c"])


def columns_kernel(X):
    return kernels.InputKernel.from_settings(
        kernels.Columns([("rbf", ["a", "b"]), (kernels.CategoricalKernel(), "c")], combine="product"), "auto", None, X
    )


def curves(n=50, seed=3):
    rng, t = np.random.default_rng(seed), np.linspace(0, 1, 21)
    return rng.normal(size=(n, 1)) * np.sin(3 * t) + rng.normal(size=(n, 1)) * np.cos(5 * t) + rng.normal(size=(n, 1))


def shared_substrings(X, Z):
    """A callable on lists of strings: common letters, with multiplicity of the set."""
    return np.array([[len(set(x) & set(z)) for z in Z] for x in X], dtype=float)


def case(name):
    """(kernel, X) of a kind."""
    X = rows()
    if name == "sparse":
        return RBF, scipy.sparse.random_array((90, 12), density=0.3, rng=np.random.default_rng(0), format="csr")
    if name == "precomputed":
        return kernels.InputKernel("precomputed"), kernels.gram("rbf", X, gamma=0.15)
    if name == "strings":
        return kernels.InputKernel(kernels.NGrams()), words()
    if name == "callable":
        return kernels.InputKernel(shared_substrings), words()
    if name == "curves":
        X = curves()
        return kernels.InputKernel.from_settings(kernels.L2(), "auto", None, X), X
    if name == "columns":
        X = table()
        return columns_kernel(X), X
    if name == "matern":
        return kernels.InputKernel(kernels.Matern(nu=1.5, gamma=0.2)), X
    if name == "centred":
        return kernels.InputKernel.from_settings("poly", 0.3, {"degree": 2}, X + 5, centred=True), X + 5
    return kernels.InputKernel(name, gamma=0.15), X


CASES = ["rbf", "matern12", "linear", "centred", "matern", "sparse", "precomputed", "strings", "callable", "curves"]
CASES += ["columns"]


def gram_of(kernel, X):
    return np.array(kernel(X, X) if not kernel.precomputed else X)


def nystroem(K, L):
    """``K_nL K_LL^+ K_Ln`` by eigenvalues."""
    return K[:, L] @ pinvh(K[np.ix_(L, L)], rtol=1e-13) @ K[L]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CASES)
def test_products_of_features_are_the_kernel_of_projections(name, method):
    kernel, X = case(name)
    fitted = features.Landmarks(20, method).fit(kernel, X)
    Z, K, L = fitted(X), gram_of(kernel, X), fitted.columns
    assert Z.shape == (len(K), fitted.n_components) and Z.dtype == float and Z.flags.c_contiguous
    assert len(set(L)) == len(L) == fitted.n_components <= 20
    assert np.abs(Z @ Z.T - nystroem(K, L)).max() < 1e-8 * K.max()
    assert np.allclose(fitted.root.T @ fitted.root, K[np.ix_(L, L)], atol=1e-10 * K.max())
    assert np.array_equal(fitted.root, np.triu(fitted.root))
    left = (np.trace(K) - np.trace(nystroem(K, L))) / np.trace(K)
    assert fitted.trace_error(X) == pytest.approx(left, abs=1e-8)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CASES)
def test_all_samples_as_landmarks_give_the_kernel(name, method):
    kernel, X = case(name)
    K = gram_of(kernel, X)
    fitted = features.Landmarks(10_000, method).fit(kernel, X)
    Z = fitted(X)
    assert np.abs(Z @ Z.T - K).max() < 1e-8 * K.max()
    assert fitted.n_components >= np.linalg.matrix_rank(K, tol=1e-8 * K.max(), hermitian=True)


@pytest.mark.parametrize("name", CASES)
def test_new_inputs_and_the_expansion_are_one_function(name):
    kernel, X = case(name)
    fitted = features.Landmarks(15).fit(kernel, X)
    W = np.random.default_rng(0).normal(size=(fitted.n_components, 3))
    new = X[:7]
    inner, samples, C = fitted.expansion(W)
    assert inner is kernel
    assert np.allclose(inner(new, samples) @ C, fitted(new) @ W, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["rbf", "precomputed", "strings", "columns", "sparse"])
def test_maps_are_nested_and_grow(name, method):
    kernel, X = case(name)
    whole = features.Landmarks(24, method).fit(kernel, X)
    Z, head = whole(X), whole.head(10)
    assert head.n_components == 10
    assert np.allclose(head(X), Z[:, :10], atol=1e-9)
    assert np.allclose(whole.extend(X, head(X)), Z, atol=1e-7)
    assert np.allclose(whole.extend(X, Z), Z)
    further = features.Landmarks(20, method, random_state=5).fit(kernel, X, start=head)
    assert np.array_equal(further.columns[:10], head.columns)
    assert len(set(further.columns)) == further.n_components > 10
    assert np.allclose(further(X)[:, :10], head(X), atol=1e-9)
    assert np.array_equal(features.Landmarks(4, method).fit(kernel, X, start=head).columns, head.columns[:4])


def test_a_callable_keeps_the_matrix_that_it_returns():
    X = rows(30)
    kept = kernels.gram("rbf", X, gamma=0.1)
    before = kept.copy()
    fitted = features.Landmarks(30).fit(kernels.InputKernel("precomputed"), kept)
    fitted(kept)
    whole = features.Landmarks(30, "uniform").fit(kernels.InputKernel(lambda A, B: kept[: len(A), : len(B)]), X)
    whole(X)
    assert np.array_equal(kept, before)


@pytest.mark.parametrize("method", METHODS)
def test_duplicates_and_dependent_samples_are_dropped(method):
    X = np.repeat(rows(10), 6, axis=0)
    fitted = features.Landmarks(40, method).fit(RBF, X)
    Z, K = fitted(X), RBF(X)
    assert fitted.n_components <= 10
    if method in ("medoids", "pivoted"):
        assert fitted.n_components == 10
        assert np.abs(Z @ Z.T - K).max() < 1e-10
    low = kernels.InputKernel("linear")
    fitted = features.Landmarks(40, method).fit(low, rows(50, 3))
    assert fitted.n_components == 3
    Z = fitted(rows(50, 3))
    assert np.allclose(Z @ Z.T, rows(50, 3) @ rows(50, 3).T)


def test_nearly_dependent_landmarks_keep_features_bounded():
    X = rows(60, 2)
    X = np.vstack([X, X + 1e-9 * rows(60, 2, seed=4)])
    kernel = kernels.InputKernel("rbf", gamma=0.01)  # of numerical rank far below n
    fitted = features.Landmarks(120, "uniform").fit(kernel, X)
    Z = fitted(X)
    assert fitted.n_components < 80
    assert np.abs(Z @ Z.T - kernel(X)).max() < 1e-10


@pytest.mark.parametrize("method", METHODS)
def test_outliers_beside_a_kernel_of_low_rank(method):
    # exponents of the far samples have few digits, and hundreds of landmarks depend on each other up to that
    X = rows(600, 3)
    X[::50] *= 300
    kernel = kernels.InputKernel("rbf", gamma=0.01)
    fitted = features.Landmarks(400, method).fit(kernel, X)
    Z, K, L = fitted(X), kernel(X), fitted.columns
    assert fitted.n_components < 400
    assert np.einsum("ij,ij->i", Z, Z).max() < 1 + 1e-8
    assert np.abs((Z @ Z.T - K)[np.ix_(L, L)]).max() < 1e-8


@pytest.mark.parametrize("method", METHODS)
def test_a_kernel_of_zeros_has_no_features(method):
    X = np.zeros((20, 3))
    fitted = features.Landmarks(5, method).fit(kernels.InputKernel("linear"), X)
    assert fitted.n_components == 0
    assert fitted(X).shape == (20, 0)
    assert fitted.trace_error(X) == 0.0


@pytest.mark.parametrize("name", CASES)
def test_maps_pickle(name):
    kernel, X = case(name)
    fitted = features.Landmarks(9).fit(kernel, X)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted))(X), fitted(X))


def test_a_fitted_map_does_not_change():
    setting = features.Landmarks(9)
    fitted = setting.fit(RBF, rows())
    setting.set_params(n_components=3, method="uniform")
    assert fitted.n_components == 9
    with pytest.raises(AttributeError):
        fitted.root = None
    changed = {"n_components": 3, "method": "uniform", "random_state": 0, "points": None}
    assert setting.get_params() == changed


@pytest.mark.parametrize(
    ("setting", "kernel", "X", "message"),
    [
        (features.Landmarks(0), RBF, rows(), "Landmarks: n_components must be an integer > 0"),
        (features.Landmarks(9, "pivot"), RBF, rows(), "unknown name 'pivot', did you mean 'pivoted'"),
        (features.Landmarks(9), kernels.InputKernel("precomputed"), rows(), r"Gram matrix \(n, n\)"),
        (features.Landmarks(9), kernels.InputKernel(kernels.CurlFreeKernel(gamma=1.0)), rows(), "values are numbers"),
        (features.Landmarks(40), kernels.InputKernel("precomputed"), -np.eye(40), "not positive semi-definite"),
    ],
)
def test_bad_settings_are_refused(setting, kernel, X, message):
    with pytest.raises(ValueError, match=message):
        setting.fit(kernel, X)


def test_bad_weights_and_inputs_are_refused():
    with pytest.raises(ValueError, match="weights must be 120 numbers"):
        features.Landmarks(5).fit(RBF, rows(), -np.ones(120))
    K = RBF(rows())
    fitted = features.Landmarks(5).fit(kernels.InputKernel("precomputed"), K)
    with pytest.raises(ValueError, match="kernel values with the 120 samples"):
        fitted(K[:, :40])
    with pytest.raises(ValueError, match="Gram matrix"):
        fitted.trace_error(K[:30])
    with pytest.raises(ValueError, match="Z must have 120 rows and at most 5 columns"):
        fitted.extend(K, np.zeros((120, 6)))
    with pytest.raises(ValueError, match="feature_map returned NaN"):
        fitted(np.where(np.arange(120) == fitted.columns[0], np.nan, K))


def test_landmarks_lack_the_variance_outside_their_span():
    """``k(x, x) - k_x' K_LL^-1 k_x``; other features define their kernel and lack nothing."""
    rng = np.random.default_rng(0)
    points, new = rng.normal(size=(6, 2)), rng.normal(size=(9, 2))
    kernel = kernels.InputKernel("poly", 0.5)
    fitted = features.Landmarks(points=points[:4]).fit(kernel, points)
    K = kernel(points[:4])
    expected = kernel.diagonal(new) - np.sum(kernel(new, points[:4]) * np.linalg.solve(K, kernel(points[:4], new)).T, 1)
    np.testing.assert_allclose(fitted.unexplained_variances(new, fitted(new)), expected, rtol=1e-6, atol=1e-8)
    assert not fitted.unexplained_variances(points[:4], fitted(points[:4])).round(10).any()
    random = features.RandomFeatures(5, random_state=0).fit(kernels.InputKernel("rbf", 0.5), points)
    assert not random.unexplained_variances(new, random(new)).any()
