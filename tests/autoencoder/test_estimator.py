"""The kernel autoencoder: its certificate, its closed form, scikit-learn's checks, and bad input."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from helpers.autoencoder_data import LOSSES, X, coordinates, moved, rng
from helpers.estimator_checks import assert_checks_pass, in_one_line
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from hilbertlearn import kernels, losses
from hilbertlearn.autoencoder.estimator import KernelAutoencoder
from hilbertlearn.autoencoder.layers import Network, initial_layers, minimise

NEW = X[::3] + 0.05


@pytest.mark.parametrize(
    "estimator", [KernelAutoencoder(), KernelAutoencoder((3, 1), loss=losses.Huber(0.5), tol=1e-2)], ids=in_one_line
)
def test_estimator_checks(estimator):
    assert_checks_pass(estimator)


def objective_by_hand(W, C, V, gamma, alpha, loss_of_norm):
    """Codes V W, reconstructions k(Z, Z) C: the objective of two layers, in primal variables."""
    K = np.exp(-gamma * np.sum((V @ W)[:, None] ** 2 - 2 * (V @ W)[:, None] * (V @ W) + (V @ W) ** 2, axis=2))
    norms = np.sqrt(np.sum((V - K @ C) ** 2, axis=1))
    return loss_of_norm(norms).mean() + alpha / 2 * (np.sum(W**2) + np.sum(C * (K @ C)))


@pytest.mark.parametrize(
    ("loss", "by_hand"),
    [
        (losses.Squared(), lambda r: r**2 / 2),
        (losses.Huber(0.3), lambda r: np.where(r < 0.3, r**2 / 2, 0.3 * r - 0.045)),
        (losses.EpsilonInsensitive(0.2), lambda r: np.maximum(r - 0.2, 0) ** 2 / 2),
    ],
)
def test_solution_is_a_stationary_point_of_the_objective_of_both_layers(loss, by_hand):
    model = KernelAutoencoder(2, gamma=0.5, inner_gamma=2.0, loss=loss, alpha=0.01, tol=1e-11, max_iter=3000).fit(X)
    V = model.coordinates(X)
    at = [model.coefs_[0], model.dual_coef_]
    assert model.objective_path_[-1] == pytest.approx(objective_by_hand(*at, V, 2.0, 0.01, by_hand), rel=1e-9)
    for which in (0, 1):
        for seed in range(5):
            direction = np.random.default_rng(seed).normal(size=at[which].shape)
            direction /= np.linalg.norm(direction)
            ends = (moved(at, which, h * direction) for h in (1e-4, -1e-4))
            slope = np.subtract(*(objective_by_hand(*end, V, 2.0, 0.01, by_hand) for end in ends)) / 2e-4
            assert abs(slope) < 1e-4 * model.objective_path_[-1]


CONJUGATES = {  # of losses with curvature 1: what is added to half the squared norm, by the norm of a row
    "squared": lambda r: 0 * r,
    "huber": lambda r: np.where(r <= 0.3 * (1 + 1e-9), 0.0, np.inf),
    "insensitive": lambda r: 0.3 * r,
}
VALUES = {
    "squared": lambda r: r**2 / 2,
    "huber": lambda r: np.where(r < 0.3, r**2 / 2, 0.3 * r - 0.045),
    "insensitive": lambda r: np.maximum(r - 0.3, 0) ** 2 / 2,
}


@pytest.mark.parametrize("loss", CONJUGATES)
@pytest.mark.parametrize("sizes", [2, (4, 2, 3)], ids=str)
def test_last_layer_is_certified(loss, sizes):
    alpha, n = 1e-3, len(X)
    model = KernelAutoencoder(sizes, loss=LOSSES[loss], alpha=alpha, inner_gamma=1.5, max_iter=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    Y, Z = model.coordinates(X), model.transform(X)
    if len(model.coefs_) > 1:  # one layer behind the bottleneck
        Z = rbf_kernel(Z, gamma=1.5) @ model.coefs_[2]
    K, A = rbf_kernel(Z, gamma=1.5), model.dual_coef_ * alpha * n
    F = K @ model.dual_coef_
    primal = VALUES[loss](np.linalg.norm(Y - F, axis=1)).sum() + np.sum(A * F) / 2
    dual = np.sum(A**2) / 2 - np.sum(A * Y) + np.sum(A * F) / 2 + CONJUGATES[loss](np.linalg.norm(A, axis=1)).sum()
    assert (primal + dual) / primal <= 1e-6 + 1e-9
    assert model.dual_gap_ == pytest.approx(max(primal + dual, 0) / primal, abs=1e-9)
    assert_allclose(model.inverse_transform(model.transform(X)), F, atol=1e-8)
    assert model.reconstruction_error_ == pytest.approx(np.sum((Y - F) ** 2) / n)


def test_small_residuals_leave_samples_out():
    shares = []
    for epsilon in (0.05, 0.2, 0.5, 2.0):
        model = KernelAutoencoder(2, loss=losses.EpsilonInsensitive(epsilon), alpha=1e-3).fit(X)
        R = np.linalg.norm(model.coordinates(X) - model.inverse_transform(model.codes_), axis=1)
        zero = ~model.dual_coef_.any(axis=1)
        assert_array_equal(np.flatnonzero(~zero), model.support_)
        assert model.sparsity_ == pytest.approx(zero.mean())
        assert (R[zero] <= epsilon * (1 + 1e-2)).all() and (R[~zero] >= epsilon * (1 - 1e-2)).all()
        shares.append(model.sparsity_)
    assert shares == sorted(shares) and shares[0] < shares[2] < 1.0 and shares[-1] == 1.0
    assert not model.inverse_transform(model.codes_).any()  # all samples are shorter than epsilon


@pytest.mark.parametrize("alpha", [1e-9, 0.05])
def test_linear_kernels_shrink_principal_components(alpha):
    # codes <x, a u_j>, reconstruction a u_j: mu/2 (1 - a^2)^2 + alpha a^2 is smallest at a^2 = 1 - alpha / mu
    mu, U = np.linalg.eigh(X.T @ X / len(X))
    mu, U = mu[::-1], U[:, ::-1]
    assert mu[1] > alpha
    model = KernelAutoencoder(2, kernel="linear", inner_kernel="linear", alpha=alpha, tol=1e-12).fit(X)
    assert model.objective_path_[-1] == pytest.approx(np.sum(alpha - alpha**2 / (2 * mu[:2])) + mu[2] / 2, rel=1e-8)
    assert model.reconstruction_error_ == pytest.approx(np.sum(alpha**2 / mu[:2]) + mu[2], rel=1e-5)
    weights = scipy.linalg.solve_triangular(
        model.factor_, model.inverse_transform(model.codes_).T, lower=True, trans=1
    ).T
    shrunk = X @ U[:, :2] * (1 - alpha / mu[:2]) @ U[:, :2].T
    assert_allclose(weights @ model.X_fit_, shrunk, atol=1e-4)


def test_reconstructs_as_well_as_principal_components_from_any_start():
    V = coordinates(X @ X.T)[:, -3:]
    left = np.sort(np.linalg.eigvalsh(X.T @ X))[0] / len(X)
    _, roots, inner = initial_layers(V, (2,), "linear", "median", None)
    network = Network(V, roots, inner, losses.Squared(), 1e-8, 1e-13)
    found, path, _ = minimise(network, [np.random.default_rng(3).normal(size=(3, 2))], max_iter=500, tol=1e-13)
    assert np.mean(np.sum((V - found.fitted) ** 2, axis=1)) == pytest.approx(left, rel=1e-3)
    assert (np.diff(path) <= 0).all()


def test_one_code_follows_a_curve_where_one_principal_component_cannot():
    model = KernelAutoencoder(1, gamma=0.5, alpha=1e-4, max_iter=2000).fit(X)
    values = np.linalg.eigvalsh(rbf_kernel(X, gamma=0.5))
    assert model.reconstruction_error_ < 0.2 * values[:-1].sum() / len(X)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("inner", ["rbf", "linear", "poly"])
def test_objective_never_increases(loss, inner):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KernelAutoencoder((4, 2), inner_kernel=inner, loss=LOSSES[loss], max_iter=12).fit(X)
    path = model.objective_path_
    assert len(path) == model.n_iter_ + 1 and (np.diff(path) <= 0).all() and path[-1] < path[0]


def test_nothing_is_random():
    first, second = (KernelAutoencoder(2).fit(X) for _ in range(2))
    assert_array_equal(first.codes_, second.codes_)


def test_settings_left_to_the_data():
    model = KernelAutoencoder(2, loss="huber", alpha=1e-3).fit(X)
    # leave-one-out residuals of the last layer at the start, the squared loss, by refitting
    gamma = model.gamma_
    V = coordinates(rbf_kernel(X, gamma=gamma))
    values, U = np.linalg.eigh(V.T @ V)
    Z = V @ U[:, :-3:-1]
    K = rbf_kernel(Z, gamma=model.inner_kernels_[0].gamma)
    residuals = []
    for i in range(len(X)):
        rest = np.delete(np.arange(len(X)), i)
        dual = np.linalg.solve(K[np.ix_(rest, rest)] + 1e-3 * len(X) * np.eye(len(rest)), V[rest])
        residuals.append(np.linalg.norm(V[i] - K[i, rest] @ dual))
    assert model.loss_.kappa == pytest.approx(np.median(residuals), rel=0.05)
    distances = np.linalg.norm(Z[:, None] - Z, axis=2)[np.triu_indices(len(Z), 1)]
    assert model.inner_kernels_[0].gamma == pytest.approx(0.5 / np.median(distances) ** 2, rel=0.01)
    assert model.loss == "huber"


def test_verbose_prints_the_objective(capsys):
    model = KernelAutoencoder(2, verbose=1).fit(X)
    (line,) = capsys.readouterr().err.splitlines()
    assert f"objective {model.objective_path_[-1]:.6e}" in line and f"{model.n_iter_} iterations" in line


def test_says_when_the_descent_was_cut_short():
    with pytest.warns(ConvergenceWarning, match="after 2 iterations; raise max_iter or tol"):
        KernelAutoencoder(2, alpha=1e-4, max_iter=2).fit(X)


@pytest.mark.parametrize("sizes", [2, (5, 2), (2, 5), (5, 1, 1, 4)], ids=str)
def test_codes_of_the_training_samples(sizes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KernelAutoencoder(sizes, max_iter=30).fit(X)
    assert model.codes_.shape == (len(X), np.min(sizes))
    assert_allclose(model.transform(X), model.codes_, atol=1e-9)
    V = model.coordinates(X)
    R = model.inverse_transform(model.transform(X))
    assert np.mean(np.sum((V - R) ** 2, axis=1)) == pytest.approx(model.reconstruction_error_)
    assert model.score(X) == pytest.approx(-model.reconstruction_error_)


def test_several_layers_by_hand():
    model = KernelAutoencoder((5, 2, 4), gamma=0.5, inner_kernel="poly", inner_gamma=0.7, inner_params={"degree": 2})
    model.fit(X)

    def inner(A, B):
        return polynomial_kernel(A, B, degree=2, gamma=0.7, coef0=1)

    first = model.coordinates(X) @ model.coefs_[0]
    new = model.coordinates(NEW) @ model.coefs_[0]
    second = inner(first, first) @ model.coefs_[1]
    codes = inner(new, first) @ model.coefs_[1]
    assert_allclose(model.transform(NEW), codes, atol=1e-10)
    third = inner(second, second) @ model.coefs_[2]
    back = inner(inner(codes, second) @ model.coefs_[2], third) @ model.dual_coef_
    assert_allclose(model.inverse_transform(codes), back, atol=1e-9)


def test_coordinates_have_the_kernel_as_inner_product():
    model = KernelAutoencoder(2, gamma=0.5).fit(X)
    V = model.coordinates(X)
    assert_allclose(V @ V.T, rbf_kernel(X, gamma=0.5), atol=1e-8)
    assert_allclose(model.coordinates(NEW) @ V.T, rbf_kernel(NEW, X, gamma=0.5), atol=1e-6)


def test_precomputed_equals_named():
    named = KernelAutoencoder(2, gamma=0.5).fit(X)
    given = KernelAutoencoder(2, kernel="precomputed").fit(rbf_kernel(X, gamma=0.5))
    assert_allclose(given.codes_, named.codes_, atol=1e-5)
    G = rbf_kernel(NEW, X, gamma=0.5)
    assert_allclose(given.transform(G), named.transform(NEW), atol=1e-5)
    assert given.score(G) == pytest.approx(named.score(NEW), abs=1e-5)
    assert get_tags(given).input_tags.pairwise and not get_tags(named).input_tags.pairwise


def test_other_kernels_and_inputs():
    bits = rng.random((30, 12)) < 0.4
    dense = KernelAutoencoder(2, kernel=kernels.Tanimoto()).fit(bits.astype(float))
    sparse = KernelAutoencoder(2, kernel=kernels.Tanimoto()).fit(scipy.sparse.csr_matrix(bits.astype(float)))
    assert_allclose(dense.codes_, sparse.codes_, atol=1e-6)
    words = ["kernel", "kernels", "colonel", "tree", "trees", "treat", "graph", "graphs"]
    model = KernelAutoencoder(2, kernel=kernels.NGrams()).fit(words)
    assert_allclose(model.transform(words[::2]), model.codes_[::2], atol=1e-9)
    own = KernelAutoencoder(2, kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5)).fit(X)
    assert_allclose(own.codes_, KernelAutoencoder(2, gamma=0.5).fit(X).codes_, atol=1e-5)
    resolved = KernelAutoencoder(2, kernel=kernels.NamedKernel("rbf", "median")).fit(X)
    assert_allclose(resolved.codes_, KernelAutoencoder(2).fit(X).codes_, atol=1e-5)


def test_more_components_than_the_kernel_has_rank():
    model = KernelAutoencoder(5, kernel="linear").fit(X)  # rank 3
    assert model.codes_.shape == (len(X), 5) and not model.codes_[:, 3:].any() and model.codes_[:, :3].any(axis=0).all()
    fewer = KernelAutoencoder(3, kernel="linear").fit(X)
    assert model.objective_path_[-1] == pytest.approx(fewer.objective_path_[-1], rel=1e-6)
    assert KernelAutoencoder(10).fit(X[:4]).transform(NEW).shape == (len(NEW), 10)


def test_small_and_odd_data():
    assert KernelAutoencoder(1).fit(X[:1]).transform(X[:1]).shape == (1, 1)
    same = KernelAutoencoder(2).fit(np.ones((6, 3)))
    assert_allclose(same.codes_, same.codes_[:1].repeat(6, axis=0), atol=1e-12)
    whole = (10 * X).astype(int)
    assert_allclose(KernelAutoencoder(2).fit(whole).codes_, KernelAutoencoder(2).fit(whole.astype(float)).codes_)
    single = KernelAutoencoder(2).fit(X.astype(np.float32))
    assert_allclose(single.reconstruction_error_, KernelAutoencoder(2).fit(X).reconstruction_error_, rtol=1e-3)


def test_grid_search_pipeline_pickle_and_names():
    model = KernelAutoencoder(2, loss=losses.EpsilonInsensitive(0.1), tol=1e-3)
    grid = {"n_components": [1, 2], "loss__epsilon": [0.05, 0.3]}
    folds = KFold(2, shuffle=True, random_state=0)
    search = GridSearchCV(model, grid, cv=folds, error_score="raise").fit(X)
    params = search.cv_results_["params"][1]
    by_hand = [clone(model).set_params(**params).fit(X[a]).score(X[b]) for a, b in folds.split(X)]
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(by_hand))
    best = search.best_estimator_
    assert_array_equal(pickle.loads(pickle.dumps(best)).transform(NEW), best.transform(NEW))
    pipeline = make_pipeline(StandardScaler(), KernelAutoencoder(2)).fit(X)
    assert list(pipeline.get_feature_names_out()) == ["kernelautoencoder0", "kernelautoencoder1"]


def test_settings_changed_after_a_fit_change_nothing():
    model = KernelAutoencoder(2, gamma=0.5).fit(X)
    before = model.transform(NEW)
    assert_array_equal(model.set_params(kernel="linear", gamma=3.0, inner_kernel="linear").transform(NEW), before)
    with pytest.raises(ValueError, match="alpha"):
        model.set_params(alpha=-1.0).fit(X)
    assert_array_equal(model.transform(NEW), before)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"n_components": 0}, ValueError, r"n_components must be an integer > 0, got 0"),
        ({"n_components": 1.5}, ValueError, r"n_components must be an integer > 0, got 1.5"),
        ({"n_components": (3, -1)}, ValueError, r"n_components must be an integer > 0, got -1"),
        ({"n_components": ()}, ValueError, r"n_components must be an integer or a tuple"),
        ({"n_components": "two"}, ValueError, r"n_components must be an integer or a tuple"),
        ({"inner_kernel": "laplacian"}, ValueError, r"inner_kernel: unknown name 'laplacian'; known: 'rbf', 'linear'"),
        ({"inner_kernel": rbf_kernel}, TypeError, r"inner_kernel must be a name"),
        ({"inner_gamma": -1.0}, ValueError, r"inner_gamma must be a finite number > 0"),
        ({"inner_params": {"degree": 2}}, ValueError, r"inner_params of the rbf kernel"),
        ({"inner_kernel": "poly", "inner_params": {"degree": 0}}, ValueError, r"inner_params: degree"),
        ({"inner_kernel": "poly", "inner_params": {"coef0": -1}}, ValueError, r"inner_params: coef0"),
        ({"kernel": "nonesuch"}, ValueError, r"kernel: unknown name 'nonesuch'"),
        ({"kernel": [("rbf", None)]}, TypeError, r"kernel must be a name or a callable"),
        ({"kernel_params": {"gamma": 1}}, ValueError, r"kernel_params must be a dictionary"),
        ({"loss": "hinge"}, ValueError, r"loss=Hinge\(.*use Squared"),
        ({"loss": losses.Huber(0.1, p=1)}, ValueError, r"loss=Huber\(.*use Squared"),
        ({"loss": losses.Ball(0.1)}, ValueError, r"loss=Ball\(.*use Squared"),
        ({"alpha": 0.0}, ValueError, r"alpha must be a finite number > 0"),
        ({"alpha": "auto"}, ValueError, r"alpha must be a finite number > 0"),
        ({"max_iter": 0}, ValueError, r"max_iter must be an integer > 0"),
        ({"tol": 0}, ValueError, r"tol must be a finite number > 0"),
    ],
)
def test_bad_settings(settings, error, message):
    with pytest.raises(error, match=message):
        KernelAutoencoder(**settings).fit(X)


def test_bad_data():
    model = KernelAutoencoder(2)
    with pytest.raises(NotFittedError):
        model.transform(X)
    with pytest.raises(NotFittedError):
        model.inverse_transform(X)
    gaps = X.copy()
    gaps[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(gaps)
    with pytest.raises(ValueError, match="kernel is zero on all samples"):
        KernelAutoencoder(2, kernel="linear").fit(np.zeros((5, 3)))
    with pytest.raises(ValueError, match="square Gram matrix"):
        KernelAutoencoder(2, kernel="precomputed").fit(X)
    with pytest.raises(ValueError, match="positive semi-definite"):
        KernelAutoencoder(2, kernel="precomputed").fit(-np.eye(4))
    model.fit(X)
    with pytest.raises(ValueError, match="NaN"):
        model.transform(gaps)
    with pytest.raises(ValueError, match="features"):
        model.transform(X[:, :2])
    with pytest.raises(ValueError, match=r"with 2 columns, got 3"):
        model.inverse_transform(np.ones((4, 3)))
    with pytest.raises(ValueError, match="NaN"):
        model.inverse_transform([[np.nan, 1.0]])
