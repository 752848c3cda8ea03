"""Selection of landmarks from the samples.

METHODS : name -> function (pool, number, rng) -> indices of landmarks in a pool of candidates. Initial landmarks, of a
smaller map that is extended, are the first of the pool and the first of the result.

The pool holds all samples, or at most `_POOL` times the number r of landmarks, drawn at random. A selection from P
candidates takes about P r^2 operations, the features of n samples n r^2. For 100 000 samples and 1000 landmarks the
selection takes a sixth of the time, and it does not grow with n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .._utils.blocks import rows_at_once, slices
from .._utils.linalg import solve_triangle
from .._utils.pivoted_cholesky import random_pivots
from ..kernels import InputKernel

_POOL, _LEAST_POOL = 8, 2  # candidates for each landmark: usually, and at least; the time is proportional
_FACTOR_ENTRIES = 2**26  # largest number of entries of the factor (P, r), 512 MB; many landmarks have smaller pools
_ROUNDING = 32  # multiple of the machine epsilon below which a remaining diagonal entry is treated as zero
_COORDINATES, _MOST_COORDINATES = 1 / 5, 200  # coordinates for clustering: a share of the landmarks, and at most
_DISTANCES = 2**20  # distances to centres computed at once, 8 MB
_ROUNDS = 5  # iterations of Lloyd's algorithm; more hardly change the error


@dataclass(frozen=True)
class LandmarkCandidates:
    """The samples from which landmarks are selected, and their kernel."""

    kernel: InputKernel
    X: Any  # samples, or their Gram matrix
    n: int
    weights: np.ndarray  # (n,)
    dtype: Any  # precision of kernel values

    @classmethod
    def from_samples(cls, kernel, X, weights):
        """Check samples X and their weights (n,); None for ones."""
        n = _num_samples(X)
        if kernel.precomputed and X.shape[1] != n:
            raise ValueError(f"X must be the Gram matrix (n, n) with kernel='precomputed', got shape {X.shape}")
        weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
        if weights.shape != (n,) or not (weights >= 0).all() or not weights.any():
            raise ValueError(f"weights must be {n} numbers >= 0, not all of them 0, got {weights!r}")
        first = _safe_indexing(X, slice(0, 1))
        values = first if kernel.precomputed else kernel(first, first)
        return cls(kernel, X, n, weights, np.float32 if values.dtype == np.float32 else np.float64)

    def samples(self, rows):
        """The given rows as inputs of the kernel, or their Gram matrix if X is one."""
        inputs = _safe_indexing(self.X, rows)
        if not self.kernel.precomputed:
            return inputs
        inputs = inputs[:, rows]
        return inputs.toarray() if scipy.sparse.issparse(inputs) else inputs

    def rounding(self, diagonal):
        """Threshold below which remainders of diagonal entries (m,) are treated as zero."""
        return _ROUNDING * np.finfo(self.dtype).eps * max(diagonal.max(initial=0.0), np.finfo(np.float32).tiny)

    def pool(self, number, rng, initial) -> LandmarkPool:
        """Candidates for `number` landmarks: initial landmarks (k,) by index, and others drawn by weight."""
        size = max(_LEAST_POOL * number, min(_POOL * number, _FACTOR_ENTRIES // number)) - len(initial)
        weights = self.weights.copy()
        weights[initial] = 0.0
        others, mass = _draw_candidates(weights, size, _LEAST_POOL * number, rng)
        rows = np.concatenate([initial, others])
        scale = mass.sum() / max(weights[others].sum(), np.finfo(float).tiny) if len(others) else 1.0
        mass = np.concatenate([scale * self.weights[initial], mass])
        return LandmarkPool(self, rows, self.samples(rows), mass, len(initial))


@dataclass(frozen=True)
class LandmarkPool:
    """Candidates for landmarks."""

    candidates: LandmarkCandidates
    rows: np.ndarray  # (P,) indices among the samples
    inputs: Any
    weights: np.ndarray  # (P,)
    n_initial: int  # number of initial landmarks, the first candidates

    def __len__(self):
        return len(self.rows)

    @property
    def initial(self):
        """Indices in the pool of the initial landmarks."""
        return np.arange(self.n_initial)

    def diagonal(self):
        """``k(x, x)`` (P,) of the candidates."""
        return np.array(self.candidates.kernel.diagonal(self.inputs), dtype=self.candidates.dtype)

    def values(self, columns, rows=None):
        """Kernel values (P, m) of all candidates with the candidates `columns`, or (len(rows), m) of the given rows."""
        if self.candidates.kernel.precomputed:
            return self.inputs[:, columns] if rows is None else self.inputs[np.ix_(rows, columns)]
        inputs = self.inputs if rows is None else _safe_indexing(self.inputs, rows)
        return self.candidates.kernel(inputs, _safe_indexing(self.inputs, columns))

    def fill_up(self, selected, number, rng):
        """Add random candidates to the selected ones, up to `number`."""
        weights = self.weights.copy()
        weights[selected] = 0.0
        return np.concatenate([selected, _draw(weights, number - len(selected), rng)])


def _draw(weights, size, rng):
    """Draw `size` distinct indices in proportion to weights; all with positive weight if there are fewer."""
    positive = np.flatnonzero(weights)
    if len(positive) <= size:
        return rng.permutation(positive)
    share = weights[positive] / weights[positive].sum()
    return rng.choice(positive, size, replace=False, p=None if (share == share[0]).all() else share)


def _draw_candidates(weights, size, min_distinct, rng):
    """Draw distinct indices in proportion to weights; return them with their masses.

    All indices if there are at most `size`. Else `size` draws with replacement, in which samples of large weight occur
    several times. If fewer than `min_distinct` are distinct, others are added.
    """
    positive = np.flatnonzero(weights)
    if len(positive) <= size:
        return positive, weights[positive]
    if (weights[positive] == weights[positive[0]]).all():
        return _draw(weights, size, rng), np.ones(size)
    expected = size / weights.sum() * weights
    counts = rng.multinomial(size, weights / weights.sum())
    distinct = np.flatnonzero(counts)
    others = _draw(np.where(counts > 0, 0.0, weights), max(0, min_distinct - len(distinct)), rng)
    return np.concatenate([distinct, others]), np.concatenate([counts[distinct], expected[others]])


def uniform(pool, number, rng):
    """Random samples, drawn in proportion to their weights."""
    return pool.fill_up(pool.initial, number, rng)


def pivoted(pool, number, rng):
    """Pivots of a randomly pivoted Cholesky decomposition, drawn in proportion to the remaining diagonal.

    Chen, Epperly, Tropp & Webber, Randomly pivoted Cholesky, 2025. Pivots are drawn in blocks with rejection, which has
    the same distribution as one by one (Epperly, Tropp & Webber, Embrace rejection, 2024).
    """
    return _pivots(pool, number, rng)[0]


def _pivots(pool, number, rng):
    """Indices of pivots, initial landmarks first, and the factor (P, k) of the Gram matrix of the pool."""
    factor = np.empty((len(pool), number), dtype=pool.candidates.dtype, order="F")
    tolerance = _ROUNDING * float(np.finfo(factor.dtype).eps)
    *_, (pivots, _) = random_pivots(
        pool.values,
        pool.diagonal(),
        factor,
        pool.weights,
        tolerance,
        rng,
        initial=pool.initial,
        entries=lambda positions: pool.values(positions, positions),
    )
    n_independent = np.count_nonzero(pivots < pool.n_initial)  # initial landmarks that are linearly independent
    others = pivots[n_independent:][: number - pool.n_initial]
    return np.concatenate([pool.initial, others]), factor[:, : n_independent + len(others)]


def leverage(pool, number, rng):
    """Samples drawn in proportion to approximate ridge leverage scores ``(K (K + s I)^-1)_ii``.

    Musco & Musco, Recursive sampling for the Nyström method, 2017. Scores are computed from half as many samples as
    landmarks. These are drawn by scores of half of the pool, and so on, down to a subset that is small enough.
    """
    size, levels = max(1, number // 2), [len(pool)]
    while levels[-1] > 2 * size:
        levels.append(levels[-1] // 2)
    order = rng.permutation(len(pool))
    sample, probability = order[:size], np.ones(len(order[:size]))
    for level in reversed(levels[1:]):
        subset = order[:level]
        scores = _scores(pool, sample, probability, subset)
        share = np.minimum(1.0, scores * (size / scores.sum()))
        is_drawn = rng.uniform(size=level) < share
        if is_drawn.any():
            sample, probability = subset[is_drawn], share[is_drawn]
    scores = _scores(pool, sample, probability)
    scores[: pool.n_initial] = 0.0
    return np.concatenate([pool.initial, _draw(scores, number - pool.n_initial, rng)])


def _scores(pool, sample, probability, subset=None):
    """Approximate leverage scores of a subset of the candidates, None for all, from a sample of them.

    The penalty is such that the effective dimension is half the size of the sample.

    probability : (len(sample),) with which each candidate was drawn
    """
    scale = np.sqrt(pool.weights[sample] / probability)
    inner = pool.values(sample, sample).astype(float) * np.multiply.outer(scale, scale)
    penalty = _penalty(scipy.linalg.eigvalsh(inner), len(sample) / 2)
    inner.flat[:: len(inner) + 1] += penalty
    cross = np.array(pool.values(sample, subset), dtype=float, order="C")
    cross *= scale
    solve_triangle(scipy.linalg.cholesky(inner), cross)
    weights, diagonal = (a if subset is None else a[subset] for a in (pool.weights, pool.diagonal()))
    residual = diagonal - np.einsum("ij,ij->i", cross, cross)
    return np.clip(weights * residual / penalty, np.finfo(float).eps * weights, 1.0)


def _penalty(values, dimension):
    """The penalty s with ``sum values / (values + s) = dimension``, by bisection; above rounding."""
    values = values.clip(0.0)
    largest = max(values.max(), np.finfo(np.float32).tiny)
    low, high = np.log(largest * _ROUNDING * np.finfo(float).eps * len(values)), np.log(largest * len(values))
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if (values / (values + np.exp(middle))).sum() > dimension else (low, middle)
    return np.exp(high)


def medoids(pool, number, rng):
    """Samples nearest to the centres of clusters, in leading coordinates of the kernel.

    Zhang, Tsang & Kwok, Improved Nyström low-rank approximation, 2008, use the centres, which do not exist for objects.
    Coordinates are features of a few random pivots. Centres start at these pivots, so that rare clusters have one, and
    at random samples. A few iterations of Lloyd's algorithm follow, in which initial landmarks are fixed.
    """
    n_coordinates = min(max(1, int(_COORDINATES * number)), _MOST_COORDINATES)
    pivots, V = _pivots(pool, max(n_coordinates, pool.n_initial), rng)
    V, start = V.astype(np.float32), pool.fill_up(pivots, number, rng)
    centres = V[start]
    for _ in range(_ROUNDS):
        nearest, _distance = _nearest(V, centres)
        cells = scipy.sparse.csr_array(
            (pool.weights.astype(np.float32), (nearest, np.arange(len(V)))), shape=(len(centres), len(V))
        )
        mass = np.asarray(cells.sum(axis=1)).ravel()
        free = np.flatnonzero(mass > 0)
        free = free[free >= pool.n_initial]
        centres[free] = (cells @ V)[free] / mass[free, None]
    selected = _closest(pool, *_nearest(V, centres))
    return np.concatenate([pool.initial, rng.permutation(pool.fill_up(selected, number, rng)[pool.n_initial :])])


def _nearest(V, centres):
    """Index (P,) of the nearest centre of each row of V (P, q), and the squared distance (P,)."""
    squares, nearest, distance = np.einsum("ij,ij->i", centres, centres), [], []
    for rows in slices(len(V), rows_at_once(len(centres), most=_DISTANCES)):
        distances = V[rows] @ (-2 * centres.T)
        distances += squares
        nearest.append(distances.argmin(axis=1))
        distance.append(np.take_along_axis(distances, nearest[-1][:, None], axis=1)[:, 0])
    return np.concatenate(nearest), np.concatenate(distance) + np.einsum("ij,ij->i", V, V)


def _closest(pool, nearest, distance):
    """The initial landmarks, and for each other centre the closest candidate of positive weight."""
    free = np.flatnonzero((nearest >= pool.n_initial) & (np.arange(len(pool)) >= pool.n_initial) & (pool.weights > 0))
    order = free[np.lexsort((distance[free], nearest[free]))]
    _, first = np.unique(nearest[order], return_index=True)
    return np.concatenate([pool.initial, order[first]])


METHODS = {"medoids": medoids, "pivoted": pivoted, "leverage": leverage, "uniform": uniform}
