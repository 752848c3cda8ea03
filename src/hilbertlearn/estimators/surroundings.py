"""Samples without outputs: where the graph's penalty sees the function, and the kernel that it deforms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..problem import PerDirection, Separable

_LU_ERROR = 1e-8  # of predictions, relative to the outputs
_SAME = 1e-10  # relative difference of eigenvalues that share one


@dataclass(frozen=True)
class Surroundings:
    """All samples, labelled or not, where the graph's penalty sees the function."""

    X: object
    rows: np.ndarray  # (N,) which of the samples given to fit these are
    weights: np.ndarray
    labelled: np.ndarray  # (n,) positions of the samples with outputs among them
    beta: float
    kernel: kernels.Deformed

    def rounding(self, alpha):
        """Relative error to expect of the deformed kernel in its eigenbasis."""
        return np.finfo(float).eps * (self.beta * self.kernel.scale / float(alpha))

    def term(self, alpha, M, spectrum):
        """The labelled samples' term, from the operator's matrix and eigenpairs (None for the identity)."""
        if not np.isfinite(self.rounding(alpha)):
            raise ValueError(
                f"manifold={self.beta:g} is too large beside alpha={alpha:g}; lower manifold, or raise alpha"
            )
        if self.rounding(alpha) * self.kernel.K.diagonal().max() > _LU_ERROR * alpha:
            _ = self.kernel.spectrum  # slower than one LU, whose errors the small alpha would blow up
        return deformed_term(self.kernel, self.beta / alpha, self.labelled, M, spectrum)

    def coefficients(self, A, alpha, spectrum):
        """Coefficients (N, d) of the kernel for those A (n, d) of the deformed one."""
        if spectrum is None:
            return self.kernel.coefficients(A, self.beta / alpha, self.labelled)
        out = np.zeros((len(self.rows), A.shape[1]))
        out[self.labelled] = A  # directions that the operator drops
        for value, E in eigenspaces(spectrum):
            changed = self.kernel.coefficients(A @ E, self.beta / alpha * value, self.labelled)
            changed[self.labelled] -= A @ E
            out += changed @ E.T
        return out


def deformed_term(kernel, r, rows, M, spectrum):
    """The deformed kernel's term on some samples; an eigenvalue m of the operator has ``r m``."""
    if spectrum is None:
        return Separable(kernel.gram(r, rows))
    spaces = eigenspaces(spectrum)
    _ = kernel.spectrum  # one factorisation for all
    grams = [kernel.gram(r * value, rows) for value, _ in spaces]
    return PerDirection(grams, [value for value, _ in spaces], [E for _, E in spaces], M)


def eigenspaces(spectrum):
    """Pairs (eigenvalue, vectors (d, k)), equal eigenvalues together."""
    order = np.argsort(spectrum.values)
    values, vectors = spectrum.values[order], np.asarray(spectrum.vectors)[:, order]
    if not len(values):
        return []
    starts = [0, *(np.flatnonzero(np.diff(values) > _SAME * values[1:]) + 1)]
    return [(values[a], vectors[:, a:b]) for a, b in zip(starts, [*starts[1:], len(values)], strict=True)]
