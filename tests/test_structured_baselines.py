"""The compared methods for structured outputs against their definitions: scipy's solvers and enumeration."""

from itertools import product

import numpy as np
import pytest
from helpers.estimator_checks import assert_checks_pass, in_one_line
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize, minimize_scalar
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV

from hilbertlearn import datasets, kernels
from hilbertlearn.baselines import KernelDependencyEstimation, PairwiseRanker, RobustNadarayaWatson, StructuredSVM
from hilbertlearn.output_losses import Cauchy, Huber
from hilbertlearn.papers.baselines.ranking import _rounded_hinge

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 2))
NEW = RNG.normal(size=(5, 2))
Z = np.column_stack([X[:, 0] ** 2, np.sin(X[:, 1]), X.sum(axis=1)]) + 0.1 * RNG.normal(size=(12, 3))


@pytest.mark.parametrize("estimator", [RobustNadarayaWatson()], ids=in_one_line)
def test_estimator_checks(estimator):
    assert_checks_pass(estimator)


# ---------------------------------------------------------------- robust Nadaraya-Watson


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
            return w @ loss.at(z - y)

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


# ---------------------------------------------------------------- kernel dependency estimation


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


# ---------------------------------------------------------------- pairwise rankers

RATINGS = RNG.integers(1, 6, size=(12, 4)).astype(float)
RATINGS[RNG.uniform(size=RATINGS.shape) < 0.2] = np.nan
ALPHA = 0.05


def pairwise_objective(theta, phi, alpha=ALPHA):
    """The objective of the docstring, by loops; theta (items, features + 1)."""
    scores = np.column_stack([X, np.ones(12)]) @ theta.T
    total = 0.0
    for y, s in zip(RATINGS, scores, strict=True):
        pairs = [(y[i] - y[j], s[i] - s[j]) for i, j in product(range(4), repeat=2) if y[i] > y[j]]
        total += sum(g * phi(t) for g, t in pairs) / sum(g for g, _ in pairs) if pairs else 0.0
    return total / 12 + alpha / 2 * (theta**2).sum()


def coefficients(model):
    return np.column_stack([model.coef_, model.intercept_])


def test_linear_ranker():
    model = PairwiseRanker(alpha=ALPHA).fit(X, RATINGS)

    def objective(flat):
        scores = np.column_stack([X, np.ones(12)]) @ flat.reshape(4, 3).T
        return pairwise_objective(flat.reshape(4, 3), lambda t: -t) + (scores**2).sum() / 24

    best = minimize(objective, np.zeros(12), tol=1e-12)
    assert_allclose(coefficients(model).ravel(), best.x, atol=1e-5)
    assert np.abs(model.coef_).max() > 0.05


def test_logistic_ranker():
    model = PairwiseRanker("logistic", alpha=ALPHA, tol=1e-8).fit(X, RATINGS)
    objective = lambda flat: pairwise_objective(flat.reshape(4, 3), lambda t: np.log1p(np.exp(-t)))  # noqa: E731
    best = minimize(objective, np.zeros(12), tol=1e-12)
    assert_allclose(coefficients(model).ravel(), best.x, atol=1e-4)


def test_hinge_ranker():
    model = PairwiseRanker("hinge", alpha=ALPHA).fit(X, RATINGS)
    objective = lambda theta: pairwise_objective(theta, lambda t: max(0.0, 1 - t))  # noqa: E731
    # the quadratic programme with one slack for each pair
    features = np.column_stack([X, np.ones(12)])
    rows, costs = [], []
    for x, y in zip(features, RATINGS, strict=True):
        total = sum(max(y[i] - y[j], 0) for i, j in product(range(4), repeat=2) if np.isfinite(y[i] - y[j]))
        for i, j in product(range(4), repeat=2):
            if y[i] > y[j]:
                row = np.zeros((4, 3))
                row[i], row[j] = x, -x
                rows.append(row.ravel())
                costs.append((y[i] - y[j]) / total / 12)
    A, costs = np.array(rows), np.array(costs)
    k = len(costs)
    best = minimize(
        lambda v: ALPHA / 2 * v[:12] @ v[:12] + costs @ v[12:],
        np.concatenate([np.zeros(12), np.ones(k)]),
        jac=lambda v: np.concatenate([ALPHA * v[:12], costs]),
        method="SLSQP",
        bounds=[(None, None)] * 12 + [(0, None)] * k,
        constraints={
            "type": "ineq",
            "fun": lambda v: A @ v[:12] + v[12:] - 1,
            "jac": lambda v: np.hstack([A, np.eye(k)]),
        },
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert best.success
    assert best.fun - 1e-8 <= objective(coefficients(model)) <= best.fun + 0.01 / 8


def test_rounded_hinge():
    t = np.linspace(-1, 3, 4001)
    value, slope = _rounded_hinge(0.1)(t)
    hinge = np.maximum(0, 1 - t)
    assert (value >= hinge - 1e-12).all() and (value <= hinge + 0.1 / 8 + 1e-12).all()
    assert_allclose(np.diff(value) / np.diff(t), (slope[1:] + slope[:-1]) / 2, atol=1e-8)


def test_rankers_predict_rankings():
    for loss in ("linear", "hinge", "logistic"):
        model = PairwiseRanker(loss, alpha=ALPHA).fit(X, RATINGS)
        ranks = model.predict(NEW)
        assert_array_equal(np.sort(ranks, axis=1), np.tile([1, 2, 3, 4], (5, 1)))
        assert_array_equal(ranks.argmax(axis=1), (NEW @ model.coef_.T + model.intercept_).argmax(axis=1))
        assert model.score(X, RATINGS) > 0.6


def test_rankers_ignore_samples_without_an_order():
    one = PairwiseRanker("logistic", alpha=ALPHA).fit(X, RATINGS)
    extra = np.vstack([RATINGS, np.full((12, 4), 3.0)])
    two = PairwiseRanker("logistic", alpha=ALPHA / 2).fit(np.vstack([X, X[::-1]]), extra)  # twice as many samples
    assert_allclose(one.coef_, two.coef_, atol=1e-3)


def test_rankers_refuse_and_say_when_they_have_not_converged():
    with pytest.raises(ValueError, match="loss: unknown name 'exp'; known: 'linear', 'hinge', 'logistic'"):
        PairwiseRanker("exp").fit(X, RATINGS)
    with pytest.raises(ValueError, match="got 12 and 5"):
        PairwiseRanker().fit(X, RATINGS[:5])
    with pytest.warns(ConvergenceWarning, match="after 2 iterations"):
        PairwiseRanker("logistic", max_iter=2).fit(X, RATINGS)


# ---------------------------------------------------------------- structured SVM

SETS = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X[:, 0] * X[:, 1] > 0]).astype(float)


def score_of(x, y, linear, pairs):
    x = np.append(x, 1.0)
    return y @ linear @ x + pairs @ [y[0] * y[1], y[0] * y[2], y[1] * y[2]]


def svm_objective(linear, pairs, alpha):
    candidates = np.unique(SETS, axis=0)
    total = 0.0
    for x, y in zip(X, SETS, strict=True):
        own = score_of(x, y, linear, pairs)
        total += max((z != y).mean() + score_of(x, z, linear, pairs) - own for z in candidates)
    return alpha / 2 * ((linear**2).sum() + (pairs**2).sum()) + total / 12


def svm_by_quadratic_programme(alpha):
    """The least objective, with weights (9 + 3) and a slack for each sample."""
    candidates = np.unique(SETS, axis=0)

    def features(x, y):
        return np.concatenate([np.outer(y, np.append(x, 1.0)).ravel(), [y[0] * y[1], y[0] * y[2], y[1] * y[2]]])

    rows, bounds, owner = [], [], []
    for i, (x, y) in enumerate(zip(X, SETS, strict=True)):
        for z in candidates:
            rows.append(features(x, y) - features(x, z))
            bounds.append((z != y).mean())
            owner.append(np.eye(12)[i])
    A, b = np.hstack([np.array(rows), np.array(owner)]), np.array(bounds)
    best = minimize(
        lambda v: alpha / 2 * v[:12] @ v[:12] + v[12:].mean(),
        np.concatenate([np.zeros(12), np.ones(12)]),
        jac=lambda v: np.concatenate([alpha * v[:12], np.full(12, 1 / 12)]),
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda v: A @ v - b, "jac": lambda v: A},
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert best.success
    return best.fun, best.x[:12]


@pytest.mark.parametrize(("alpha", "tol"), [(0.05, 5e-4), (0.3, 1e-5)])
def test_structured_svm_reaches_the_optimum_within_its_gap(alpha, tol):
    model = StructuredSVM(alpha=alpha, tol=tol, max_iter=20000, random_state=0).fit(X, SETS)
    reached = svm_objective(coefficients(model), model.pairs_, alpha)
    best, weights = svm_by_quadratic_programme(alpha)
    assert model.gap_ <= tol
    assert best - 1e-7 <= reached <= best + model.gap_ + 1e-7
    found = np.concatenate([coefficients(model).ravel(), model.pairs_])
    assert np.linalg.norm(found - weights) <= np.sqrt(2 * model.gap_ / alpha) + 1e-4  # by strong convexity
    assert np.abs(model.pairs_).max() > 0.01


def test_structured_svm_predicts_the_best_seen_set():
    model = StructuredSVM(alpha=1e-3, random_state=0).fit(X, SETS)
    candidates = np.unique(SETS, axis=0)
    for x, predicted in zip(NEW, model.predict(NEW), strict=True):
        scores = [score_of(x, z, coefficients(model), model.pairs_) for z in candidates]
        assert_array_equal(predicted, candidates[np.argmax(scores)])
    assert_allclose(model.score(X, SETS), (model.predict(X) == SETS).mean())


def test_structured_svm_says_when_it_has_not_converged_and_refuses():
    with pytest.warns(ConvergenceWarning, match="after 1 passes"):
        StructuredSVM(alpha=1e-6, tol=1e-9, max_iter=1, random_state=0).fit(X, SETS)
    with pytest.raises(ValueError, match="got 12 and 5"):
        StructuredSVM().fit(X, SETS[:5])
    with pytest.raises(ValueError, match="y"):
        StructuredSVM().fit(X, SETS * 2)


@pytest.mark.parametrize("kind", [int, float, bool])
def test_structured_svm_predicts_the_type_of_the_outputs(kind):
    model = StructuredSVM(alpha=0.1, random_state=0).fit(X, SETS.astype(kind))
    assert model.predict(X).dtype == kind
    assert_array_equal(model.predict(X), StructuredSVM(alpha=0.1, random_state=0).fit(X, SETS).predict(X))
