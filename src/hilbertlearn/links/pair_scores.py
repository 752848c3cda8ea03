"""Scores of pairs of nodes, computed in blocks: from features, from a graph and from embeddings.

Every kind of scores has the two methods ``block(rows, columns)``, scores (r, c) of two slices, and ``entries(i, j)``,
scores (k,) of single pairs.
"""

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
_ENTRIES = 2**22  # kernel values of a block, 32 MB; larger blocks are not faster
_COPIES = 6  # arrays of a block's size at one time: scores, kernel values, and the summands of a combination


@dataclass(frozen=True)
class ScoreMatrix:
    """Scores (m, p) held in memory."""

    values: np.ndarray

    def block(self, rows, columns):
        return self.values[rows, columns]

    def entries(self, i, j):
        return self.values[i, j]


@dataclass(frozen=True)
class KernelScores:
    """Kernel values of inputs X (m) with Z (p), computed on demand."""

    kernel: InputKernel
    X: Any
    Z: Any

    def block(self, rows, columns):
        X = _safe_indexing(self.X, rows)
        if is_precomputed(self.kernel.kernel):
            return X[:, columns]
        return self.kernel(X, _safe_indexing(self.Z, columns))

    def entries(self, i, j):
        rows, row_numbers = np.unique(i, return_inverse=True)
        order = np.argsort(row_numbers, kind="stable")
        size = max(1, numbers_at_once(_COPIES, _ENTRIES) // max(1, _num_samples(self.Z)))
        out = np.empty(len(i))
        ends = np.searchsorted(row_numbers[order], np.arange(0, len(rows) + size, size))
        for block, (first, last) in enumerate(itertools.pairwise(ends)):
            pairs = order[first:last]
            X = _safe_indexing(self.X, rows[block * size : (block + 1) * size])
            values = X if is_precomputed(self.kernel.kernel) else self.kernel(X, self.Z)
            out[pairs] = values[row_numbers[pairs] - block * size, j[pairs]]
        return out


def block_entries(limit):
    """Number of scores in a block that fits in the working memory, at most `limit`."""
    return numbers_at_once(_COPIES, limit)


def score_blocks(m, p, limit=_ENTRIES):
    """Slices of m rows with p scores each that fit in the working memory."""
    return row_blocks(m, p, _COPIES, limit)


def all_scores(scores, row_positions, column_positions):
    """Scores (m, p) of all pairs, computed in blocks of rows.

    row_positions, column_positions : (m,), (p,) rows and columns of the result to which the scores belong
    """
    m, p = len(row_positions), len(column_positions)
    out = np.empty((m, p))
    for rows in score_blocks(m, p):
        out[np.ix_(row_positions[rows], column_positions)] = scores.block(rows, slice(0, p))
    return out


def embedding_scores(H, G, V=None, W=None, used=None) -> dict[str, Any]:
    """Inner products and cosines of predicted embeddings H (m, d) with G (p, d), by name.

    W (p, d) are the known embeddings of the second nodes, which replace their predictions in the scores named "known".
    If V (m, d) of the first nodes are given too, these scores are the mean of both replacements.

    used : names of the scores to prepare, None for all
    """
    scores: dict[str, Any] = {}
    for suffix in ("", COSINE):
        if used is not None and not {PREDICTED + suffix, KNOWN + suffix} & {*used}:
            continue
        h, g, v, w = map(_unit_rows, (H, G, V, W)) if suffix else (H, G, V, W)
        scores[PREDICTED + suffix] = FactoredMatrix(h, g.T)
        if v is not None:
            scores[KNOWN + suffix] = FactoredMatrix(np.hstack([h, v]) / 2, np.hstack([w, g]).T)
        elif w is not None:
            scores[KNOWN + suffix] = FactoredMatrix(h, w.T)
    return scores


def _unit_rows(A):
    return None if A is None else unit_rows(A)


@dataclass(frozen=True)
class SingleScore:
    """One score without weights; has the interface of a ``Combination``."""

    name: str

    @property
    def used(self):
        return (self.name,)

    def weights_by_name(self):
        return {self.name: 1.0}

    def __call__(self, scores):
        return scores[self.name]


@dataclass(frozen=True)
class PairScores:
    """Combined scores of the pairs of two sets of nodes."""

    combination: Any  # a ``Combination`` or a ``SingleScore``
    similarities: Mapping[str, Any]

    def block(self, rows, columns):
        return self.combination({name: self.similarities[name].block(rows, columns) for name in self.combination.used})

    def entries(self, i, j):
        return self.combination({name: self.similarities[name].entries(i, j) for name in self.combination.used})


@dataclass(frozen=True)
class AllPairScores:
    """Scores of all pairs of n nodes, the known ones first: pairs of known nodes, mixed pairs, pairs of new nodes."""

    n_known: int
    known: PairScores
    mixed: PairScores | None  # rows are new nodes, columns known ones
    new: PairScores | None

    def block(self, rows, columns):
        out = np.empty((rows.stop - rows.start, columns.stop - columns.start))
        for first in self._split_at_known(rows):
            for second in self._split_at_known(columns):
                out_rows = slice(first.start - rows.start, first.stop - rows.start)
                out_columns = slice(second.start - columns.start, second.stop - columns.start)
                out[out_rows, out_columns] = self._quadrant(first, second)
        return out

    def _split_at_known(self, nodes):
        """The parts of a slice with known and with new nodes, without empty ones."""
        middle = min(max(nodes.start, self.n_known), nodes.stop)
        return [part for part in (slice(nodes.start, middle), slice(middle, nodes.stop)) if part.start < part.stop]

    def _quadrant(self, rows, columns):
        rows_known, columns_known = rows.start < self.n_known, columns.start < self.n_known
        rows, columns = self._shift(rows), self._shift(columns)
        if rows_known and columns_known:
            return self.known.block(rows, columns)
        if not rows_known and not columns_known:
            return _require(self.new).block(rows, columns)
        mixed = _require(self.mixed)
        return mixed.block(rows, columns) if columns_known else mixed.block(columns, rows).T

    def _shift(self, nodes):
        """A slice of known nodes as it is, one of new nodes counted from the first new node."""
        start = self.n_known if nodes.start >= self.n_known else 0
        return slice(nodes.start - start, nodes.stop - start)

    def entries(self, i, j):
        i, j = np.maximum(i, j), np.minimum(i, j)  # in a mixed pair the new node first
        out, l = np.empty(len(i)), self.n_known
        for scores, mask in ((self.known, i < l), (self.mixed, (i >= l) & (j < l)), (self.new, j >= l)):
            if mask.any():
                first, second = i[mask], j[mask]
                out[mask] = _require(scores).entries(first - l * (first >= l), second - l * (second >= l))
        return out


@dataclass(frozen=True)
class UnknownPairScores:
    """Scores of the pairs that are to be predicted, NaN for the others.

    These are the hidden pairs and those with a new node, or all pairs without a link if there are none of either.
    """

    scores: AllPairScores
    graph: KnownGraph
    n_nodes: int

    def block(self, rows, columns):
        out, l = self.scores.block(rows, columns), len(self.graph)
        known_rows, known_columns = slice(rows.start, min(rows.stop, l)), slice(columns.start, min(columns.stop, l))
        if known_rows.start < l and known_columns.start < l:
            only_hidden = self.graph.hidden.nnz or self.n_nodes > l
            pattern = self.graph.hidden if only_hidden else self.graph.adjacency > 0
            mask = pattern[known_rows][:, known_columns].toarray().astype(bool)
            out[: mask.shape[0], : mask.shape[1]][~mask if only_hidden else mask] = np.nan
        return out


def _require(scores):
    if scores is None:
        raise ValueError(NO_SCORE)
    return scores
