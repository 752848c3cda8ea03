"""Scores of the samples left out, and the sets of outputs that conform to them.

With R_i the score of sample i by the model k(i) without it, and s_k(x, y) that of an output y at x by model k, the
set at x is ``{y : #{i : R_i < s_k(i)(x, y)} < level (n + 1)}`` (Barber et al. 2021, in the form of Gupta et al. 2022
for any score). With one model it is split conformal: s(x, y) at most the ``ceil(level (n + 1))``-th smallest R_i.

*Hulls.* Of the n samples at most k - 1, k = ceil(level (n + 1)), have scores below that of a y in the set. For any of
the others s_k(i)(x, y) <= R_i, so that y is within ``mu_k(i)(x) +- R_i extent_k(i)`` in *all* outputs, or at all
points, at once. So at each point at most k - 1 of the upper ends are below y, and y is not above the k-th smallest of
them; the same for the lower ends. Therefore pointwise quantiles of the ends bound the whole set simultaneously.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .leaving_out import LeavingOut
from .levels import conforms, enough, lower_ends, rank, upper_ends
from .observed import AtOwnPoints, Rows
from .scores import Score


@dataclass(frozen=True, eq=False)
class Calibration:
    """Models that leave samples out, and a score of these samples."""

    left: LeavingOut
    score: Score
    seen: Rows | AtOwnPoints  # outputs of the samples left out
    weights: np.ndarray  # (n,) of these samples, for queries that bring theirs
    level: float

    @cached_property
    def sizes(self):
        """Score (n,) of each sample left out by the model without it; NaN where nothing of it is in ``bounded``."""
        seen = self.seen if self.bounded().all() else self.seen.only(self.bounded())
        return seen.own_sizes(self.score, self.left.held_out, self.scales_by_sample)

    def bounded(self, own=None):
        """(1, d), or (m, d) with weights, whether enough samples were observed there for an interval that is finite.

        Sets say nothing of other outputs, as their intervals do not.
        """
        seen = np.isfinite(self.residuals)
        if own is None:
            count = seen.sum(axis=0)
            return (rank(self.level, count) <= count)[None]
        return enough(self.level, self.weights @ seen, own[:, None])

    @property
    def covered(self) -> float:
        """Share of the samples left out whose score is at most that up to which outputs conform."""
        sizes = np.sort(self.sizes[~np.isnan(self.sizes)])
        n = len(sizes)
        return float(np.mean(sizes <= sizes[min(int(rank(self.level, n)), n) - 1])) if n else 1.0

    @cached_property
    def residuals(self):
        """(n, d) of the samples left out, NaN where not observed."""
        return self.seen.residuals(self.left.held_out)

    @property
    def _scales(self):
        left = self.left
        return np.ones((1, left.held_out.shape[1])) if left.scales is None else left.scales

    @property
    def scales_by_sample(self):
        """(n, ...) the scale of the model without sample i."""
        return self._scales[self._scale]

    @property
    def _scale(self):
        """(n,) which scale the model without sample i has."""
        return self.left.scale_of[self.left.model_of]

    def intervals(self, X, own=None):
        """Lower and upper ends (m, d) for each output by itself.

        own : (m,) weights of the queries, None for the plain sets in which samples weigh the same
        """
        return self._ends(X, np.abs(self.residuals), own)

    def hull(self, X, own=None, move=None):
        """Lower and upper ends (m, d) between which the whole set is, in all outputs at once.

        move : takes rows (..., d) to other points of functions, None for those of the training outputs
        """
        extents = self.score.extents(self._scales)
        extents = (extents if move is None else move(extents))[self._scale]
        lower, upper = self._ends(X, self.sizes[:, None] * extents, own, move)
        bounded = self.bounded() if own is None else self.bounded() & self.bounded(own)
        if not bounded.all():
            free = (~bounded[:, : self._scales.shape[-1]]).astype(float)
            free = (free if move is None else move(free)) > 0
            lower, upper = np.where(free, -np.inf, lower), np.where(free, np.inf, upper)
        return lower, upper

    def _ends(self, X, half, own, move=None):
        """Quantiles of predictions without sample i plus and minus half widths (n, d)."""
        parts = []
        for rows, centres in self.centres(X, move, half.shape[1]):
            weighed = (None, None) if own is None else (self.weights, own[rows])
            lower, upper = ends_of(centres, centres, half)
            parts.append((lower_ends(lower, self.level, *weighed), upper_ends(upper, self.level, *weighed)))
        lower, upper = (np.concatenate(ends) for ends in zip(*parts, strict=True))
        return lower, upper

    def contains(self, X, seen, own=None):
        """Which outputs, ``Rows`` or ``AtOwnPoints``, are in the sets (m,); entries that are NaN are not asked for."""
        bounded = self.bounded() if own is None else self.bounded() & self.bounded(own)
        seen = seen if bounded.all() else seen.only(bounded)
        found, says = np.empty(len(seen), dtype=bool), ~np.isnan(self.sizes)
        for rows, _, predictions in self.left.blocks(X):
            weighed = (None, None) if own is None else (self.weights[says], own[rows])
            scores = seen[rows].sizes(self.score, predictions, self._scales[self.left.scale_of])
            found[rows] = conforms(scores[:, self.left.model_of[says]], self.sizes[says], self.level, *weighed)
        return found

    def centres(self, X, move=None, size=0):
        """Pairs (rows, predictions (m, n, d) by the models without sample i) within the working memory.

        move, size : to other points of functions, as in ``hull``, and how many those are
        """
        for rows, _, predictions in self.left.blocks(X, size):
            moved = predictions if move is None else move(predictions)
            yield rows, moved[:, self.left.model_of]


def ends_of(below, above, half):
    """Lower and upper ends (m, n, d) around predictions; infinite where there is none, or the half width (n, d) is."""
    never = np.isinf(half)
    if not (never.any() or np.isnan(below).any()):
        return below - half, above + half
    lower = np.where(never | (np.isnan(below) & ~np.isnan(half)), -np.inf, below - half)
    upper = np.where(never | (np.isnan(above) & ~np.isnan(half)), np.inf, above + half)
    return lower, upper
