"""Solve ``shift X + K X M / s = R``: the squared loss itself, and the linear step of the splitting."""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.linalg

from ..problem import PerDirection, Separable

_COPIED_ROWS = 256


def linear_step(term: Separable | PerDirection, penalty: float):
    """An object that solves the system again and again, for changing R and, now and then, another shift.

    Without an eigendecomposition of K at hand, and for M = I, by an inverse (several times cheaper to make), else in
    the eigenbases.
    """
    if isinstance(term, PerDirection):
        return DirectionStep(term, [linear_step(part, penalty).solve for part in term.parts])
    if term.M is None and not term.factored:
        return InverseStep(term, penalty)
    return SpectralStep(term, penalty)


def solve_once(term: Separable | PerDirection, penalty: float, R, shift):
    """X for one R and one shift: by Cholesky factors where the eigenbases are not needed or not at hand."""
    if isinstance(term, PerDirection):
        return DirectionStep(term, [partial(solve_once, part, penalty) for part in term.parts]).solve(R, shift)
    if term.M is None and not term.factored:
        try:
            factor = cholesky(term.K, penalty * shift)
            return scipy.linalg.cho_solve((factor, True), penalty * R, overwrite_b=True, check_finite=False)
        except np.linalg.LinAlgError:  # rounding made K indefinite: the eigenbases leave those pairs out
            pass
    return SpectralStep(term, penalty).solve(R, shift)


def cholesky(K, shift):
    """Lower Cholesky factor of ``K + shift I``, for ``cho_solve``; an error of LAPACK where rounding made K indefinite.

    The other triangle holds nothing of use: neither is it copied from K, nor cleaned.
    """
    S = np.zeros_like(K)
    for start in range(0, len(K), _COPIED_ROWS):
        S[start : start + _COPIED_ROWS, start:] = K[start : start + _COPIED_ROWS, start:]
    S.flat[:: len(S) + 1] += shift
    # the transpose of S is the Fortran array that LAPACK factors in place, its lower triangle the upper one of S
    return scipy.linalg.cho_factor(S.T, lower=True, overwrite_a=True, check_finite=False)[0]


def symmetric_inverse(factor):
    """The inverse whose lower Cholesky factor is given, which is overwritten."""
    lower, _ = scipy.linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
    lower = np.tril(lower)
    lower += np.tril(lower, -1).T
    return lower


class InverseStep:
    """For M = I: the inverse of ``K + s shift I``, renewed when the shift changes.

    A solution then is one product by numpy. Triangular solves by scipy in a loop with numpy's products are far slower:
    the two bring a BLAS each, and the idle threads of one get in the way of the other.
    """

    def __init__(self, term: Separable, penalty: float):
        self.term, self.penalty = term, penalty
        self._shift, self._inverse = None, np.empty(())

    def solve(self, R, shift):
        if shift != self._shift:
            self._inverse = np.empty(())  # free the old one before the new one is made
            try:
                factor = cholesky(self.term.K, self.penalty * shift)
            except np.linalg.LinAlgError:  # as in solve_once; the term keeps its spectrum
                return SpectralStep(self.term, self.penalty).solve(R, shift)
            self._shift, self._inverse = shift, symmetric_inverse(factor)
        return self._inverse @ (self.penalty * R)


class SpectralStep:
    """In the eigenbases of K and M, whatever the shift; eigenpairs below rounding are left out."""

    def __init__(self, term: Separable, penalty: float):
        values, self.Q = term.input_spectrum
        if term.M is None:
            self.E, self.eigenvalues = None, values[:, None] / penalty
        else:
            weights, self.E = term.operator_spectrum
            self.eigenvalues = np.multiply.outer(values, weights) / penalty

    def solve(self, R, shift):
        coefficients = self.Q.T @ (R if self.E is None else R @ self.E)
        coefficients *= self.eigenvalues / (shift + self.eigenvalues)
        change = self.Q @ coefficients  # what the kept eigenpairs take away from R / shift
        return (R - (change if self.E is None else change @ self.E.T)) / shift


class DirectionStep:
    """A system of its own in each eigenspace of the operator; in those it drops, the map is zero."""

    def __init__(self, term: PerDirection, solves):
        self.vectors, self.solves = term.vectors, solves

    def solve(self, R, shift):
        out = R / shift
        for E, solve in zip(self.vectors, self.solves, strict=True):
            T = R @ E
            out += (solve(T, shift) - T / shift) @ E.T
        return out
