"""Scores of pairs of nodes, in blocks: from features, from a graph and from embeddings, alone or combined."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .._utils.blocks import numbers_at_once, row_blocks
from .._utils.linalg import unit_rows
from ..data.graphs import FactoredMatrix, KnownGraph
from ..kernels import InputKernel, is_precomputed

ATTRIBUTES, PREDICTED, KNOWN, COSINE = "attributes", "predicted", "known", ", cosine"
NO_SCORE = (
    "X: nodes without known links are scored by their features; give X to fit, and to similarities 'learnt', or "
    "'attributes', which a precomputed kernel does not have of pairs of new nodes"
)
_ENTRIES = 2**22  # kernel values at a time; larger blocks gain nothing
_COPIES = 6  # of a block of scores, of kernel values and of what they are combined from


@dataclass(frozen=True)
class ScoreMatrix:
    """Scores (m, p) that are there already."""

    values: np.ndarray

    def block(self, rows, columns):
        return self.values[rows, columns]

    def at(self, i, j):
        return self.values[i, j]


@dataclass(frozen=True)
class KernelScores:
    """Kernel values of inputs X (m) with Z (p), computed when asked for."""

    kernel: InputKernel
    X: Any
    Z: Any

    def block(self, rows, columns):
        X = _safe_indexing(self.X, rows)
        if is_precomputed(self.kernel.kernel):
            return X[:, columns]
        return self.kernel(X, _safe_indexing(self.Z, columns))

    def at(self, i, j):
        rows, place = np.unique(i, return_inverse=True)
        order = np.argsort(place, kind="stable")
        size = max(1, numbers_at_once(_COPIES, _ENTRIES) // max(1, _num_samples(self.Z)))
        out = np.empty(len(i))
        ends = np.searchsorted(place[order], np.arange(0, len(rows) + size, size))
        for part, (first, last) in enumerate(itertools.pairwise(ends)):
            some = order[first:last]
            X = _safe_indexing(self.X, rows[part * size : (part + 1) * size])
            values = X if is_precomputed(self.kernel.kernel) else self.kernel(X, self.Z)
            out[some] = values[place[some] - part * size, j[some]]
        return out


def scores_at_once(most):
    """How many scores are computed at once, at most so many."""
    return numbers_at_once(_COPIES, most)


def score_blocks(m, p, most=_ENTRIES):
    """Slices of m rows of p scores each that are computed at once."""
    return row_blocks(m, p, _COPIES, most)


def all_scores(scores, row_places, column_places):
    """Scores (m, p) of all pairs, some rows at a time: beside the result a block of what they are combined from.

    row_places, column_places : (m,), (p,) where the rows and columns of the scores are to be put
    """
    m, p = len(row_places), len(column_places)
    out = np.empty((m, p))
    for rows in score_blocks(m, p):
        out[np.ix_(row_places[rows], column_places)] = scores.block(rows, slice(0, p))
    return out


def embedded(H, G, V=None, W=None, used=None) -> dict[str, Any]:
    """Scores of nodes with predicted embeddings H (m, d) with those of G (p, d), by name; cosines beside products.

    Where the embeddings of the nodes themselves are known, W (p, d) of the second, they stand in place of a prediction;
    if those of the first are too, V (m, d), in both places in turn.

    used : names of scores that are looked at, of which alone something is computed; None for all
    """
    scores: dict[str, Any] = {}
    for end in ("", COSINE):
        if used is not None and not {PREDICTED + end, KNOWN + end} & {*used}:
            continue
        h, g, v, w = map(_unit, (H, G, V, W)) if end else (H, G, V, W)
        scores[PREDICTED + end] = FactoredMatrix(h, g.T)
        if v is not None:
            scores[KNOWN + end] = FactoredMatrix(np.hstack([h, v]) / 2, np.hstack([w, g]).T)
        elif w is not None:
            scores[KNOWN + end] = FactoredMatrix(h, w.T)
    return scores


def _unit(A):
    return None if A is None else unit_rows(A)


@dataclass(frozen=True)
class SingleScore:
    """A single score as it is."""

    name: str

    @property
    def used(self):
        return (self.name,)

    def by_name(self):
        return {self.name: 1.0}

    def __call__(self, scores):
        return scores[self.name]


@dataclass(frozen=True)
class PairScores:
    """Scores of the pairs of two sets of nodes, made of several."""

    combination: Any  # a ``Combination``, or ``SingleScore``
    similarities: Mapping[str, Any]

    def block(self, rows, columns):
        """Scores (r, c) of two slices."""
        return self.combination({name: self.similarities[name].block(rows, columns) for name in self.combination.used})

    def at(self, i, j):
        """Scores (k,) of pairs."""
        return self.combination({name: self.similarities[name].at(i, j) for name in self.combination.used})


@dataclass(frozen=True)
class AllPairScores:
    """Scores of the pairs of n nodes of which the first are known: known ones, mixed and new ones."""

    n_known: int
    known: PairScores
    mixed: PairScores | None  # rows are new, columns known
    new: PairScores | None

    def block(self, rows, columns):
        out = np.empty((rows.stop - rows.start, columns.stop - columns.start))
        for first in self._halves(rows):
            for second in self._halves(columns):
                here = slice(first.start - rows.start, first.stop - rows.start)
                there = slice(second.start - columns.start, second.stop - columns.start)
                out[here, there] = self._quadrant(first, second)
        return out

    def _halves(self, rows):
        middle = min(max(rows.start, self.n_known), rows.stop)
        return [part for part in (slice(rows.start, middle), slice(middle, rows.stop)) if part.start < part.stop]

    def _quadrant(self, rows, columns):
        of_known = rows.start < self.n_known, columns.start < self.n_known
        rows, columns = self._own(rows), self._own(columns)
        if all(of_known):
            return self.known.block(rows, columns)
        if not any(of_known):
            return _given(self.new).block(rows, columns)
        return _given(self.mixed).block(rows, columns) if of_known[1] else _given(self.mixed).block(columns, rows).T

    def _own(self, rows):
        start = self.n_known if rows.start >= self.n_known else 0
        return slice(rows.start - start, rows.stop - start)

    def at(self, i, j):
        i, j = np.maximum(i, j), np.minimum(i, j)  # the new one first
        out, l = np.empty(len(i)), self.n_known
        for part, where in ((self.known, i < l), (self.mixed, (i >= l) & (j < l)), (self.new, j >= l)):
            if where.any():
                first, second = i[where], j[where]
                first, second = first - l * (first >= l), second - l * (second >= l)
                out[where] = _given(part).at(first, second)
        return out


@dataclass(frozen=True)
class UnknownPairScores:
    """Scores of pairs of nodes that are not known, hidden ones or, if there are none, all without a link; else NaN."""

    scores: AllPairScores
    graph: KnownGraph
    n_nodes: int

    def block(self, rows, columns):
        out, l = self.scores.block(rows, columns), len(self.graph)
        here, there = slice(rows.start, min(rows.stop, l)), slice(columns.start, min(columns.stop, l))
        if here.start < l and there.start < l:
            some_hidden = self.graph.hidden.nnz or self.n_nodes > l
            settled = self.graph.hidden if some_hidden else self.graph.adjacency > 0
            mask = settled[here][:, there].toarray().astype(bool)
            out[: mask.shape[0], : mask.shape[1]][~mask if some_hidden else mask] = np.nan
        return out


def _given(part):
    if part is None:
        raise ValueError(NO_SCORE)
    return part
