"""What every solver promises: a duality gap that holds by hand, at the optimum that Clarabel finds.

A solver is tested on every problem of ``CASES`` that meets its requirements. Losses are written again here, and the
operator of the problem is a dense matrix.
"""

import functools
from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np
import pytest

from hilbertlearn.core.problem import Problem
from hilbertlearn.core.solvers import SOLVERS, suitable_solvers
from hilbertlearn.core.solvers.requirements import first_unmet
from hilbertlearn.core.terms import SeparableTerm
from hilbertlearn.losses import EpsilonInsensitive, EpsilonSVR, Hinge, Huber, Pinball, Squared

N, D = 24, 2
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = np.sin(X) + 0.3 * RNG.normal(size=(N, D))
Y[:3] += 4.0  # outliers
MASK = RNG.random((N, D)) < 0.8
WEIGHTS = RNG.uniform(0.5, 2.0, size=N)
M = np.array([[1.0, 0.4], [0.4, 0.5]])
LEVELS = np.array([0.3, 0.8])


def kernel(gamma):
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    return np.exp(-gamma * squares)


K, OTHER = kernel(0.5), kernel(3.0)
I_D = np.eye(D)


def norms(R):
    return np.sqrt((R**2).sum(axis=1))


@dataclass
class LossByHand:
    """value : of rows (n, d); conjugate : the whole conjugate of rows; for_cvxpy : sum of the losses of a residual."""

    value: object
    conjugate: object
    for_cvxpy: object


def inside(condition, value=0.0):
    return np.where(condition, value, np.inf)


SQUARED = LossByHand(
    lambda R: norms(R) ** 2 / 2,
    lambda A: norms(A) ** 2 / 2,
    lambda R, w: cp.sum(cp.multiply(w, cp.sum(R**2, axis=1))) / 2,
)
HUBER = LossByHand(
    lambda R: np.where(norms(R) <= 0.5, norms(R) ** 2 / 2, 0.5 * norms(R) - 0.125),
    lambda A: norms(A) ** 2 / 2 + inside(norms(A) <= 0.5 + 1e-9),
    lambda R, w: cp.sum(cp.multiply(w, cp.huber(cp.norm(R, 2, axis=1), 0.5))) / 2,
)
TUBE = LossByHand(
    lambda R: np.maximum(norms(R) - 0.3, 0) ** 2 / 2,
    lambda A: norms(A) ** 2 / 2 + 0.3 * norms(A),
    lambda R, w: cp.sum(cp.multiply(w, cp.pos(cp.norm(R, 2, axis=1) - 0.3) ** 2)) / 2,
)
SVR = LossByHand(
    lambda R: np.maximum(norms(R) - 0.3, 0),
    lambda A: 0.3 * norms(A) + inside(norms(A) <= 1 + 1e-9),
    lambda R, w: cp.sum(cp.multiply(w, cp.pos(cp.norm(R, 2, axis=1) - 0.3))),
)
PINBALL = LossByHand(
    lambda R: np.maximum(LEVELS * R, (LEVELS - 1) * R).sum(axis=1),
    lambda A: inside(((A <= LEVELS + 1e-9) & (A >= LEVELS - 1 - 1e-9)).all(axis=1)),
    lambda R, w: cp.sum(cp.multiply(w[:, None], cp.maximum(R @ np.diag(LEVELS), R @ np.diag(LEVELS - 1)))),
)
HINGE = LossByHand(  # of margins -R, one column
    lambda R: np.maximum(0, 1 + R[:, 0]),
    lambda B: inside((B[:, 0] >= -1e-9) & (B[:, 0] <= 1 + 1e-9), -B[:, 0]),
    lambda R, w: cp.sum(cp.multiply(w, cp.pos(1 + R[:, 0]))),
)


@dataclass
class Case:
    problem: Problem
    loss: LossByHand
    dense: np.ndarray  # the operator (n d, n d), without weights

    @property
    def weights(self):
        root = self.problem.root_weights
        return np.ones(N) if root is None else root**2

    @property
    def mask(self):
        mask = self.problem.mask
        return np.ones(self.problem.Y.shape, dtype=bool) if mask is None else mask


def problem(terms, loss, penalty, mask=None, weights=None):
    targets = Y if mask is None else np.where(mask, Y, 0.0)
    if weights is None:
        return Problem(tuple(terms), targets, loss, penalty, mask)
    root = np.sqrt(weights)
    scaled = tuple(term.scaled(root) for term in terms)
    return Problem(scaled, targets * root[:, None], loss, penalty, mask, root)


def hinge(weights=None):
    """The margin problem of labels, a loss of one column."""
    labels = np.sign(X[:, :1] + 0.3 * RNG.normal(size=(N, 1)))
    root = None if weights is None else np.sqrt(weights)
    term = SeparableTerm(K) if root is None else SeparableTerm(K).scaled(root)
    targets = labels if root is None else labels * root[:, None]
    whole = Problem((term,), targets, Hinge(), 0.5, None, root)
    return Case(whole.margin_problem(), HINGE, K * (labels @ labels.T))


PLAIN, WITH_M = np.kron(K, I_D), np.kron(K, M)
TWO_TERMS = WITH_M + np.kron(OTHER, I_D)
CASES = {
    "squared": Case(problem([SeparableTerm(K)], Squared(), 0.5), SQUARED, PLAIN),
    "squared, weights": Case(problem([SeparableTerm(K)], Squared(), 0.5, None, WEIGHTS), SQUARED, PLAIN),
    "squared, operator": Case(problem([SeparableTerm(K, M)], Squared(), 20.0), SQUARED, WITH_M),
    "squared, missing entries": Case(problem([SeparableTerm(K, M)], Squared(), 0.5, MASK), SQUARED, WITH_M),
    "squared, two terms": Case(
        problem([SeparableTerm(K, M), SeparableTerm(OTHER)], Squared(), 0.5), SQUARED, TWO_TERMS
    ),
    "huber": Case(problem([SeparableTerm(K)], Huber(0.5), 0.5), HUBER, PLAIN),
    "huber, all": Case(problem([SeparableTerm(K, M)], Huber(0.5), 0.5, MASK, WEIGHTS), HUBER, WITH_M),
    "huber, two terms": Case(problem([SeparableTerm(K, M), SeparableTerm(OTHER)], Huber(0.5), 0.5), HUBER, TWO_TERMS),
    "epsilon-insensitive": Case(problem([SeparableTerm(K)], EpsilonInsensitive(0.3), 0.5), TUBE, PLAIN),
    "epsilon-SVR": Case(problem([SeparableTerm(K)], EpsilonSVR(0.3), 0.5), SVR, PLAIN),
    "epsilon-SVR, weights": Case(problem([SeparableTerm(K)], EpsilonSVR(0.3), 0.5, None, WEIGHTS), SVR, PLAIN),
    "pinball": Case(problem([SeparableTerm(K, M)], Pinball(LEVELS), 0.5), PINBALL, WITH_M),
    "pinball, weights": Case(problem([SeparableTerm(K)], Pinball(LEVELS), 0.5, None, WEIGHTS), PINBALL, PLAIN),
    "hinge": hinge(),
    "hinge, weights": hinge(WEIGHTS),
}
PAIRS = [(name, solver) for name, case in CASES.items() for solver in suitable_solvers(case.problem)]
every_pair = pytest.mark.parametrize(("name", "solver"), PAIRS)


@functools.cache
def solution(name, solver):
    return SOLVERS[solver].solve(CASES[name].problem, tol=1e-9, max_iter=50_000)


def values_by_hand(case, A, function=None):
    """Primal value of the function with coefficients ``function`` (A by default), and dual value of A, both minima.

    Dual variables are those of targets times the roots of weights.
    """
    C, s = A if function is None else function, case.problem.penalty
    root = np.sqrt(case.weights)[:, None]

    def fitted(A):
        return (case.dense @ (root * A).ravel()).reshape(A.shape) / s

    targets = case.problem.Y / root
    residuals = np.where(case.mask, targets - fitted(C), 0.0)
    primal = case.weights @ case.loss.value(residuals) + ((root * C) * fitted(C)).sum() / 2
    assert (A[~case.mask] == 0).all()
    dual = (
        case.weights @ case.loss.conjugate(A / root) - (A * case.problem.Y).sum() + ((root * A) * fitted(A)).sum() / 2
    )
    return primal, dual


@functools.cache
def optimum(name):
    """The smallest primal value, by Clarabel."""
    case = CASES[name]
    values, vectors = np.linalg.eigh(case.dense)
    L = vectors * np.sqrt(np.maximum(values, 0.0))
    n, d = case.problem.Y.shape
    u = cp.Variable(n * d)
    targets = case.problem.Y / np.sqrt(case.weights)[:, None]
    R = cp.multiply(case.mask.astype(float), targets - cp.reshape(L @ u, (n, d), order="C"))
    objective = case.loss.for_cvxpy(R, case.weights) + case.problem.penalty / 2 * cp.sum_squares(u)
    goal = cp.Problem(cp.Minimize(objective))
    goal.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return goal.value


def test_every_solver_has_a_problem_that_it_solves():
    assert {solver for _, solver in PAIRS} == set(SOLVERS)
    assert not any(solution(*pair).gave_up for pair in PAIRS)


@every_pair
def test_the_gap_holds_by_hand(name, solver):
    case, found = CASES[name], solution(name, solver)
    primal, dual = values_by_hand(case, found.dual, found.function)
    assert found.converged and found.gap <= 1e-9
    assert -1e-9 * primal <= primal + dual <= 2e-9 * primal
    assert primal + dual == pytest.approx(found.gap * primal, abs=1e-10 * primal)


@every_pair
def test_the_optimum_is_that_of_clarabel(name, solver):
    case, found = CASES[name], solution(name, solver)
    primal, _ = values_by_hand(case, found.dual, found.function)
    assert primal == pytest.approx(optimum(name), rel=1e-6)


@every_pair
def test_the_history_and_the_number_of_iterations_are_reported(name, solver):
    found = solution(name, solver)
    assert found.n_iter >= 0 and len(found.history) > 0 and not found.stopped
    assert found.dual.shape == CASES[name].problem.Y.shape
    assert found.gap <= min(found.history) * (1 + 1e-6) + 1e-12


@every_pair
def test_a_warm_start_at_the_optimum_stays_there(name, solver):
    case, found = CASES[name], solution(name, solver)
    again = SOLVERS[solver].solve(case.problem, tol=1e-8, init=found.dual, max_iter=1000)
    assert again.converged and again.n_iter <= max(found.n_iter, 1)


@every_pair
def test_a_limit_of_iterations_is_kept(name, solver):
    found = SOLVERS[solver].solve(CASES[name].problem, tol=1e-12, max_iter=2)
    assert found.n_iter <= 2 or solver == "spectral"  # its refinements are not iterations
    assert found.converged == (found.gap <= 1e-12)


@every_pair
def test_a_callback_sees_the_gaps_and_stops(name, solver):
    seen = []

    def stop(iteration, gap):
        seen.append((iteration, gap))
        return True

    found = SOLVERS[solver].solve(CASES[name].problem, tol=1e-13, max_iter=1000, callback=stop)
    assert len(seen) == 1
    assert found.stopped == (solver != "spectral")  # the closed form has nothing to stop


def test_requirements_are_named_where_they_are_not_met():
    for name, case in CASES.items():
        suitable = suitable_solvers(case.problem)
        for solver, module in SOLVERS.items():
            unmet = first_unmet(module.REQUIRES, case.problem)
            assert (unmet is None) == (solver in suitable), (name, solver)
            assert unmet is None or unmet.text


def test_single_precision_is_refused_by_name():
    single = CASES["pinball"].problem
    term = single.separable_term
    small = SeparableTerm(term.gram.in_precision("float32"), term.M)
    single = replace(single, terms=(small,), Y=single.Y.astype(np.float32))
    assert first_unmet(SOLVERS["proximal_newton"].REQUIRES, single).text == "double precision"
