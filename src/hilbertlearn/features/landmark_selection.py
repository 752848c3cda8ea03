"""How landmarks are chosen among the samples.

METHODS : name -> function (pool, number, random) -> positions of landmarks in a pool of candidates. Those that are
given, the first of the pool, come first.

Candidates are all samples, or beyond `_POOL` times the number r of landmarks as many drawn at random: to choose from a
pool of P samples takes about P r^2 operations, the features of n samples n r^2. So of 100 000 samples and 1000
landmarks the choice is a sixth of the work, and it does not grow with n.
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

_POOL, _LEAST_POOL = 8, 2  # candidates for each landmark
_FACTOR_ENTRIES = 2**26  # of the matrix (P, r) that a choice works with, 512 MB: more landmarks have smaller pools
_ROUNDING = 32  # times the machine's: what is left of a diagonal entry below that is nothing
_COORDINATES, _MOST_COORDINATES = 1 / 5, 200  # of candidates that are clustered, a share of the landmarks
_DISTANCES = 2**20  # from centres that are computed at once, 8 MB
_ROUNDS = 5  # of moving centres; more hardly change the error


@dataclass(frozen=True)
class LandmarkCandidates:
    """The samples that landmarks are chosen from, and their kernel."""

    kernel: InputKernel
    X: Any  # samples, or their Gram matrix
    n: int
    weights: np.ndarray  # (n,)
    dtype: Any  # of kernel values

    @classmethod
    def from_samples(cls, kernel, X, weights):
        n = _num_samples(X)
        if kernel.precomputed and X.shape[1] != n:
            raise ValueError(f"X must be the Gram matrix (n, n) with kernel='precomputed', got shape {X.shape}")
        weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
        if weights.shape != (n,) or not (weights >= 0).all() or not weights.any():
            raise ValueError(f"weights must be {n} numbers >= 0, not all of them 0, got {weights!r}")
        one = _safe_indexing(X, slice(0, 1))
        values = one if kernel.precomputed else kernel(one, one)
        return cls(kernel, X, n, weights, np.float32 if values.dtype == np.float32 else np.float64)

    def samples(self, rows):
        """Some of the samples in the form that the kernel takes; their Gram matrix if that is what X is."""
        inputs = _safe_indexing(self.X, rows)
        if not self.kernel.precomputed:
            return inputs
        inputs = inputs[:, rows]
        return inputs.toarray() if scipy.sparse.issparse(inputs) else inputs

    def rounding(self, diagonal):
        """What counts as nothing beside diagonal entries (m,)."""
        return _ROUNDING * np.finfo(self.dtype).eps * max(diagonal.max(initial=0.0), np.finfo(np.float32).tiny)

    def pool(self, number, random, given) -> LandmarkPool:
        """Candidates for a number of landmarks: those given, positions (k,), and others drawn by weight."""
        size = max(_LEAST_POOL * number, min(_POOL * number, _FACTOR_ENTRIES // number)) - len(given)
        weights = self.weights.copy()
        weights[given] = 0.0
        others, mass = _candidates(weights, size, _LEAST_POOL * number, random)
        rows = np.concatenate([given, others])
        scale = mass.sum() / max(weights[others].sum(), np.finfo(float).tiny) if len(others) else 1.0
        mass = np.concatenate([scale * self.weights[given], mass])
        return LandmarkPool(self, rows, self.samples(rows), mass, len(given))


@dataclass(frozen=True)
class LandmarkPool:
    """Candidates for landmarks."""

    candidates: LandmarkCandidates
    rows: np.ndarray  # (P,) which of the samples they are
    inputs: Any
    weights: np.ndarray  # (P,)
    n_given: int  # so many, the first, are landmarks already

    def __len__(self):
        return len(self.rows)

    @property
    def given(self):
        return np.arange(self.n_given)

    def diagonal(self):
        return np.array(self.candidates.kernel.diagonal(self.inputs), dtype=self.candidates.dtype)

    def values(self, columns, rows=None):
        """Kernel values (P, m) with some of the candidates, in their positions; or of some (len(rows), m)."""
        if self.candidates.kernel.precomputed:
            return self.inputs[:, columns] if rows is None else self.inputs[np.ix_(rows, columns)]
        inputs = self.inputs if rows is None else _safe_indexing(self.inputs, rows)
        return self.candidates.kernel(inputs, _safe_indexing(self.inputs, columns))

    def filled(self, chosen, number, random):
        """Chosen positions, and others at random up to a number."""
        weights = self.weights.copy()
        weights[chosen] = 0.0
        return np.concatenate([chosen, _drawn(weights, number - len(chosen), random)])


def _drawn(weights, size, random):
    """Distinct positions (size,) at random by weight; all of positive weight if there are no more."""
    positive = np.flatnonzero(weights)
    if len(positive) <= size:
        return random.permutation(positive)
    share = weights[positive] / weights[positive].sum()
    return random.choice(positive, size, replace=False, p=None if (share == share[0]).all() else share)


def _candidates(weights, size, least, random):
    """Distinct positions drawn by weight, and the mass of each.

    All, if there are no more than size; else size draws, of which those of heavy samples fall together, and where only
    few are left others up to the least number.
    """
    positive = np.flatnonzero(weights)
    if len(positive) <= size:
        return positive, weights[positive]
    if (weights[positive] == weights[positive[0]]).all():
        return _drawn(weights, size, random), np.ones(size)
    expected = size / weights.sum() * weights
    counts = random.multinomial(size, weights / weights.sum())
    drawn = np.flatnonzero(counts)
    others = _drawn(np.where(counts > 0, 0.0, weights), max(0, least - len(drawn)), random)
    return np.concatenate([drawn, others]), np.concatenate([counts[drawn], expected[others]])


def uniform(pool, number, random):
    """Samples drawn at random by weight."""
    return pool.filled(pool.given, number, random)


def pivoted(pool, number, random):
    """Pivots of a randomly pivoted Cholesky decomposition: each is drawn by what is left of the diagonal.

    Chen, Epperly, Tropp & Webber, Randomly pivoted Cholesky, 2025. A block of candidates is drawn at once, of which
    some are refused, so that pivots have the law of one by one (Epperly, Tropp & Webber, Embrace rejection, 2024).
    """
    return _pivots(pool, number, random)[0]


def _pivots(pool, number, random):
    """Positions of pivots, those given first, and the factor (P, k) of the kernel matrix of the pool that they give."""
    factor = np.empty((len(pool), number), dtype=pool.candidates.dtype, order="F")
    tolerance = _ROUNDING * float(np.finfo(factor.dtype).eps)
    *_, (pivots, _) = random_pivots(
        pool.values,
        pool.diagonal(),
        factor,
        pool.weights,
        tolerance,
        random,
        given=pool.given,
        entries=lambda positions: pool.values(positions, positions),
    )
    independent = np.count_nonzero(pivots < pool.n_given)  # of those given, which are chosen all the same
    drawn = pivots[independent:][: number - pool.n_given]
    return np.concatenate([pool.given, drawn]), factor[:, : independent + len(drawn)]


def leverage(pool, number, random):
    """Samples drawn by approximate ridge leverage scores ``(K (K + s I)^-1)_ii``.

    Musco & Musco, Recursive sampling for the Nyström method, 2017: the scores come from half as many samples as
    landmarks, which are drawn by the scores of half of the pool, and so on down to a part of it that is taken whole.
    """
    size, levels = max(1, number // 2), [len(pool)]
    while levels[-1] > 2 * size:
        levels.append(levels[-1] // 2)
    order = random.permutation(len(pool))
    sample, chance = order[:size], np.ones(len(order[:size]))
    for level in reversed(levels[1:]):
        among = order[:level]
        scores = _scores(pool, sample, chance, among)
        share = np.minimum(1.0, scores * (size / scores.sum()))
        kept = random.uniform(size=level) < share
        if kept.any():
            sample, chance = among[kept], share[kept]
    scores = _scores(pool, sample, chance)
    scores[: pool.n_given] = 0.0
    return np.concatenate([pool.given, _drawn(scores, number - pool.n_given, random)])


def _scores(pool, sample, chance, among=None):
    """Leverage scores of candidates, None for all, from a sample of them; the penalty leaves half of the sample.

    chance : (len(sample),) with which each came into the sample
    """
    scale = np.sqrt(pool.weights[sample] / chance)
    inner = pool.values(sample, sample).astype(float) * np.multiply.outer(scale, scale)
    penalty = _penalty(scipy.linalg.eigvalsh(inner), len(sample) / 2)
    inner.flat[:: len(inner) + 1] += penalty
    beside = np.array(pool.values(sample, among), dtype=float, order="C")
    beside *= scale
    solve_triangle(scipy.linalg.cholesky(inner), beside)
    weights, diagonal = (a if among is None else a[among] for a in (pool.weights, pool.diagonal()))
    left = diagonal - np.einsum("ij,ij->i", beside, beside)
    return np.clip(weights * left / penalty, np.finfo(float).eps * weights, 1.0)


def _penalty(values, goal):
    """s with ``sum values / (values + s)`` = goal, of eigenvalues; above rounding."""
    values = values.clip(0.0)
    largest = max(values.max(), np.finfo(np.float32).tiny)
    low, high = np.log(largest * _ROUNDING * np.finfo(float).eps * len(values)), np.log(largest * len(values))
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if (values / (values + np.exp(middle))).sum() > goal else (low, middle)
    return np.exp(high)


def medoids(pool, number, random):
    """The samples nearest to the centres of clusters, in the leading coordinates of the kernel.

    Zhang, Tsang & Kwok, Improved Nyström low-rank approximation, 2008, have the centres themselves, which objects do
    not have. Coordinates are features of a few random pivots. Centres begin there, so that rare clusters have one, and
    at samples drawn at random, and move a few times (Lloyd's algorithm); those of given landmarks stay.
    """
    coordinates = min(max(1, int(_COORDINATES * number)), _MOST_COORDINATES)
    pivots, V = _pivots(pool, max(coordinates, pool.n_given), random)
    V, start = V.astype(np.float32), pool.filled(pivots, number, random)
    centres = V[start]
    for _ in range(_ROUNDS):
        nearest, _distance = _nearest(V, centres)
        cells = scipy.sparse.csr_array(
            (pool.weights.astype(np.float32), (nearest, np.arange(len(V)))), shape=(len(centres), len(V))
        )
        mass = np.asarray(cells.sum(axis=1)).ravel()
        moved = np.flatnonzero(mass > 0)
        moved = moved[moved >= pool.n_given]
        centres[moved] = (cells @ V)[moved] / mass[moved, None]
    chosen = _closest(pool, *_nearest(V, centres))
    return np.concatenate([pool.given, random.permutation(pool.filled(chosen, number, random)[pool.n_given :])])


def _nearest(V, centres):
    """Which centre (P,) is nearest to each row of V (P, q), and the squared distance (P,)."""
    squares, nearest, distance = np.einsum("ij,ij->i", centres, centres), [], []
    for rows in slices(len(V), rows_at_once(len(centres), most=_DISTANCES)):
        distances = V[rows] @ (-2 * centres.T)
        distances += squares
        nearest.append(distances.argmin(axis=1))
        distance.append(np.take_along_axis(distances, nearest[-1][:, None], axis=1)[:, 0])
    return np.concatenate(nearest), np.concatenate(distance) + np.einsum("ij,ij->i", V, V)


def _closest(pool, nearest, distance):
    """The candidates of positive weight closest to the centres, one each, after those given."""
    free = np.flatnonzero((nearest >= pool.n_given) & (np.arange(len(pool)) >= pool.n_given) & (pool.weights > 0))
    order = free[np.lexsort((distance[free], nearest[free]))]
    _, first = np.unique(nearest[order], return_index=True)
    return np.concatenate([pool.given, order[first]])


METHODS = {"medoids": medoids, "pivoted": pivoted, "leverage": leverage, "uniform": uniform}
