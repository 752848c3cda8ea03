"""The interior-point method against exchanges."""

import numpy as np
from numpy.testing import assert_allclose

from hilbertlearn.core.problem import Problem
from hilbertlearn.core.solvers import box_qp, interior_point
from hilbertlearn.core.terms import SeparableTerm
from hilbertlearn.losses import Hinge


def margin_problem(n, alpha, *, n_features=5, d=4, gamma=0.1, weights=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    Y = np.sin(X @ rng.normal(size=(n_features, d))) + 0.3 * rng.normal(size=(n, d))
    K = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=-1))
    if weights is None:
        return Problem((SeparableTerm(K),), Y, Hinge(), alpha * n).margin_problem()
    root = np.sqrt(weights)
    term = SeparableTerm(K).scaled(root)
    return Problem((term,), Y * root[:, None], Hinge(), alpha * weights.sum(), None, root).margin_problem()


def test_exchanges_and_interior_points_agree():
    problem = margin_problem(450, 1e-3)
    exchanged = box_qp.solve(problem, tol=1e-9).dual[:, 0]

    def gap(b, Qb):
        return problem.gap(b[:, None], Qb[:, None])

    Q = problem.terms[0].K / problem.penalty
    b, least, history = interior_point.minimise(Q, np.ones(450), gap, np.zeros(450), tol=1e-9, max_iter=100)
    assert least <= 1e-9 and len(history) < 40
    assert_allclose(b, exchanged, atol=1e-5)
