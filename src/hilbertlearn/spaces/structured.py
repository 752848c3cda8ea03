"""Spaces of structured outputs: coordinates of an output kernel, and weights over the training outputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from sklearn.base import BaseEstimator

from .. import kernels
from .._utils.pivoted_cholesky import pivoted_cholesky, random_pivots
from .._utils.validation import check_memory, check_number, check_symmetric_psd
from ..data.objects import distinct, read_outputs, take
from .base import Space

_PROBES = 5  # random combinations of weights whose duality gap estimates that of all weights
_MAX_RANK = 100  # largest rank of a loss matrix that is factored; the cost of errors is linear in the rank
_RANK_TOLERANCE = 1e-10  # relative error of such a factorisation
_TEMPERATURE = 0.2  # temperature of the draw in `expected_losses`, in standard deviations of the scores
_ROUNDING = 1e-13  # relative rounding error of weighted losses
_MAX_COMPLETE = 5000  # distinct outputs up to which rank="auto" uses the whole matrix: 200 MB, quadratic in it
_MAX_TRACE_SHARE = 0.01  # for more outputs, share of the trace of the matrix that landmarks may leave unexplained
_MAX_LANDMARKS = 2000  # largest number of landmarks of rank="auto"
_MAX_NEGATIVE = 1e-6  # negative remainder of k(y, y), relative to the largest, that rounding cannot explain
_REMEDY = "use a positive definite kernel of the outputs"
_TOLERANCE = 1e-10  # remainder of k(y, y), relative to the largest, below which an output depends on the pivots


class OutputKernel(BaseEstimator):
    """Outputs as points of the space of a kernel, by coordinates V with ``K_Y = V V'``.

    Coordinates come from a pivoted Cholesky decomposition of the Gram matrix K_Y of the distinct training outputs. It
    stops when the remainder of every ``k(y, y)`` is below 1e-10 of the largest. With a rank the matrix is never formed:
    the pivots are landmarks, drawn at random with probability proportional to the remainders, and coordinates are those
    of the projection on the span of the landmarks (Nystroem approximation). Coordinates are orthonormal, so every loss
    can be used. Losses of the norm also include the part of outputs outside the span.

    Parameters
    ----------
    kernel : str, array of shape (N, N), kernel object or callable, default="linear"
        Name of scikit-learn's ``pairwise_kernels``, Gram matrix (outputs are its row numbers), object or callable.
    rank : int, "auto" or None, default=None
        Largest number of landmarks; None uses the whole matrix K_Y. "auto" uses the whole matrix up to 5000 distinct
        outputs. Beyond, landmarks are added until 1 % of the sum of ``k(y, y)`` over the samples remains, at most 2000.
    landmarks : sequence of outputs, default=None
        Outputs that span the space, in place of the training outputs. With them, coordinates of data in batches do not
        depend on the first batch.

    References
    ----------
    - Brouard, Szafranski and d'Alché-Buc (2016). Input output kernel regression: supervised and semi-supervised
      structured output prediction with operator-valued kernels. Journal of Machine Learning Research 17.
    - Chen, Epperly, Tropp and Webber (2025). Randomly pivoted Cholesky: practical approximation of a kernel matrix with
      few entry evaluations. Communications on Pure and Applied Mathematics 78.

    Examples
    --------
    >>> from hilbertlearn import StructuredPredictor, kernels, spaces
    >>> X, words = [[0.0], [1.0], [2.0], [3.0]], ["cat", "cats", "dog", "dogs"]
    >>> output_kernel = spaces.OutputKernel(kernels.NGrams(2), rank=3)
    >>> model = StructuredPredictor(output_kernel=output_kernel, gamma=1.0, alpha=1e-3).fit(X, words)
    >>> list(model.predict([[0.1], [2.9]]))
    ['cat', 'dogs']
    """

    def __init__(self, kernel="linear", rank=None, landmarks=None):
        self.kernel, self.rank, self.landmarks = kernel, rank, landmarks

    def space(self, outputs, sample_weight=None) -> KernelSpace:
        """The space of known outputs.

        Parameters
        ----------
        outputs : array of shape (n,) or (n, d), or list of n objects
            Training outputs.
        sample_weight : array of shape (n,), default=None
            Weights of the samples; None for ones.

        Returns
        -------
        space : KernelSpace
            Coordinates with respect to the training outputs or the landmarks.
        """
        if self.rank is not None:
            check_number(self.rank, "OutputKernel: rank", integer=True, choices=("auto",))
        kernel = kernels.as_output_kernel(self.kernel)
        if self.landmarks is not None:
            outputs, known = read_outputs(self.landmarks, like=outputs)
            if not len(known) or not known.all():
                raise ValueError("OutputKernel: landmarks must be outputs that are known, at least one")
            sample_weight = np.ones(len(known))
        first, group = distinct(outputs)
        references, mass = take(outputs, first), np.bincount(group, sample_weight)
        if hasattr(kernel, "resolve"):
            kernel = kernel.resolve(references, mass)
        max_rank, share = self._limits(len(first))
        if max_rank is None:
            remedy = "set rank='auto', or the number of landmarks, for an approximation"
            check_memory(len(first), 2, f"y has {len(first)} distinct outputs: the matrix of output_kernel", remedy)
            K = check_symmetric_psd(kernels.gram(kernel, references), "output_kernel", _REMEDY)
            factor, pivots = pivoted_cholesky(K, _TOLERANCE)
            is_complete = True
        else:
            factor, pivots, is_complete = _draw_landmarks(kernel, references, mass, max_rank, share)
        if not len(pivots):
            raise ValueError("output_kernel is zero on all outputs; use another kernel")
        is_complete = is_complete and self.landmarks is None
        return KernelSpace(kernel, take(references, pivots), np.tril(factor[pivots]), is_complete)

    def _limits(self, n):
        """Largest number of landmarks, None for the whole matrix, and the share of its trace that they may leave."""
        if isinstance(self.rank, str):
            return (None, 0.0) if n <= _MAX_COMPLETE else (_MAX_LANDMARKS, _MAX_TRACE_SHARE)
        return (None if self.rank is None or self.rank >= n else self.rank), 0.0


def _draw_landmarks(kernel, references, mass, max_rank, share):
    """Factor L (n, r), random pivots (r,), and whether their span contains all outputs.

    Only ``k(y, y)`` and the columns of proposed pivots are computed, a block of columns at a time.
    """
    diagonal = np.asarray(kernels.diagonal(kernel, references), dtype=float)
    L = np.empty((len(diagonal), max_rank), order="F")  # pages that are never written take no memory
    total, number = mass @ diagonal, 0

    def columns(positions):
        return kernels.gram(kernel, references, take(references, positions))

    for pivots, remainder in random_pivots(columns, diagonal, L, mass, _TOLERANCE):
        number = len(pivots)
        if remainder <= share * total:
            break
    L = L[:, :number]
    remainders, largest = diagonal - np.einsum("ij,ij->i", L, L), diagonal.max(initial=0.0)
    if remainders.min() < -_MAX_NEGATIVE * largest:
        raise ValueError(
            f"output_kernel is not positive semi-definite: a remainder of k(y, y) is {remainders.min():.3g}; {_REMEDY}"
        )
    if number:
        check_symmetric_psd(kernels.gram(kernel, take(references, pivots)), "output_kernel", _REMEDY)
    return L, pivots, bool(remainders.max() <= _TOLERANCE * largest)


@dataclass(frozen=True)
class KernelSpace(Space):
    """Coordinates ``k(z, pivots) L^-T`` of outputs z, L the Cholesky factor of the pivots' Gram matrix."""

    kernel: Any
    pivots: Any  # outputs
    factor: np.ndarray  # (d, d), lower
    is_complete: bool = True  # whether the span of the pivots contains the training outputs
    rules: Any = None  # output rules of the estimator: loss, candidates, form of the outputs
    decodes = False

    def encode(self, y):
        outputs, known = read_outputs(y, like=self.pivots)
        out = np.full((len(known), len(self.factor)), np.nan)
        if known.any():
            out[known] = self.coordinates(take(outputs, np.flatnonzero(known)))
        return out

    def outside_norms(self, y):
        return self.encode_with_outside(y)[1]

    def encode_with_outside(self, y):
        V = self.encode(y)
        if self.is_complete:
            return V, None
        outputs, known = read_outputs(y, like=self.pivots)
        norms, remainder = np.zeros(len(known)), np.zeros(len(known))
        if known.any():
            norms[known] = self.squared_norms(take(outputs, np.flatnonzero(known)))
            remainder[known] = norms[known] - np.einsum("ij,ij->i", V[known], V[known])
        return V, np.sqrt(np.where(remainder > _TOLERANCE * norms, remainder, 0.0))

    def coordinates(self, outputs):
        """Coordinates (n, d) of known outputs."""
        G = kernels.gram(self.kernel, outputs, self.pivots)
        return scipy.linalg.solve_triangular(self.factor, G.T, lower=True).T

    def squared_norms(self, outputs):
        """``k(z, z)`` (n,), which exceeds the squared norm of the coordinates for outputs outside the span."""
        return kernels.diagonal(self.kernel, outputs)


@dataclass(frozen=True)
class WeightSpace(Space):
    """Coordinates are weights over the distinct training outputs: an output is its unit vector (Ciliberto et al. 2016).

    Other outputs count as not observed. ``sample_errors`` are losses of decoded predictions, smoothed by
    ``expected_losses``.
    """

    outputs: Any  # (c,) distinct, canonical
    loss: Any
    rules: Any = None  # output rules of the estimator: loss, candidates, form of the outputs
    decodes = False

    def encode(self, y):
        number = self.numbers(y)[:, None]
        return np.where(number >= 0, number == np.arange(len(self.outputs)), np.nan)

    def numbers(self, y):
        """Numbers (n,) of the outputs y among the distinct ones; -1 for others, which samples of weight 0 may have."""
        outputs, known = read_outputs(y, like=self.outputs)
        checked = self.loss.check(take(outputs, np.flatnonzero(known)))
        number = distinct([*self.outputs, *checked])[1][len(self.outputs) :]
        out = np.full(len(known), -1)
        out[known] = np.where(number < len(self.outputs), number, -1)
        return out

    @cached_property
    def losses(self):
        """Losses (p, c) of possible predictions (all of the loss, or the distinct ones) at each true output."""
        return np.asarray(self.loss(self.loss.all_outputs(self.outputs), self.outputs), dtype=float)

    def sample_errors(self, Y, residuals):
        return expected_losses((Y - residuals) @ self.losses.T, self.losses[:, np.argmax(Y, axis=1)].T)

    def error_resolution(self, n_samples):
        return float(self.losses.max()) / n_samples

    def compress(self):
        factors = _factor_low_rank(self.losses)
        return self if factors is None else LossSpace(self, *factors)


@dataclass(frozen=True)
class LossSpace(Space):
    """Coordinates b_y of outputs for a loss of low rank, ``loss(z, y) = <a_z, b_y>``: cheaper ``sample_errors``."""

    weights: WeightSpace
    left: np.ndarray  # (p, r) vectors a of possible predictions
    right: np.ndarray  # (r, c) vectors b of the distinct outputs
    decodes = False

    def encode(self, y):
        number = self.weights.numbers(y)
        return np.where(number[:, None] >= 0, self.right.T[number], np.nan)

    def sample_errors(self, Y, residuals):
        return expected_losses((Y - residuals) @ self.left.T, Y @ self.left.T)

    def error_resolution(self, n_samples):
        return self.weights.error_resolution(n_samples)


def expected_losses(scores, losses):
    """Expected losses (n,) of predictions drawn from exp(-score / t); t is a share of the scores' standard deviation.

    Scores (n, p) are weighted losses, whose minimiser is decoded. The loss of the minimiser alone is discontinuous in
    alpha, and with few samples its smallest value is noisy.

    losses : (n, p) of each prediction; scores are overwritten
    """
    scores -= scores.min(axis=1, keepdims=True)
    rounding = _ROUNDING * np.abs(losses).max() + np.finfo(float).tiny  # rounding of sums of weights near 1
    scores /= np.maximum(_TEMPERATURE * scores.std(axis=1, keepdims=True), rounding)
    probabilities = np.exp(np.negative(scores, out=scores), out=scores)
    return np.einsum("ij,ij->i", probabilities, losses) / probabilities.sum(axis=1)


def _factor_low_rank(L):
    """Factors (p, r) and (r, c) of L (p, c) to a relative error of about 1e-10; None unless r is far below p and c.

    A randomised range finder (Halko, Martinsson and Tropp 2011). Losses of rankings are inner products of signs, and
    losses of numbers are smooth functions of two variables: both have low rank.
    """
    max_rank = min(min(L.shape) // 3, _MAX_RANK)
    if max_rank < 2 or not np.isfinite(L).all():
        return None
    probes = L @ np.random.default_rng(0).normal(size=(L.shape[1], max_rank))
    Q, R, _ = scipy.linalg.qr(probes, mode="economic", pivoting=True, check_finite=False)
    sizes = np.abs(np.diag(R))
    Q = Q[:, sizes > _RANK_TOLERANCE * sizes[0]]
    right = Q.T @ L
    return (Q, right) if np.linalg.norm(L - Q @ right) <= 10 * _RANK_TOLERANCE * np.linalg.norm(L) else None


class ProbeSpace(WeightSpace):
    """Random combinations of the unit vectors of ``WeightSpace``: their duality gap estimates that of all weights."""

    residuals_are_errors = False

    def encode(self, y):
        probes, number = np.random.default_rng(0).normal(size=(len(self.outputs), _PROBES)), self.rules.groups
        return np.where(number[:, None] >= 0, probes[number], np.nan)  # training outputs alone have groups
