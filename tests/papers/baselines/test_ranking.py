"""Rankings by pairwise comparisons, against the objective by hand."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from hilbertlearn.baselines import PairwiseRanker
from hilbertlearn.papers.baselines.ranking import _rounded_hinge

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 2))
NEW = RNG.normal(size=(5, 2))
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
