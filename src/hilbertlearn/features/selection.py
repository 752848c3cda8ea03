"""How landmarks are chosen among the samples.

METHODS : name -> function (source, number, random, first) -> positions of landmarks, those of `first` at the beginning

All but "uniform" look at a pool of candidates: all samples, or beyond `_POOL` times the number r of landmarks as many
drawn at random. To choose from a pool of P samples takes about P r^2 operations, the features of n samples n r^2: of
100 000 samples and 1000 landmarks the choice is a tenth, and it does not grow with n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .._linalg import independent_root, solve_triangle
from ..kernels import InputKernel

_POOL = 10  # candidates for each landmark
_BLOCK = 8  # blocks of candidates at least, in which pivots are drawn
_SMALL_BLOCK = 32  # candidates drawn at once at least
_NOISE = 32  # times the machine's rounding: what is left of a diagonal entry below that is nothing


@dataclass(frozen=True)
class Source:
    """The samples that landmarks are chosen from, and their kernel."""

    kernel: InputKernel
    X: Any  # samples, or their Gram matrix
    n: int
    weights: np.ndarray  # (n,)
    dtype: Any  # of kernel values

    @classmethod
    def of(cls, kernel, X, weights):
        n = _num_samples(X)
        if kernel.precomputed and X.shape[1] != n:
            raise ValueError(f"X must be the Gram matrix (n, n) with kernel='precomputed', got shape {X.shape}")
        weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
        if weights.shape != (n,) or not (weights >= 0).all() or not weights.any():
            raise ValueError(f"weights must be {n} numbers >= 0, not all of them 0, got shape {weights.shape}")
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

    def pool(self, size, random, first) -> Pool:
        """The first ones and others drawn by weight, `size` in all."""
        others = self.draw(size - len(first), random, first)
        rows = np.concatenate([first, others])
        return Pool(self, rows, self.samples(rows))

    def draw(self, size, random, without=()):
        """Distinct positions (size,) at random by weight; all of positive weight if there are no more."""
        weights = self.weights.copy()
        weights[without] = 0.0
        positive = np.flatnonzero(weights)
        if len(positive) <= size:
            return random.permutation(positive)
        if (weights[positive] == weights[positive[0]]).all():
            return random.choice(positive, size, replace=False)
        return random.choice(positive, size, replace=False, p=weights[positive] / weights.sum())


@dataclass(frozen=True)
class Pool:
    """Candidates for landmarks."""

    source: Source
    rows: np.ndarray  # (P,) which of the samples they are
    inputs: Any

    @property
    def weights(self):
        """Ones where candidates were drawn by weight; all samples have their own."""
        whole = len(self.rows) == np.count_nonzero(self.source.weights)
        return self.source.weights[self.rows] if whole else np.ones(len(self.rows))

    def diagonal(self):
        return np.array(self.source.kernel.diagonal(self.inputs), dtype=self.source.dtype)

    def values(self, columns, rows=None):
        """Kernel values (P, m) with some of the candidates, in their positions; or of some (len(rows), m)."""
        if self.source.kernel.precomputed:
            return self.inputs[:, columns] if rows is None else self.inputs[np.ix_(rows, columns)]
        inputs = self.inputs if rows is None else _safe_indexing(self.inputs, rows)
        return self.source.kernel(inputs, _safe_indexing(self.inputs, columns))


def uniform(source, number, random, first):
    """Samples drawn at random by weight."""
    return np.concatenate([first, source.draw(number - len(first), random, first)])


def pivoted(source, number, random, first):
    """Pivots of a randomly pivoted Cholesky decomposition: each is drawn by what is left of the diagonal.

    Chen, Epperly, Tropp & Webber, Randomly pivoted Cholesky, 2025. A block of candidates is drawn at once, of which
    some are refused, so that pivots have the law of one by one (Epperly, Tropp & Webber, Embrace rejection, 2024).
    """
    pool = source.pool(_POOL * number, random, first)
    diagonal, weights = pool.diagonal(), pool.weights
    left, least = diagonal.copy(), _NOISE * np.finfo(source.dtype).eps * diagonal.max(initial=0.0)
    factor = np.empty((len(left), number), dtype=source.dtype, order="F")  # of the kernel matrix of the pool
    chosen = np.arange(len(first))
    if len(first):
        _extend(pool, factor, chosen[:0], chosen, left)
    while len(chosen) < number and left.max(initial=0.0) > least:
        size = max(_SMALL_BLOCK, number // _BLOCK)
        share = weights * np.where(left > least, left, 0.0)
        if not share.any():
            break
        drawn = random.choice(len(left), size, p=share / share.sum())
        block = pool.values(drawn, drawn) - factor[drawn, : len(chosen)] @ factor[drawn, : len(chosen)].T
        pivots = drawn[_accepted(block, least, random)][: number - len(chosen)]
        _extend(pool, factor, chosen, pivots, left)
        chosen = np.concatenate([chosen, pivots])
    return pool.rows[chosen]


def _accepted(block, least, random):
    """Which of drawn candidates, with what is left of their kernel matrix, are pivots; the first always is."""
    accepted: list[int] = []
    block, before = block.copy(), block.diagonal().copy()
    for i, threshold in enumerate(random.uniform(size=len(block))):
        pivot = block[i, i]
        if pivot > least and (not accepted or pivot > threshold * before[i]):
            column = block[:, i] / np.sqrt(pivot)
            block -= np.multiply.outer(column, column)
            accepted.append(i)
    return accepted


def _extend(pool, factor, chosen, pivots, left):
    """Columns of the Cholesky factor for further pivots, and what they take from the diagonal."""
    k, a = len(chosen), len(pivots)
    columns = np.array(pool.values(pivots), dtype=factor.dtype, order="C")
    columns -= factor[:, :k] @ factor[pivots, :k].T
    root, _ = independent_root(columns[pivots].astype(float), 0.0, a)
    block = solve_triangle(root, columns)
    factor[:, k : k + a] = block
    left -= np.einsum("ij,ij->i", block, block)
    left[pivots] = 0.0


def leverage(source, number, random, first):
    """Samples drawn by approximate ridge leverage scores ``(K (K + s I)^-1)_ii``.

    Musco & Musco, Recursive sampling for the Nyström method, 2017: the scores come from half as many samples as
    landmarks, which are drawn by the scores of half of the pool, and so on down to a part of it that is taken whole.
    """
    pool = source.pool(_POOL * number, random, first)
    weights, size = pool.weights, max(1, number // 2)
    levels = [len(pool.rows)]
    while levels[-1] > 2 * size:
        levels.append(levels[-1] // 2)
    order = random.permutation(len(pool.rows))
    sample, chance = order[: min(size, levels[-1])], np.ones(min(size, levels[-1]))
    for level in reversed(levels[1:]):
        among = order[:level]
        scores = _scores(pool, among, sample, weights[sample] / chance, weights)
        share = np.minimum(1.0, scores * (size / scores.sum()))
        kept = random.uniform(size=level) < share
        if kept.any():
            sample, chance = among[kept], share[kept]
    scores = _scores(pool, None, sample, weights[sample] / chance, weights)
    scores[: len(first)] = 0.0
    known = np.flatnonzero(scores)
    further = random.choice(known, min(number - len(first), len(known)), replace=False, p=scores[known] / scores.sum())
    return np.concatenate([first, pool.rows[further]])


def _scores(pool, among, sample, importance, weights):
    """Leverage scores of candidates from a sample of them, the penalty such that half of the sample counts.

    importance : (len(sample),) how many candidates a sample stands for
    """
    scale = np.sqrt(importance)
    inner = pool.values(sample, sample) * np.multiply.outer(scale, scale)
    penalty = _penalty(scipy.linalg.eigvalsh(inner), len(sample) / 2)
    inner.flat[:: len(inner) + 1] += penalty
    root = scipy.linalg.cholesky(inner.astype(float))
    beside = np.array(pool.values(sample, among), dtype=float, order="C")
    beside *= scale
    solve_triangle(root, beside)
    diagonal, weights = (a if among is None else a[among] for a in (pool.diagonal(), weights))
    left = diagonal - np.einsum("ij,ij->i", beside, beside)
    return np.clip(weights * left / penalty, np.finfo(float).tiny, 1.0)


def _penalty(values, goal):
    """s with ``sum values / (values + s)`` = goal, of eigenvalues; above rounding."""
    values = values.clip(0.0)
    low, high = np.log(max(values.max(), np.finfo(float).tiny) * np.array([_NOISE * np.finfo(float).eps, len(values)]))
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if (values / (values + np.exp(middle))).sum() > goal else (low, middle)
    return np.exp(high)


METHODS = {"pivoted": pivoted, "leverage": leverage, "uniform": uniform}
