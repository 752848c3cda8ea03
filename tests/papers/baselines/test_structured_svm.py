"""The structured support vector machine, against its quadratic programme."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from hilbertlearn.baselines import StructuredSVM

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 2))
NEW = RNG.normal(size=(5, 2))
SETS = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X[:, 0] * X[:, 1] > 0]).astype(float)


def coefficients(model):
    return np.column_stack([model.coef_, model.intercept_])


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
