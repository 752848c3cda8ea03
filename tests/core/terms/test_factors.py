"""Factors from eigenpairs of low rank: the same fits and leave-one-out residuals as with eigh."""

import numpy as np
import pytest
from helpers.low_rank_matrices import EPS, N, by_eigh, record_eigh_sizes, rough, sample, smooth
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import losses
from hilbertlearn._utils.linalg import spectrum
from hilbertlearn._utils.pivoted_cholesky import low_rank_factor
from hilbertlearn.core.problem import Problem
from hilbertlearn.core.solvers import select_solver, solve
from hilbertlearn.core.terms import SeparableTerm
from hilbertlearn.core.terms.factors import CholeskyFactors, InverseFactors, SpectralFactors
from hilbertlearn.leave_one_out import loo_residuals


@pytest.fixture
def sizes(monkeypatch):
    return record_eigh_sizes(monkeypatch)


# ---------------------------------------------------------------- leave-one-out


def targets(n=N, d=2):
    X, rng = sample(n, 2), np.random.default_rng(5)
    return np.sin(X @ rng.normal(size=(2, d))) + 0.1 * rng.normal(size=(n, d))


@pytest.mark.parametrize("operator", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_is_that_of_eigh(weighted, operator):
    K, Y = smooth(), targets()
    M = np.array([[1.0, 0.3], [0.3, 0.5]]) if operator else None
    weights = np.random.default_rng(2).uniform(0.2, 3.0, N) if weighted else None
    term = SeparableTerm(K, M)
    term = term if weights is None else term.scaled(np.sqrt(weights))
    penalties = np.trace(term.K) * np.geomspace(1e-11, 10, 49)
    reference = SpectralFactors(by_eigh(term.K, 0.0), None if M is None else spectrum(M))
    paths = [loo_residuals(term, Y, penalties, center=True, weights=weights, factors=f) for f in (None, reference)]
    largest = reference.inputs.values[-1]
    for (s, one), (_, other) in zip(*paths, strict=True):
        assert_allclose(one, other, rtol=0, atol=(1e-13 + 10 * EPS * largest / s) * np.abs(other).max())


def inverse_in_long_double(S):
    """Of a positive definite matrix, by sweeping one row after the other."""
    S = S.astype(np.longdouble)
    for k in range(len(S)):
        row, pivot = S[k].copy(), S[k, k]
        S -= np.multiply.outer(row, row / pivot)
        S[k] = S[:, k] = row / pivot
        S[k, k] = -1 / pivot
    return -S


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="long double is double here")
@pytest.mark.parametrize("name", ["smooth", "linear"])
def test_leave_one_out_is_as_near_to_the_truth_as_with_eigh(name):
    Y = targets(420)
    K = smooth(420) if name == "smooth" else (lambda X: X @ X.T)(sample(420, 5))
    penalties = np.trace(K) * np.array([1e-11, 1e-6])
    paths = [
        [R for _, R in loo_residuals(SeparableTerm(K), Y, penalties, factors=factors)]
        for factors in (None, SpectralFactors(by_eigh(K)))
    ]
    for s, one, other in zip(penalties, *paths, strict=True):
        inverse = inverse_in_long_double(K + np.longdouble(s) * np.eye(420))
        truth = (inverse @ Y / np.diag(inverse)[:, None]).astype(float)
        ours, theirs = (np.linalg.norm(R - truth) / np.linalg.norm(truth) for R in (one, other))
        assert ours <= (0.1 if name == "smooth" else 1.1) * theirs + 1e-13


# ---------------------------------------------------------------- fits

LOSSES = [losses.Squared(), losses.Huber(0.2), losses.EpsilonInsensitive(0.1), losses.Huber(0.1, p=1)]


def problem(loss, alpha, n=N, operator=True, weighted=False, K=None):
    K, Y = smooth(n) if K is None else K, targets(n)
    term, root = SeparableTerm(K, np.array([[1.0, 0.3], [0.3, 0.5]]) if operator else None), None
    if weighted:
        root = np.sqrt(np.random.default_rng(2).uniform(0.2, 3.0, n))
        term, Y = term.scaled(root), root[:, None] * Y
    return Problem((term,), Y, loss, alpha * (n if root is None else root @ root), None, root)


@pytest.mark.parametrize("alpha", [1e-2, 1e-5, 1e-9])
@pytest.mark.parametrize("operator", [False, True], ids=["identity", "operator"])
@pytest.mark.parametrize("weighted", [False, True], ids=["even", "weighted"])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_fits_are_those_of_eigh(loss, weighted, operator, alpha):
    p = problem(loss, alpha, operator=operator, weighted=weighted)
    use = "once" if loss.quadratic else "iterations"
    factors, options = p.separable_term.factor(use), {"tol": 1e-9, "max_iter": 20_000}
    assert isinstance(factors, SpectralFactors) or use == "once"
    found = solve(p, factors=factors, **options)
    reference = SpectralFactors(by_eigh(p.separable_term.K), p.separable_term.operator_spectrum if operator else None)
    expected = solve(p, factors=reference, **options)
    assert found.converged and p.gap(found.dual) <= 1e-9
    assert expected.converged
    fitted = p.fitted(expected.dual)
    # a gap of 1e-9 is about 3e-5 in the function, relative to the outputs
    assert np.linalg.norm(p.fitted(found.dual) - fitted) <= 2e-4 * np.linalg.norm(p.Y)


def gap_in_long_double(p, A):
    """The relative gap from the definitions, in extended precision: ``||K|| / s`` has taken most digits of double."""
    K, A, Y = (np.asarray(array, dtype=np.longdouble) for array in (p.separable_term.K, A, p.Y))
    F = K @ A / np.longdouble(p.penalty)
    rows, entries = np.linalg.norm(np.asarray(Y - F), axis=1), np.abs(Y - F)
    if isinstance(p.loss, losses.EpsilonInsensitive):
        value = np.sum(np.maximum(rows - p.loss.epsilon, 0) ** 2) / 2
        conjugate = p.loss.epsilon * np.sum(np.linalg.norm(A, axis=1))
    else:
        sizes = entries if getattr(p.loss, "p", 2) == 1 else rows
        kappa = getattr(p.loss, "kappa", np.inf)
        inside = np.minimum(sizes, kappa)
        value = np.sum(inside**2 / 2 + (np.where(sizes > kappa, kappa, 0) * (sizes - inside)))
        held = np.abs(A) if getattr(p.loss, "p", 2) == 1 else np.linalg.norm(A, axis=1)
        assert held.max() <= kappa * (1 + 1e-9)
        conjugate = 0
    half = np.sum(A * F) / 2
    primal, dual = value + half, np.sum(A * A) / 2 - np.sum(A * Y) + half + conjugate
    return float((primal + dual) / primal)


@pytest.mark.skipif(np.finfo(np.longdouble).eps >= np.finfo(float).eps, reason="this platform has no long double")
@pytest.mark.parametrize("alpha", [1e-2, 1e-11, 1e-12])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_fits_with_hardly_any_penalty_are_certified_in_extended_precision(loss, alpha):
    p = problem(loss, alpha, operator=False)
    found = solve(p, factors=p.separable_term.factor("path"), tol=1e-7, max_iter=2000)
    assert found.converged
    assert p.gap(found.dual) <= 1e-7
    assert -1e-12 <= gap_in_long_double(p, found.dual) <= 1.1e-7


@pytest.mark.parametrize("alpha", [1e-11, 1e-12])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_inverse_is_as_good_unless_the_loss_is_sparse(loss, alpha):
    p = problem(loss, alpha, operator=False)
    if loss.sparse and alpha < 1e-11:
        pytest.skip("||K|| / s leaves the inverse four digits, and rows that are zero need more")
    assert solve(p, factors=InverseFactors(p.separable_term), tol=1e-7, max_iter=2000).converged


@pytest.mark.parametrize("alpha", [1e-1, 1e-6, 1e-10])
def test_one_system_by_eigenpairs_is_certified(alpha):
    p = problem(losses.Squared(), alpha, n=1300, operator=False)
    assert isinstance(p.separable_term.factor("once"), SpectralFactors)
    found = solve(p, tol=1e-8)
    assert found.solver == "spectral" and found.converged
    exact = solve(p, factors=CholeskyFactors(p.separable_term), tol=1e-8)
    assert_allclose(p.fitted(found.dual), p.fitted(exact.dual), atol=1e-3 * np.abs(p.Y).max())


def test_factors_follow_the_rank():
    low, full = SeparableTerm(smooth(1300)), SeparableTerm(rough(1300))
    assert all(isinstance(low.factor(use), SpectralFactors) for use in ("once", "iterations", "path"))
    assert isinstance(full.factor("once"), CholeskyFactors)
    assert isinstance(full.factor("iterations"), InverseFactors)
    assert isinstance(full.factor("path"), SpectralFactors)
    some = SeparableTerm(rbf_kernel(sample(1300, 3), gamma=0.03))  # a rank of about n / 5
    assert 1300 / 10 < low_rank_factor(some.K, 550).shape[1] < 1300 / 4
    assert isinstance(some.factor("once"), CholeskyFactors)
    assert isinstance(some.factor("iterations"), SpectralFactors)


def test_iterations_by_column_are_for_full_ranks():
    assert select_solver(problem(losses.Squared(), 1e-4, n=1600)) == "spectral"
    assert select_solver(problem(losses.Squared(), 1e-4, n=1600, K=rough(1600))) == "columns"
