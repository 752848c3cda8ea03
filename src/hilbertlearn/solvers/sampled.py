"""Functions seen at points of their own: the squared loss, and the linear step of the splitting.

Few values are solved for by one factorisation of the Gram matrix between them, many by conjugate gradients.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from . import spectral
from .linear_step import InverseStep
from .solution import Solution

_FEW = 5000  # values: their Gram matrix takes 200 MB, its factorisation as long as some hundred iterations
_STEP_ERROR = 1e-9  # of a linear step of the splitting, relative
_MAX_STEP = 1000
_TIGHTER = 0.1


def few_values(term):
    """Whether one factorisation of the Gram matrix between all values is the faster way."""
    return int(term.sampling.observed.sum()) <= _FEW


def sampled_step(term, penalty):
    """An object that solves ``shift X + S K S' X M / s = R`` again and again, for values X, R (n, m)."""
    return ByValueStep(term, penalty) if few_values(term) else SampledStep(term, penalty)


def solve_by_value(problem, *, tol=1e-6, **_) -> Solution:
    """Dual variables ``c B + S K S' B M / s = T`` of one sampled term by the Gram matrix of its values."""
    term, T = problem.terms[0], problem.observed(problem.Y)
    seen = term.sampling.observed.reshape(T.shape)
    values = dataclasses.replace(problem, terms=(term.by_value,), Y=T[seen][:, None], mask=None, root_weights=None)
    solution = spectral.solve(values, tol=tol)
    dual = T / problem.loss.curvature  # of values that no basis function reaches
    dual[seen] = solution.dual[:, 0]
    gap = problem.gap(dual)
    return dataclasses.replace(solution, dual=dual, gap=gap, converged=gap <= tol)


class ByValueStep:
    """By an inverse of the Gram matrix between values."""

    def __init__(self, term, penalty):
        self.seen = term.sampling.observed
        self.step = InverseStep(term.by_value, penalty)

    def solve(self, R, shift):
        X = R.ravel() / shift  # where no basis function reaches
        X[self.seen] = self.step.solve(R.ravel()[self.seen][:, None], shift)[:, 0]
        return X.reshape(R.shape)


def solve(problem, *, tol=1e-6, max_iter=1000, init=None, callback=None) -> Solution:
    """Dual variables ``c B + S K S' B M / s = T`` of one sampled term; more accurate until the gap is within tol."""
    c, T = problem.loss.curvature, problem.observed(problem.Y)
    step = SampledStep(problem.terms[0], problem.penalty)
    if init is not None:
        step.start(init)
    error, history = np.sqrt(tol), []
    while True:
        dual = step.solve(T, c, error=error, max_iter=max_iter - step.n_iter)
        history.append(problem.gap(dual))
        if callback is not None:
            callback(step.n_iter, history[-1])
        if history[-1] <= tol or step.n_iter >= max_iter or error < np.finfo(float).eps:
            return Solution(dual, history[-1], step.n_iter, history[-1] <= tol, history)
        error *= _TIGHTER


class SampledStep:
    """Solves ``shift X + S K S' X M / s = R`` for values X, R (n, m) by conjugate gradients from the last solution.

    With ``P = sqrt(K x M / s)`` in the eigenbases of K and M, ``X = (R - S P U) / shift`` where U (r_K, r_M) solves
    ``(shift + P S' S P) U = P S' R``. That is preconditioned by the same system with the block ``S_i' S_i`` of each
    sample replaced by their mean, which is diagonal in known bases.
    """

    def __init__(self, term, penalty):
        inner, self.sampling = term.term, term.sampling
        values, self.Q = inner.input_spectrum
        self.scale = np.sqrt(values / penalty)[:, None]
        if inner.M is None:
            self.L = np.eye(self.sampling.d)
        else:
            weights, E = inner.operator_spectrum
            self.L = np.asarray(E) * np.sqrt(weights)  # M = L L'
        mean = self.sampling.mean_gram()
        mu, self.V = np.linalg.eigh(self.L.T @ mean @ self.L)
        self.eigenvalues = np.multiply.outer(values / penalty, np.maximum(mu, 0.0))
        self.U, self.n_iter = np.zeros(self.eigenvalues.shape), 0

    def start(self, X):
        """Begin at the solution X of a similar system."""
        self.U = self._adjoint(X)

    def solve(self, R, shift, *, error=_STEP_ERROR, max_iter=_MAX_STEP):
        """X with ``||X - X*|| <= error ||R|| / shift``, as the residual of the system in U bounds it."""
        goal = error**2 * shift * np.vdot(R, R)
        U, left = self.U, R - self._values(self.U)
        residual = self._adjoint(left) - shift * U
        direction, rate = np.zeros_like(U), 1.0
        for _ in range(max_iter):
            if np.vdot(residual, residual) <= goal:
                break
            conjugate = (residual @ self.V / (shift + self.eigenvalues)) @ self.V.T
            rate, previous = np.vdot(residual, conjugate), rate
            direction = conjugate + rate / previous * direction
            values = self._values(direction)
            image = shift * direction + self._adjoint(values)
            length = rate / np.vdot(direction, image)
            U, left, residual = U + length * direction, left - length * values, residual - length * image
            self.n_iter += 1
        self.U = U
        return left / shift

    def _values(self, U):
        return self.sampling.push((self.Q @ (self.scale * U)) @ self.L.T)

    def _adjoint(self, X):
        return self.scale * (self.Q.T @ (self.sampling.pull(X) @ self.L))
