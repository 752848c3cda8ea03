"""Weights of the training samples in kernel ridge regression, solved for at predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.terms import ONCE, Factors, Term


@dataclass(frozen=True, eq=False)
class RidgeWeights:
    """Weights ``D (D K D + s I)^-1 D k_x`` of n samples, a function of kernel values (m, N)."""

    factors: Factors | Any
    penalty: float
    root: np.ndarray  # (n,) square roots of the sample weights, the diagonal of D
    center: bool  # weights sum to one; the mean of the outputs has the rest
    lift: Any = None  # (N, n) map from values of the kernel to values of the kernel that a graph deforms
    direct: Any = None  # (N, n) map from values to weights, if features replace the kernel

    @classmethod
    def from_term(cls, term: Term, data, alpha, factors: Factors | None = None, kernel=None):
        """Weights of a term whose operator is the identity.

        data : object with ``weights`` of the samples and ``centered``
        kernel : the ``FeatureKernel``, if features replace the kernel
        """
        penalty, root = alpha * data.weights.sum(), np.sqrt(data.weights)
        if kernel is not None:
            direct = kernel.expansion_coefficients(term.weights_from(penalty))
            return cls(None, penalty, root, data.centered, direct=direct)
        factors, n = term.factor(ONCE) if factors is None else factors, len(data.weights)
        detached = factors.detached(1.0, penalty)
        return cls(detached, penalty, np.sqrt(data.weights), data.centered, term.expansion_matrix(n))

    def __call__(self, G):
        """Weights (m, n) of the samples."""
        if self.direct is not None:
            weights = G @ self.direct
        else:
            G = G if self.lift is None else G @ self.lift
            weights = self.factors.solve((G * (self.root / self.penalty)).T, 1.0, self.penalty).T
            weights *= self.root
        if self.center:
            weights += np.multiply.outer(1 - weights.sum(axis=1), self.root**2 / (self.root @ self.root))
        return weights


@dataclass(frozen=True, eq=False)
class OutputWeights:
    """Weights (m, c) of distinct outputs: sums of the weights of their samples."""

    samples: RidgeWeights
    groups: np.ndarray  # (n,) the number of each sample's output
    number: int

    def __call__(self, G):
        return sum_by_group(self.samples(G), self.groups, self.number)


def sum_by_group(weights, groups, number):
    """Sums (m, number) of the columns of weights (m, n) that belong to each group."""
    if number == len(groups) and (np.diff(groups) == 1).all():
        return weights  # column i is group i
    order = np.argsort(groups, kind="stable")
    return np.add.reduceat(weights[:, order], np.searchsorted(groups[order], np.arange(number)), axis=1)
