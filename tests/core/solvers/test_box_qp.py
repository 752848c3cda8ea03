"""The margin model's quadratic program against Clarabel, where exchanges end and where they go in circles."""

import cvxpy as cp
import numpy as np
import pytest
from helpers.margin_problems import margin_problem
from numpy.testing import assert_allclose

from hilbertlearn.core.problem import Problem
from hilbertlearn.core.solvers import box_qp
from hilbertlearn.core.terms import SeparableTerm
from hilbertlearn.losses import Hinge


def value_by_hand(problem, b):
    """The dual objective, a minimum, at b in the box."""
    top = np.ones(len(b)) if problem.root_weights is None else problem.root_weights
    assert (b >= 0).all() and (b <= top).all()
    return b @ problem.terms[0].K @ b / (2 * problem.penalty) - top @ b


def clarabel(problem):
    K, n = problem.terms[0].K, len(problem.Y)
    top = np.ones(n) if problem.root_weights is None else problem.root_weights
    values, vectors = np.linalg.eigh(K / problem.penalty)
    root = vectors * np.sqrt(np.maximum(values, 0))
    b = cp.Variable(n)
    goal = cp.Problem(cp.Minimize(cp.sum_squares(root.T @ b) / 2 - top @ b), [b >= 0, b <= top])
    goal.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return goal.value


CASES = {
    "small": {"n": 60, "alpha": 1e-2},
    "small, weights": {"n": 60, "alpha": 1e-3, "weights": np.random.default_rng(1).uniform(0.2, 3, 60)},
    "halves": {"n": 450, "alpha": 1e-2},
    "halves, weights": {"n": 450, "alpha": 1e-3, "weights": np.random.default_rng(1).uniform(0.2, 3, 450)},
    "halves, nearly singular": {"n": 410, "alpha": 1e-6, "n_features": 2, "gamma": 0.05},
}


@pytest.mark.parametrize("name", CASES)
def test_optimum(name):
    problem = margin_problem(**CASES[name])
    solution = box_qp.solve(problem, tol=1e-8)
    b, best = solution.dual[:, 0], clarabel(problem)
    assert solution.converged and solution.gap <= 1e-8
    assert value_by_hand(problem, b) <= best + 1e-7 * abs(best)
    fitted = problem.terms[0].K @ b / problem.penalty
    top = np.ones(len(b)) if problem.root_weights is None else problem.root_weights
    primal = top @ np.maximum(0, top - fitted) + b @ fitted / 2  # sum of w max(0, 1 - margin), all scaled by sqrt(w)
    assert primal + value_by_hand(problem, b) <= 2e-8 * primal


@pytest.mark.parametrize("n", [60, 450])
def test_samples_at_the_bounds_are_exactly_there(n):
    problem = margin_problem(n, 1e-2)
    b = box_qp.solve(problem, tol=1e-8).dual[:, 0]
    margin = problem.terms[0].K @ b / problem.penalty
    assert (b[margin > 1 + 1e-3] == 0).all() and (margin > 1 + 1e-3).sum() > n / 10
    assert (b[margin < 1 - 1e-3] == 1).all() and (margin < 1 - 1e-3).sum() > 0


def test_warm_start_at_the_optimum_is_recognised():
    problem = margin_problem(450, 1e-3)
    first = box_qp.solve(problem, tol=1e-8)
    assert box_qp.solve(problem, tol=1e-7, init=first.dual).n_iter == 0


def test_a_limit_of_iterations_is_kept_and_told():
    solution = box_qp.solve(margin_problem(450, 1e-4), tol=1e-10, max_iter=2)
    assert not solution.converged and solution.n_iter <= 2 and solution.gap > 1e-10
    value_by_hand(margin_problem(450, 1e-4), solution.dual[:, 0])  # still in the box


def test_a_kernel_of_zeros():
    problem = Problem((SeparableTerm(np.zeros((5, 5))),), np.zeros((5, 1)), Hinge(), 1.0)
    solution = box_qp.solve(problem)
    assert solution.converged
    assert_allclose(solution.dual, 1.0)
