"""Conjugate gradients by column against the closed form in eigenbases."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import OperatorKernelRegressor, operators
from hilbertlearn.core.problem import Problem
from hilbertlearn.core.solvers import columns, spectral
from hilbertlearn.core.terms import SeparableTerm
from hilbertlearn.losses import Squared


def problem(n=150, d=4, alpha=1e-2, rank=None, weights=None, seed=0):
    rng = np.random.default_rng(seed)
    K = rbf_kernel(rng.normal(size=(n, 3)), gamma=0.5)
    root = rng.normal(size=(d, d if rank is None else rank))
    Y = rng.normal(size=(n, d))
    term = SeparableTerm(K, root @ root.T)
    if weights is not None:
        term, Y = term.scaled(np.sqrt(weights)), Y * np.sqrt(weights)[:, None]
    total = n if weights is None else weights.sum()
    return Problem((term,), Y, Squared(), alpha * total, None, None if weights is None else np.sqrt(weights))


def dense(problem):
    """The dual variables by one Kronecker system."""
    term, Y = problem.separable_term, problem.Y
    system = np.eye(Y.size) + np.kron(term.K, term.M) / problem.penalty
    return np.linalg.solve(system, Y.ravel()).reshape(Y.shape)


@pytest.mark.parametrize("alpha", [1.0, 1e-2])
@pytest.mark.parametrize("rank", [None, 2, 1])
def test_equals_the_dense_system(alpha, rank):
    p = problem(alpha=alpha, rank=rank)
    solution = columns.solve(p, tol=1e-13)
    assert solution.converged and solution.n_iter > 1
    assert_allclose(solution.dual, dense(p), atol=1e-5)
    assert solution.gap <= 1e-13


def test_equals_the_dense_system_with_weights():
    p = problem(weights=np.random.default_rng(1).uniform(0.5, 3, 150))
    assert_allclose(columns.solve(p, tol=1e-13).dual, dense(p), atol=1e-5)


def test_reports_the_gap_of_its_dual_variables():
    p = problem()
    loose = columns.solve(p, tol=1e-2)
    assert loose.gap == p.gap(loose.dual) <= 1e-2
    assert loose.gap > 1e-9


def test_starts_from_the_solution_of_a_neighbour():
    near = columns.solve(problem(alpha=1.1e-2), tol=1e-10)
    cold, warm = (columns.solve(problem(), tol=1e-8, init=init) for init in (None, near.dual))
    assert warm.n_iter < cold.n_iter
    assert_allclose(warm.dual, cold.dual, atol=1e-2)


def test_gives_up_where_eigh_is_faster_and_the_default_solver_goes_on(monkeypatch):
    monkeypatch.setattr(columns, "_MIN_SAMPLES", 50)
    hard = problem(n=100, d=2, alpha=1e-12)
    solution = columns.solve(hard, tol=1e-6)
    assert not solution.converged
    assert solution.n_iter <= columns.affordable_iterations(hard)
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(100, 3)), rng.normal(size=(100, 2))
    auto, direct = (
        OperatorKernelRegressor(gamma="median", operator=operators.Decay(1), alpha=1e-9, solver=solver).fit(X, Y)
        for solver in ("auto", "spectral")
    )
    assert auto.dual_gap_ <= 1e-6
    assert_allclose(auto.predict(X), direct.predict(X), atol=1e-8)


def test_is_tried_for_many_samples_and_few_coordinates_only(monkeypatch):
    assert not columns.is_promising(problem(n=150, d=4))
    monkeypatch.setattr(columns, "_MIN_SAMPLES", 150)
    assert columns.is_promising(problem(n=150, d=4))
    assert not columns.is_promising(problem(n=150, d=16))
    factored = problem()
    assert not columns.is_promising(factored, factored.separable_term.factor("path"))
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(200, 3)), rng.normal(size=(200, 2))
    tried = OperatorKernelRegressor(operator=operators.Decay(1), alpha=1e-1).fit(X, Y)
    assert tried.n_iter_ > 1
    exact = spectral.solve(problem(alpha=1e-1), tol=1e-12)
    assert exact.n_iter == 1
