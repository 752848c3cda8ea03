"""Spaces of structured outputs: coordinates from an output kernel, and weights over the training outputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.base import BaseEstimator

from .. import kernels
from .._validation import check_number, check_symmetric_psd
from ..outputs import distinct, read_outputs, take
from .base import Space

_TOLERANCE = 1e-10  # what is left of k(y, y), relative to the largest, when an output counts as dependent


class OutputKernel(BaseEstimator):
    """Outputs as points of the space of a kernel, by coordinates V with ``K_Y = V V'``.

    A Cholesky decomposition with pivots stops when what is left of every ``k(y, y)`` is below 1e-10 of the largest, or
    after ``rank`` pivots (then coordinates are those of Nystroem's approximation on the pivots).

    Parameters
    ----------
    kernel : name of scikit-learn's ``pairwise_kernels``, Gram matrix (outputs are its row numbers), object or callable
    rank : largest number of coordinates, None for as many as there are
    """

    def __init__(self, kernel="linear", rank=None):
        self.kernel, self.rank = kernel, rank

    def space(self, outputs, sample_weight=None) -> KernelSpace:
        """The space of known outputs, an array or a list."""
        if self.rank is not None:
            check_number(self.rank, "OutputKernel: rank", integer=True)
        kernel = kernels.as_output_kernel(self.kernel)
        first, group = distinct(outputs)
        references = take(outputs, first)
        if hasattr(kernel, "resolve"):
            kernel = kernel.resolve(references, np.bincount(group, sample_weight))
        factor, pivots = _pivoted(kernel, references) if self.rank is None else _leading(kernel, references, self.rank)
        if not len(pivots):
            raise ValueError("output_kernel is zero on all outputs; use another kernel")
        return KernelSpace(kernel, take(references, pivots), factor)


def _pivoted(kernel, references):
    """Cholesky factor (d, d) and pivots (d,) of the whole Gram matrix, up to dependence."""
    K = kernels.gram(kernel, references)
    K = check_symmetric_psd(K, "output_kernel", "use a positive definite kernel of the outputs")
    factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(K, lower=1, tol=_TOLERANCE * max(K.diagonal().max(), 0.0))
    return np.tril(factor[:rank, :rank]), pivots[:rank] - 1


def _leading(kernel, references, rank):
    """The same for the first pivots alone, column by column: n times rank kernel values, never the whole matrix."""
    left = kernels.diagonal(kernel, references).astype(float)
    least = _TOLERANCE * max(left.max(), 0.0)
    L = np.zeros((len(left), min(rank, len(left))))
    pivots: list[int] = []
    while len(pivots) < L.shape[1] and left.max() > least:
        j, p = len(pivots), int(np.argmax(left))
        column = kernels.gram(kernel, references, take(references, [p]))[:, 0] - L[:, :j] @ L[p, :j]
        L[:, j] = column / np.sqrt(left[p])
        left = np.maximum(left - L[:, j] ** 2, 0.0)
        left[p] = 0.0
        pivots.append(p)
    return np.tril(L[pivots, : len(pivots)]), np.array(pivots, dtype=int)


@dataclass(frozen=True)
class KernelSpace(Space):
    """Coordinates ``k(z, pivots) L^-T`` of outputs z, L the Cholesky factor of the pivots' Gram matrix."""

    kernel: Any
    pivots: Any  # outputs
    factor: np.ndarray  # (d, d), lower

    def encode(self, y):
        outputs, known = read_outputs(y, like=self.pivots)
        out = np.full((len(known), len(self.factor)), np.nan)
        if known.any():
            out[known] = self.coordinates(take(outputs, np.flatnonzero(known)))
        return out

    def coordinates(self, outputs):
        """Coordinates (n, d) of known outputs."""
        G = kernels.gram(self.kernel, outputs, self.pivots)
        return scipy.linalg.solve_triangular(self.factor, G.T, lower=True).T

    def squared_norms(self, outputs):
        """``k(z, z)`` (n,); more than the coordinates' where outputs are not in the span of the pivots."""
        return kernels.diagonal(self.kernel, outputs)

    def decode(self, coordinates):
        return coordinates


@dataclass(frozen=True)
class WeightSpace(Space):
    """Coordinates are weights over distinct outputs: an output is its own unit vector (Ciliberto et al. 2016).

    Others count as not observed. Held-out errors are those of the loss, the prediction being the best of these outputs
    under the weights.
    """

    outputs: Any  # (c,) distinct, canonical
    loss: Any

    def encode(self, y):
        outputs, known = read_outputs(y, like=self.outputs)
        checked = self.loss.check(take(outputs, np.flatnonzero(known)))
        number = distinct([*self.outputs, *checked])[1][len(self.outputs) :]
        seen = number < len(self.outputs)  # samples of weight 0 may have other outputs
        rows = np.flatnonzero(known)[seen]
        out = np.full((len(known), len(self.outputs)), np.nan)
        out[rows] = 0.0
        out[rows, number[seen]] = 1.0
        return out

    @cached_property
    def losses(self):
        """Losses (c, c) of predicting each output where each is true."""
        return np.asarray(self.loss(self.outputs, self.outputs), dtype=float)

    def held_out_errors(self, Y, residuals):
        best = np.argmin((Y - residuals) @ self.losses.T, axis=1)
        return self.losses[best, np.argmax(Y, axis=1)]

    def decode(self, coordinates):
        return coordinates
