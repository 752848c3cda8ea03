"""Spaces of structured outputs: coordinates from an output kernel, and weights over the training outputs."""

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

_PROBES = 5
_MOST_RANK, _LOW = 100, 1e-10  # of losses: coordinates that are fewer, and what is left of them, relative
_NEARLY_BEST = 0.2  # difference of weighted losses, relative to their deviation, that decides little
_ROUNDING = 1e-13
_FEW = 5000  # distinct outputs up to which rank="auto" takes all of the output kernel
_LEFT, _MOST_LANDMARKS = 0.01, 2000  # beyond, the share of its trace that landmarks may leave, and their number
_NEGATIVE = 1e-6  # what is left of k(y, y), relative to the largest, that no rounding explains
_POSITIVE = "use a positive definite kernel of the outputs"
_TOLERANCE = 1e-10  # what is left of k(y, y), relative to the largest, when an output counts as dependent


class OutputKernel(BaseEstimator):
    """Outputs as points of the space of a kernel, by coordinates V with ``K_Y = V V'``.

    A Cholesky decomposition with pivots of the distinct training outputs' Gram matrix K_Y, which stops when what is
    left of every ``k(y, y)`` is below 1e-10 of the largest. With a rank the matrix is never formed: pivots are
    landmarks, drawn at random by what those before leave of the outputs, and coordinates are those of the projection on
    their span, Nystroem's approximation. They are orthonormal, so that every loss goes with them, and losses of the
    norm see what outputs have outside the span too.

    Parameters
    ----------
    kernel : str, array of shape (N, N), kernel object or callable, default="linear"
        Name of scikit-learn's ``pairwise_kernels``, Gram matrix (outputs are its row numbers), object or callable.
    rank : int, "auto" or None, default=None
        None for all of K_Y; the largest number of landmarks; or "auto": all of K_Y up to 5000 distinct outputs, and
        beyond as many landmarks as leave 1 % of the sum of ``k(y, y)`` over the samples, but at most 2000.
    landmarks : sequence of outputs, default=None
        Outputs whose span coordinates are those of, in place of the training outputs'; what comes in
        batches then has the same coordinates whatever the first batch is.

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
        """The space of known outputs, an array or a list."""
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
        most, share = self._limits(len(first))
        if most is None:
            remedy = "set rank='auto', or the number of landmarks, for an approximation"
            check_memory(len(first), 2, f"y has {len(first)} distinct outputs: the matrix of output_kernel", remedy)
            K = check_symmetric_psd(kernels.gram(kernel, references), "output_kernel", _POSITIVE)
            factor, pivots = pivoted_cholesky(K, _TOLERANCE)
            whole = True
        else:
            factor, pivots, whole = _landmarks(kernel, references, mass, most, share)
        if not len(pivots):
            raise ValueError("output_kernel is zero on all outputs; use another kernel")
        return KernelSpace(kernel, take(references, pivots), np.tril(factor[pivots]), whole and self.landmarks is None)

    def _limits(self, n):
        """The largest number of landmarks, None for all of K_Y, and the share of its trace that they may leave."""
        if isinstance(self.rank, str):
            return (None, 0.0) if n <= _FEW else (_MOST_LANDMARKS, _LEFT)
        return (None if self.rank is None or self.rank >= n else self.rank), 0.0


def _landmarks(kernel, references, mass, most, share):
    """Factor L (n, r), pivots (r,) drawn at random, and whether all outputs are in their span.

    Beside ``k(y, y)``, columns of kernel values are computed for proposals only, some at a time.
    """
    diagonal = np.asarray(kernels.diagonal(kernel, references), dtype=float)
    L = np.empty((len(diagonal), most), order="F")  # memory that is not written to costs nothing
    total, number = mass @ diagonal, 0

    def columns(positions):
        return kernels.gram(kernel, references, take(references, positions))

    for pivots, left in random_pivots(columns, diagonal, L, mass, _TOLERANCE):
        number = len(pivots)
        if left <= share * total:
            break
    L = L[:, :number]
    rest, largest = diagonal - np.einsum("ij,ij->i", L, L), diagonal.max(initial=0.0)
    if rest.min() < -_NEGATIVE * largest:
        raise ValueError(f"output_kernel is not positive semi-definite: k(y, y) has {rest.min():.3g} left; {_POSITIVE}")
    if number:
        check_symmetric_psd(kernels.gram(kernel, take(references, pivots)), "output_kernel", _POSITIVE)
    return L, pivots, bool(rest.max() <= _TOLERANCE * largest)


@dataclass(frozen=True)
class KernelSpace(Space):
    """Coordinates ``k(z, pivots) L^-T`` of outputs z, L the Cholesky factor of the pivots' Gram matrix."""

    kernel: Any
    pivots: Any  # outputs
    factor: np.ndarray  # (d, d), lower
    is_complete: bool = True  # whether the training outputs are in the span of the pivots
    rules: Any = None  # what an estimator knows of the outputs beside
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
        norms, left = np.zeros(len(known)), np.zeros(len(known))
        if known.any():
            norms[known] = self.squared_norms(take(outputs, np.flatnonzero(known)))
            left[known] = norms[known] - np.einsum("ij,ij->i", V[known], V[known])
        return V, np.sqrt(np.where(left > _TOLERANCE * norms, left, 0.0))

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
        return np.asarray(self.loss(self.loss.all_outputs(self.outputs), self.outputs), dtype=float)

    def sample_errors(self, Y, residuals):
        return expected_losses((Y - residuals) @ self.losses.T, self.losses[:, np.argmax(Y, axis=1)].T)

    def compress(self):
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

    def sample_errors(self, Y, residuals):
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

    residuals_are_errors = False

    def encode(self, y):
        probes, number = np.random.default_rng(0).normal(size=(len(self.outputs), _PROBES)), self.rules.groups
        return np.where(number[:, None] >= 0, probes[number], np.nan)  # of the training outputs, and of no others
