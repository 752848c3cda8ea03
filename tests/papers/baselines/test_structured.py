"""Robust Nadaraya-Watson and kernel dependency estimation, against their definitions."""

import numpy as np
import pytest
from helpers.estimator_checks import assert_checks_pass, in_one_line
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV

from hilbertlearn import datasets, kernels
from hilbertlearn.baselines import KernelDependencyEstimation, RobustNadarayaWatson
from hilbertlearn.output_losses import Cauchy, Huber

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 2))
NEW = RNG.normal(size=(5, 2))
Z = np.column_stack([X[:, 0] ** 2, np.sin(X[:, 1]), X.sum(axis=1)]) + 0.1 * RNG.normal(size=(12, 3))


@pytest.mark.parametrize("estimator", [RobustNadarayaWatson()], ids=in_one_line)
def test_estimator_checks(estimator):
    assert_checks_pass(estimator)


@pytest.mark.parametrize("loss", [Cauchy(0.4), Huber(0.3)])
def test_nadaraya_watson_minimises_the_local_loss(loss):
    inputs, y, _, _ = datasets.make_robust_regression(40, random_state=0)
    weights = RNG.integers(0, 3, size=40)
    model = RobustNadarayaWatson(gamma=50.0, output_loss=loss).fit(inputs, y, weights)
    queries = np.linspace(-1, 1, 15)
    grid = np.linspace(y.min(), y.max(), 4000)
    for x, predicted in zip(queries, model.predict(queries[:, None]), strict=True):
        w = weights * np.exp(-50.0 * (x - inputs[:, 0]) ** 2)

        def objective(z, w=w):
            return w @ loss.residual_value(z - y)

        start = grid[np.argmin([objective(z) for z in grid])]
        best = minimize_scalar(
            objective, bounds=(start - 0.01, start + 0.01), method="bounded", options={"xatol": 1e-9}
        )
        assert objective(predicted) <= best.fun + 1e-12
        assert_allclose(predicted, best.x, atol=1e-5)


def test_nadaraya_watson_with_the_squared_loss_is_the_local_mean():
    model = RobustNadarayaWatson(gamma=2.0, output_loss="squared").fit(X, Z[:, 0])
    K = rbf_kernel(NEW, X, gamma=2.0)
    assert_allclose(model.predict(NEW), K @ Z[:, 0] / K.sum(axis=1))


def test_nadaraya_watson_far_from_all_samples_is_the_loss_of_all():
    model = RobustNadarayaWatson(gamma=1.0, output_loss="absolute").fit([[0.0], [1.0], [2.0]], [0.0, 5.0, 7.0])
    assert_allclose(model.predict([[1e4]]), [5.0])


def test_nadaraya_watson_refuses():
    with pytest.raises(ValueError, match="output_loss='hamming' is not a loss of numbers"):
        RobustNadarayaWatson(output_loss="hamming").fit(X, Z[:, 0])
    with pytest.raises(ValueError, match="kernel must not be negative"):
        RobustNadarayaWatson("linear").fit(X, Z[:, 0]).predict(-X)


def test_kernel_dependency_estimation_is_kernel_pca_then_ridge_then_the_nearest():
    output_kernel = kernels.NamedKernel("rbf", 0.5)
    model = KernelDependencyEstimation(gamma=0.3, output_kernel=output_kernel, n_components=4, alpha=0.01).fit(X, Z)
    pca = KernelPCA(4, kernel="rbf", gamma=0.5).fit(Z)
    dual = np.linalg.solve(rbf_kernel(X, gamma=0.3) + 0.12 * np.eye(12), pca.transform(Z))
    predicted = rbf_kernel(NEW, X, gamma=0.3) @ dual
    for candidates in (Z, RNG.normal(size=(30, 3))):
        distances = ((predicted[:, None] - pca.transform(candidates)) ** 2).sum(axis=2)
        assert_array_equal(model.predict(NEW, candidates=candidates), candidates[distances.argmin(axis=1)])
    distances = ((predicted[:, None] - pca.transform(Z)) ** 2).sum(axis=2)
    assert_array_equal(model.predict(NEW), Z[distances.argmin(axis=1)])


def test_kernel_dependency_estimation_with_all_components_counts_the_norm():
    # distances in the whole centred space: a kernel that is not normalised, written out with Gram matrices
    model = KernelDependencyEstimation(gamma=0.3, output_kernel="linear", alpha=0.05).fit(X, Z)
    assert model.coordinates_.shape == (12, 3)
    W = rbf_kernel(NEW, X, gamma=0.3) @ np.linalg.inv(rbf_kernel(X, gamma=0.3) + 0.6 * np.eye(12))
    target = W @ (Z - Z.mean(axis=0)) + Z.mean(axis=0)
    distances = ((target[:, None] - Z) ** 2).sum(axis=2)
    assert_array_equal(model.predict(NEW), Z[distances.argmin(axis=1)])


def test_kernel_dependency_estimation_of_strings_and_search():
    words = ["a", "ab", "abc", "b", "bc", "c"] * 2
    model = KernelDependencyEstimation(output_kernel=kernels.NGrams(2), gamma=1.0, alpha=1e-8).fit(X, words)
    assert model.predict(X) == words
    assert_allclose(model.score(X, words), 0.0, atol=1e-12)
    assert set(model.predict(NEW, candidates=["a", "c"])) <= {"a", "c"}
    search = GridSearchCV(model, {"alpha": [1e-3, 1e-1], "output_kernel__n": [1, 2]}, cv=2).fit(X, words)
    assert len(search.predict(NEW)) == 5


def test_kernel_dependency_estimation_score_is_the_squared_distance():
    model = KernelDependencyEstimation(output_kernel="linear", n_components=2).fit(X, Z)
    assert_allclose(model.score(NEW, Z[:5]), -((model.predict(NEW) - Z[:5]) ** 2).sum(axis=1).mean())


def test_kernel_dependency_estimation_refuses():
    with pytest.raises(ValueError, match="y must be known outputs"):
        KernelDependencyEstimation().fit(X, np.where(np.arange(12)[:, None] == 1, np.nan, Z))
    with pytest.raises(ValueError, match="got 12 and 5"):
        KernelDependencyEstimation().fit(X, Z[:5])
