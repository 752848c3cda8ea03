"""Solve ``shift X + K X M / s = R``: the squared loss itself, and the linear step of the splitting."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ..problem import Separable


def linear_step(term: Separable, penalty: float):
    """Cholesky when M is the identity and K has no eigendecomposition yet (20 times cheaper), else the eigenbases."""
    if term.M is None and not term.factored:
        return CholeskyStep(term, penalty)
    return SpectralStep(term, penalty)


class CholeskyStep:
    """For M = I: a factor of ``K / s + shift I``, renewed when the shift changes."""

    def __init__(self, term: Separable, penalty: float):
        self.K, self.penalty = term.K, penalty
        self._shift, self._factor = None, None

    def solve(self, R, shift):
        if shift != self._shift:
            self._factor = None  # free the old factor before the new one is made
            S = self.K / self.penalty
            S.flat[:: len(S) + 1] += shift
            # S is symmetric, so its transpose is the Fortran array LAPACK factors in place
            self._factor = scipy.linalg.cholesky(S.T, lower=True, overwrite_a=True, check_finite=False)
            self._shift = shift
        return scipy.linalg.cho_solve((self._factor, True), R, check_finite=False)


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
