"""Conjugate gradients for the squared loss when there is no closed form: sums of terms, entries not observed."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ..problem import Separable, relative_gap
from .linear_step import linear_step
from .solution import Solution


def solve(problem, *, tol=1e-6, max_iter=1000, init=None, callback=None) -> Solution:
    """``c A + sum_t K_t A M_t / s = Y`` on the observed entries, preconditioned by the nearest single term.

    For the squared loss the duality gap is half the squared residual over c, so each iteration has its certificate.
    """
    c, Y = problem.loss.curvature, problem.observed(problem.Y)
    nearest = nearest_term(problem.terms)
    step = None if nearest is None else linear_step(nearest, problem.penalty)

    def multiply(A):
        return c * A + problem.observed(problem.fitted(A))

    def precondition(R):
        return R if step is None else problem.observed(step.solve(R, c))

    A = np.zeros_like(Y) if init is None else problem.observed(init)
    residual = Y - multiply(A) if init is not None else Y.copy()
    history = [relative_residual_gap(A, residual, Y, c)]
    conjugate = precondition(residual)
    direction, rate = conjugate, np.vdot(residual, conjugate)
    for iteration in range(1, max_iter + 1):
        if history[-1] <= tol:
            return _finished(problem, A, iteration - 1, tol, history)
        image = multiply(direction)
        length = rate / np.vdot(direction, image)
        A = A + length * direction
        residual = residual - length * image
        history.append(relative_residual_gap(A, residual, Y, c))
        if callback is not None:
            callback(iteration, history[-1])
        conjugate = precondition(residual)
        rate, previous = np.vdot(residual, conjugate), rate
        direction = conjugate + rate / previous * direction
    return _finished(problem, A, max_iter, tol, history)


def relative_residual_gap(A, residual, Y, c, constant=0.0):
    """Relative gap from the residual of the linear system: its fitted values are ``Y - c A - residual``.

    constant : loss of directions that are not part of the system
    """
    errors = c * A + residual  # Y - fitted
    primal = np.vdot(errors, errors) / (2 * c) + np.vdot(A, Y - errors) / 2 + constant
    return relative_gap(primal, np.vdot(residual, residual) / (2 * c) - primal)


def _finished(problem, A, n_iter, tol, history):
    gap = problem.gap(A)  # recomputed: the recursion's residual drifts by rounding
    return Solution(A, gap, n_iter, gap <= max(tol, 1e-14), [*history, gap])


def nearest_term(terms) -> Separable | None:
    """The separable term nearest to the sum of the separable ones in Frobenius norm, None when there is none.

    It is ``(sum_t a_t K_t) (x) (sum_t b_t M_t)`` with (a, b) the leading singular pair of a T x T matrix (Van Loan &
    Pitsianis 1993); a and b are non-negative because inner products of PSD matrices are.
    """
    terms = [term for term in terms if isinstance(term, Separable)]
    if len(terms) <= 1:
        return terms[0] if terms else None
    d = next((t.M.shape[0] for t in terms if t.M is not None), 1)
    inputs = [t.K for t in terms]
    outputs = [np.eye(d) if t.M is None else np.asarray(t.M) for t in terms]
    root_k, root_m = (_root([[np.vdot(S, T) for T in S_all] for S in S_all]) for S_all in (inputs, outputs))
    left, values, right = np.linalg.svd(root_k @ root_m)
    a = np.abs(scipy.linalg.lstsq(root_k, left[:, 0] * values[0])[0])
    b = np.abs(scipy.linalg.lstsq(root_m, right[0])[0])
    K = sum(weight * S for weight, S in zip(a, inputs, strict=True))
    M = sum(weight * S for weight, S in zip(b, outputs, strict=True))
    return Separable(K, None if all(t.M is None for t in terms) and d == 1 else M)


def _root(gram):
    values, vectors = np.linalg.eigh(np.asarray(gram))
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
