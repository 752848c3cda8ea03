"""Spaces of structured outputs: coordinates from an output kernel, and weights over the training outputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.base import BaseEstimator

from .. import kernels
from .._linalg import pivoted_cholesky
from .._validation import check_number, check_symmetric_psd
from ..outputs import distinct, read_outputs, take
from .base import Space

_PROBES = 5
_MOST_RANK, _LOW = 100, 1e-10  # of losses: coordinates that are fewer, and what is left of them, relative
_NEARLY_BEST = 0.2  # difference of weighted losses, relative to their deviation, that decides little
_ROUNDING = 1e-13
_TOLERANCE = 1e-10  # what is left of k(y, y), relative to the largest, when an output counts as dependent


class OutputKernel(BaseEstimator):
    """Outputs as points of the space of a kernel, by coordinates V with ``K_Y = V V'``.

    A Cholesky decomposition with pivots stops when what is left of every ``k(y, y)`` is below 1e-10 of the largest, or
    after ``rank`` pivots (then coordinates are those of Nystroem's approximation on the pivots).

    Parameters
    ----------
    kernel : name of scikit-learn's ``pairwise_kernels``, Gram matrix (outputs are its row numbers), object or callable
    rank : largest number of coordinates, None for as many as there are
    landmarks : outputs whose span coordinates are those of, in place of the training outputs', or None; what comes in
        batches then has the same coordinates whatever the first batch is
    """

    def __init__(self, kernel="linear", rank=None, landmarks=None):
        self.kernel, self.rank, self.landmarks = kernel, rank, landmarks

    def space(self, outputs, sample_weight=None) -> KernelSpace:
        """The space of known outputs, an array or a list."""
        if self.rank is not None:
            check_number(self.rank, "OutputKernel: rank", integer=True)
        kernel = kernels.as_output_kernel(self.kernel)
        if self.landmarks is not None:
            outputs, known = read_outputs(self.landmarks, like=outputs)
            if not len(known) or not known.all():
                raise ValueError("OutputKernel: landmarks must be outputs that are known, at least one")
            sample_weight = np.ones(len(known))
        first, group = distinct(outputs)
        references = take(outputs, first)
        if hasattr(kernel, "resolve"):
            kernel = kernel.resolve(references, np.bincount(group, sample_weight))
        if self.rank is None:
            K = kernels.gram(kernel, references)
            K = check_symmetric_psd(K, "output_kernel", "use a positive definite kernel of the outputs")
            L, pivots = pivoted_cholesky(K, _TOLERANCE)
        else:
            L, pivots = _leading(kernel, references, self.rank)
        if not len(pivots):
            raise ValueError("output_kernel is zero on all outputs; use another kernel")
        return KernelSpace(kernel, take(references, pivots), np.tril(L[pivots]))


def _leading(kernel, references, rank):
    """As ``pivoted_cholesky`` for the first pivots: n times rank kernel values, column by column, no whole matrix."""
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
    return L[:, : len(pivots)], np.array(pivots, dtype=int)


@dataclass(frozen=True)
class KernelSpace(Space):
    """Coordinates ``k(z, pivots) L^-T`` of outputs z, L the Cholesky factor of the pivots' Gram matrix."""

    kernel: Any
    pivots: Any  # outputs
    factor: np.ndarray  # (d, d), lower
    rules: Any = None  # what an estimator knows of the outputs beside
    decodes = False

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


@dataclass(frozen=True)
class WeightSpace(Space):
    """Coordinates are weights over distinct outputs: an output is its own unit vector (Ciliberto et al. 2016).

    Others count as not observed. Held-out errors are those of the loss, predictions being the best of the outputs that
    it knows of, or nearly so.
    """

    outputs: Any  # (c,) distinct, canonical
    loss: Any
    rules: Any = None  # what an estimator knows of the outputs beside
    decodes = False

    def encode(self, y):
        number = self.numbers(y)[:, None]
        return np.where(number >= 0, number == np.arange(len(self.outputs)), np.nan)

    def numbers(self, y):
        """Which of the distinct outputs each of y is (n,), -1 if none: samples of weight 0 may have others."""
        outputs, known = read_outputs(y, like=self.outputs)
        checked = self.loss.check(take(outputs, np.flatnonzero(known)))
        number = distinct([*self.outputs, *checked])[1][len(self.outputs) :]
        out = np.full(len(known), -1)
        out[known] = np.where(number < len(self.outputs), number, -1)
        return out

    @cached_property
    def losses(self):
        """Losses (p, c) of predicting each output that the loss knows of, else each of these, where these are true."""
        return np.asarray(self.loss(self.loss.everything(self.outputs), self.outputs), dtype=float)

    def held_out_errors(self, Y, residuals):
        return expected_losses((Y - residuals) @ self.losses.T, self.losses[:, np.argmax(Y, axis=1)].T)

    def compact(self):
        factors = _low_rank(self.losses)
        return self if factors is None else LossSpace(self, *factors)


@dataclass(frozen=True)
class LossSpace(Space):
    """Coordinates b_y of outputs under a loss of low rank, ``loss(z, y) = <a_z, b_y>``: held-out errors take these."""

    weights: WeightSpace
    left: np.ndarray  # (p, r) a of what may be predicted
    right: np.ndarray  # (r, c) b of the distinct outputs
    decodes = False

    def encode(self, y):
        number = self.weights.numbers(y)
        return np.where(number[:, None] >= 0, self.right.T[number], np.nan)

    def held_out_errors(self, Y, residuals):
        return expected_losses((Y - residuals) @ self.left.T, Y @ self.left.T)


def expected_losses(scores, losses):
    """Losses (n,) expected of outputs drawn by their scores (n, p), weighted losses: of the best if none comes near it.

    A draw from exp(-score / t) with t a share of the scores' standard deviation. The loss of the best alone jumps from
    one alpha to the next, and with few samples its smallest value is a matter of luck.

    losses : (n, p) of predicting each
    """
    scores -= scores.min(axis=1, keepdims=True)
    rounding = _ROUNDING * np.abs(losses).max() + np.finfo(float).tiny  # weights are differences of ones
    scores /= np.maximum(_NEARLY_BEST * scores.std(axis=1, keepdims=True), rounding)
    chances = np.exp(np.negative(scores, out=scores), out=scores)
    return np.einsum("ij,ij->i", chances, losses) / chances.sum(axis=1)


def _low_rank(L):
    """Factors (p, r) and (r, c) of L (p, c) to about 1e-10 of it, None unless r is far below p and c.

    By random combinations of columns (Halko, Martinsson & Tropp 2011): losses of rankings are products of signs, those
    of numbers smooth functions of two.
    """
    most = min(min(L.shape) // 3, _MOST_RANK)
    if most < 2 or not np.isfinite(L).all():
        return None
    probes = L @ np.random.default_rng(0).normal(size=(L.shape[1], most))
    Q, R, _ = scipy.linalg.qr(probes, mode="economic", pivoting=True, check_finite=False)
    sizes = np.abs(np.diag(R))
    Q = Q[:, sizes > _LOW * sizes[0]]
    right = Q.T @ L
    return (Q, right) if np.linalg.norm(L - Q @ right) <= 10 * _LOW * np.linalg.norm(L) else None


class ProbeSpace(WeightSpace):
    """Random combinations of the unit vectors of ``WeightSpace``: their duality gap stands for that of all."""

    judges = False

    def encode(self, y):
        probes, number = np.random.default_rng(0).normal(size=(len(self.outputs), _PROBES)), self.rules.groups
        return np.where(number[:, None] >= 0, probes[number], np.nan)  # of the training outputs, and of no others
