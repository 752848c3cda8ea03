"""Proximal Newton steps against splitting, for the pinball loss."""

import numpy as np
import pytest

from hilbertlearn._utils.linalg import Kronecker
from hilbertlearn.core import solvers
from hilbertlearn.core.problem import Problem
from hilbertlearn.core.terms import SeparableTerm
from hilbertlearn.losses import Pinball

LEVELS = (0.1, 0.5, 0.8)
rng = np.random.default_rng(0)


def random_problem(loss, n=30, d=2, alpha=1e-2, weighted=False, gaps=False, operator=True):
    X = rng.uniform(size=(n, 1))
    K = np.exp(-10 * (X - X.T) ** 2)
    L = len(np.atleast_1d(loss.levels))
    between = np.exp(-2 * np.subtract.outer(LEVELS, LEVELS) ** 2) if L > 1 else np.ones((1, 1))
    M = Kronecker([np.array([[1.0, 0.5], [0.5, 2.0]]), between]) if operator else None
    Y = np.repeat(np.sin(6 * X) + X * rng.normal(size=(n, d)), L, axis=1)
    mask = np.repeat(rng.random((n, d)) < 0.7, L, axis=1) if gaps else None
    root = np.sqrt(rng.uniform(0.5, 2.0, n)) if weighted else None
    total = n if root is None else (root**2).sum()
    term = SeparableTerm(K, M)
    Y = Y if mask is None else np.where(mask, Y, 0.0)
    if root is not None:
        term, Y = term.scaled(root), Y * root[:, None]
    return Problem((term,), Y, loss, alpha * total, mask, root)


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("operator", [False, True], ids=["identity", "operator"])
def test_newton_and_splitting_meet(operator, weighted, gaps):
    problem = random_problem(Pinball(LEVELS), weighted=weighted, gaps=gaps, operator=operator)
    newton = solvers.solve(problem, "proximal_newton", tol=1e-10)
    other = solvers.solve(problem, "splitting", tol=1e-8, max_iter=5000)
    assert newton.converged and newton.solver == "proximal_newton" and newton.n_iter < 150
    function = newton.dual if newton.function is None else newton.function
    F = problem.fitted(function)
    assert problem.gap(function, F, dual=newton.dual) == pytest.approx(newton.gap, abs=1e-9)
    assert problem.primal(function, F) <= problem.primal(other.dual, problem.fitted(other.dual)) * (1 + 1e-8)


def test_newton_where_splitting_takes_long():
    problem = random_problem(Pinball(LEVELS), n=60, alpha=1e-6)
    assert solvers.select_solver(problem) == "proximal_newton"
    assert not solvers.solve(problem, "splitting", tol=1e-9, max_iter=300).converged
    assert solvers.solve(problem, "proximal_newton", tol=1e-9, max_iter=300).converged
